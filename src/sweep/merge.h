// SPDX-License-Identifier: MIT
//
// merge.h: puts the rows of all parts into the result file of a sweep, in blocks, so that the
// memory does not grow with the rows.
#pragma once

#include "results/sweep_file.h"
#include "sweep/part.h"

// Rows by their states, and those that are computed by their engines.
typedef struct snw_sweep_count {
    int64_t state[SNW_SWEEP_ROW_STATE_COUNT], engine[SNW_SWEEP_ENGINE_COUNT];
    double seconds;    // of all computed rows
    int64_t bad;       // the first row that is not done; -1: none
    char message[256]; // its message
} snw_sweep_count;

// Write `output` with the rows of all parts. Of rows that several parts have, one is taken.
SNW_NODISCARD snw_status snw_sweep_merge(const snw_sweep_plan *plan,
                                         const snw_sweep_row_computer *c,
                                         const snw_sweep_parts *parts, const char *output,
                                         snw_sweep_count *count, snw_error *err);
