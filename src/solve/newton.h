// SPDX-License-Identifier: MIT
//
// newton.h: Newton's method with line search for systems r(x; load) = 0 on a vector space or a Lie
// group.
#pragma once

#include "base/arena.h"
#include "sinew/status.h"
#include "solve/tangent.h"

// The equations. x has nx numbers, r and increments n (nx > n when x contains unit quaternions).
//
// A callback that cannot evaluate at x (outside its domain, for instance) may return any status but
// SNW_OK. At a trial point that counts as a step that is too long, which is shortened; at the start
// it is returned. SNW_E_STOPPED is always returned.
typedef struct snw_problem {
    int n, nx;
    void *user;
    // r <- residual at x, under the fraction `load` of the load (0: the initial load, 1: all of it)
    snw_status (*residual)(void *user, double load, const double *x, double *r);
    // r as above, and J <- dr/dx, column major n x n, unless J is NULL
    snw_status (*tangent)(void *user, double load, const double *x, double *r, double *J);
    // out <- x moved by step * dx; NULL: x + step * dx. out may be x.
    void (*move)(void *user, const double *x, double step, const double *dx, double *out);
    const double *scale; // n typical magnitudes of r; NULL: ones. Convergence is tested on max
                         // |r_i| / scale_i
    // NULL, or two objects with the pattern of J for its factors; entries of J outside the pattern
    // are then not read
    snw_sparse *sparse[2];
    // the same as `tangent` within this pattern, NULL: there is none; other entries of J are not
    // set
    snw_status (*sparse_tangent)(void *user, double load, const double *x, double *r, snw_matrix J);
    // two objects for factors that the equations make themselves: J is then NULL in `tangent`,
    // which evaluates r and leaves the rest to `factor`. Without regularisation
    snw_own_factors own[2];
    // regularisation: n small numbers that are added to the diagonal of J where it is singular, or
    // NULL. Unknowns without stiffness and without load then stay where they are. Residuals are not
    // changed.
    const double *regularisation;
    bool always_regularise; // add it always, not only where J is singular
    // typical magnitudes of the unknowns i with regularisation_i > 0, or NULL: J_ki is of the order
    // scale_k / typical_i unless it is zero
    const double *typical;
    // tangent at a solution nearby, or NULL. Nothing resists the directions of its null space at a
    // solution. Away from it their stiffness is of the order of the residual, and Newton's step
    // along them is that of rounding errors; it is taken only if the residual does not fall without
    const snw_tangent *nearby;
} snw_problem;

// A step of this size relative to x (or to one, if x is smaller) cannot improve the residual.
#define SNW_ROUNDING 1e-12

typedef struct snw_newton_opts {
    double tol;      // on the largest scaled residual, default 1e-10
    double stagnant; // a residual up to this that no step reduces is rounding, default 0
    int max_iter;    // default 25
} snw_newton_opts;

typedef struct snw_newton_info {
    int iterations;
    double residual; // largest scaled residual at the returned x
    int damped;      // iterations with less than the full step
    int residuals;   // calls of residual, all trial points included
    int tangents;    // calls of tangent
} snw_newton_info;

snw_newton_opts snw_newton_defaults(void);

// out <- x + step * dx, or the result of p->move.
void snw_problem_move(const snw_problem *p, const double *x, double step, const double *dx,
                      double *out);

// Largest |r_i| / scale_i; NaN if one of them is.
double snw_problem_norm(const snw_problem *p, const double *r);

// Scratch taken from the arena by snw_newton_solve, in bytes.
size_t snw_newton_scratch(int n, int nx);

// Improve x in place at fraction `load`. On SNW_E_DIVERGED and SNW_E_SINGULAR x is the best iterate
// seen. A residual that rounding keeps above tol counts as converged when Newton's step is at
// rounding level of x; not where the step is short because nothing resists the residual
// (SNW_E_SINGULAR).
SNW_NODISCARD snw_status snw_newton_solve(const snw_problem *p, double load,
                                          const snw_newton_opts *opts, snw_arena *scratch,
                                          double *x, snw_newton_info *info);

// The same for callers that continue from the solution: t <- the last tangent, factorised (sign 0
// if it is singular), and moved (n numbers) <- the sum of the increments from the given to the
// returned x. Takes snw_newton_scratch less snw_tangent_scratch.
SNW_NODISCARD snw_status snw_newton_solve_on(const snw_problem *p, double load,
                                             const snw_newton_opts *opts, snw_arena *scratch,
                                             double *x, snw_tangent *t, double *moved,
                                             snw_newton_info *info);
