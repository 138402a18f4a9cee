// SPDX-License-Identifier: MIT
//
// tape.h: numbers that lie in several places, to or from one tape. What is to be saved is listed once, by a function that carries
// it: with a tape to write to it saves, with one to read from it loads, with neither it counts.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct snw_tape {
    double *out;
    const double *in;
    size_t n; // numbers so far
} snw_tape;

static inline void snw_tape_carry(snw_tape *tape, void *numbers, size_t n) {
    if (tape->out && n) memcpy(tape->out + tape->n, numbers, n * sizeof(double));
    if (tape->in && n) memcpy(numbers, tape->in + tape->n, n * sizeof(double));
    tape->n += n;
}

static inline void snw_tape_int(snw_tape *tape, int *x) {
    double as = *x;
    snw_tape_carry(tape, &as, 1);
    if (tape->in) *x = (int)as;
}

static inline void snw_tape_flag(snw_tape *tape, bool *x) {
    double as = *x;
    snw_tape_carry(tape, &as, 1);
    if (tape->in) *x = as != 0;
}
