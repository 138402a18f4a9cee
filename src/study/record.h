// SPDX-License-Identifier: MIT
//
// record.h: interface between a study and the recorders of its frames: result files in HDF5,
// series in memory, a live view. The study depends on this interface only.
#pragma once

#include "integrate/stats.h"
#include "math/se3.h"
#include "model/desc.h"
#include "model/step_bound.h"
#include "sinew/status.h"

#include <stdbool.h>

// One scalar column of a probe, e.g. probe "tip", component "x".
typedef struct snw_column {
    const char *probe, *component; // component "" for a scalar probe
    int station;                   // index of the station of a probe with `along`; else -1
} snw_column;

// A derivative of the folds of a path step: dt/dm by a constant m of the file, SI.
typedef struct snw_fold_column {
    const char *by; // name of m
    int stage;      // the step
} snw_fold_column;

// A step of the study that makes a linear model.
typedef struct snw_linear_step_info {
    int stage;
    int text; // bytes of the longest name or unit, NUL included
} snw_linear_step_info;

// Names and sizes that a recorder needs before the first frame. Owned by the run.
typedef struct snw_run_info {
    const char *run;   // name of the run
    const char *title; // may be empty
    int nstage;
    const char *const *stage;
    int nq, nv;
    int freedom; // degrees of freedom: nv less the independent constraints and driven coordinates
    int driven;  // driven coordinates
    const char *const *loop_note;    // nloop of the description: rows, and redundant rows left out
    const char *locomotion;          // class of locomotion of kinematic steps; NULL: no such step
    const char *const *loop_warning; // nloop: warning, empty when there is none
    const char *const *contact_warning; // ncontact: likewise
    const char *const *field_warning;   // nforce_field: likewise
    const bool *field_has_energy;       // nforce_field: its force has a potential
    const char *const *q_name;          // nq, e.g. "arm.bend_y.0"
    int nnode;                          // poses in a frame
    const char *const *node_link;       // nnode
    // 2 x nlink of the description: predicted relative errors of a rod's nodes, of the shape and of
    // the quadrature (0: not known)
    const double *rod_error;
    const snw_step_bound *rod_step; // nlink: slices of a rod at rest; zero in one of many runs
    const double *node_x; // nnode, arc length along the rod, 0 for the end of a rigid link
    int ncolumn;
    const snw_column *column;
    int nload, nloop, ncontact, ntendon; // of the description
    int ncondition;                      // conditions of the model
    int nforce_field_point;              // points at which fields act
    int nfold;                           // derivatives of folds, of all path steps
    const snw_fold_column *fold;
    int nlinear; // steps that make linear models
    const snw_linear_step_info *linear;
    const char *scene; // for drawing, output/scene.h; NULL: not known
    int nsave;         // numbers of a checkpoint; 0: no checkpoints
    int noverride;     // values of the file that this run overrides
    const snw_override_desc *override;
} snw_run_info;

typedef struct snw_frame {
    int stage;
    double t;
    bool partial;          // last equilibrium of a failed step, under a fraction of the load
    const double *q, *v;   // nq, nv
    const snw_se3 *pose;   // nnode
    const double *column;  // ncolumn
    const double *load;    // nload x 6: torque and force, world axes, summed along a rod
    const double *loop;    // nloop x 6: wrench of each loop on its second site, world axes
    const double *contact; // ncontact x 6: wrench of each ground about the origin of the world
    const double *effort;  // ntendon: tensions (N) and chamber pressures (Pa)
    const double *present; // ncondition: 1 active, 0 not
    const double *field;   // nforce_field_point x 3: snw_force_field_value
    const double *fold;    // nfold: derivatives of the fold that the frame shows; else NaN
    const struct snw_linear_model *linear; // linear model about the state; NULL: none
    snw_energy energy;
    snw_stats stats;
    const double *save; // nsave: checkpoint after this frame; NULL: none
} snw_frame;

enum { SNW_FRAME_POSE = 7 }; // numbers of a pose
// out <- position x y z, and the unit quaternion w x y z with w >= 0.
void snw_frame_pose(const snw_se3 *g, double out[SNW_FRAME_POSE]);

// One kind of recorder. A failure of either function ends the run.
typedef struct snw_recorder {
    void *user;
    snw_status (*frame)(void *user, const snw_frame *f, snw_error *err);
    // Called once at the end, with the status of the run and the message of a failure.
    snw_status (*end)(void *user, snw_status status, const char *message, snw_error *err);
} snw_recorder;
