// SPDX-License-Identifier: MIT
//
// table.h: reads data tables for `table("file.csv", "column")`. A file has rows of numbers
// separated by commas, semicolons or tabs; the first column increases. The first line gives column
// names if one of its fields is not a number. Empty lines and lines that begin with # are skipped.
#pragma once

#include "base/pool.h"
#include "language/tree.h"
#include "math/expr.h"

#include <stdint.h>

typedef struct snw_tables snw_tables;

// A complete file of measurements.
typedef struct snw_data_table {
    int ncolumn, nrow;
    const char *const *name; // ncolumn names
    const double *value;     // column by column, nrow each; NaN where nothing was measured
    const int *line;         // nrow, line number of each row in the file
} snw_data_table;

// Read a file of measurements into the pool. It needs a line of names. Fields may be blank except
// in the first column, where a value may be repeated.
SNW_NODISCARD snw_status snw_measured_read(snw_pool *pool, const char *path, snw_data_table *out,
                                           snw_error *err);

// The same for rows of values in any order, at most `limit` bytes; no field may be blank.
SNW_NODISCARD snw_status snw_rows_read(snw_pool *pool, const char *path, size_t limit,
                                       snw_data_table *out, snw_error *err);

// Relative paths are resolved against the file that names them: the included file, or `model` if
// the name comes from the first file of `source` or from none of its files (command line). Files
// are read once and kept in the pool. `source` may be NULL; it must live as long as the pool. NULL
// when memory is exhausted.
snw_tables *snw_tables_create(snw_pool *pool, const char *model, const snw_source *source);

// Checksum of the bytes of all files read so far, independent of their order; 0: none was read.
uint64_t snw_tables_sum(const snw_tables *t);

// File i, from 0, by the name under which it was opened; NULL: there are no more.
const char *snw_tables_file(const snw_tables *t, int i);

// Like snw_tables_find for measurements, whose fields may be blank (NaN) and times repeated.
SNW_NODISCARD snw_status snw_tables_measured(void *user, const char *from, const char *file,
                                             const char *column, snw_table *out, snw_error *err);

// A file of nrow lines with ncolumn numbers each, at least two; the names of a first line of names
// are left out. The error has a location in the file where it concerns a line.
typedef struct snw_matrix_table {
    int ncolumn, nrow;
    const double *value; // column by column, nrow each
} snw_matrix_table;
SNW_NODISCARD snw_status snw_tables_matrix(void *user, const char *from, const char *file,
                                           snw_matrix_table *out, snw_error *err);

// The bytes of any file of at most `limit` bytes, with a NUL behind them.
typedef struct snw_table_bytes {
    const char *path; // name under which it was opened
    const char *bytes;
    size_t length;
} snw_table_bytes;
SNW_NODISCARD snw_status snw_tables_bytes(void *user, const char *from, const char *file,
                                          size_t limit, snw_table_bytes *out, snw_error *err);

// Memory that lives as long as the files, and a place for what was made of them, which their reader
// may use: runs and changed models need not make it again.
snw_pool *snw_tables_pool(void *user);
void **snw_tables_made(void *user);

// Columns of such a file: *n <- their number, *name (n) <- their names; NULL: it has none.
SNW_NODISCARD snw_status snw_tables_columns(void *user, const char *from, const char *file, int *n,
                                            const char *const **name, snw_error *err);

// A snw_table_fn with a snw_tables as user. The data live as long as the pool.
SNW_NODISCARD snw_status snw_tables_find(void *user, const char *from, const char *file,
                                         const char *column, snw_table *out, snw_error *err);
