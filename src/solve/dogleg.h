// SPDX-License-Identifier: MIT
//
// dogleg.h: r(x) = 0 for small dense systems by Powell's dogleg: Newton's step where the linear
// model can be trusted, the steepest descent where not. Unknowns and residuals are expected to be
// of the order of one.
#pragma once

#include "base/arena.h"
#include "sinew/status.h"


typedef struct snw_dogleg_problem {
    int n;
    void *user;
    // r <- residual at x. A failure at a trial point is a step too long; at the start it is passed
    // up.
    snw_status (*residual)(void *user, const double *x, double *r);
    // J (n x n, column major) <- dr/dx at x.
    snw_status (*derivative)(void *user, const double *x, double *J);
} snw_dogleg_problem;

typedef struct snw_dogleg_opts {
    double tol;    // on the largest residual, default 1e-10
    double radius; // trusted at the start, default 1
    int max_iter;  // steps tried, default 200
} snw_dogleg_opts;

typedef struct snw_dogleg_info {
    int iterations, residuals, derivatives;
    double residual; // largest, at the returned x
} snw_dogleg_info;

snw_dogleg_opts snw_dogleg_defaults(void);

// Scratch taken from the arena, in bytes.
size_t snw_dogleg_scratch(int n);

// Improve x in place. SNW_E_DIVERGED: max_iter was not enough, or no step however short makes the
// residual smaller; x is the best point seen.
SNW_NODISCARD snw_status snw_dogleg(const snw_dogleg_problem *p, const snw_dogleg_opts *opts,
                                    snw_arena *scratch, double *x, snw_dogleg_info *info);
