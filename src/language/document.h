// SPDX-License-Identifier: MIT
//
// document.h: a model file: read, included, overridden, and turned into descriptions, one per run.
#pragma once

#include "model/desc.h"
#include "sinew/status.h"

#include <stdint.h>

typedef struct snw_document snw_document;

// Read `path` and what it includes. `set` are overrides `path=value` of the command line. Syntax,
// encoding, size, aliases, merges and includes are checked here.
SNW_NODISCARD snw_status snw_document_read(const char *path, int nset, const char *const *set,
                                           snw_document **out, snw_error *err);
// The same from memory; `name` stands in messages, includes are relative to the current folder.
SNW_NODISCARD snw_status snw_document_parse(const char *name, const char *text, size_t length,
                                            int nset, const char *const *set, snw_document **out,
                                            snw_error *err);
// The same from the text that results keep: included files are found in it, none is opened.
SNW_NODISCARD snw_status snw_document_parse_kept(const char *name, const char *text, int nset,
                                                 const char *const *set, snw_document **out,
                                                 snw_error *err);
void snw_document_destroy(snw_document *d); // NULL is fine

// The '=' between path and value of such an override, which is not one of an index range; NULL:
// there is none.
const char *snw_set_equals(const char *text);

// Runs, `each` expanded; a file without `runs:` has one, named "main".
int snw_document_runs(const snw_document *d);
const char *snw_document_run_name(const snw_document *d, int run);

// The description of one run, in its own pool. Everything is checked that does not need the model's
// compiler: unknown keys, dangling names, units, cycles, expectations of probes that do not exist.
// Its laws may use tables that the document has read, so it must not outlive the document; one
// thread at a time per document.
SNW_NODISCARD snw_status snw_document_describe(const snw_document *d, int run, snw_desc **out,
                                               snw_error *err);
// The same as it is in the course of the study, before its step `until`: with the changes until
// then, and above them the overrides `set`, "path=value". `like` (NULL: not compared) is a
// description of that run from here; the new one must have its coordinates, loads, actuators and
// probes, so that a state may be carried over.
SNW_NODISCARD snw_status snw_document_change(const snw_document *d, int run, int until, int nset,
                                             const char *const *set, const snw_desc *like,
                                             snw_desc **out, snw_error *err);
void snw_desc_destroy(snw_desc *d); // NULL is fine

// A number as it stands in the file or on the command line: SI, with the unit that may be written
// behind it, "Pa"; "" for plain numbers.
typedef struct snw_quantity_read {
    double value;
    char unit[48];
} snw_quantity_read;

// The number that an override with this path would replace in a run. *given is false, and nothing
// else happened, when the file does not give it. SNW_E_PARSE when the path names nothing (*given is
// false), or something that is no constant number; `option` stands as file in messages.
SNW_NODISCARD snw_status snw_document_find(const snw_document *d, int run, const char *path,
                                           const char *option, bool *given, snw_quantity_read *out,
                                           snw_error *err);
// The value of a constant expression, `12 mm` or `2*R`, with the parameters of a run.
SNW_NODISCARD snw_status snw_document_evaluate(const snw_document *d, int run, const char *text,
                                               const char *option, snw_quantity_read *out,
                                               snw_error *err);

// The text as read, included files after the first, each headed by a comment line with its name.
const char *snw_document_text(const snw_document *d);

// File i, from 0, of those read so far: itself, what it includes, and the tables of what was
// described. NULL: there are no more.
const char *snw_document_file(const snw_document *d, int i);

// A number that changes with the tables of measured data the descriptions made so far have read; 0:
// none.
uint64_t snw_document_tables(const snw_document *d);

// ---- expected values
// --------------------------------------------------------------------------------

typedef enum snw_expect_when {
    SNW_EXPECT_AT,    // at a time
    SNW_EXPECT_END,   // at the end
    SNW_EXPECT_AFTER, // at the end of a step
    SNW_EXPECT_OVER,  // of a span
    SNW_EXPECT_ROWS,  // at the times of a table
    SNW_EXPECT_DATA   // at the times of a file of measurements: root mean square and maximum
} snw_expect_when;

typedef enum snw_expect_is {
    SNW_EXPECT_MIN,
    SNW_EXPECT_MAX,
    SNW_EXPECT_MEAN,
    SNW_EXPECT_RANGE,
    SNW_EXPECT_PERIOD,
    SNW_EXPECT_SIZE
} snw_expect_is;

typedef enum snw_expect_how {
    SNW_EXPECT_WITHIN,   // |got - value| <= tolerance
    SNW_EXPECT_RELATIVE, // |got - value| <= tolerance * |value|
    SNW_EXPECT_BELOW,    // got < value
    SNW_EXPECT_ABOVE     // got > value
} snw_expect_how;

typedef struct snw_expect {
    snw_source_location location;
    int ncolumn;
    const char *const *column; // resolved names as of snw_column_name: "tip.x", "wire@3.my"
    const char *run; // NULL: every run; a name; or the stem of `each` ("load" for load.1 ..)
    snw_expect_when when;
    double t0, t1;     // at; over (all: -inf, inf)
    const char *after; // step name
    snw_expect_is is;
    int nrow;            // 1 unless rows or data
    const double *row_t; // rows, data
    const double *value; // nrow x ncolumn; of data NaN where nothing was measured
    const char *data;    // its file
    double rms;          // of data: largest root mean square of got - value, INFINITY: any
    snw_expect_how how;
    double tolerance;   // of data INFINITY: any
    const char *source; // may be NULL
} snw_expect;

// Expectations that apply to the run that `desc` was made for, read and checked by
// snw_document_describe; they belong to the description's pool. Never fails.
SNW_NODISCARD snw_status snw_document_expects(const snw_document *d, int run, const snw_desc *desc,
                                              int *n, const snw_expect **out, snw_error *err);
