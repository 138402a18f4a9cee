// SPDX-License-Identifier: MIT
//
// matrix.h: entries of a matrix that is stored densely or compressed by columns, for assembly. The
// memory belongs to the caller.
#pragma once

#include <stddef.h>

typedef struct snw_matrix {
    double *entry;    // dense: column j begins at entry + j ld; compressed: in the order of `row`
    size_t ld;        // dense: distance of columns
    const int *start; // compressed: column j has the rows row[start[j]] .. row[start[j + 1] - 1],
    const int *row;   // increasing; other entries are zero. NULL: dense
} snw_matrix;

static inline snw_matrix snw_matrix_dense(size_t ld, double *entry) {
    snw_matrix A = {entry, ld, NULL, NULL};
    return A;
}

static inline snw_matrix snw_matrix_compressed(const int *start, const int *row, double *entry) {
    snw_matrix A = {entry, 0, start, row};
    return A;
}

// One column. `at` is the place behind the entry that was asked for last: rows that follow each
// other are found without a search.
typedef struct snw_column_entries {
    double *entry;
    const int *row; // NULL: dense
    int count, at;
} snw_column_entries;

static inline snw_column_entries snw_matrix_column(snw_matrix A, int j) {
    snw_column_entries c = {A.entry, NULL, 0, 0};
    if (A.row) {
        c.entry += A.start[j];
        c.row = A.row + A.start[j];
        c.count = A.start[j + 1] - A.start[j];
    } else {
        c.entry += (size_t)j * A.ld;
    }
    return c;
}

// Place of row i in a compressed column, -1: it has no entry there.
int snw_column_find(const snw_column_entries *c, int i);

// Entry of row i. It must be within the pattern.
double *snw_column_search(snw_column_entries *c, int i);
static inline double *snw_column_at(snw_column_entries *c, int i) {
    if (!c->row) return c->entry + i;
    if (c->at < c->count && c->row[c->at] == i) return c->entry + c->at++;
    return snw_column_search(c, i);
}

static inline double *snw_matrix_at(snw_matrix A, int i, int j) {
    snw_column_entries c = snw_matrix_column(A, j);
    return snw_column_at(&c, i);
}

// The same for entry k of a pattern, which is in row i.
static inline double *snw_column_entry(snw_column_entries c, int i, int k) {
    return c.entry + (c.row ? k : i);
}
