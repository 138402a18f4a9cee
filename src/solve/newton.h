// SPDX-License-Identifier: MIT
//
// newton.h: damped Newton for dense systems r(x; load) = 0 on a vector space or a Lie group.
#pragma once

#include "base/arena.h"
#include "sinew/status.h"
#include "solve/tangent.h"

// The equations. x has nx numbers, r and increments n (nx > n when x holds unit quaternions).
//
// A callback that cannot evaluate at x (outside its domain, say) may return any status but SNW_OK;
// at a trial point this is a step too long and is shortened, at the starting point it is passed up.
// Only SNW_E_STOPPED is passed up from anywhere.
typedef struct snw_problem {
    int n, nx;
    void *user;
    // r <- residual at x, under the fraction `load` of the load (0: what held before, 1: all).
    snw_status (*residual)(void *user, double load, const double *x, double *r);
    // r as above, and J <- dr/dx, column major n x n.
    snw_status (*tangent)(void *user, double load, const double *x, double *r, double *J);
    // out <- x moved by step * dx; NULL: x + step * dx. out may be x.
    void (*move)(void *user, const double *x, double step, const double *dx, double *out);
    const double
        *scale; // n typical magnitudes of r; NULL: ones. The test is on max |r_i| / scale_i
    // NULL, or two that know the pattern of J and hold its factors; entries of J outside are not
    // read then
    snw_sparse *sparse[2];
    // n small numbers that may be added to the diagonal of J where it is singular, or NULL:
    // unknowns that nothing resists and nothing pushes stay where they are. Residuals are never
    // touched.
    const double *soft;
    bool softened; // they are added always, not only where J is singular
} snw_problem;

// A step of this size relative to x (or to one, if x is smaller) can no longer improve the
// residual.
#define SNW_ROUNDING 1e-12

typedef struct snw_newton_opts {
    double tol;   // on the largest scaled residual, default 1e-10
    int max_iter; // default 25
} snw_newton_opts;

typedef struct snw_newton_info {
    int iterations;
    double residual; // largest scaled residual at the returned x
    int damped;      // iterations that took less than the full step
    int residuals;   // calls of residual, all trial points included
    int tangents;    // calls of tangent
} snw_newton_info;

snw_newton_opts snw_newton_defaults(void);

// out <- x + step * dx, or what p->move makes of it.
void snw_problem_move(const snw_problem *p, const double *x, double step, const double *dx,
                      double *out);

// Largest |r_i| / scale_i; NaN when one of them is.
double snw_problem_norm(const snw_problem *p, const double *r);

// Scratch taken from the arena by snw_newton_solve, in bytes.
size_t snw_newton_scratch(int n, int nx);

// Improve x in place at fraction `load`. On SNW_E_DIVERGED and SNW_E_SINGULAR x holds the best
// iterate seen. A residual that cannot get below rounding although it is above tol counts as
// converged when Newton's step is at rounding level of x.
SNW_NODISCARD snw_status snw_newton_solve(const snw_problem *p, double load,
                                          const snw_newton_opts *opts, snw_arena *scratch,
                                          double *x, snw_newton_info *info);

// The same for those who go on from here: the last tangent stays, factorised, in t (sign 0 when it
// is singular), and moved (n numbers) is the sum of the increments from the given to the returned
// x. Takes snw_newton_scratch less snw_tangent_scratch.
SNW_NODISCARD snw_status snw_newton_solve_on(const snw_problem *p, double load,
                                             const snw_newton_opts *opts, snw_arena *scratch,
                                             double *x, snw_tangent *t, double *moved,
                                             snw_newton_info *info);
