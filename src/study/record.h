// SPDX-License-Identifier: MIT
//
// record.h: how a study hands out what it computes. A study knows this interface, not the files behind
// it: results in HDF5, series in memory, a live view.
#pragma once

#include "math/se3.h"
#include "model/desc.h"
#include "sinew/status.h"

#include <stdbool.h>

// Energies of one instant, J. Dissipated, work and scheme are integrals over the dynamic steps so far; scheme is what an
// implicit scheme itself removes, balance what all the others do not account for.
#define SNW_ENERGY_LIST(X)                                                                         \
    X(kinetic)                                                                                     \
    X(elastic)                                                                                     \
    X(gravity)                                                                                     \
    X(dissipated)                                                                                  \
    X(work)                                                                                        \
    X(scheme)                                                                                      \
    X(balance)

typedef struct snw_energy {
#define X(name) double name;
    SNW_ENERGY_LIST(X)
#undef X
} snw_energy;

// What the solver did to reach a frame.
#define SNW_STATS_LIST(X)                                                                          \
    X(iterations, "Newton iterations since the last frame")                                        \
    X(tangents, "matrices factorised since the last frame")                                        \
    X(increments, "load increments or time steps since the last frame")                            \
    X(load,                                                                                        \
      "share of the change of load reached: below 1 only in the last frame of a failed step")      \
    X(residual, "largest scaled residual at the frame")                                            \
    X(stability, "smallest eigenvalue of the tangent relative to the unloaded stiffness")          \
    X(geometry, "estimated error of the node positions, of the rod's length")                      \
    X(quadrature, "estimated relative error of what is integrated along rods; 0: not looked at")   \
    X(truncation,                                                                                  \
      "estimated way to where more strain functions would put the robot, of the rod's "            \
      "length; of a mode the error of its frequency, relative; NaN: not known")                    \
    X(mode, "number of the mode whose shape the frame shows; 0: none")                             \
    X(frequency, "its frequency, Hz")                                                              \
    X(damping, "its share of critical damping; NaN where it does not vibrate")                     \
    X(condition, "estimated condition number of Newton's matrix; NaN where there is none")

typedef struct snw_stats {
#define X(name, meaning) double name;
    SNW_STATS_LIST(X)
#undef X
} snw_stats;

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
    // nlink of the description, two each: predicted errors of a rod's nodes, relative: of the shape, and of what is
    // integrated along it (0: not known)
    const double *rod_error;
    const double *node_x; // nnode, arc length along the rod, 0 for the end of a rigid link
    int ncolumn;
    const snw_column *column;
    int nload, nloop, ncontact, nmeasure; // of the description: what a frame says acts
    int nswitch;                          // of the model: what comes and goes
    const char *scene;                    // what it looks like, io/scene.h; NULL: not known
    int nsave;                            // numbers of a checkpoint; 0: there are none
    int noverride;                        // by which the run differs from its file
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
