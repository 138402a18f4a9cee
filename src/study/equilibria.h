// SPDX-License-Identifier: MIT
//
// equilibria.h: paths of equilibria, by pseudo-arc-length continuation in t, which stands for
// whatever the laws make of it (a load, an angle, a tension), or in a constant of the file. Passes
// folds, locates folds, bifurcations and the onset of flutter, judges stability, switches branches.
// theory.md 5.2
#pragma once

#include "model/special.h"
#include "study/statics.h"

typedef struct snw_equilibria snw_equilibria;

typedef struct snw_equilibria_opts {
    double low, high;           // a path ends where the parameter leaves this interval
    bool down;                  // it decreases at the start
    double step;                // longest step: radians, or its part of the interval; default 0.2
    int points;                 // most points of a path, default 500
    int branches;               // bifurcations whose other branches are followed, default 0
    const snw_path_desc *folds; // the constant that is varied, and those by which folds are
                                // differentiated; NULL: t alone
    double tolerance;           // on residuals relative to typical forces, default 1e-13
    const double *from;         // continue after the point saved there; NULL: from the start
    bool (*stop)(void *user);   // asked between points; NULL: never
    void *user;
} snw_equilibria_opts;

snw_equilibria_opts snw_equilibria_defaults(void);

// One point of a path.
typedef struct snw_equilibrium {
    const snw_state *state;
    double parameter; // state->t, or the value of the constant that is varied
    int path;         // 0: the first; those switched to are numbered in turn
    double arc;       // arc length from the start of its path
    snw_special special;
    int number;               // of its kind, from 1; 0: no special point
    int multiplicity;         // eigenvalues that vanish together at a bifurcation; else 1
    const double *derivative; // of a fold, by the parameters of opts->folds: dt/dm; NULL: none
    snw_statics *statics; // of the model with another value of a constant; NULL: that of the file
    const double *mode;   // nv: null vector of the tangent; NULL: no fold or bifurcation
    double slope;         // dt/d(arc length): 0 at a fold
    double stability;     // smallest eigenvalue relative to the elastic stiffness
    int negative;         // unstable directions; with follower loads motions that grow
    bool symmetric;       // false: follower loads, judged by their vibrations
    double frequency;     // flutter: of the vibration, Hz
    int iterations;
    double residual;
    bool saves; // the path can be continued from here: snw_equilibria_save
} snw_equilibrium;

// A failure ends the path.
typedef snw_status snw_equilibrium_fn(void *user, const snw_equilibrium *e, snw_error *err);

typedef struct snw_equilibria_info {
    int points, iterations, paths;
    int special[SNW_SPECIAL_COUNT]; // points found of each kind
    bool left;                      // the first path ended because t left its interval
    bool unjudged; // follower loads on a robot without mass: flutter cannot be seen
} snw_equilibria_info;

// Evaluations use `st`, whose model it is; both must outlive the paths.
SNW_NODISCARD snw_status snw_equilibria_create(snw_statics *st, snw_equilibria **out);
void snw_equilibria_destroy(snw_equilibria *eq); // NULL is fine

// All on which the path after a point with `saves` depends: numbers written to a row while the
// point is received, and their count.
size_t snw_equilibria_saves(const snw_equilibria *eq);
void snw_equilibria_save(const snw_equilibria *eq, double *row);

// Follow the path through the equilibrium s at s->t, then the branches, then the curve of folds
// through the first fold, if opts->folds has one. `point` receives every
// point in order along each path, special points among them. s <- the last point of the first path.
// SNW_E_DIVERGED: a path could not be continued though its points were not used up; the message
// gives t.
SNW_NODISCARD snw_status snw_equilibria_follow(snw_equilibria *eq, const snw_equilibria_opts *opts,
                                               snw_equilibrium_fn *point, void *user, snw_state *s,
                                               snw_equilibria_info *info, snw_error *err);
