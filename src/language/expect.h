// SPDX-License-Identifier: MIT
//
// expect.h: holds expected values against what a run has recorded.
#pragma once

#include "language/document.h"
#include "study/record.h"
#include "study/series.h"

// One number held against one expected value.
typedef struct snw_expect_cell {
    const char *column; // "tip.x", belongs to the expectation
    double t; // time of a row or `at`, of the frame for `end` and `after`; NaN over a span
    double got, wanted;
    double error;   // |got - wanted|; for below and above by how much it is too much, 0 if not
    double allowed; // the largest error that passes, in the unit of the value
    bool ok;        // never when something is NaN
    bool rms;       // of data: error is the root mean square, got and wanted are NaN
} snw_expect_cell;

typedef struct snw_expect_outcome {
    bool ok;          // all cells, and there was something to compare
    char reason[200]; // why there was nothing to compare, else empty
    int ncell;        // snw_expect_cells, row by row; 0 with a reason
    snw_expect_cell *cell;
} snw_expect_outcome;

// Rows times columns; of data the root mean squares of all columns, then where they differ most.
int snw_expect_cells(const snw_expect *e);

// Fills `out`, which the caller clears. Fails only for want of memory: an expectation that is
// missed is an outcome, and so is a column, frame or stage that is not there.
SNW_NODISCARD snw_status snw_expect_check(const snw_expect *e, const snw_run_info *info,
                                          const snw_series *series, snw_expect_outcome *out);
void snw_expect_outcome_clear(snw_expect_outcome *out);

// The words for what is taken over a span, in the order of snw_expect_is.
enum { SNW_EXPECT_IS_COUNT = SNW_EXPECT_SIZE + 1 };
extern const char *const snw_expect_is_word[SNW_EXPECT_IS_COUNT];

// A statistic of one column over [t0, t1] (infinite ends: all that was recorded), the column being
// linear between frames. NaN when a value is NaN. False when there is no frame in it, or for a
// period fewer than two rising passages through the mean.
bool snw_expect_statistic(const snw_series *series, int column, snw_expect_is is, double t0,
                          double t1, double *out);
