// SPDX-License-Identifier: MIT
//
// continuation.h: continuation in the load (load stepping) from one equilibrium to another: in one
// increment when the response is nearly linear, otherwise in increments of adaptive length.
//
// The solution returned lies on the path that starts at x. Equations of rods have many solutions
// under large loads, and Newton's method alone may converge to a coiled or unstable one.
#pragma once

#include "solve/newton.h"

#include <stdbool.h>

typedef struct snw_continuation_opts {
    snw_newton_opts newton;
    double smallest;    // smallest increment, relative to the present load, default 1e-6
    int max_increments; // default 2000
} snw_continuation_opts;

typedef struct snw_continuation_info {
    int increments, iterations;
    int residuals, tangents; // calls of the callbacks
    double residual; // largest scaled residual at the returned x; if no equilibrium was found, the
                     // smallest seen
    double reached;  // fraction of the load at the returned x; 1 on success
    double
        condition; // estimate for the last tangent (snw_tangent_condition); NaN without a tangent
} snw_continuation_info;

snw_continuation_opts snw_continuation_defaults(void);

// Scratch taken from the arena by snw_continuation_solve, in bytes.
size_t snw_continuation_scratch(int n, int nx);
size_t snw_continuation_scratch_own(int n, int nx); // for equations that make their own factors

// x: in, an equilibrium (or a guess) under load 0; out, one under load 1. Otherwise x is the last
// equilibrium found, at info->reached: on SNW_E_DIVERGED (usually a limit point), and on
// SNW_E_STOPPED, when `stop` (called between increments; may be NULL) returned true or a callback
// stopped. If no equilibrium was found, x is unchanged and the status is that of Newton's method
// under load 0, SNW_E_SINGULAR for a mechanism. At a bifurcation the present branch is continued.
SNW_NODISCARD snw_status snw_continuation_solve(const snw_problem *p,
                                                const snw_continuation_opts *opts,
                                                bool (*stop)(void *user), void *stop_user,
                                                snw_arena *scratch, double *x,
                                                snw_continuation_info *info);
