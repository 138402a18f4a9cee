// SPDX-License-Identifier: MIT
//
// record.h: how a study hands out what it computes. A study knows this interface, not the files
// behind it: results in HDF5, series in memory, a live view.
#pragma once

#include "integrate/stats.h"
#include "math/se3.h"
#include "model/desc.h"
#include "sinew/status.h"

#include <stdbool.h>

// One column of numbers a probe yields, e.g. probe "tip", component "x".
typedef struct snw_column {
    const char *probe, *component; // component "" for a scalar probe
    int station;                   // of a probe with `along`, from 0; else -1
} snw_column;

// Everything a recorder needs to know before the first frame. Owned by the run.
typedef struct snw_run_info {
    const char *run;   // name of the run
    const char *title; // may be empty
    int nstage;
    const char *const *stage;
    int nq, nv;
    int freedom; // nv less what loops forbid where they are closed, and less what is driven
    int driven;  // coordinates that follow a law
    const char *const *loop_note;    // nloop of the description: rows, and what was left out
    const char *locomotion;          // class of a study with kinematic steps; NULL: it has none
    const char *const *loop_warning; // nloop: what there is to warn of, empty when nothing
    const char *const *q_name;       // nq, e.g. "arm.bend_y.0"
    int nnode;                       // poses in a frame
    const char *const *node_link;    // nnode
    // nlink of the description, two each: predicted errors of a rod's nodes, relative: of the
    // shape, and of what is integrated along it (0: not known)
    const double *rod_error;
    const double *node_x; // nnode, arc length along the rod, 0 for the end of a rigid link
    int ncolumn;
    const snw_column *column;
    int nload, nloop, ncontact, ntendon; // of the description: what a frame says acts
    int ncondition;                      // of the model: what comes and goes
    const char *scene;                   // what it looks like, output/scene.h; NULL: not known
    int nsave;                           // numbers of a checkpoint; 0: there are none
    int noverride;                       // by which the run differs from its file
    const snw_override_desc *override;
} snw_run_info;

typedef struct snw_frame {
    int stage;
    double t;
    bool partial;          // the last equilibrium before a step failed, under part of the load
    const double *q, *v;   // nq, nv
    const snw_se3 *pose;   // nnode
    const double *column;  // ncolumn
    const double *load;    // nload x 6: torque and force in the world, summed along a rod
    const double *loop;    // nloop x 6: what each loop exerts on its second site, likewise
    const double *contact; // ncontact x 6: what each ground exerts, about the origin of the world
    const double *effort;  // nmeasure: tensions and pressures
    const double *present; // nswitch: 0 for what is not there
    snw_energy energy;
    snw_stats stats;
    const double
        *save; // checkpoint: all the run needs to go on after this frame; NULL: not from here
} snw_frame;

// An open set: each sort of recorder is one such struct. Any failure ends the run.
typedef struct snw_recorder {
    void *user;
    snw_status (*frame)(void *user, const snw_frame *f, snw_error *err);
    // How the run ended: SNW_OK or why not, with the message; called once.
    snw_status (*end)(void *user, snw_status status, const char *message, snw_error *err);
} snw_recorder;
