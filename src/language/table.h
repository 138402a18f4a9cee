// SPDX-License-Identifier: MIT
//
// table.h: measured data for `table("file.csv", "column")`. A file of comma separated values: rows
// of numbers, the first column rising; a first line with names if one of its fields is no number;
// empty lines and lines that begin with # are skipped; semicolons and tabs separate as well as
// commas.
#pragma once

#include "base/pool.h"
#include "language/tree.h"
#include "math/expr.h"

#include <stdint.h>

typedef struct snw_tables snw_tables;

// A whole file of measurements.
typedef struct snw_data_table {
    int ncolumn, nrow;
    const char *const *name; // ncolumn
    const double *value;     // column by column, nrow each; NaN where nothing was measured
    const int *line;         // nrow, where a row stands in the file
} snw_data_table;

// Read it into the pool. It needs a line of names, and its fields may be blank but for those of the
// first column, where a number may be repeated.
SNW_NODISCARD snw_status snw_measured_read(snw_pool *pool, const char *path, snw_data_table *out,
                                           snw_error *err);

// Files are sought beside the file in which they are named, and kept in the pool once read: beside
// `model` when that is the first file of `source` or none of its files (the command line), else
// beside the included one. `source` may be NULL; it must live as long as the pool. NULL when memory
// is out.
snw_tables *snw_tables_create(snw_pool *pool, const char *model, const snw_source *source);

// A number that tells the files read so far from others: of their bytes, in no order. 0: none was
// read.
uint64_t snw_tables_sum(const snw_tables *t);

// File i of them, from 0, as it was opened; NULL: there are no more.
const char *snw_tables_file(const snw_tables *t, int i);

// The same for measurements, whose fields may be blank (NaN) and times repeated.
SNW_NODISCARD snw_status snw_tables_measured(void *user, const char *from, const char *file,
                                             const char *column, snw_table *out, snw_error *err);

// A snw_table_fn whose user is a snw_tables. What it hands out lives as long as the pool.
SNW_NODISCARD snw_status snw_tables_find(void *user, const char *from, const char *file,
                                         const char *column, snw_table *out, snw_error *err);
