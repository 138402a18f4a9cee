// SPDX-License-Identifier: MIT
//
// executed.h: a document from memory, its first run done and kept.
#pragma once

#include "described.h"
#include "study/run.h"
#include "study/series.h"

typedef struct outcome {
    snw_status status;
    snw_error err;
    snw_series series;
    snw_run_totals totals;
} outcome;

// A text that cannot be read fails the test; how the run ends is for the caller to judge.
static inline void execute(const char *text, outcome *o) {
    *o = (outcome){0};
    snw_document *doc;
    snw_desc *desc;
    snw_run *run = NULL;
    if (describe(text, &doc, &desc, &o->err) != SNW_OK ||
        snw_run_create(desc, "main", &run, &o->err) != SNW_OK) {
        fail_msg("%d:%d: %s", o->err.line, o->err.column, o->err.text);
    }
    snw_series_init(&o->series, snw_run_describe(run)->ncolumn);
    const snw_recorder recorder = snw_series_recorder(&o->series);
    o->status = snw_run_execute(run, 1, &recorder, NULL, &o->totals, &o->err);
    snw_run_destroy(run);
    release(doc, desc);
}

// Last value of a column.
static inline double last(const outcome *o, int column) {
    return o->series.value[(o->series.nframe - 1) * o->series.ncolumn + column];
}
