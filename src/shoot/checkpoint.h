// SPDX-License-Identifier: MIT
//
// checkpoint.h: copies numbers from several arrays to one row and back. Each object lists its state
// in one function; with `out` set the function saves, with `in` set it loads, with neither it
// counts.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct snw_shoot_checkpoint {
    double *out;
    const double *in;
    size_t room; // numbers available in out or in; nothing beyond is written or read
    size_t n;    // numbers so far, those beyond `room` included
    bool bad;    // a count or index read was out of range, or `room` was too small
} snw_shoot_checkpoint;

static inline void snw_shoot_checkpoint_numbers(snw_shoot_checkpoint *row, void *numbers,
                                                size_t n) {
    const bool within = row->n <= row->room && n <= row->room - row->n;
    if ((row->out || row->in) && !within) row->bad = true;
    if (row->out && within && n) memcpy(row->out + row->n, numbers, n * sizeof(double));
    if (row->in && within && n) memcpy(numbers, row->in + row->n, n * sizeof(double));
    row->n += n;
}

// Continue at `end`. If more numbers than fit before `end` were copied, n is left as it is, so that
// the count shows the excess.
static inline void snw_shoot_checkpoint_skip(snw_shoot_checkpoint *row, size_t end) {
    if (row->n < end) row->n = end;
}

// A count or an index. Values of a damaged file may be out of range: then row->bad is set and *x is
// left alone.
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
