// SPDX-License-Identifier: MIT
//
// verdict.h: compares what a run showed with what its file expects.
#pragma once

#include "io/document.h"
#include "study/series.h"

// One number of an expectation: a column, at one place.
typedef struct snw_verdict {
    const snw_expect *expect;
    const char *column; // name
    double t;           // when, for `at` and rows; NaN otherwise
    double got, want;
    double error; // |got - want|, relative to |want| when the tolerance is; NaN: not reached
    bool ok;
    const char *why; // why there is no number to compare, NULL when there is one; static text
} snw_verdict;

// Numbers an expectation compares.
int snw_verdict_count(const snw_expect *e);

// out <- snw_verdict_count(e) verdicts, row by row. `series` holds the columns of `info`. What the
// run did not reach, or has no column for, is a miss that says so.
void snw_verdict_judge(const snw_expect *e, const snw_run_info *info, const snw_series *series,
                       snw_verdict *out);

// Where an expectation looks, for people: "end", "after push", "t = 0.5 s", "max of 0 .. 2 s".
void snw_verdict_where(const snw_verdict *v, char *out, size_t size);
