// SPDX-License-Identifier: MIT
//
// measured.h: columns of measurements that have the names of columns of a run.
#pragma once

#include "language/table.h"
#include "results/result.h"

// A file of measurements.
typedef struct snw_measured {
    const char *file; // its name, for display
    snw_data_table table;
    int run; // index of the run among those shown; -1: all of them
} snw_measured;

// Column of the table with the name of a column of a run; 0: none (column 0 is the time).
int snw_measured_column(const snw_data_table *m, const snw_column *column);

// Error: no column has a name of those expected.
SNW_NODISCARD snw_status snw_measured_fail(const snw_data_table *m, const char *file,
                                           snw_error *err);
