// SPDX-License-Identifier: MIT
//
// pseudo_transient.h: pseudo-transient continuation (Kelley and Keyes, SIAM J. Numer. Anal. 35,
// 1998) from a rough initial guess to a stable equilibrium, for equations without a regular start:
// mechanisms that only the load stabilises. Backward Euler on
//   D x' = -r(x),  rows with D = 0 (constraints) are fulfilled at all times,
// with steps limited by the motion of x, so that it becomes Newton's method near a stable
// equilibrium.
#pragma once

#include "solve/newton.h"

#include <stdbool.h>

typedef struct snw_pseudo_transient_opts {
    double tol;   // on the largest scaled residual, default 1e-10
    int max_iter; // default 500
} snw_pseudo_transient_opts;

typedef struct snw_pseudo_transient_info {
    int iterations;
    double residual; // largest scaled residual at the returned x
} snw_pseudo_transient_info;

snw_pseudo_transient_opts snw_pseudo_transient_defaults(void);

// Scratch taken from the arena by snw_pseudo_transient, in bytes.
size_t snw_pseudo_transient_scratch(int n, int nx);
size_t snw_pseudo_transient_scratch_own(int n, int nx); // of a problem with factors of its own

// Move x in place under the full load (1). D: n numbers; p->scale / D are typical increments. D is
// zero for multipliers, of which there are as many as constraint rows, with J symmetric in them. On
// SNW_E_DIVERGED x is the last point; SNW_E_SINGULAR, SNW_E_STOPPED likewise.
SNW_NODISCARD snw_status snw_pseudo_transient(const snw_problem *p, const double *D,
                                              const snw_pseudo_transient_opts *opts,
                                              bool (*stop)(void *user), void *stop_user,
                                              snw_arena *scratch, double *x,
                                              snw_pseudo_transient_info *info);
