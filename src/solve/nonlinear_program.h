// SPDX-License-Identifier: MIT
//
// nonlinear_program.h: minimum of a function of several variables within bounds and constraints, by
// the methods of NLopt: sequential quadratic programming (Kraft 1988) and convex separable
// approximations (Svanberg 1987, 2002). theory.md 7.6
#pragma once

#include "base/arena.h"
#include "sinew/status.h"

#include <stdbool.h>

typedef enum snw_program_method {
    SNW_PROGRAM_SLSQP, // equalities and inequalities; memory and time as of dense matrices
    SNW_PROGRAM_MMA,   // inequalities only; for many variables
    SNW_PROGRAM_CCSAQ  // likewise, quadratic approximations
} snw_program_method;

// min f_0(x) with f_i(x) = 0 for the first `nequal` constraints i = 1, .., f_i(x) <= 0 for the
// others, low <= x <= high (-INFINITY, INFINITY: none). Variables and functions should be of order
// one.
typedef struct snw_program {
    int n, nequal, nbelow;
    const double *low, *high;
    void *user;
    // f (1 + nequal + nbelow) <- at x; df (f x n, row by row; NULL: not wanted) <- derivatives. A
    // failure counts as a step that is too long; at the start it is returned, and SNW_E_STOPPED
    // and SNW_E_MEMORY always.
    snw_status (*evaluate)(void *user, const double *x, double *f, double *df);
} snw_program;

typedef struct snw_program_opts {
    snw_program_method method; // default SLSQP
    double step;               // converged when a step changes no variable by more, default 1e-10,
    double gain;               // or the cost by no more than this fraction, default 1e-12
    double feasible;           // largest violation of a constraint at the end, default 1e-9
    int max_calls;             // evaluations, default 500
} snw_program_opts;
snw_program_opts snw_program_defaults(void);

typedef struct snw_program_info {
    int calls;
    const char *reason; // why the search ended, in words
} snw_program_info;

// Is the library there that does the work?
bool snw_program_available(void);

// Improve x, which is within the bounds. SNW_E_DIVERGED: the number of calls was exceeded, or there
// is no way on; x is then the last point. SNW_E_ARGUMENT: the method cannot do equalities, or the
// library was missing when the program was built.
SNW_NODISCARD snw_status snw_program_solve(const snw_program *p, const snw_program_opts *opts,
                                           double *x, snw_program_info *info, snw_error *err);

// Multipliers at x, from f and df there: `multiplier` (nequal + nbelow) and `bound` (n; > 0 at the
// upper one, < 0 at the lower one) by least squares of df_0 + sum multiplier_i df_i + bound = 0
// over the constraints within `active` of 0 and the bounds that hold; *optimality <- what is left,
// relative to the largest entry of the terms where that exceeds one.
size_t snw_program_multipliers_scratch(int n, int nconstraint);
SNW_NODISCARD snw_status snw_program_multipliers(const snw_program *p, const double *x,
                                                 const double *f, const double *df, double active,
                                                 snw_arena *scratch, double *multiplier,
                                                 double *bound, double *optimality);
