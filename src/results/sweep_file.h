// SPDX-License-Identifier: MIT
//
// sweep_file.h: the HDF5 file of a sweep: parameters, states and results of its rows as columns,
// series of rows one after the other. docs/results.md describes the layout for other programs.
#pragma once

#include "base/pool.h"
#include "sinew/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct snw_sweep_column {
    const char *name;
    const char *unit;  // SI; empty of results, whose units are those of their expressions
    const char *about; // spread of a parameter, expression of a result
    int nlabel;        // words whose indices are the values; 0: none
    const char *const *label;
} snw_sweep_column;

typedef struct snw_sweep_head {
    const char *title, *plan, *model; // texts
    const char *method;
    uint64_t seed, identity;
    int64_t rows, count; // count: points, pairs or paths of the method
    int levels;
    int nparameter, nresult, nseries;
    const snw_sweep_column *parameter, *result;
    const char *const *series; // names of the columns of series
} snw_sweep_head;

// Words whose indices are stored for each row.
typedef struct snw_sweep_words {
    int n;
    const char *const *name;
} snw_sweep_words;

// ---- writing ------------------------------------------------------------------------------------

typedef struct snw_sweep_writer snw_sweep_writer;

// Begin the file beside `path`; the first state is that of waiting rows. SNW_E_IO: it cannot be
// written.
SNW_NODISCARD snw_status snw_sweep_writer_create(const char *path, const snw_sweep_head *head,
                                                 snw_sweep_words states, snw_sweep_words engines,
                                                 snw_sweep_writer **out, snw_error *err);

// A block of rows, columns one after the other: parameter (nparameter x n), state, engine and
// seconds (n), result (nresult x n), first and frames (n, of the series; NULL where there are
// none).
typedef struct snw_sweep_block {
    int64_t at;
    int n;
    const double *parameter, *seconds, *result;
    const int8_t *state, *engine;
    const int64_t *first;
    const int32_t *frames;
} snw_sweep_block;
SNW_NODISCARD snw_status snw_sweep_writer_block(snw_sweep_writer *w, const snw_sweep_block *block,
                                                snw_error *err);
// Frames of the series of one row, from frame `first` of all: time and columns of each frame.
SNW_NODISCARD snw_status snw_sweep_writer_series(snw_sweep_writer *w, int64_t first, int nframe,
                                                 const double *series, snw_error *err);
// A message of a row.
SNW_NODISCARD snw_status snw_sweep_writer_message(snw_sweep_writer *w, int64_t row,
                                                  const char *message, snw_error *err);
// Complete the file and rename it to `path`; with a failed `status` it is removed. Frees `w`.
SNW_NODISCARD snw_status snw_sweep_writer_close(snw_sweep_writer *w, snw_status status,
                                                snw_error *err);

// ---- reading ------------------------------------------------------------------------------------

// Is this the file of a sweep?
bool snw_sweep_is_file(const char *path);

// A sweep in memory. Everything belongs to the pool.
typedef struct snw_sweep_table {
    snw_sweep_head head;
    snw_sweep_words states, engines; // engines: none in files of older versions
    const double *parameter;         // nparameter x rows
    const double *result;            // nresult x rows
    const double *seconds;           // rows
    const int8_t *state;             // rows
    const int8_t *engine;            // rows; NULL: not known
    int nmessage;
    const int64_t *message_row;
    const char *const *message;
} snw_sweep_table;

// SNW_E_PARSE: it is not the file of a sweep, or damaged.
SNW_NODISCARD snw_status snw_sweep_table_read(const char *path, snw_pool *pool,
                                              snw_sweep_table *out, snw_error *err);

// *identity <- that of the plan; *waiting, *rows <- rows that are not computed, and all.
SNW_NODISCARD snw_status snw_sweep_identity_read(const char *path, uint64_t *identity,
                                                 int64_t *waiting, int64_t *rows, snw_error *err);
