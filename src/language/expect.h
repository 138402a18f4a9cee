// SPDX-License-Identifier: MIT
//
// expect.h: compares expected values with the recorded results of a run.
#pragma once

#include "language/document.h"
#include "study/record.h"
#include "study/series.h"

// Comparison of one number with one expected value.
typedef struct snw_expect_cell {
    const char *column; // "tip.x", owned by the expectation
    double t; // time of a row or of `at`, of the frame for `end` and `after`; NaN for an interval
    double got, wanted;
    double error;   // |got - wanted|; for below and above the excess, 0 if satisfied
    double allowed; // largest error that passes, in the unit of the value
    bool ok;        // false if any value is NaN
    bool rms;       // data: error is the root mean square, got and wanted are NaN
} snw_expect_cell;

typedef struct snw_expect_outcome {
    bool ok;          // all cells passed, and there was at least one
    char reason[200]; // why no comparison was possible, else empty
    int ncell;        // snw_expect_cells, row by row; 0 if there is a reason
    snw_expect_cell *cell;
} snw_expect_outcome;

// Number of cells: rows times columns; for data the root mean squares of all columns, then the
// largest errors.
int snw_expect_cells(const snw_expect *e);

// Compare; the caller clears `out`. Fails only when memory is exhausted: a failed expectation is a
// regular outcome, and so is a missing column, frame or step.
SNW_NODISCARD snw_status snw_expect_check(const snw_expect *e, const snw_run_info *info,
                                          const snw_series *series, snw_expect_outcome *out);
void snw_expect_outcome_clear(snw_expect_outcome *out);

// Names of the statistics over an interval, in the order of snw_expect_is.
enum { SNW_EXPECT_IS_COUNT = SNW_EXPECT_SIZE + 1 };
extern const char *const snw_expect_is_word[SNW_EXPECT_IS_COUNT];

// A statistic of one column over [t0, t1] (infinite bounds: the whole record), linear between
// frames. NaN when a value is NaN. False when the interval has no frame or, for a period, fewer
// than two upward crossings of the mean.
bool snw_expect_statistic(const snw_series *series, int column, snw_expect_is is, double t0,
                          double t1, double *out);
