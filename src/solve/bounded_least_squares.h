// SPDX-License-Identifier: MIT
//
// bounded_least_squares.h: least squares within bounds, linear and nonlinear, with the multipliers
// of the bounds; and, among the solutions, the one next to a point of rest. theory.md 5.3
//
// A bound that is missing is -INFINITY or INFINITY; two equal bounds hold an unknown.
#pragma once

#include "base/arena.h"
#include "solve/levenberg.h"

// min |A x - b|^2 with low <= x <= high and E x kept. Matrices are stored by columns.
typedef struct snw_bounded_linear {
    int n, m; // unknowns, rows of A
    const double *A, *b;
    int nkept; // rows of E, 0: none
    const double *E;
    const double *low, *high;
} snw_bounded_linear;

size_t snw_bounded_linear_scratch(int n, int m, int nkept);

// Improves x, which is within the bounds, by an active set. multiplier (n; NULL: not wanted) <-
// fall of |A x - b|^2/2 per unit by which the bound at x is moved outwards, 0 where none holds.
// Directions that A does not see (1e-12 of its largest) are left alone. SNW_E_DIVERGED: A or b is
// not finite, or the bounds were exchanged too often.
SNW_NODISCARD snw_status snw_bounded_linear_solve(const snw_bounded_linear *p, snw_arena *scratch,
                                                  double *x, double *multiplier);

typedef struct snw_bounded_opts {
    double tol;     // converged when no unknown would change by more than this, default 1e-12
    double reached; // residuals of at most this need no further step, default 1e-13
    double longest; // step of an unknown at first, default 0.5
    int max_iter;   // steps tried, default 200
} snw_bounded_opts;
snw_bounded_opts snw_bounded_defaults(void);

typedef struct snw_bounded_info {
    int iterations;  // steps tried
    int evaluations; // calls of residual
    int failures;    // calls that failed, at steps that were then shortened
} snw_bounded_info;

typedef struct snw_bounded_problem {
    const snw_least_squares *p; // with its derivative, which is asked for where the residual was
                                // evaluated last
    const double *low, *high;
    const double *rest; // NULL: no second goal
} snw_bounded_problem;

size_t snw_bounded_scratch(int n, int m);

// Improves x (n), which is within the bounds, to a minimum of |r(x)|^2/2 by Gauss-Newton steps
// within the bounds, with an estimate of the curvature of r where r stays large; then, if there is
// a point of rest, of |x - rest|^2/2 among the points that the first goal does not tell apart.
// Unknowns should be of order one. r (m), J (m x n) <- there; multiplier, goal_multiplier (n) <-
// falls of the two goals per unit by which the bounds at x are moved outwards. On failure x is the
// best point seen. SNW_E_DIVERGED: no convergence.
SNW_NODISCARD snw_status snw_bounded_least_squares(const snw_bounded_problem *problem,
                                                   const snw_bounded_opts *opts, snw_arena *scratch,
                                                   double *x, double *r, double *J,
                                                   double *multiplier, double *goal_multiplier,
                                                   snw_bounded_info *info);
