// SPDX-License-Identifier: MIT
//
// row.h: numbers that lie in several places, to or from one row. What is to be saved is listed once, by a function that carries
// it: with a row to write to it saves, with one to read from it loads, with neither it counts.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct snw_row {
    double *out;
    const double *in;
    size_t n; // numbers so far
} snw_row;

static inline void snw_row_carry(snw_row *row, void *numbers, size_t n) {
    if (row->out && n) memcpy(row->out + row->n, numbers, n * sizeof(double));
    if (row->in && n) memcpy(numbers, row->in + row->n, n * sizeof(double));
    row->n += n;
}

static inline void snw_row_int(snw_row *row, int *x) {
    double as = *x;
    snw_row_carry(row, &as, 1);
    if (row->in) *x = (int)as;
}

static inline void snw_row_flag(snw_row *row, bool *x) {
    double as = *x;
    snw_row_carry(row, &as, 1);
    if (row->in) *x = as != 0;
}
