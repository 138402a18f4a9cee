// SPDX-License-Identifier: MIT
//
// gradient_private.h: a study with its variables and scalars; private to the files *gradient*.c of
// src/robot.
#pragma once

#include "robot/gradient_scalar.h"
#include "robot/robot_model.h"
#include "sinew/gradient.h"
#include "study/run.h"

typedef enum gradient_kind {
    GRADIENT_NUMBER,   // of the file
    GRADIENT_POSITION, // initial coordinate
    GRADIENT_VELOCITY, // initial velocity
    GRADIENT_KNOT      // value of a law at a knot
} gradient_kind;

// An entry of p.
typedef struct gradient_entry {
    gradient_kind kind;
    const char *name, *unit;
    const char *path; // of a number or a law
    int dof;          // of an initial coordinate or velocity
    int law, knot;    // of a knot: number of its law, and which
    double start;     // value of the file
} gradient_entry;

// A law through knots.
typedef struct gradient_law {
    const char *path, *unit;
    int first; // entry of its first knot
    int n;
    const double *knot;
    snw_knot_rule rule;
} gradient_law;

// Frames of a run.
typedef struct gradient_frames {
    int n, room, ncolumn;
    double *t, *y;
    bool *moves;
    int stage; // of the last one
} gradient_frames;

struct snw_gradient {
    snw_robot_model *model;
    snw_gradient_options how; // without its lists
    snw_pool *pool;
    int nentry, nlaw, nscalar;
    gradient_entry *entry;
    gradient_law *law;
    snw_scalar *scalar;
    gradient_frames frames;
    snw_gradient_info info;
};

// set (room for an entry of p and a law each), *n (0 before) <- overrides "path=value" that bring
// the model to p, initial values excepted; each is freed by snw_free, also on failure.
SNW_NODISCARD snw_status gradient_sets(const snw_gradient *g, const double *p, char **set, int *n,
                                       snw_error *err);
// *out <- the model at p, described to run with tight steps and a frame for each.
SNW_NODISCARD snw_status gradient_model_at(const snw_gradient *g, const double *p,
                                           snw_robot_model **out, snw_error *err);
// *out <- a run of such a model, which starts from the initial state of p.
SNW_NODISCARD snw_status gradient_run_at(const snw_gradient *g, const double *p,
                                         const snw_robot_model *m, snw_run **out, snw_error *err);
