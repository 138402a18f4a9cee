// SPDX-License-Identifier: MIT
//
// gradient_private.h: a study with its variables and scalars; private to the files *gradient*.c of
// src/robot.
#pragma once

#include "robot/gradient_scalar.h"
#include "robot/robot_model.h"
#include "sinew/gradient.h"
#include "study/run.h"
#include "study/tape.h"

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
    bool sampled;     // the last evaluation took it at each step alone
} gradient_entry;

// A law through knots.
typedef struct gradient_law {
    const char *path, *unit;
    int first; // entry of its first knot
    int n;
    const double *knot;
    snw_knot_rule rule;
} gradient_law;

// Steps of a run, and those of implicit schemes with lengths that the motion chose: all but the
// last before each instant. `tried`, `chosen`: since the last instant.
typedef struct gradient_count {
    int steps, cut, tried, chosen;
} gradient_count;
void gradient_count_note(gradient_count *c, const snw_step_report *r);

// Frames of a run.
typedef struct gradient_frames {
    int n, room, ncolumn;
    double *t, *y;
    bool *moves;
    int *special;
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
    bool holds;         // a variable changes a number of a step that transposed steps hold
    double length_part; // of the steps of its runs (snw_step_desc); 0: 1
    snw_gradient_info info;
};

// set (room for an entry of p and a law each), *n (0 before) <- overrides "path=value" that bring
// the model to p, initial values excepted; each is freed by snw_free, also on failure.
SNW_NODISCARD snw_status gradient_sets(const snw_gradient *g, const double *p, char **set, int *n,
                                       snw_error *err);
// *out <- the model at p, described to run with tight steps and a frame for each. `points` as in
// snw_robot_model_sample.
SNW_NODISCARD snw_status gradient_model_at(const snw_gradient *g, const double *p,
                                           const snw_model *points, snw_robot_model **out,
                                           snw_error *err);
// *out <- a run of such a model, which starts from the initial state of p.
SNW_NODISCARD snw_status gradient_run_at(const snw_gradient *g, const double *p,
                                         const snw_robot_model *m, snw_run **out, snw_error *err);

// dJ (nscalar x nentry) <- derivatives by one sweep back over the run at p. impatient: *abandoned
// <- steps were met that are differentiated by differences along all coordinates; dJ is not known
// then.
SNW_NODISCARD snw_status gradient_adjoint(snw_gradient *g, const double *p, bool impatient,
                                          double *J, double *dJ, bool *abandoned, snw_error *err);
// SNW_E_MODEL: a step of the study, or the model, has a part without derivatives, which err names.
SNW_NODISCARD snw_status gradient_check_step(const snw_step_desc *step, const snw_model *m,
                                             snw_error *err);
SNW_NODISCARD snw_status gradient_check_model(const snw_desc *d, const snw_model *m,
                                              snw_error *err);

// SNW_E_MODEL: a link becomes active in a restart, with signals `before` it; the momentum that it
// takes has no derivative.
SNW_NODISCARD snw_status gradient_check_activation(const snw_model *m, const double *before,
                                                   const snw_map *map, snw_error *err);

// Are there forces that set in at some place, so that they are not smooth there? May conditions
// change? Does a law read signals of a kind?
bool gradient_has_onsets(const snw_model *m);
bool gradient_has_events(const snw_desc *d, const snw_model *m);
bool gradient_has(const snw_model *m, snw_signal_kind kind);
// Is the study kinematic throughout, so that differences of whole runs are cheaper than those of
// its maps? Not with knots, and not where conditions read probes, whose order must be watched.
bool gradient_is_kinematic(const snw_gradient *g);
// Has the study an inverse step that finds numbers of the file, or a path along such numbers, whose
// derivatives are differences of whole runs?
bool gradient_needs_differences(const snw_gradient *g);
// Is there a step of the scheme moreau?
bool gradient_has_moreau(const snw_desc *d);

// Frames of a run: recorder, and scalars of what it has recorded.
SNW_NODISCARD snw_status gradient_run_frames(snw_gradient *g, const snw_robot_model *model,
                                             snw_run *run, const snw_run_hooks *hooks,
                                             snw_error *err);
snw_scalar_frames gradient_frames_of(const snw_gradient *g);
SNW_NODISCARD snw_status gradient_scalars(const snw_gradient *g, double *J, snw_error *err);
// q (nq), v (nv) <- initial state of model m at p.
void gradient_initial(const snw_gradient *g, const double *p, const snw_model *m, double *q,
                      double *v);
// out <- value, rate and acceleration of the basis function of a knot at time t.
void gradient_knot(const gradient_law *law, int knot, double t, double out[3]);
// *out (from snw_alloc) <- the override of a law through its knots, plus more times a factor of t.
SNW_NODISCARD snw_status gradient_law_text(const gradient_law *law, const double *u, double more,
                                           const char *factor, char **out, snw_error *err);
