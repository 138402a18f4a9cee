// SPDX-License-Identifier: MIT
//
// run.h: executes the steps of a study in order and passes every frame to the recorders.
#pragma once

#include "dynamics/inputs.h"
#include "integrate/step_together.h"
#include "integrate/step_watch.h"
#include "model/desc.h"
#include "study/record.h"

typedef struct snw_run snw_run;

// Progress of a run. Hooks are called between increments, from the thread that executes the run.
typedef struct snw_progress {
    const char *stage_name;
    double t;
    double fraction; // of the whole run, 0 to 1
} snw_progress;

// Place of an equilibrium on a path of equilibria.
typedef enum snw_path_place {
    SNW_PLACE_NONE,   // no path
    SNW_PLACE_START,  // at its start
    SNW_PLACE_GIVEN,  // at an end of the range of its parameter
    SNW_PLACE_FOLD,   // at a fold
    SNW_PLACE_BRANCH, // at another special point
    SNW_PLACE_CHOSEN  // between them, where the lengths of the steps put it
} snw_path_place;

// A frame in the coordinates of the computation.
typedef struct snw_run_state {
    int stage;
    const snw_model *m;
    const snw_state *s;
    const snw_inputs *in;
    bool moves;                     // of a motion; else of an equilibrium
    bool shown;                     // no map leads to it: a mode, a part of a load, a linear model
    const double *save;             // checkpoint of this frame, info.nsave numbers; NULL: none
    snw_relaxation_rule relaxation; // of an equilibrium: of materials that relax
    bool steady;                    // likewise: with the rates of given motions
    snw_path_place place;           // likewise
    const struct snw_work *w;       // motion and forces there
} snw_run_state;

typedef struct snw_run_hooks {
    void *user;
    void (*progress)(void *user, const snw_progress *p); // NULL: none
    bool (*stop)(void *user);                      // true: end with SNW_E_STOPPED; NULL: never
    void (*warn)(void *user, const char *message); // NULL: none
    void (*note)(void *user, const char *message); // of correct but unexpected results; NULL: none
    snw_step_watch watch; // reports the maps of motions; none of schemes that report none
    // Called with the state of each frame before it is recorded, in the coordinates of the model m
    // and under the inputs `in`; NULL: not. It may fail, which ends the run.
    snw_status (*state)(void *user, const struct snw_run_state *at, snw_error *err);
    int increments; // end with SNW_E_STOPPED after so many increments; 0: no limit
    // Leave out what serves warnings only: estimated errors of discretisation and time steps, and
    // the stability of equilibria that no probe reads; and checkpoints. Numbers of frames are the
    // same to the last bit.
    bool unchecked;
    snw_step_together together; // solves implicit steps with those of other runs; none: NULL
} snw_run_hooks;

// Totals of a run, for its closing summary.
typedef struct snw_run_totals {
    int frames, iterations, tangents, increments; // tangents: of implicit steps
    int meshes, most_nodes;  // changes of adaptive meshes, and the most nodes in use
    double worst_residual;   // scaled
    double worst_geometry;   // estimated error of node positions, relative to the rod's length
    double worst_quadrature; // estimated relative error of quadrature along rods
    double worst_truncation; // of strain bases, relative to the rod's length; NaN: not known
    double worst_condition;  // estimated condition number of Newton's matrices; 0: none
    double stability;        // at the last frame, NaN when not known
    bool follower;           // the tangent was not symmetric there: flutter may precede buckling
    // of the last dynamic step, J: energy not accounted for at its end; removed by the scheme; the
    // largest of kinetic energy, work, heat and change of total energy among its frames
    double balance, scheme, exchanged;
    double created, removed; // by the scheme, most between two instants of the last dynamic step, J
    double time_error;       // estimated error of the time steps of the last dynamic step, relative
                             // to the robot's length; 0: not known
    double seconds;          // wall clock
    double simulated, wall;  // of the dynamic steps: simulated time and wall-clock time, s
} snw_run_totals;

// Compile the description. The description must outlive the run; `name` is copied.
SNW_NODISCARD snw_status snw_run_create(const snw_desc *desc, const char *name, snw_run **out,
                                        snw_error *err);
// The same for derivatives: models of kinematic steps have tangents, too.
SNW_NODISCARD snw_status snw_run_create_whole(const snw_desc *desc, const char *name, snw_run **out,
                                              snw_error *err);
// The same with what runs before have found out about the loops of this robot, for many runs whose
// numbers differ (constraint/closure_choice.h). The run is the same to the last bit.
typedef struct snw_closure_choice snw_run_loops;
SNW_NODISCARD snw_status snw_run_loops_create(snw_run_loops **out);
void snw_run_loops_destroy(snw_run_loops *loops); // NULL is fine
SNW_NODISCARD snw_status snw_run_create_like(const snw_desc *desc, const char *name,
                                             snw_run_loops *loops, snw_run **out, snw_error *err);
void snw_run_destroy(snw_run *r); // NULL is fine

const snw_run_info *snw_run_describe(const snw_run *r);
const struct snw_model *snw_run_model(const snw_run *r);
// The model of step `stage`, after all changes before it.
const struct snw_model *snw_run_model_at(const snw_run *r, int stage);

// *t (from snw_alloc) <- the n times between t0 and t1, rising, at which laws of the description
// jump during its step `stage`.
SNW_NODISCARD snw_status snw_run_law_jumps(const snw_desc *d, int stage, double t0, double t1,
                                           int *n, double **t);

// Modes found by step `stage` in the last execution; NULL: not a modes step, or not executed.
const struct snw_mode_table *snw_run_modes_found(const snw_run *r, int stage);
// Special points found by step `stage` in the last execution; NULL: not a path step, or not
// executed.
const struct snw_special_table *snw_run_special_points(const snw_run *r, int stage);
// Inputs found by step `stage` in the last execution, at its last instant; NULL: not an inverse
// step, or not executed.
const struct snw_inverse_result *snw_run_inverse_found(const snw_run *r, int stage);
// Inputs that inverse steps hold at present, which stay where they are; NULL: there is no such
// step.
struct snw_held_inputs;
const struct snw_held_inputs *snw_run_held(const snw_run *r);
// Linear model of step `stage` in the last execution; NULL: not a linearize step, or not executed.
const struct snw_linear_model *snw_run_linear_found(const snw_run *r, int stage);
// idle[l] (nlink of the description) <- whether the joint of link l has a free motion at the closed
// initial configuration: no force resists it and no other coordinate takes part. Allocates; cost
// nv^3.
SNW_NODISCARD snw_status snw_run_idle_joints(const snw_run *r, bool *idle, snw_error *err);

// The next execution continues after the frame whose checkpoint `save` is (info.nsave numbers; only
// their stage is checked here). The frames after it equal those of an uninterrupted run to the last
// bit.
SNW_NODISCARD snw_status snw_run_resume(snw_run *r, const double *save, snw_error *err);

// Later executions start from these coordinates (nq) and velocities (nv) in place of the model's.
SNW_NODISCARD snw_status snw_run_start_from(snw_run *r, const double *q, const double *v,
                                            snw_error *err);

// Execute the study. Each recorder receives every frame in order, then the end of the run.
SNW_NODISCARD snw_status snw_run_execute(snw_run *r, int nrecorder, const snw_recorder *recorder,
                                         const snw_run_hooks *hooks, snw_run_totals *totals,
                                         snw_error *err);
