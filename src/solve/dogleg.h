// SPDX-License-Identifier: MIT
//
// dogleg.h: Powell's dogleg method for small dense systems r(x) = 0: Newton's step inside a trust
// region, otherwise a combination with the steepest descent. Unknowns and residuals should be of
// order one.
#pragma once

#include "base/arena.h"
#include "sinew/status.h"


typedef struct snw_dogleg_problem {
    int n;
    void *user;
    // r <- residual at x. A failure at a trial point counts as a step that is too long; at the
    // start it is returned.
    snw_status (*residual)(void *user, const double *x, double *r);
    // J (n x n, column major) <- dr/dx at x
    snw_status (*derivative)(void *user, const double *x, double *J);
} snw_dogleg_problem;

typedef struct snw_dogleg_opts {
    double tol;    // on the largest residual, default 1e-10
    double radius; // initial trust radius, default 1
    int max_iter;  // steps tried, default 200
} snw_dogleg_opts;

typedef struct snw_dogleg_info {
    int iterations, residuals, derivatives;
    double residual; // largest, at the returned x
} snw_dogleg_info;

snw_dogleg_opts snw_dogleg_defaults(void);

// Scratch taken from the arena, in bytes.
size_t snw_dogleg_scratch(int n);

// Improve x in place. SNW_E_DIVERGED: no convergence within max_iter, or no step, however short,
// reduces the residual; x is the best point seen.
SNW_NODISCARD snw_status snw_dogleg(const snw_dogleg_problem *p, const snw_dogleg_opts *opts,
                                    snw_arena *scratch, double *x, snw_dogleg_info *info);
