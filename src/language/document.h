// SPDX-License-Identifier: MIT
//
// document.h: reads a model file with its includes and overrides, and produces one description per
// run, and the expected values of the file.
#pragma once

#include "model/desc.h"
#include "sinew/status.h"

#include <stdint.h>

typedef struct snw_document snw_document;

// Read `path` and the files it includes. `set` are overrides `path=value` from the command line.
// Syntax, encoding, size, aliases, merges and includes are checked here.
SNW_NODISCARD snw_status snw_document_read(const char *path, int nset, const char *const *set,
                                           snw_document **out, snw_error *err);
// The same from memory. `name` is the file name in messages; includes are relative to the current
// folder.
SNW_NODISCARD snw_status snw_document_parse(const char *name, const char *text, size_t length,
                                            int nset, const char *const *set, snw_document **out,
                                            snw_error *err);
// The same from the text stored in a result file: included files are taken from it, none is opened.
SNW_NODISCARD snw_status snw_document_parse_kept(const char *name, const char *text, int nset,
                                                 const char *const *set, snw_document **out,
                                                 snw_error *err);
void snw_document_destroy(snw_document *d); // NULL is fine

// The '=' between path and value of such an override, not one inside an index range; NULL: none.
const char *snw_set_equals(const char *text);

// Runs, with `each` expanded. A file without `runs:` has one run, "main".
int snw_document_runs(const snw_document *d);
const char *snw_document_run_name(const snw_document *d, int run);

// Describe one run, in its own pool. Checks everything that does not need the compiled model:
// unknown keys, undefined names, units, cycles, expectations of probes that do not exist. Laws may
// refer to tables owned by the document, so the description must not outlive it. Threads may call
// this and the next two at the same time; they wait for each other.
SNW_NODISCARD snw_status snw_document_describe(const snw_document *d, int run, snw_desc **out,
                                               snw_error *err);
// The same during the study, before its step `until`: with the changes up to there, and then the
// overrides `set`, "path=value". `like` (NULL: no comparison) is a description of that run from
// this document; the new one must have the same coordinates, loads, actuators and probes, so that a
// state can be carried over.
SNW_NODISCARD snw_status snw_document_change(const snw_document *d, int run, int until, int nset,
                                             const char *const *set, const snw_desc *like,
                                             snw_desc **out, snw_error *err);
// Describe a run with the overrides `set`, "path=value", in place of those with which the document
// was read. `like` as above.
SNW_NODISCARD snw_status snw_document_describe_with(const snw_document *d, int run, int nset,
                                                    const char *const *set, const snw_desc *like,
                                                    snw_desc **out, snw_error *err);
void snw_desc_destroy(snw_desc *d); // NULL is fine

// A number from the file or the command line, in SI; `unit` is its SI unit, such as "Pa", or "" if
// dimensionless.
typedef struct snw_quantity_read {
    double value;
    char unit[48];
} snw_quantity_read;

// The number that an override with this path would replace in a run. If the file does not give it,
// *given is false and the call succeeds. SNW_E_PARSE if the path names nothing (*given is false),
// or names something that is not a constant number. `option` is the file name in messages.
SNW_NODISCARD snw_status snw_document_find(const snw_document *d, int run, const char *path,
                                           const char *option, bool *given, snw_quantity_read *out,
                                           snw_error *err);

// Numbers of a run with the overrides `set` in place of those with which the document was opened:
// its tree, made once, in which any number of paths are found as by snw_document_find.
typedef struct snw_document_numbers snw_document_numbers;
SNW_NODISCARD snw_status snw_document_numbers_open(const snw_document *d, int run, int nset,
                                                   const char *const *set,
                                                   snw_document_numbers **out, snw_error *err);
SNW_NODISCARD snw_status snw_document_numbers_find(snw_document_numbers *n, const char *path,
                                                   const char *option, bool *given,
                                                   snw_quantity_read *out, snw_error *err);
// out (nt) <- the values of a law of time at these times, in this unit. SNW_E_PARSE: it is none.
SNW_NODISCARD snw_status snw_document_numbers_law(snw_document_numbers *n, const char *path,
                                                  const char *unit, int nt, const double *t,
                                                  double *out, snw_error *err);
void snw_document_numbers_close(snw_document_numbers *n); // NULL is fine
// Evaluate a constant expression, such as `12 mm` or `2*R`, with the parameters of a run.
SNW_NODISCARD snw_status snw_document_evaluate(const snw_document *d, int run, const char *text,
                                               const char *option, snw_quantity_read *out,
                                               snw_error *err);

// A parameter of the file.
typedef struct snw_parameter_read {
    const char *name;
    const char *kind;         // "number", "law", "list" or "function"
    snw_quantity_read number; // value NaN unless it is a number
} snw_parameter_read;

// The parameters of a run in the order of the file, with the overrides `set` in place of those with
// which the document was read. They belong to the pool.
SNW_NODISCARD snw_status snw_document_parameters(const snw_document *d, int run, int nset,
                                                 const char *const *set, snw_pool *pool, int *n,
                                                 const snw_parameter_read **out, snw_error *err);

// The text as read: the first file, then the included files, each after a comment line with its
// name.
const char *snw_document_text(const snw_document *d);

// File i, from 0, of those read so far: the model, its includes, and the tables used by
// descriptions made so far. NULL: there are no more.
const char *snw_document_file(const snw_document *d, int i);

// Checksum of the data tables read by the descriptions made so far; 0: none.
uint64_t snw_document_tables(const snw_document *d);

// The block `optimize` of a description that this document made; NULL: there is none. It belongs to
// the description.
struct snw_optimize_options;
const struct snw_optimize_options *snw_document_optimize(const snw_desc *desc);

// *out <- the options that the file gives a command in its block `commands`; NULL: none. They
// belong to the pool.
struct snw_node;
SNW_NODISCARD snw_status snw_document_command(const snw_document *d, int run, const char *command,
                                              snw_pool *pool, const struct snw_node **out,
                                              snw_error *err);

// ---- expected values ----------------------------------------------------------------------------

typedef enum snw_expect_when {
    SNW_EXPECT_AT,    // at a given time
    SNW_EXPECT_END,   // at the end of the run
    SNW_EXPECT_AFTER, // at the end of a step
    SNW_EXPECT_POINT, // at a special point of a path
    SNW_EXPECT_OVER,  // a statistic over a time interval
    SNW_EXPECT_ROWS,  // at the times of a table in the model
    SNW_EXPECT_DATA   // at the times of a file of measurements: root mean square and maximum of the
                      // error
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
    const char *const *column; // column names as of snw_column_name: "tip.x", "wire@3.my"
    const char *run; // NULL: every run; a run name; or the common part of the names of `each`
                     // ("load" for load.1 ..)
    snw_expect_when when;
    double t0, t1;     // at: t0; over: the interval (all: -inf, inf)
    const char *after; // step name
    int point, number; // snw_special, and which of its kind, from 1
    snw_expect_is is;
    int nrow;            // 1 unless rows or data
    const double *row_t; // rows, data
    const double *value; // nrow x ncolumn; for data NaN where nothing was measured
    const char *data;    // name of the measurement file
    double rms; // data: largest allowed root mean square of got - value; INFINITY: no limit
    snw_expect_how how;
    double tolerance;   // data: INFINITY: no limit
    const char *source; // may be NULL
} snw_expect;

// The expectations that apply to the run of `desc`, read and checked by snw_document_describe. They
// are owned by the pool of the description. Never fails.
SNW_NODISCARD snw_status snw_document_expects(const snw_document *d, int run, const snw_desc *desc,
                                              int *n, const snw_expect **out, snw_error *err);
