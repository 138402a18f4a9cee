// SPDX-License-Identifier: MIT
//
// run_private.h: data of a run and functions shared by the files that carry out its steps.
#pragma once

#include "constraint/closure_choice.h"
#include "study/run.h"

#include "constraint/impact.h"
#include "integrate/integrator.h"
#include "model/rod_mesh.h"
#include "study/held_inputs.h"
#include "study/modes.h"
#include "study/probe.h"
#include "study/statics.h"
#include "study/truncation.h"

// A phase of the study: the initial description, or the one after a `change` step.
typedef struct snw_phase {
    const snw_desc *desc;
    snw_model *compiled;    // with the initial meshes
    snw_model *remeshed;    // with the present meshes; NULL: the initial ones
    snw_closure_rows *rows; // of the redundant loops of either; NULL: no redundant loops
    const snw_model *model; // in use: of `rows`, or `remeshed`, or `compiled`
    snw_statics *statics;
    struct snw_connection *connection; // of probes that read it; NULL: there are none
    snw_link_desc *link;               // own copy, where rods have adaptive meshes; else NULL
    snw_tube_desc *tube;               // own copy, where concentric tubes slide; else NULL
    snw_pool *tube_pool;               // of their present rods; NULL: the initial ones
    const snw_desc *file_desc;  // with the numbers of the file, where a step finds some; else NULL
    snw_desc *number_desc;      // with numbers of the file found by an inverse step; NULL: none
    snw_truncation *truncation; // created at the first estimate; NULL: no estimate
    bool truncation_tried;      // creation was attempted
    snw_truncation_gap gap;     // why there is no estimate
} snw_phase;

// Position of a run within its study.
typedef struct snw_run_cursor {
    int stage;
    bool done;       // the last frame of the stage was recorded
    double k;        // intervals of the stage's time grid done
    double t0;       // time at which the stage began, s
    double start;    // mechanical energy at t0, J; dynamic steps
    double supplied; // bound on the energy that could have moved the robot since t0, J (6.14)
    double height;   // gravitational energy at t0, J
} snw_run_cursor;

// Presumed cause of energy created or removed by the time integrator.
typedef enum snw_drift_cause {
    SNW_DRIFT_CAUSE_MOTION, // motion that the steps do not resolve
    SNW_DRIFT_CAUSE_CONTACT,
    SNW_DRIFT_CAUSE_RELEASE, // the step has just begun
    SNW_DRIFT_CAUSE_JUMP,    // a law jumped
    SNW_DRIFT_CAUSE_DAMPING,
    SNW_DRIFT_CAUSE_STOP // at a stop of a joint, or in a cable that is taut
} snw_drift_cause;

// The interval with the largest created or removed energy.
typedef struct snw_drift_peak {
    double energy, t; // J, s
    double why;       // snw_drift_cause as a double, for checkpoints
} snw_drift_peak;

// Energy removed by the time integrator during a dynamic step, J (theory.md 6.5).
typedef struct snw_energy_drift {
    double scheme, heat;     // at the last instant
    double high, low;        // extremes of `scheme` so far
    double created, removed; // largest fall of `scheme`, or rise of balance - scheme; largest rise
    double least;            // minimum of balance - scheme over the frames
    double jump;             // time of the last jump of a law, s
    snw_drift_peak creates, removes;
} snw_energy_drift;

struct snw_run {
    const snw_desc *desc;
    bool whole;                 // kinematic models with tangents
    snw_closure_choice *choice; // while the run is created: of its first model
    bool one_of_many;           // it serves other runs as well
    snw_pool *pool;
    int nphase;
    snw_phase *phase;
    int *phase_of_step; // nstep: index of the phase after each step
    snw_run_info info;
    const snw_model *largest;  // model of the phase with most constraints; sizes the states
    double *start_q, *start_v; // initial state in place of the model's; NULL: that
    snw_state *state;
    snw_state **end_state;                 // nstep: state at the end of each step done
    const snw_manual_inputs *manual;       // held inputs, for solvers; NULL: no inverse step
    snw_held_inputs held;                  // if there is one: study/run_held.h
    size_t nheld;                          // numbers of it
    double *end_held;                      // nstep x nheld: at the end of each step done
    struct snw_inverse_result **found;     // nstep: of inverse steps; NULL: not executed, or others
    int number_stage;                      // inverse step that finds numbers of the file; -1: none
    int nnumber;                           // such numbers
    double *number;                        // nnumber: found
    bool numbers_found;                    // the phase in use has them
    snw_vec3 *rotation, *rotation_scratch; // nseg + nobs: rotation vectors; scratch of signals
    double *lambda;                        // scratch: multipliers
    double *z;                             // nsignal: scratch, memory of signals
    bool *never_sampled;                   // nsignal: scratch, samples not taken yet
    double *signals_before; // nsignal + 1: signals at the start of the last step, and its time, s
    double *column;
    double *declared_q, *declared_v; // coordinates and velocities in the bases of the file
    bool mesh_adapts;                // some rod has an adaptive mesh
    size_t nmesh_cells;              // numbers that describe the cells of all adaptive meshes
    double *mesh_cells;   // 2 x nmesh_cells: per rod the count and the cell ends; then a trial mesh
    snw_se3 *pose;        // poses at the nodes of the initial mesh
    size_t nclosure_rows; // loops whose independent rows may change
    double *closure_rows; // nclosure_rows: scratch, the present choice for checkpoints
    int *column_first;    // nprobe: first column, -1: not recorded
    snw_vec3 start;       // initial centre of mass
    double *forces;       // of a frame: loads, loops, contacts (6 each), tendon efforts, conditions
    double *fold;         // of a frame: derivatives of a fold
    bool reads_stability;
    bool warned_unstable;          // warned of an unstable equilibrium
    bool warned_indefinite;        // warned of a material that has lost its definiteness
    int nbranch_left;              // warnings that a branch of equilibria was left
    bool warned_violation;         // warned of nearly contradictory loops
    bool warned_penalty;           // warned of loops closed by springs
    bool warned_push;              // warned that a robot pushes against such loops
    bool warned_dependent;         // warned of rows that depend on others in a march
    bool warned_friction;          // warned of tendon friction neglected in static steps
    bool noted_local;              // noted what equilibria of local models are not tested for
    snw_modes **modes;             // nstep: of modes steps; NULL of others
    snw_state *mode_state;         // displaced along a mode
    struct snw_path_record **path; // nstep: of path steps; NULL of others
    // nlink + ntendon + nforce_element: warned of joint limits, of pushing or degenerate tendons,
    // of degenerate force elements
    bool *warned_limit;
    // nblock, at the last instant, rad: spherical springs, from rest; x: angles of other joints
    snw_vec3 *spring_rotation;
    bool *warned_half_turn;          // nblock: warned that it has passed half a turn
    int spring_rotation_stage;       // stage of that instant
    unsigned long long *warned_rows; // nloop: one bit per set of dropped rows already reported
    snw_vec3 *contact_place; // statics: contact points before a solution; NULL: no curved obstacle
    bool warned_passed;      // a warning that one has been passed through was given
    bool warned_open;        // warned that redundant rows are violated
    // of one execution
    snw_truncation_info truncation;  // largest truncation error so far
    const snw_desc *truncation_desc; // description it belongs to; NULL: none
    snw_phase *now;
    int nrecorder;
    const snw_recorder *recorder;
    const snw_run_hooks *hooks;
    snw_run_totals totals;
    int increments_before; // increments made before the checkpoint that this execution resumes
    snw_run_cursor cursor;
    bool resuming;                      // continue from `checkpoint`
    bool loads_applied;                 // statics carries the loads of an earlier step
    double *checkpoint;                 // info.nsave: of the last frame, or to resume from
    double next_frame;                  // time from which the next frame is due, s
    double work, heat, scheme, balance; // sums over the dynamic steps done, J
    snw_energy_drift energy_drift;
    double energy_before_change;             // T + U before the changes just applied, J; NaN: none
    double frequency[SNW_PROBE_FREQUENCIES]; // Hz, of the modes found last; NaN: none
    bool *modes_found;                       // nstep
    double pole[SNW_PROBE_POLES];            // 1/s, of the linear model found last; NaN: none
    struct snw_linear_view **linear;         // nstep: of linearize steps; NULL of others
    bool *linear_found;                      // nstep
    struct snw_shooter **fields; // nstep: shooting fields at the end of a step; NULL: coordinates
    struct snw_shooter *current; // fields of the present state; NULL: coordinates
    size_t *field_save_size;     // nstep: checkpoint numbers of these fields; 0: not needed later
    size_t integrator_save_size; // checkpoint numbers of the largest integrator
};

// Source of a frame: state, inputs, evaluated quantities and solver statistics.
typedef struct snw_frame_source {
    const snw_state *state;
    const snw_inputs *in;
    const snw_work *w;
    const snw_integrator *integrator; // NULL: statics
    const struct snw_shooter *fields; // NULL: coordinates
    snw_energy energy;
    snw_stats stats;
    bool partial;
    bool unsaved; // live stepping, or a point of a path that cannot be continued: no checkpoint
    bool of_path; // a point of a path
    snw_path_place place; // of it
    const double *mode;   // nv: recorded in place of the velocities; NULL: none
    const double *fold;   // derivatives of a fold by the parameters of its path; NULL: none
    const struct snw_linear_model *linear; // linear model about the state; NULL: none
} snw_frame_source;

// Read the probes and hand the frame to the recorders.
SNW_NODISCARD snw_status snw_run_frame(snw_run *r, int stage, const snw_frame_source *v,
                                       snw_error *err);
// forces <- wrenches of loads, loops and contacts, tendon efforts and active conditions, in the
// order and frames of snw_frame.
void snw_run_forces(const snw_run *r, const snw_frame_source *v, double *forces);
// Is a frame due at time t? Moves r->next_frame on.
bool snw_run_frame_due(snw_run *r, double t, bool last);
// Divergence test (theory.md 6.14). Begin: energies at the start of a dynamic step. Check: e at the
// integrator's present; SNW_E_DIVERGED when the steps have created far more energy than was stored
// or supplied.
void snw_run_divergence_begin(snw_run *r, const snw_energy *first);
SNW_NODISCARD snw_status snw_run_check_divergence(snw_run *r, const snw_integrator *it,
                                                  const snw_energy *e, snw_error *err);

// Energy account of a dynamic step at the integrator's present (theory.md 6.4), w evaluated there;
// changes are counted from cursor.start.
snw_energy snw_run_energies(const snw_run *r, const snw_integrator *it, const snw_work *w);
// T + U of the run's state, by the present model or, with shooting, by its fields, J.
double snw_run_mechanical_energy(snw_run *r);
// Add work, heat, scheme and balance of a finished dynamic step to the sums of the run.
void snw_run_accumulate_energies(snw_run *r, const snw_energy *e);
// Energy created and removed by the time integrator (run_energy_drift.c): at the start of a dynamic
// step, after each instant, at each frame, and the warning at the end.
void snw_energy_drift_begin(snw_energy_drift *d);
void snw_energy_drift_update(snw_run *r, const snw_integrator *it, const snw_stats *took);
void snw_energy_drift_at_frame(snw_energy_drift *d, const snw_energy *e);
void snw_energy_drift_warn(const snw_run *r, const snw_step_desc *step, double grid);
// Rounding of the energies of a robot at rest, J.
double snw_energy_noise(const snw_run *r);
void snw_run_report_progress(const snw_run *r, int stage, double t, double t0, double t1);
void snw_run_warn(const snw_run *r, const char *message);
void snw_run_note(const snw_run *r, const char *message);
// Is an error estimate due at this frame? Every 50th and the last, since one costs more than a
// step.
bool snw_run_error_estimate_due(const snw_run *r, bool last);
// stats <- estimated discretisation errors at s: quadrature and truncation of the strain bases
// (theory.md 5.1). Allocates.
void snw_run_estimate_errors(snw_run *r, const snw_state *s, snw_truncation_state kind,
                             snw_stats *stats);
// Warn of the errors that are too large; at the end of an execution.
void snw_run_warn_accuracy(const snw_run *r);
// The same for the frequencies of a modes step (theory.md 7.2); warns at once.
void snw_run_estimate_mode_errors(snw_run *r, int stage, snw_stats *stats);

// totals.time_error <- estimated error of the time steps of a dynamic step (theory.md 6.18), 0 when
// not known; warns when it is too large.
void snw_run_warn_time_error(snw_run *r, const snw_step_desc *step, const snw_integrator *it);
// Warns of hard contacts whose forces violate their law in a dynamic step (theory.md 6.9).
void snw_run_warn_contact_law(const snw_run *r, const snw_step_desc *step,
                              const snw_integrator *it);
bool snw_run_stopped(const snw_run *r);
// Evaluate the conditions at the run's state, where a step begins; takes no samples.
void snw_run_set_conditions(snw_run *r);
// Warn of loops that are open where a step begins and will be closed by projection.
void snw_run_warn_violations(snw_run *r);
// Warn of rows of closed loops that were dropped as redundant; once for each set of rows.
void snw_run_warn_dropped_rows(snw_run *r, const snw_state *s);
// Fails, with the location of the step, if a material relaxes.
SNW_NODISCARD snw_status snw_run_refuse_relaxation(const snw_run *r, const snw_step_desc *step,
                                                   const char *what, snw_error *err);
// Warn once if the tangent of a nonlinear material is not definite.
void snw_run_warn_indefinite(snw_run *r, const snw_state *s);
// Warn of joints outside their limits and of tendons that would push; once each in an execution.
// SNW_E_MODEL where a variable-length rod has no free length left.
SNW_NODISCARD snw_status snw_run_check_limits(snw_run *r, const snw_state *s, snw_error *err);
// Warn where springs of spherical joints pass half a turn, and where a joint makes more than half a
// turn in a step and moves a screw that closes a loop (run_spring_turns.c). Begin at r->state,
// then call at every instant.
void snw_run_spring_turns_begin(snw_run *r);
void snw_run_warn_spring_turns(snw_run *r, const snw_state *state);

// Checkpoints (run_checkpoint.c). Save: r->checkpoint <- all numbers on which the run after the
// present frame depends; NULL when the integrator or the shooting fields cannot be saved. Load
// restores the run from r->checkpoint; the integrator's own numbers are at
// snw_run_checkpoint_integrator.
size_t snw_run_checkpoint_size(snw_run *r);
const double *snw_run_checkpoint_save(snw_run *r, const snw_frame_source *v);
SNW_NODISCARD snw_status snw_run_checkpoint_load(snw_run *r, snw_error *err);
const double *snw_run_checkpoint_integrator(const snw_run *r);

// SNW_E_MODEL when a nonholonomic constraint at a sliding station is active: equilibria and modes
// are determined by configurations alone.
SNW_NODISCARD snw_status snw_run_refuse_nonholonomic(const snw_run *r, const snw_step_desc *step,
                                                     snw_error *err);

// Independent rows of redundant loops (run_closure_rows.c): memory for their choice; the choice of
// the compiled model; r->closure_rows from and to the present phase.
SNW_NODISCARD snw_status snw_run_rows_alloc(snw_run *r);
void snw_run_rows_reset(snw_run *r);
void snw_run_rows_get(snw_run *r);
SNW_NODISCARD snw_status snw_run_rows_set(snw_run *r, snw_error *err);

// e->desc <- a copy whose links e->link can be modified, unless it is one.
snw_status snw_run_own_links(snw_run *r, snw_phase *e);
// From now on phase e uses m, with the rows of redundant loops chosen so far. The integrator of a
// step is told by the caller.
snw_status snw_run_use_model(snw_run *r, snw_phase *e, const snw_model *m);
// Concentric tubes that slide take the places of time t (run_tube.c).
snw_status snw_run_place_tubes(snw_run *r, double t, bool is_static, snw_error *err);


// Adaptive meshes of rods (run_mesh.c). e->desc <- d, or a copy whose cells may change.
SNW_NODISCARD snw_status snw_run_mesh_own_desc(snw_run *r, const snw_desc *d, snw_phase *e);
// e->compiled, e->model <- the model of e->desc; given: it serves kinematic steps only.
SNW_NODISCARD snw_status snw_run_mesh_compile(snw_run *r, snw_phase *e, bool given, snw_error *err);
// Memory for the cells; after the models are compiled.
SNW_NODISCARD snw_status snw_run_mesh_alloc(snw_run *r);
// Give each rod with `nodes: auto` the largest number of nodes that any phase needs; given: the
// models serve kinematic steps only.
SNW_NODISCARD snw_status snw_run_mesh_equal_nodes(snw_run *r, bool given, snw_error *err);
// All phases with their initial meshes.
SNW_NODISCARD snw_status snw_run_mesh_reset(snw_run *r, snw_error *err);
// Compile the model of phase e with the cells in r->mesh_cells, of another phase or a checkpoint.
SNW_NODISCARD snw_status snw_run_mesh_apply(snw_run *r, snw_phase *e, snw_error *err);
// Refine the meshes where the error at s leaves the tolerance and, when loosen, coarsen them where
// it is far below; is_static: the state is an equilibrium. Allocates only when *changed.
SNW_NODISCARD snw_status snw_run_mesh_adapt(snw_run *r, const snw_state *s, bool is_static,
                                            bool loosen, bool *changed, snw_error *err);
// Poses of a frame, nnode, at the nodes of the initial mesh.
const snw_se3 *snw_run_frame_poses(snw_run *r, const snw_frame_source *v);

// Warn, once in an execution, that a static step neglects the friction of a tendon; of a compliant
// contact that touches at an equilibrium.
void snw_run_warn_static_friction(snw_run *r, const snw_step_desc *step);
void snw_run_warn_contact_friction(snw_run *r, const snw_work *w);
SNW_NODISCARD snw_status snw_run_static(snw_run *r, int stage, snw_error *err);
// Conditions and samples at the start of a step of equilibria; they stay constant during it.
void snw_run_remember(snw_run *r);
// The first equilibrium of a run, at the present time; loops are assembled.
SNW_NODISCARD snw_status snw_run_first_equilibrium(snw_run *r, snw_error *err);
// Frame of an equilibrium that is the run's state.
snw_status snw_run_equilibrium_frame(snw_run *r, int stage, const snw_statics_info *info, bool last,
                                     snw_error *err);
// Instants of a step of equilibria: the number of the last one, and the time of number k.
static inline long snw_run_instants(const snw_step_desc *step) {
    return step->duration > 0 ? (long)ceil(step->duration / step->step - 1e-9) : 0;
}
static inline double snw_run_instant(const snw_step_desc *step, double t0, long k) {
    return k < snw_run_instants(step) ? t0 + (double)k * step->step : t0 + step->duration;
}
SNW_NODISCARD snw_status snw_run_inverse(snw_run *r, int stage, snw_error *err);
// Linear models of linearize steps (run_linear.c): inputs, outputs and names before anything is
// computed; the step itself.
SNW_NODISCARD snw_status snw_run_linear_create(snw_run *r, snw_error *err);
void snw_run_linear_destroy(snw_run *r);
SNW_NODISCARD snw_status snw_run_linearize(snw_run *r, int stage, snw_error *err);
// An equilibrium, or a path of equilibria, by the shooting engine.
SNW_NODISCARD snw_status snw_run_shooting(snw_run *r, int stage, snw_error *err);
// r->fields[stage], r->current <- a copy of these fields; NULL: none.
SNW_NODISCARD snw_status snw_run_keep_fields(snw_run *r, int stage,
                                             const struct snw_shooter *fields, snw_error *err);
SNW_NODISCARD snw_status snw_run_modes(snw_run *r, int stage, snw_error *err);
// Constants of the file by which the folds of a path are differentiated, the first of its
// parameters.
int snw_run_fold_parameters(const snw_path_desc *path);
// A path of equilibria, and what it needs and keeps.
SNW_NODISCARD snw_status snw_run_path_create(snw_run *r, int stage, struct snw_path_record **out);
void snw_run_path_destroy(struct snw_path_record *path); // NULL is fine
SNW_NODISCARD snw_status snw_run_path(snw_run *r, int stage, snw_error *err);
// Its numbers in a checkpoint.
size_t snw_run_path_saves(const snw_run *r, int stage);
void snw_run_path_save(const snw_run *r, int stage, double *row);
SNW_NODISCARD snw_status snw_run_dynamic(snw_run *r, int stage, snw_error *err);
