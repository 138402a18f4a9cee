// SPDX-License-Identifier: MIT
//
// executed.h: runs the study of a document from memory and keeps the series of its probes.
#pragma once

#include "described.h"
#include "study/run.h"
#include "study/series.h"

#include <stdio.h>
#include <string.h>

typedef struct outcome {
    snw_status status;
    snw_error err;
    snw_series series;
    snw_run_totals totals;
    int warnings;
    char said[500];  // the last message
    char first[500]; // the first one
    char noted[500]; // the last note
} outcome;

static inline void count_warning(void *user, const char *message) {
    outcome *o = user;
    if (o->warnings++ == 0) (void)snprintf(o->first, sizeof o->first, "%s", message);
    (void)snprintf(o->said, sizeof o->said, "%s", message);
}

static inline void keep_note(void *user, const char *message) {
    outcome *o = user;
    (void)snprintf(o->noted, sizeof o->noted, "%s", message);
}

// Run the study of a text, with this form of the rod equations in steps by shooting (NULL: that of
// the engine). A text that cannot be read fails the test; the caller checks how the run ends.
static inline void execute_form(const char *text, const struct snw_shoot_form *form, outcome *o) {
    *o = (outcome){0};
    snw_document *doc;
    snw_desc *desc;
    snw_run *run = NULL;
    snw_status s = describe(text, &doc, &desc, &o->err);
    for (int i = 0; s == SNW_OK && i < desc->nstep; i++) desc->step[i].shooting.form = form;
    if (s == SNW_OK) s = snw_run_create(desc, "main", &run, &o->err);
    if (s != SNW_OK) {
        fail_msg("%d:%d: %s", o->err.line, o->err.column, o->err.text);
    }
    snw_series_init(&o->series, snw_run_describe(run)->ncolumn);
    const snw_recorder recorder = snw_series_recorder(&o->series);
    const snw_run_hooks hooks = {.user = o, .warn = count_warning, .note = keep_note};
    o->status = snw_run_execute(run, 1, &recorder, &hooks, &o->totals, &o->err);
    snw_run_destroy(run);
    release(doc, desc);
}

static inline void execute(const char *text, outcome *o) { execute_form(text, NULL, o); }

// The same; a run that fails fails the test.
static inline void execute_ok(const char *text, outcome *o) {
    execute(text, o);
    if (o->status != SNW_OK) fail_msg("%d:%d: %s", o->err.line, o->err.column, o->err.text);
}

// The text is refused, or its run fails, with a message that contains `why`.
static inline void fails_with(const char *text, const char *why) {
    snw_document *doc;
    snw_desc *desc;
    snw_error err;
    if (describe(text, &doc, &desc, &err) == SNW_OK) {
        outcome o;
        execute(text, &o);
        assert_true(o.status != SNW_OK);
        err = o.err;
        snw_series_clear(&o.series);
    }
    if (!strstr(err.text, why)) fail_msg("%s", err.text);
    release(doc, desc);
}

// Value of a column in a frame.
static inline double shown(const outcome *o, int frame, int column) {
    return o->series.value[frame * o->series.ncolumn + column];
}

// Last value of a column.
static inline double last(const outcome *o, int column) {
    return shown(o, o->series.nframe - 1, column);
}

// The model must be refused when it is read or compiled, with a source location and these words.
static inline void refuses(const char *text, const char *why) {
    snw_document *doc;
    snw_desc *desc;
    snw_error err;
    snw_run *run = NULL;
    snw_status s = describe(text, &doc, &desc, &err);
    if (s == SNW_OK) s = snw_run_create(desc, "main", &run, &err);
    if (s == SNW_OK) fail_msg("accepted: %s", text);
    if (!strstr(err.text, why)) fail_msg("'%s' does not say '%s'", err.text, why);
    assert_true(err.line > 0);
    snw_run_destroy(run);
    release(doc, desc);
}
