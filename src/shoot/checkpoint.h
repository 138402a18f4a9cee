// SPDX-License-Identifier: MIT
//
// checkpoint.h: numbers that lie in several places, to or from one row. What is to be saved is
// listed once, by a function that carries it: with a row to write to it saves, with one to read
// from it loads, with neither it counts.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct snw_shoot_checkpoint {
    double *out;
    const double *in;
    size_t room; // numbers that out or in has; nothing beyond is written or read
    size_t n;    // numbers so far, those beyond the room included
    bool bad;    // a count or an index read was none that can be, or the room was too small
} snw_shoot_checkpoint;

static inline void snw_shoot_checkpoint_numbers(snw_shoot_checkpoint *row, void *numbers,
                                                size_t n) {
    const bool within = row->n <= row->room && n <= row->room - row->n;
    if ((row->out || row->in) && !within) row->bad = true;
    if (row->out && within && n) memcpy(row->out + row->n, numbers, n * sizeof(double));
    if (row->in && within && n) memcpy(numbers, row->in + row->n, n * sizeof(double));
    row->n += n;
}

// What follows begins at `end`, whatever was carried since; more than has room before it counts in
// full, so that a count shows that it does not fit.
static inline void snw_shoot_checkpoint_skip(snw_shoot_checkpoint *row, size_t end) {
    if (row->n < end) row->n = end;
}

// A count or an index, which a row that comes from a file has within bounds only if it is sound.
static inline void snw_shoot_checkpoint_int(snw_shoot_checkpoint *row, int low, int high, int *x) {
    double as = *x;
    snw_shoot_checkpoint_numbers(row, &as, 1);
    if (!row->in) return;
    if (as >= low && as <= high) {
        *x = (int)as;
    } else {
        row->bad = true;
    }
}

static inline void snw_shoot_checkpoint_flag(snw_shoot_checkpoint *row, bool *x) {
    double as = *x;
    snw_shoot_checkpoint_numbers(row, &as, 1);
    if (row->in) *x = as != 0;
}
