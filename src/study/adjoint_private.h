// SPDX-License-Identifier: MIT
//
// adjoint_private.h: state of the transposed maps; private to the files adjoint*.c of src/study.
#pragma once

#include "base/fields.h"
#include "constraint/bordered_matrix.h"
#include "dynamics/relaxation.h"
#include "solve/scheme.h"
#include "study/adjoint.h"
#include "study/output_bars.h"

enum { ADJOINT_SAMPLES = 3 };
#define adjoint_weight snw_adjoint_weight

#define ADJOINT_FIELDS(AT)                                                                         \
    AT(double, K, nv *nv, "stiffness at fixed rates")                                              \
    AT(double, D, nv *nv, "damping at fixed accelerations")                                        \
    AT(double, M, nv *nv, "mass")                                                                  \
    AT(double, C, nv *nr, "constraint rows as columns")                                            \
    AT(double, C_place, nv *nr, "the same by places; of rows of velocities at fixed rates")        \
    AT(bool, of_rates, nr, "is the row one of velocities (wheels)?")                               \
    AT(double, chart, 108 * (size_t)m->nlie_block, "columns of the chart")                         \
    AT(double, bar, ns *(6 * nv + nr + 2 * nz + nb + nt + 1 + SNW_TIMES), "bars")                  \
    AT(double, covector, ns *(6 * nv + 2 * nr + nz + nb), "covectors")                             \
    AT(double, touch, nt, "forces of hard contacts in a frame")                                    \
    AT(double, branch, nb, "scratch")                                                              \
    AT(double, branch_force, nv, "generalised force of a strain of a branch")                      \
    AT(double, live_row, 2 * nv * (size_t)m->nlive, "live signals by places and rates")            \
    AT(double, integrand_row, 2 * nv * nz, "integrands by places and rates, at fixed body rates")  \
    AT(double, integrand_by, nz *nz, "integrands by memory: row of each")                          \
    AT(double, memory_force, nv *nz, "generalised forces by memory")                               \
    AT(double, integrand, nz, "integrands at the state")                                           \
    AT(double, largest, nz, "stored signals of the maps so far, without sign")                     \
    AT(double, memory, 2 * nz, "scratch")                                                          \
    AT(double, by_length, 4 * nv, "rates and accelerations by the lengths of two steps")           \
    AT(double, by_time, (SNW_STAGES + 3) * (nv + nz) + 2 * nr + nb, "equations of a map by time")  \
    AT(double, sampled_time, (SNW_STAGES + 3) * (nv + nz) + 2 * nr + nb, "scratch")                \
    AT(double, product, ns, "scratch")                                                             \
    AT(double, of_time, ns, "products of the covectors with the equations, by time")               \
    AT(double, of_length, ns, "the same by the length at a fixed start, through the times")        \
    AT(double, by_own, ns, "scalars by the length of the step, at fixed times")                    \
    AT(double, by_before, ns, "scalars by the length of the step before")                          \
    AT(double, by_free, ns, "scalars by the length of a step that ends at an event")               \
    AT(double, x, 2 * n, "right sides")                                                            \
    AT(double, line, 8 * nv + 4 * nr, "scratch")                                                   \
    AT(double, turn, nv, "increment of a step without translations of free joints")                \
    AT(double, impulse, nr, "of a restart")                                                        \
    AT(double, interaction, nv, "derivatives of the energy of contacts, springs and stops")        \
    AT(double, row, 2 * nv, "scratch")                                                             \
    AT(double, rows, 2 * nv * ny, "of exact outputs, at fixed body rates")                         \
    AT(double, column, width, "of a probe")                                                        \
    AT(double, now, ny, "outputs at the state")                                                    \
    AT(double, sample, ny, "outputs at a sample")                                                  \
    AT(bool, exact, ny, "has the output an exact row here?")                                       \
    AT(bool, by_memory, ny, "are those by the memory of laws?")                                    \
    AT(bool, known, ny, "are its derivatives by the state known?")                                 \
    AT(double, known_bar, ny, "derivatives of a scalar by such outputs")                           \
    AT(snw_vec3, rotation, frames, "rotation vectors")                                             \
    AT(snw_vec3, rotation_now, frames, "likewise")                                                 \
    AT(bool, driven, nv, "is the motion of the coordinate given by a law?")


typedef struct adjoint_hard adjoint_hard;
typedef struct adjoint_fold adjoint_fold;

struct snw_adjoint {
    const snw_model *m;
    int nscalar, noutput, width;
    const snw_adjoint_output *output;
    snw_bars *bars;
    snw_covectors *covectors;
    snw_bordered_matrix *T;
    snw_inputs *in;
    double in_time; // at which adjoint_inputs_at has evaluated them last
    snw_work *w;
    snw_state *s, *still; // moved; at rest
    snw_observer *observer;
    snw_output_bars *output_bars;
    snw_adjoint_dear dear;
    snw_sampler clock; // of the same model, to differentiate in time
    double longest;    // step so far, s
    double half;       // of the present step, for integrals of laws; 0: a restart
    bool remembers;    // laws read integrals or samples
    bool split;        // the bars of rates and accelerations are by chart rates of `base: split`
    bool split_past;   // so are those of the past of the scheme
    const snw_state *came, *at; // forward: states before and after the present map
    // of steps of collocation; NULL before the first one
    double *stage_matrix, *stage_mu; // B; nscalar x stages x (nv + extra)
    int *stage_pivot;
    double *stage_K, *stage_D, *stage_V; // stages x nv x nv: derivatives by chart coordinates and
                                         // rates; stiffness at fixed rates
    double *stage_x;                     // (stages + 1) x nv: chart coordinates, the end last
    // laws with memory and rows of velocities: integrands and rows by places and rates, at fixed
    // rates and of the chart (stages x extra x 4 nv); integrands by memory (stages x nsignal x
    // nsignal); forces by memory (stages x nsignal x nv)
    double *stage_row, *stage_by, *stage_force;
    // stages x ndrive x (3 nv + 2 extra): residual by place, rate and acceleration of a driven
    // coordinate, integrands and rows by place and rate
    double *stage_given;
    snw_state *stage[SNW_STAGES];
    adjoint_hard *hard;                    // of steps with hard contacts; NULL before the first one
    struct adjoint_explicit *explicit_map; // of explicit schemes; NULL before the first one
    adjoint_fold *fold;                    // of folds of paths; NULL before the first one
    struct adjoint_conserved *conserved; // of steps of the conserving scheme; NULL before the first
    ADJOINT_FIELDS(SNW_FIELD_POINTER)
    void *block;
};

// a->in <- inputs at time t, unless it has them: a law with a thousand terms takes longer than a
// step.
void adjoint_inputs_at(snw_adjoint *a, double t);
// K, D, M, C <- tangents at s under the inputs of time t, variations as those of
// snw_tangent_assemble; then K and D at fixed body rates and accelerations.
void adjoint_tangents(snw_adjoint *a, double t, const snw_state *s, bool is_static);
void adjoint_fix_rates(snw_adjoint *a, const snw_state *s);
// row (2 nv) <- by places and rates, at fixed body rates.
void adjoint_fix_row(const snw_model *m, const snw_state *s, double *row);
// y (n) += c A'x, A n x n.
void adjoint_add_transposed(int n, double c, const double *A, const double *x, double *y);
void adjoint_clear_covectors(snw_adjoint *a);
// mu, nu <- inv(T') (right side; bottom NULL: zero)
void adjoint_solve_transposed(const snw_adjoint *a, const double *top, const double *bottom,
                              double *mu, double *nu);
// value (nscalar) += the products with given coordinates, and with the metric of velocities, in
// equations of kinematic steps.
void adjoint_kinematic_sample(const snw_sampler *x, const snw_adjoint *a, const snw_map *map,
                              double *value);
// A map to the accelerations at a state: bars back, with new covectors.
SNW_NODISCARD snw_status adjoint_accelerations_back(snw_adjoint *a, const snw_map *map,
                                                    snw_error *err);
// x (nv) <- Ad(exp(-d))'x on the spherical and free joints.
void adjoint_carry_back(const snw_model *m, const double *d, double *x);
// out (6 x 6, by columns) <- ad of a block's part of v.
void adjoint_block_ad(const snw_block *b, const double *v, double *out);

// A step of collocation (adjoint_stages.c): bars back through it; the product of its covectors with
// the residuals of the stages, by a model in the sampler.
SNW_NODISCARD snw_status adjoint_stages_back(snw_adjoint *a, const snw_map *map, snw_error *err);
void adjoint_stages_sample(const snw_adjoint *a, const snw_map *map, snw_sampler *x, double *value);
void adjoint_stages_destroy(snw_adjoint *a);
// x, rate (nv) <- derivatives by the length of a step of collocation, at fixed start and
// accelerations, of chart coordinates and rates at its fraction c.
void adjoint_stage_slopes(const snw_model *m, const snw_map *map, double c, const double *A,
                          const double *AA, double *x, double *rate);

// A step with hard contacts (adjoint_hard.c): numbers of its equations, and the stage (time of its
// laws) of one of them; its matrices; bars back through it, derivatives by variable k forward, with
// changes of the time before it and of its length, which is returned; its equations by a model in
// the sampler, and the products of its covectors with them.
enum { ADJOINT_HARD_STAGES = 3 };
int adjoint_hard_size(const snw_adjoint *a, const snw_map *map);
int adjoint_hard_stage(const snw_adjoint *a, const snw_map *map, int i);
double adjoint_hard_time(const snw_map *map, int stage);
SNW_NODISCARD snw_status adjoint_hard_prepare(snw_adjoint *a, const snw_map *map, snw_error *err);
SNW_NODISCARD snw_status adjoint_hard_back(snw_adjoint *a, const snw_map *map, snw_error *err);
double adjoint_hard_apply(snw_adjoint *a, const snw_map *map, int k, const double *by,
                          double before, double length);
void adjoint_hard_equations(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *out);
void adjoint_hard_sample(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *value);
double adjoint_hard_magnitude(const snw_adjoint *a, int scalar);
void adjoint_hard_destroy(snw_adjoint *a);
// After its matrices: state in the middle; by += derivatives of the equations by a generalised
// force G there.
const snw_state *adjoint_hard_middle(const snw_adjoint *a);
void adjoint_hard_add_force(const snw_adjoint *a, const snw_map *map, const double *G, double *by);
// An equilibrium with hard contacts (adjoint_rest.c): its matrix; bars back through it; rows (nv +
// nconstraint) and gaps of its contacts by a model in the sampler, at its state, and their products
// with the covectors; x (nv + nconstraint) <- solution for the right side x of the residual and the
// derivatives `by` of the equations by a variable, whose forces of contacts are kept.
SNW_NODISCARD snw_status adjoint_rest_prepare(snw_adjoint *a, const snw_map *map, snw_error *err);
SNW_NODISCARD snw_status adjoint_rest_back(snw_adjoint *a, const snw_map *map, snw_error *err);
void adjoint_rest_equations(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *rows,
                            double *gap);
void adjoint_rest_sample(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *value);
void adjoint_rest_solve(snw_adjoint *a, const snw_map *map, int variable, const double *by,
                        double *x);
// A fold of a path (adjoint_fold.c): its matrices; bars back through it, derivatives by variable k
// forward; residual, rows with their sign and tau (nv + nconstraint + 1) by a model in the sampler,
// and the products of its covectors with them. As a sum of `count` equilibria with covectors, the
// first one at its state.
SNW_NODISCARD snw_status adjoint_fold_prepare(snw_adjoint *a, const snw_map *map, snw_error *err);
SNW_NODISCARD snw_status adjoint_fold_back(snw_adjoint *a, const snw_map *map, snw_error *err);
void adjoint_fold_apply(snw_adjoint *a, int k, const double *by);
void adjoint_fold_equations(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *out);
void adjoint_fold_sample(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *value);
int adjoint_fold_count(void);
snw_map adjoint_fold_show(const snw_adjoint *a, const snw_map *map, int k);
void adjoint_fold_destroy(snw_adjoint *a);
// Free joints on SO(3) x R^3 (adjoint_split.c). Variations, and bars, of rates and accelerations at
// a state: those of body twists become those of the chart, and back. K, D, M at fixed body rates
// <- at fixed chart rates. Increment of a step whose rotations carry variations along.
void adjoint_split_to_chart(const snw_model *m, const snw_state *s, const double *place,
                            double *rate, double *acc);
void adjoint_split_to_body(const snw_model *m, const snw_state *s, const double *place,
                           double *rate, double *acc);
void adjoint_split_bars_to_chart(const snw_model *m, const snw_state *s, double *place,
                                 double *rate, double *acc);
void adjoint_split_bars_to_body(const snw_model *m, const snw_state *s, double *place, double *rate,
                                double *acc);
void adjoint_split_tangents(snw_adjoint *a, const snw_state *s);
const double *adjoint_turn(const snw_adjoint *a, const snw_map *map);
// Bars at the state of a map or frame <- by body twists.
void adjoint_split_end(snw_adjoint *a, const snw_state *s);
// Maps of explicit schemes (adjoint_explicit.c): their derivatives; bars back through them and
// derivatives by variable k forward, with changes of the time before and of the length; where they
// lead by the model of a sampler, for each time at which laws are read, and the products with that.
SNW_NODISCARD snw_status adjoint_explicit_prepare(snw_adjoint *a, const snw_map *map,
                                                  snw_error *err);
SNW_NODISCARD snw_status adjoint_explicit_back(snw_adjoint *a, const snw_map *map, snw_error *err);
void adjoint_explicit_apply(snw_adjoint *a, const snw_map *map, int k, const double *by,
                            double before, double length);
int adjoint_explicit_size(const snw_model *m, const snw_map *map);
int adjoint_explicit_stage(const snw_model *m, int i);
int adjoint_explicit_parts(const snw_map *map);
double adjoint_explicit_time(const snw_map *map, int part);
void adjoint_explicit_equations(const snw_sampler *y, const snw_adjoint *a, const snw_map *map,
                                double *out);
void adjoint_explicit_sample(snw_sampler *y, const snw_adjoint *a, const snw_map *map,
                             double *value);
double adjoint_explicit_magnitude(const snw_adjoint *a, int scalar);
// The last map, taken back by transposes of its stages (adjoint_runge_kutta.c), as a sum of maps to
// accelerations: `count` of them, number i with its covectors in a->covectors, and the part of the
// step at whose time it reads laws.
int adjoint_runge_kutta_count(const snw_adjoint *a);
snw_map adjoint_runge_kutta_show(const snw_adjoint *a, const snw_map *map, int i, int *part);
void adjoint_explicit_destroy(snw_adjoint *a);
// Maps of the conserving scheme (adjoint_conserving.c): its steps and its reference energy.
SNW_NODISCARD snw_status adjoint_conserved_prepare(snw_adjoint *a, const snw_map *map,
                                                   snw_error *err);
SNW_NODISCARD snw_status adjoint_conserved_back(snw_adjoint *a, const snw_map *map, snw_error *err);
void adjoint_conserved_apply(snw_adjoint *a, const snw_map *map, int k, const double *by,
                             double length);
int adjoint_conserved_size(const snw_model *m, const snw_map *map);
// out (adjoint_conserved_size) <- residual and rows, velocities, reference energy and memory at the
// end; or the energy.
void adjoint_conserved_equations(snw_sampler *x, const snw_map *map, double *out);
void adjoint_conserved_sample(const snw_adjoint *a, const snw_map *map, snw_sampler *x,
                              double *value);
void adjoint_conserved_destroy(snw_adjoint *a);
// After its matrices: state in the middle; by += derivatives of the equations by a generalised
// force G there.
const snw_state *adjoint_conserved_middle(const snw_adjoint *a, const snw_map *map);
void adjoint_conserved_add_force(const snw_adjoint *a, const double *G, double *by);
// x (nv) <- S'x on the spherical and free joints; y (nv) += S x, S that of order `order` in
// a->chart, 1 on other coordinates (order 0); x <- Ad(exp(-d)) x.
void adjoint_chart_transposed(const snw_adjoint *a, double *x);
void adjoint_add_chart(const snw_adjoint *a, int order, const double *x, double *y);
void adjoint_carry(const snw_model *m, const double *d, double *x);

// Signals in the equations of a stage: all, where laws have memory. Sum of the integrands at the
// stages with weights A.
int adjoint_stage_memory(const snw_adjoint *a);
// Rows of velocities (wheels), whose multipliers at each stage are unknowns; number of these
// unknowns and of the integrands of one stage; row k as one of the constraints.
int adjoint_stage_rows(const snw_model *m);
int adjoint_stage_extra(const snw_adjoint *a);
int adjoint_stage_row(const snw_model *m, int k);
// Part of the step at which equation `i` of snw_map_parts is.
double adjoint_stage_fraction(const snw_map *map, int i);
// The state s of stage i, its driven coordinates by the laws of the sampler, whose inputs are those
// of the stage, and its branches by the model of the sampler; x->s <- the same at the end of the
// step.
const snw_state *adjoint_stage_state(snw_sampler *x, const snw_map *map, int i, const snw_state *s);
void adjoint_stage_end(snw_sampler *x, const snw_map *map);
// out (3) <- derivatives of a scalar by value, rate and acceleration of the law of drive k at a
// stage of the last step, with the covectors of the residual and of the integrands there.
void adjoint_stage_by_drive(const snw_adjoint *a, int stage, int k, const double *mu,
                            const double *integrand, double *out);
// a->driven <- coordinates that follow laws at the state of a map.
void adjoint_find_driven(snw_adjoint *a, const snw_map *map);
double adjoint_stage_integral(const snw_adjoint *a, const snw_map *map, const double *A,
                              int signal);

// Maxwell branches at the stages (adjoint_stage_branch.c): strains (nbranch_coordinate) at a stage
// by a model, the end of the step last; their part in the rows of stage i of B. Back: X_bar += that
// through the strains at the end; bars before the step from the covectors mu of the residuals,
// returns the derivative by the length. Forward: x (nv) += forces at stage i by what is before the
// step; then the strains at its end from X.
void adjoint_stage_strains(const snw_model *m, const snw_map *map, int stage, double *out);
void adjoint_stage_branch_rows(snw_adjoint *a, const snw_map *map, int i);
void adjoint_stage_branch_begin(snw_adjoint *a, const snw_map *map, int scalar, double *X);
double adjoint_stage_branch_back(snw_adjoint *a, const snw_map *map, int scalar, const double *mu);
void adjoint_stage_branch_force(snw_adjoint *a, const snw_map *map, int k, int i, double length,
                                double *x);
void adjoint_stage_branch_apply(snw_adjoint *a, const snw_map *map, int k, const double *by,
                                const double *X, double length);

// Times (adjoint_time.c). a->by_length; a->of_time and of_length, from the covectors; a->by_time;
// bars of the times before a map from by_own, by_before and these.
void adjoint_find_lengths(snw_adjoint *a, const snw_map *map);
void adjoint_find_products(snw_adjoint *a, const snw_map *map);
void adjoint_find_by_time(snw_adjoint *a, const snw_map *map);
void adjoint_back_times(snw_adjoint *a, const snw_map *map);
// Changes of the length and of the time after a step for those before it, by variable k.
typedef struct adjoint_times {
    double before, length, after;
} adjoint_times;
adjoint_times adjoint_step_times(const snw_adjoint *a, const snw_map *map, int k);
bool adjoint_moves(const snw_map *map); // do times before or after the map vary?

// Memory of laws (adjoint_memory.c). State at which the equations of a map are evaluated, its
// memory that before the integrals advance by half a step; that half.
snw_state adjoint_map_state(const snw_map *map);
double adjoint_half_step(const snw_map *map);
// Is the signal an integral, or memory that derivatives pass through: an integral or a sample?
bool adjoint_is_integral(const snw_model *m, int signal);
bool adjoint_is_memory(const snw_model *m, int signal);
// integrand_row, integrand_by, memory_force, integrand <- at s, after the tangents there.
void adjoint_find_memory(snw_adjoint *a, const snw_state *s);
// out (nsignal) <- integrands after a residual.
void adjoint_integrands(const snw_model *m, const snw_inputs *in, const snw_work *w, double *out);
// Size of a stored signal, by which it is moved in differences, in its own unit: the largest value
// at the maps so far.
double adjoint_memory_size(const snw_adjoint *a, const snw_map *map, int signal);
// out <- derivative of an output by a stored signal, at a fixed state of the robot; false: it takes
// differences. After the evaluation of that state in a->w.
bool adjoint_output_by_memory(const snw_adjoint *a, int output, int signal, double *out);
// Bars of place and rate += those through the integrands; after the covectors, bars of the memory
// before the map.
void adjoint_memory_begin(snw_adjoint *a, const snw_map *map, int scalar);
void adjoint_memory_back(snw_adjoint *a, const snw_map *map, int scalar);
// x (nv) += forces by the memory before a map, of variable k, which a->memory keeps with the
// integrands; then the memory after it, `by` of the integrands.
void adjoint_memory_force(snw_adjoint *a, const snw_map *map, int k, double length, double *x);
void adjoint_memory_apply(snw_adjoint *a, const snw_map *map, int k, const double *by);

// Maxwell branches (adjoint_branch.c). x->s->relaxed, follow <- of the equations of a map by the
// model of x; out (nbranch_coordinate) <- strains after it, 0 where it leaves them.
void adjoint_sampler_branches(snw_sampler *x, const snw_map *map);
void adjoint_branches_after(const snw_sampler *x, const snw_map *map, double *out);
// Derivative of strain i after a step by its length, at fixed coordinates.
double adjoint_branch_by_length(const snw_map *map, snw_branch_place at, int i);
// As for the memory of laws: before and after the covectors; before and after the solution.
void adjoint_branch_begin(snw_adjoint *a, const snw_map *map, int scalar);
void adjoint_branch_back(snw_adjoint *a, const snw_map *map, int scalar);
void adjoint_branch_force(snw_adjoint *a, const snw_map *map, int k, double length, double *x);
void adjoint_branch_apply(snw_adjoint *a, const snw_map *map, int k, const double *by);

// Matrices. T <- K S + a D + b M of a step without the columns of driven rates, or A (nv x nv);
// then borders [T -C'; sign C 0], whose rows are multiplied by S on spherical and free joints; then
// factors. `near`: refuse a matrix close to singular.
snw_scheme_map adjoint_scheme_map(const snw_map *map);
void adjoint_step_matrix(snw_adjoint *a, const snw_map *map, const snw_scheme_map *c);
void adjoint_place_matrix(snw_adjoint *a, const double *A);
// T of an equilibrium with its border, after the tangents there.
void adjoint_static_matrix(snw_adjoint *a, const snw_map *map);
// Rows of a step are those by places, then `rate` times those of velocities are added.
void adjoint_border(snw_adjoint *a, const double *C, double sign);
void adjoint_chart_rows(snw_adjoint *a);
void adjoint_rate_rows(snw_adjoint *a, double rate);
SNW_NODISCARD snw_status adjoint_factor(snw_adjoint *a, bool near, const char *what, double t,
                                        snw_error *err);
// Is the output an energy that has a part in contacts, springs and stops? Its onset is not smooth,
// so that part has derivatives of its own (a->interaction).
bool adjoint_has_interaction(const snw_adjoint *a, int output);
// Residual and observers at s with the forces (3 for each) of the hard contacts that a frame shows;
// outputs there; rates of the rows.
void adjoint_evaluate(const snw_model *m, const snw_map *map, const double *forces,
                      const snw_inputs *in, const snw_state *s, snw_work *w);
// forces <- of the hard contacts of a frame; returns their number.
int adjoint_frame_forces(const snw_map *map, double *forces);
// w <- the forces (3 for each) of the contacts of a step along their axes at its end; NULL: none.
void adjoint_hard_show(const snw_model *m, const struct snw_hard_step *r, const double *forces,
                       snw_work *w);
void adjoint_read_outputs(const snw_adjoint *a, const snw_model *m, const snw_inputs *in,
                          const snw_state *s, snw_work *w, snw_vec3 *rotation, double *column,
                          double *y);
void adjoint_row_rates(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w,
                       double *rate, double *acceleration);
// x->s, x->in <- those at which the equations of a map are evaluated.
void adjoint_sampler_state(snw_sampler *x, const snw_map *map);
// After it: are the derivatives of the output by the state known (output_bars.h)? Not of a rotation
// beyond half a turn.
bool adjoint_knows(const snw_adjoint *a, int i);
// a->rows, a->exact <- rows of the outputs at a frame; y as for snw_adjoint_frame.
SNW_NODISCARD snw_status adjoint_rows(snw_adjoint *a, const snw_map *map, const double *y,
                                      snw_error *err);
// a->impulse <- impulses of a restart, after its matrix.
void adjoint_find_impulse(snw_adjoint *a, const snw_map *map);
// Matrices and states of the stages of a step of collocation, factors of its matrix.
SNW_NODISCARD snw_status adjoint_stages_prepare(snw_adjoint *a, const snw_map *map, snw_error *err);
