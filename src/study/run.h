// SPDX-License-Identifier: MIT
//
// run.h: does what a description asks for, step by step, and hands every frame to a recorder.
#pragma once

#include "model/desc.h"
#include "study/record.h"

typedef struct snw_run snw_run;

// Where a run is, for progress and stop; called between increments, from the thread that runs.
typedef struct snw_progress {
    const char *stage_name;
    double t;
    double fraction; // of the whole run, 0 to 1
} snw_progress;

typedef struct snw_run_hooks {
    void *user;
    void (*progress)(void *user, const snw_progress *p); // NULL: none
    bool (*stop)(void *user);                      // true: end with SNW_E_STOPPED; NULL: never
    void (*warn)(void *user, const char *message); // NULL: none
    void (*note)(void *user, const char *message); // of what is right but may surprise; NULL: none
    int increments; // end with SNW_E_STOPPED once this execution has made so many; 0: no limit
} snw_run_hooks;

// Totals of a run, for its closing summary.
typedef struct snw_run_totals {
    int frames, iterations, tangents, increments; // tangents: of implicit steps
    int grids, most_nodes; // how often nodes that follow rods were placed, and the most in use
    double worst_residual, worst_geometry; // geometry relative to the rod's length
    double worst_quadrature;               // of what is integrated along rods, relative
    double worst_truncation; // of strain bases, relative to the rod's length; NaN: not known
    double worst_condition;  // of Newton's matrices, estimated; 0: there were none
    double stability;        // at the last frame, NaN when not known
    bool follower; // the tangent was not symmetric there: flutter may come before buckling
    // of the last dynamic step, J: energy not accounted for at its end; removed by the scheme; the
    // largest of kinetic energy, work, heat and change of the whole among its frames
    double balance, scheme, exchanged;
    double created, removed; // by the scheme, most between two instants of the last dynamic step, J
    double astray;  // of the last dynamic step: estimated error of its time steps, of the robot's
                    // length; 0: not known
    double seconds; // wall clock
    double moved,
        moving; // of the dynamic steps: time that went by in the model, and on the wall clock, s
} snw_run_totals;

// Compile the description. The description must outlive the run; `name` is copied.
SNW_NODISCARD snw_status snw_run_create(const snw_desc *desc, const char *name, snw_run **out,
                                        snw_error *err);
void snw_run_destroy(snw_run *r); // NULL is fine

const snw_run_info *snw_run_describe(const snw_run *r);
const struct snw_model *snw_run_model(const snw_run *r);
// The model that step `stage` is done with, after all changes before it.
const struct snw_model *snw_run_model_at(const snw_run *r, int stage);

// Modes that step `stage` found in the last execution; NULL: it is of another kind, or was not
// done.
const struct snw_mode_table *snw_run_modes_found(const snw_run *r, int stage);
// idle[l] (nlink of the description) <- whether link l's joint has a motion that nothing resists
// and nothing takes part in, where the loops are closed. Allocates; takes nv^3.
SNW_NODISCARD snw_status snw_run_idle(const snw_run *r, bool *idle, snw_error *err);

// The next execution goes on after the frame that `save` (info.nsave numbers, checked here for
// their stage only) came with: the frames after it have the bits they would have had.
SNW_NODISCARD snw_status snw_run_resume(snw_run *r, const double *save, snw_error *err);

// Each recorder gets every frame, in order; all are told how it ended.
SNW_NODISCARD snw_status snw_run_execute(snw_run *r, int nrecorder, const snw_recorder *recorder,
                                         const snw_run_hooks *hooks, snw_run_totals *totals,
                                         snw_error *err);
