// SPDX-License-Identifier: MIT
//
// equilibria_private.h: internals of paths of equilibria, shared by equilibria.c (paths in t) and
// fold.c (folds and another parameter).
#pragma once

#include "base/fields.h"
#include "solve/arclength.h"
#include "study/equilibria.h"
#include "study/family.h"
#include "study/modes.h"
#include "study/statics_private.h"

enum {
    SNW_BIFURCATIONS = 64, // most that are kept for switching
};

// A point with all that is known there.
typedef struct path_point {
    double *x;       // configuration, multipliers, t
    double *tangent; // n + 1
    double *eigen;   // by rising value, of conservative loads
    int neigen;
    bool symmetric;
    int sign;         // of the bordered determinant
    double growth;    // largest of the vibrations, relative to their frequency
    double frequency; // of that vibration, Hz
    double stability; // smallest eigenvalue
    int negative;
    double arc; // from the start of the path
    int iterations;
    double residual;
} path_point;

enum { POINT_A, POINT_B, POINT_C, POINT_P, NPOINT };

// nv velocities, n with the multipliers, nx numbers of a configuration with them
#define EQUILIBRIA_FIELDS(X)                                                                       \
    X(double, scale, n + 1, "of residuals")                                                        \
    X(double, size, n + 1, "of increments")                                                        \
    X(double, weight, n + 1, "in the arc length")                                                  \
    X(double, shifted, NPOINT *(nx + 1), "points")                                                 \
    X(double, tangents, NPOINT *(n + 1), "their tangents")                                         \
    X(double, eigen, NPOINT *nv, "their eigenvalues")                                              \
    X(double, direction, n + 1, "of another branch")                                               \
    X(double, phi, n + 1, "null vector")                                                           \
    X(double, psi, n + 1, "left null vector")                                                      \
    X(double, r, n + 1, "residual of the differences")                                             \
    X(double, idle, nv, "1: coordinates that nothing resists")                                     \
    X(double, fold, nx + 1, "the first fold")                                                      \
    X(double, derivative, SNW_PARAMETERS, "of the last fold by other parameters")                  \
    X(double, bifurcation, SNW_BIFURCATIONS *(nx + 1), "bifurcations of the first path")           \
    X(double, bifurcation_tangent, SNW_BIFURCATIONS *(n + 1), "its tangents there")

struct snw_equilibria {
    snw_statics *st; // in use, and its model
    const snw_model *m;
    snw_modes *modes; // with follower loads; NULL: not yet
    snw_state *state; // of a point given to the caller
    snw_arena scratch;
    EQUILIBRIA_FIELDS(SNW_FIELD_POINTER)
    void *block;
    size_t bytes; // of the block
    path_point point[NPOINT];
    snw_path_problem problem;
    int nbifurcation;
    bool has_fold;
    snw_statics *base; // of the file
    snw_member now;    // paths in a parameter: st and m are those of this robot
    double t;          // paths in a parameter: the time
    snw_error refused; // why the robot of a value could not be made; empty: none
    // of one call
    const snw_equilibria_opts *opts;
    snw_equilibrium_fn *receive;
    void *user;
    snw_equilibria_info *info;
    snw_error *err;
    int path;
    // position within it, for checkpoints
    int branch;  // bifurcation whose other branch is followed; -1: the first path
    double side; // of it
    int next;    // number of the next point of the path
    double step; // length that is tried
};

// st->now, st->trial, st->w <- the point at the parameter p; r <- residual, then violations with
// the sign that makes the tangent of conservative loads symmetric.
snw_status snw_equilibria_evaluate(snw_equilibria *eq, const double *x, double p, double *r);
// Equations and charts of a path in t for snw_path_problem.
snw_status snw_equilibria_equations(void *user, const double *point, double *r, double *J,
                                    double *r_p);
void snw_equilibria_move(void *user, const double *x, double step, const double *dx, double *out);
