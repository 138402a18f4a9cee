// SPDX-License-Identifier: MIT
//
// relax.h: damped march in pseudo-time to a stable equilibrium, D x' = -r(x). rods.md 2.3.
//
// D is constant, symmetric and positive definite; with D = mu K the march has the time constant mu,
// and a fixed step must stay below 2.8 mu (classical Runge-Kutta of order 4). Slow beside Newton,
// but it needs no tangent and ends only where an equilibrium is stable. On a group the stages are
// combined in the tangent space of the point a step starts from: of low order in time, exact at
// equilibrium.
#pragma once

#include "solve/newton.h"

#include <stdbool.h>

typedef struct snw_relax_opts {
    double duration; // pseudo-time to march, s; no default: it is a number of time constants
    double step;     // s, shortened a little to end at duration; no default
    double tol;      // stop earlier when the largest scaled residual is below; default 0: march on
} snw_relax_opts;

typedef struct snw_relax_info {
    int steps;
    double time;     // pseudo-time at the returned x
    double residual; // largest scaled residual there
} snw_relax_info;

snw_relax_opts snw_relax_defaults(void);

// Scratch taken from the arena by snw_relax, in bytes.
size_t snw_relax_scratch(int n, int nx);

// March x in place under the full load. D: n x n, lower triangle read. `stop` (may be NULL)
// is asked before each step. Not an error: a residual still large after `duration`; look at the
// info. SNW_E_ARGUMENT unless duration >= 0 and step > 0; SNW_E_SINGULAR unless D is positive
// definite; SNW_E_DIVERGED when numbers stop being finite (the step is too long, or no stable
// equilibrium is near), with the last finite x; the callback's status where it refuses, and
// SNW_E_STOPPED, likewise.
SNW_NODISCARD snw_status snw_relax(const snw_problem *p, const double *D,
                                   const snw_relax_opts *opts, bool (*stop)(void *user),
                                   void *stop_user, snw_arena *scratch, double *x,
                                   snw_relax_info *info);
