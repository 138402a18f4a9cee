// SPDX-License-Identifier: MIT
//
// continuation.h: from an equilibrium under one load to one under another: all at once when Newton can,
// else in increments that shrink and grow as it goes.
#pragma once

#include "solve/newton.h"

#include <stdbool.h>

typedef struct snw_continuation_opts {
    snw_newton_opts newton;
    double smallest;    // increment of the load's fraction at which it gives up, default 1e-6
    int max_increments; // default 2000
} snw_continuation_opts;

typedef struct snw_continuation_info {
    int increments, iterations;
    double residual;
    double reached; // fraction of the load at the returned x; 1 on success
} snw_continuation_info;

snw_continuation_opts snw_continuation_defaults(void);
size_t snw_continuation_scratch(int n, int nx);

// x: in, an equilibrium (or a guess) under load 0; out, one under load 1, or on SNW_E_DIVERGED the last
// one found, at info->reached. `stop` (may be NULL) is asked between increments.
SNW_NODISCARD snw_status snw_continuation_solve(const snw_problem *p,
                                                const snw_continuation_opts *opts,
                                                bool (*stop)(void *user), void *stop_user,
                                                snw_arena *scratch, double *x,
                                                snw_continuation_info *info);
