// SPDX-License-Identifier: MIT
//
// ledger.h: numbers that lie in several places, to or from one row. What is to be saved is listed once, by a function that carries
// it: with a row to write to it saves, with one to read from it loads, with neither it counts.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct snw_ledger {
    double *out;
    const double *in;
    size_t n; // numbers so far
    bool bad; // a count or an index read was none that can be, and left out
} snw_ledger;

static inline void snw_ledger_carry(snw_ledger *row, void *numbers, size_t n) {
    if (row->out && n) memcpy(row->out + row->n, numbers, n * sizeof(double));
    if (row->in && n) memcpy(numbers, row->in + row->n, n * sizeof(double));
    row->n += n;
}

// A count or an index, which a row that comes from a file has within bounds only if it is sound.
static inline void snw_ledger_int(snw_ledger *row, int low, int high, int *x) {
    double as = *x;
    snw_ledger_carry(row, &as, 1);
    if (!row->in) return;
    if (as >= low && as <= high) {
        *x = (int)as;
    } else {
        row->bad = true;
    }
}

static inline void snw_ledger_flag(snw_ledger *row, bool *x) {
    double as = *x;
    snw_ledger_carry(row, &as, 1);
    if (row->in) *x = as != 0;
}
