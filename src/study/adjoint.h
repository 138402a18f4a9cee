// SPDX-License-Identifier: MIT
//
// adjoint.h: transposed derivatives of the maps of a run (study/tape.h), theory.md 7.5. Bars are
// derivatives of a scalar by what leaves a map; each function replaces them by those by what
// enters it, and gives covectors whose products with the equations of the map are its derivatives
// by parameters.
#pragma once

#include "dynamics/observer.h"
#include "study/tape.h"

// Derivatives of a scalar by a state and by the history of the scheme. Those by the configuration
// are covectors to body twists, delta g = g zeta, at fixed body rates.
typedef struct snw_bars {
    double *place, *rate, *acc;       // nv
    double *pseudo, *increment, *old; // nv: pseudo-acceleration, last increment, rate before it
    double *lambda;                   // nconstraint
    double *z, *integrand;            // nsignal: memory of the laws, integrands at the state
    double *energy;                   // reference energy of the conserving scheme
    double *branch;                   // nbranch_coordinate: strains of Maxwell branches
    double *touch;                    // 3 snw_hard_most: forces of hard contacts in the last step
    double *time;                     // SNW_TIMES
} snw_bars;

// Times of a state, which vary after an event: its own, the length of the step that led to it, the
// beginning of the motion, from which the time grid is counted.
enum { SNW_TIME_NOW, SNW_TIME_LENGTH, SNW_TIME_START, SNW_TIMES };

// Covectors of a map, of one scalar. The derivative of the scalar by a parameter is minus that of
//     mu'r - nu'e - law_rate'v - law_acc'a - integrand'E - branch'a_1     of a step, with v and a
//     given by laws, a_1 the strains of Maxwell branches after it; of an equilibrium likewise
//     mu'r + nu'e" + y'(M (v - v_before) - C'p) + z'e' - integrand'E     of a restart
//     mu'r + nu'e - law_rate'v - energy H - integrand'z     of a step of the conserving scheme
// at the state of the map, r the residual, e the constraint rows, E the integrands of laws; y and z
// belong to the velocities, with impulses p; v, H, z of the conserving scheme are velocities,
// reference energy and memory at the end of its step.
typedef struct snw_covectors {
    double *mu, *y, *law_rate, *law_acc; // nv
    // nv: derivatives of the scalar by rates and accelerations that laws give, in a step
    double *by_law_rate, *by_law_acc;
    double *nu, *z;    // nconstraint
    double *integrand; // nsignal
    double energy;
    double *branch; // nbranch_coordinate
} snw_covectors;

// A column of a probe, with its number among the columns of the run.
typedef struct snw_adjoint_output {
    int probe, column, of_run;
} snw_adjoint_output;

typedef struct snw_adjoint snw_adjoint;

// For `nscalar` scalars and the outputs, which the caller keeps.
SNW_NODISCARD snw_status snw_adjoint_create(const snw_model *m, int nscalar, int noutput,
                                            const snw_adjoint_output *output, snw_adjoint **out);
void snw_adjoint_destroy(snw_adjoint *a); // NULL is fine

// Values that replace laws from now on, in the maps of steps with hard contacts and of the
// conserving scheme; NULL: none. They may change before each call.
void snw_adjoint_set_manual(snw_adjoint *a, const snw_manual_inputs *manual);

snw_bars *snw_adjoint_bars(snw_adjoint *a, int scalar);
// Since its creation: steps whose equations, and frames whose outputs, were differentiated by the
// state by differences along all coordinates, which is dear.
typedef struct snw_adjoint_dear {
    int steps, frames;
} snw_adjoint_dear;
snw_adjoint_dear snw_adjoint_differenced(const snw_adjoint *a);
// Was the last map, of an explicit scheme, taken back by transposes of its stages? Else it is
// differentiated by differences, and not by arrays of the model.
bool snw_adjoint_transposed_stages(const snw_adjoint *a);
void snw_adjoint_clear(snw_adjoint *a); // all bars <- 0
// The size of the memory of laws, for differences by it, is the largest at the maps noted.
void snw_adjoint_note_memory(snw_adjoint *a, const snw_map *map);

// Does a map leave all bars as they are? One to accelerations that nothing reads.
bool snw_adjoint_idle(const snw_adjoint *a, const snw_map *map);
// Bars of all scalars <- back through a map. SNW_E_SINGULAR: err says where.
SNW_NODISCARD snw_status snw_adjoint_back(snw_adjoint *a, const snw_map *map, snw_error *err);

// A motion begins at a state: the beginning of its time grid is the time there.
void snw_adjoint_begin(snw_adjoint *a);

// Events, theory.md (7.5.12). The bars of the last scalar are those of the margin of a condition at
// an event (snw_adjoint_frame with its derivatives, and its time); they go back to the start of the
// step that ends there, whose length is such that the margin is zero. factor (nscalar - 1) <- those
// with which derivatives of the margin are then added to those of the other scalars; it adds their
// bars and clears those of the margin. Returns the derivative of the margin by the length.
double snw_adjoint_free_length(snw_adjoint *a, double *factor);

// Bars += those of a frame: y_bar (nscalar x noutput) are the derivatives by the outputs, y (of the
// run's columns) its values, NULL: not compared. SNW_E_MODEL: an output is no function of the
// state.
SNW_NODISCARD snw_status snw_adjoint_frame(snw_adjoint *a, const snw_map *map, const double *y_bar,
                                           const double *y, snw_error *err);

// s, near the equilibrium of a map <- that under the present inputs, by Newton's method.
SNW_NODISCARD snw_status snw_adjoint_equilibrium(snw_adjoint *a, const snw_map *map, snw_state *s,
                                                 snw_error *err);

// Sum of the covectors of a map times typical forces.
double snw_adjoint_magnitude(const snw_adjoint *a, const snw_map *map, int scalar);

// ---- derivatives by parameters

// Another model with the same coordinates, to evaluate the equations of maps.
typedef struct snw_sampler {
    const snw_model *m;
    snw_inputs *in;
    snw_state *s, *still;
    snw_work *w;
    snw_vec3 *rotation;
    double *rows, *column, *integrand;
    struct snw_conserving *conserving; // steps of the conserving scheme; NULL before the first one
    double *conserved;                 // their equations
    bool known;   // the next snw_sampler_frame is at the state of the last snw_sampler_map, a step
                  // without driven coordinates
    bool law;     // the model has another law only
    int stage;    // 1 + part of a map whose equations the next snw_sampler_map takes; 0: all
    double shift; // of the times of all maps, s
} snw_sampler;
SNW_NODISCARD snw_status snw_sampler_create(const snw_model *m, snw_sampler *out);
void snw_sampler_destroy(snw_sampler *x);

// Times at which a map reads laws: stages of a step of collocation and, where coordinates are
// driven, its end; middle, end and start of a step with hard contacts; the middle of a step of the
// conserving scheme; the end of others. Time of the laws at one of them.
int snw_map_parts(const snw_map *map);
double snw_map_stage_time(const snw_map *map, int i);

// value (nscalar) <- the products of the covectors with the equations of the map.
void snw_sampler_map(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *value);
// y (noutput) <- outputs at the state of a frame.
void snw_sampler_frame(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *y);

// ---- sensitivities along a run (sensitivity.c)
//
// The bars of an snw_adjoint hold derivatives of the state and history by variables instead, one
// set for each, and go forward through the maps. For each map: prepare, the derivatives of its
// equations by the variables from samples, apply for each variable.

// Numbers of the equations of a map.
int snw_sensitivity_size(const snw_adjoint *a, const snw_map *map);
// Stage of equation i of a map with stages.
int snw_sensitivity_stage(const snw_adjoint *a, const snw_map *map, int i);
SNW_NODISCARD snw_status snw_sensitivity_prepare(snw_adjoint *a, const snw_map *map,
                                                 snw_error *err);
// out <- the equations of the map by the model of the sampler, after snw_sensitivity_prepare.
void snw_sampler_equations(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *out);
// Derivatives by variable k <- through the map; `by` are those of its equations at a fixed
// state, and are changed.
void snw_sensitivity_apply(snw_adjoint *a, const snw_map *map, int k, double *by);
// SNW_E_SINGULAR: contacts that hold the robot more than once do not allow the last derivative.
SNW_NODISCARD snw_status snw_sensitivity_check(const snw_adjoint *a, const snw_map *map,
                                               snw_error *err);
// Derivatives by variable k <- those by the length of a step that ends at an event, through it.
void snw_sensitivity_of_length(snw_adjoint *a, const snw_map *map, int k);
// Derivatives by variable k += length times those by variable `from`.
void snw_sensitivity_add(snw_adjoint *a, int k, double length, int from);

// Step for differences in time at a map, s, and weights of order 6 for 1, 2, 3 of them.
double snw_adjoint_time_step(const snw_adjoint *a, const snw_map *map);
extern const double snw_adjoint_weight[3];
// out (noutput) <- derivatives of the outputs of a frame by variable k through the state; y as for
// snw_adjoint_frame.
SNW_NODISCARD snw_status snw_sensitivity_frame(snw_adjoint *a, const snw_map *map, int k,
                                               const double *y, double *out, snw_error *err);
