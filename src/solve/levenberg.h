// SPDX-License-Identifier: MIT
//
// levenberg.h: nonlinear least squares, min |r(x)|^2, by the Levenberg-Marquardt method, with
// derivatives by central differences for functions without derivatives (a simulation). Unknowns
// should be of order one. The damping follows the gain of each step (Nielsen, report
// IMM-REP-1999-05, DTU, 1999).
#pragma once

#include "base/arena.h"
#include "sinew/status.h"

typedef struct snw_least_squares {
    int n, m; // unknowns, residuals
    void *user;
    // r (m) <- residuals at x. A failure at a trial point counts as a step that is too long, and
    // the step is shortened. A failure at the start is returned, and SNW_E_STOPPED and SNW_E_MEMORY
    // always.
    snw_status (*residual)(void *user, const double *x, double *r);
    // J (m x n, column major) <- dr/dx at x; NULL: central differences
    snw_status (*derivative)(void *user, const double *x, double *J);
} snw_least_squares;

typedef struct snw_levenberg_opts {
    double tol;    // converged when no unknown would change by more than this fraction of itself,
                   // default 1e-7,
    double gain;   // or |r|^2 would fall by no more than this fraction of itself, default 1e-14,
    double enough; // or |r|^2 is at most this, default 0
    double step;   // of differences, relative to the unknown, default 1e-3
    int order;     // of differences, even, at most 8, default 2
    int max_iter;  // steps taken or rejected, default 100
    const double *low, *high; // bounds of the unknowns, default NULL: none; the start is within.
                              // Two equal bounds hold an unknown
} snw_levenberg_opts;

typedef struct snw_levenberg_info {
    int iterations;  // steps tried
    int evaluations; // calls of residual
    int failures;    // calls that failed, at steps that were then shortened
    double last;     // |r|^2 at the returned x
} snw_levenberg_info;

snw_levenberg_opts snw_levenberg_defaults(void);

// Scratch taken from the arena, in bytes, with or without bounds.
size_t snw_levenberg_scratch(int n, int m);

// Improve x in place, within the bounds; r (m) <- residuals there, J (m x n, column major) <- their
// derivatives. On every failure but one at the start x is the best point seen, with its r.
// SNW_E_DIVERGED: no convergence within max_iter, or every further step fails.
SNW_NODISCARD snw_status snw_levenberg(const snw_least_squares *p, const snw_levenberg_opts *opts,
                                       snw_arena *scratch, double *x, double *r, double *J,
                                       snw_levenberg_info *info);
