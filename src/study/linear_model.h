// SPDX-License-Identifier: MIT
//
// linear_model.h: linear models x' = A x + B u, y = C x + D u of a robot about a state, constraints
// and given coordinates eliminated; theory.md 7.3.
//
// States: the deviations z of independent coordinates (body twists of spherical and free joints),
// their rates, massless coordinates with damping, integrals and states that laws read, strains of
// Maxwell branches, then deviations and rates of given coordinates, whose accelerations are the
// inputs.
#pragma once

#include "dynamics/dynamics.h"
#include "model/scheme.h"
#include "study/step_tangent.h"

typedef enum snw_linear_kind {
    SNW_LINEAR_EFFORT,     // of a motor on one coordinate; all motors that share it
    SNW_LINEAR_TENDON,     // given load of a tendon or chamber: tension, pressure, moles of gas,
                           // shortening at a winch
    SNW_LINEAR_ACTIVATION, // factor of a muscle
    SNW_LINEAR_LOAD,       // component of a load: torque, force
    SNW_LINEAR_GIVEN,      // given coordinate: a constraint row
    SNW_LINEAR_OTHER       // derivatives by the caller: parameters
} snw_linear_kind;

typedef struct snw_linear_input {
    snw_linear_kind kind;
    int item, component; // motor, tendon, muscle or load, and its coordinate or component
    int row;             // SNW_LINEAR_GIVEN: constraint row
    double unit;         // the same: value of the row per unit of the coordinate
    const double *force; // SNW_LINEAR_OTHER: -dr/du (nv)
    // SNW_LINEAR_OTHER: -de/du, -de'/du, -de"/du of the rows and of their rates at fixed
    // coordinates, rates and accelerations (nconstraint each)
    const double *shift, *shift_rate, *shift_acc;
    const double *direct; // SNW_LINEAR_OTHER: dy/du at a fixed state (noutput)
    const double *rate;   // SNW_LINEAR_OTHER: of snw_linear_memory_rates by u
    // SNW_LINEAR_OTHER, of steps that are maps of their own: their equations by u
    // (snw_step_tangent_size)
    const double *equation;
    bool optional; // left out where the model does not have it, instead of an error
} snw_linear_input;

typedef struct snw_linear_output {
    int probe, column;
    bool exact;    // its row is exact; otherwise by differences of order 6
    double value;  // at the operating point
    bool optional; // left out where the model does not have it, instead of an error
    bool left;     // it was left out
} snw_linear_output;

// Rate at which the robot moves, or sets out to: largest of a coordinate in typical values, or root
// of its acceleration, 1/s.
double snw_linear_rate(const snw_model *m, const snw_state *s);

// Is a column of a probe a function of the state?
bool snw_linear_is_output(const snw_probe_desc *p, int column);

// Role of a state; `index` is the coordinate (v), for massless ones, signals and branches their
// number, for given ones the input.
typedef enum snw_linear_role {
    SNW_STATE_COORDINATE,
    SNW_STATE_RATE,
    SNW_STATE_MASSLESS,
    SNW_STATE_INTEGRAL, // integral or state that laws read
    SNW_STATE_BRANCH,   // strain of a Maxwell branch
    SNW_STATE_GIVEN,
    SNW_STATE_GIVEN_RATE,
    // history of a time scheme, of a coordinate
    SNW_STATE_ACCELERATION,
    SNW_STATE_PSEUDO,     // pseudo-acceleration
    SNW_STATE_INCREMENT,  // of the previous step
    SNW_STATE_RATE_BEFORE // before the previous step
} snw_linear_role;
typedef struct snw_linear_state {
    snw_linear_role role;
    int index;
} snw_linear_state;

typedef struct snw_linear snw_linear;

// Takes the rows of outputs that are left out from C and D of the last solution; returns how many
// stay.
int snw_linear_keep_outputs(snw_linear *l);

// The model of the last solve. Matrices by columns.
typedef struct snw_linear_system {
    int nx, nu, ny;
    double *A, *B, *C, *D;
    const snw_linear_state *state; // nx
    const int *of_input;           // nu: number in `input` of a column of B
    const int *derivative;         // nu: 0 value, 1 rate, 2 acceleration of that input
    int nidle;                     // directions without mass and stiffness, left out
    int nheld;                     // samples and latches that laws read, held
    double residual;               // of the state, relative to typical forces
    double difference;             // largest estimated error of outputs by differences, relative
    const double *motion;          // static gain: largest displacement of a coordinate per unit of
                                   // an input, relative to its typical value
} snw_linear_system;

// `three`: given coordinates enter with value, rate and acceleration as three inputs instead of
// states. `steps`: with memory for snw_linear_discretise. Allocates all that solves need. Arrays of
// inputs and outputs are kept by the caller.
SNW_NODISCARD snw_status snw_linear_create(const snw_model *m, int ninput,
                                           const snw_linear_input *input, int noutput,
                                           snw_linear_output *output, bool three, bool steps,
                                           snw_linear **out);
void snw_linear_destroy(snw_linear *l); // NULL is fine

// The model at s with its accelerations and multipliers, under `in`; rotation: continuous rotation
// vectors there (study/probe.h). w is overwritten. SNW_E_SINGULAR, SNW_E_MODEL, SNW_E_DIVERGED: err
// says why there is none.
SNW_NODISCARD snw_status snw_linear_solve(snw_linear *l, const snw_inputs *in, const snw_state *s,
                                          const snw_vec3 *rotation, snw_work *w, snw_error *err);

// Static gain at the equilibrium s: D of the result <- derivatives of the outputs by constant
// inputs, in equilibrium; it has no states. Motions without stiffness are left out. w is
// overwritten. Fails as above.
SNW_NODISCARD snw_status snw_linear_gain(snw_linear *l, const snw_inputs *in, const snw_state *s,
                                         const snw_vec3 *rotation, snw_work *w, snw_error *err);

// One step of an implicit scheme.
typedef struct snw_linear_step {
    snw_scheme_kind scheme;
    double rho, alpha, h;
    bool reduce;     // states are displacements and rates only, the input is constant over the step
    const double *d; // nv: increment of the step that ended at the state; NULL: at rest
} snw_linear_step;

// Replaces the model of the last snw_linear_solve, which had given coordinates as three inputs and
// is not one of snw_linear_needs_all, by that of the step that ends at its state s. Its A is kept,
// snw_linear_continuous. SNW_E_MODEL: err says why there is none.
SNW_NODISCARD snw_status snw_linear_discretise(snw_linear *l, const snw_linear_step *step,
                                               const snw_state *s, snw_error *err);
// The model of the step that ends at s with all coordinates as states, also where they are not
// independent. Loops and given coordinates border the matrix of the step; the latter enter with
// value, rate and acceleration, lengths of tendons with their value. No continuous model. Outputs
// are functions of configuration, velocities and inputs, and, where no constraint holds and all
// coordinates have mass, of accelerations. Fails as snw_linear_discretise.
SNW_NODISCARD snw_status snw_linear_solve_step(snw_linear *l, const snw_linear_step *step,
                                               const snw_inputs *in, const snw_state *s,
                                               const snw_vec3 *rotation, snw_work *w,
                                               snw_error *err);

// Steps of the conserving scheme and of moreau (study/step_tangent.h). First the columns of states
// and inputs with the outputs, either by snw_linear_solve about a robot at rest, which had given
// coordinates as three inputs, or with all coordinates as states, also where they are not
// independent: A and B have no values yet. w is overwritten.
SNW_NODISCARD snw_status snw_linear_map_outputs(snw_linear *l, const snw_inputs *in,
                                                const snw_state *s, const snw_vec3 *rotation,
                                                snw_work *w, snw_error *err);
// Then A and B of the step that `t` has done and prepared last; w is overwritten.
SNW_NODISCARD snw_status snw_linear_map_matrices(snw_linear *l, snw_step_tangent *t, snw_work *w,
                                                 snw_error *err);

// Was the last solve one about a moving point with constraints or massless coordinates, or of a
// robot with loops, or states of laws, and given coordinates as inputs? The model of a step then
// has all coordinates as states: snw_linear_solve_step.
bool snw_linear_needs_all(const snw_linear *l);
// y (noutput) <- values of the outputs at s under `in`, after snw_residual and snw_observe there.
void snw_linear_read(snw_linear *l, const snw_inputs *in, const snw_state *s,
                     const snw_vec3 *rotation, const snw_work *w, double *y);
// A of the continuous model, *nx x *nx.
const double *snw_linear_continuous(const snw_linear *l, int *nx);

const snw_linear_system *snw_linear_result(const snw_linear *l);
