// SPDX-License-Identifier: MIT
//
// continuation.h: from an equilibrium under one load to one under another: all at once when the
// answer is nearly linear, else in increments that shrink and grow as it goes.
//
// The solution returned lies on the path that starts at x: equations of rods have many solutions
// under large loads, and Newton alone will happily end at a coiled or unstable one.
#pragma once

#include "solve/newton.h"

#include <stdbool.h>

typedef struct snw_continuation_opts {
    snw_newton_opts newton;
    double smallest; // increment, relative to the load carried, at which it gives up, default 1e-6
    int max_increments; // default 2000
} snw_continuation_opts;

typedef struct snw_continuation_info {
    int increments, iterations;
    int residuals, tangents; // calls of the callbacks
    double residual; // largest scaled residual at the returned x; where no equilibrium at all was
                     // found, the smallest seen
    double reached;  // fraction of the load at the returned x; 1 on success
    double
        condition; // of the last tangent, estimated (snw_tangent_condition); NaN when there is none
} snw_continuation_info;

snw_continuation_opts snw_continuation_defaults(void);

// Scratch taken from the arena by snw_continuation_solve, in bytes.
size_t snw_continuation_scratch(int n, int nx);

// x: in, an equilibrium (or a guess) under load 0; out, one under load 1, or the last one found, at
// info->reached: on SNW_E_DIVERGED (a limit point, usually), and on SNW_E_STOPPED, when `stop` (may
// be NULL, asked between increments) said so or a callback did. When nothing at all was found, x is
// as given and the status is that of Newton under load 0, SNW_E_SINGULAR for a mechanism. A
// bifurcation is passed along the branch one is on.
SNW_NODISCARD snw_status snw_continuation_solve(const snw_problem *p,
                                                const snw_continuation_opts *opts,
                                                bool (*stop)(void *user), void *stop_user,
                                                snw_arena *scratch, double *x,
                                                snw_continuation_info *info);
