// SPDX-License-Identifier: MIT
//
// relax.h: damped relaxation in pseudo-time to a stable equilibrium,
//   D x' = -r(x)                                                              (theory.md 5)
//
// D is constant, symmetric and positive definite. With D = mu K the time constant is mu, and the
// fixed step of the classical Runge-Kutta method of order 4 must be below 2.8 mu. The method is
// slow compared with Newton's, but it needs no tangent and converges to stable equilibria only. On
// a group the stages are combined in the tangent space at the start of the step: of low order in
// time, exact at equilibrium.
#pragma once

#include "solve/newton.h"

#include <stdbool.h>

typedef struct snw_relax_opts {
    double duration; // pseudo-time, s; no default, since it is a number of time constants
    double step;     // s, adjusted to end at duration; no default
    double tol;      // stop earlier when the largest scaled residual is below; default 0: never
} snw_relax_opts;

typedef struct snw_relax_info {
    int steps;
    double time;     // pseudo-time at the returned x
    double residual; // largest scaled residual there
} snw_relax_info;

snw_relax_opts snw_relax_defaults(void);

// Scratch taken from the arena by snw_relax, in bytes.
size_t snw_relax_scratch(int n, int nx);

// March x in place under the full load. D: n x n, lower triangle read. `stop` (may be NULL) is
// called before each step. A residual that is still large after `duration` is not an error; see
// info. SNW_E_ARGUMENT unless duration >= 0 and step > 0; SNW_E_SINGULAR unless D is positive
// definite; SNW_E_DIVERGED when numbers are no longer finite (the step is too long, or there is no
// stable equilibrium nearby), with the last finite x. A failure of the callback is returned
// likewise, and SNW_E_STOPPED.
SNW_NODISCARD snw_status snw_relax(const snw_problem *p, const double *D,
                                   const snw_relax_opts *opts, bool (*stop)(void *user),
                                   void *stop_user, snw_arena *scratch, double *x,
                                   snw_relax_info *info);
