// SPDX-License-Identifier: MIT
//
// optimize_log.h: the table of all evaluations of `sinew optimize`, from which an interrupted
// search goes on.
#pragma once

#include "output/plot.h"
#include "sinew/optimize.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct snw_optimize_log {
    const char *path;
    FILE *file;        // NULL: not open
    uint64_t identity; // of the problem
    int nvariable, nscalar;
    int nrow;      // rows that were read
    double *row;   // nrow x (3 + nvariable + nscalar + nscalar x nvariable); derivatives NaN: none
    bool mismatch; // a row belongs to another search
} snw_optimize_log;

// Read the rows of an interrupted search; a missing file has none. The last row counts only if it
// is complete. SNW_E_ARGUMENT: the table is that of another problem.
SNW_NODISCARD snw_status snw_optimize_log_read(snw_optimize_log *log, snw_error *err);

// Begin to write, with the rows that were read. `name`: of the entries of the variables.
SNW_NODISCARD snw_status snw_optimize_log_open(snw_optimize_log *log, const char *const *name,
                                               snw_error *err);

// Is this evaluation known? Then J and dJ (NULL: not wanted) are set.
bool snw_optimize_log_recall(snw_optimize_log *log, int number, const double *p, double *J,
                             double *dJ);

// Append an evaluation, unless it was read; it is on the disk when this returns.
void snw_optimize_log_add(snw_optimize_log *log, const snw_optimize_evaluation *e);

void snw_optimize_log_close(snw_optimize_log *log);

// *out <- cost, and violation of constraints as its logarithm, over the evaluations of such a
// table.
SNW_NODISCARD snw_status snw_optimize_log_figure(snw_pool *pool, const char *path, snw_figure *out,
                                                 snw_error *err);
