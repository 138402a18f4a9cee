// SPDX-License-Identifier: MIT
//
// secants.h: Newton's method on a matrix T that stays factorised, over many problems that follow
// each other. Each increment that was taken says what T lacks: z = -T^-1 r fell by g where the
// unknowns moved by d. The last few such pairs, also those of the problems before, are fitted to
// the next z by least squares, and what they explain is taken as they say.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SNW_SECANTS_MOST = 16 };

typedef struct snw_secants {
    int n, most, kept,
        newest;   // numbers of an increment; pairs: room, how many there are, where the last one is
    bool chained; // the next z is what the last increment left
    const double *weight; // n: of squares, in what is fitted
    double *g, *e;        // most rows of n: g of weighted length one, and d - g
    double *z, *d;        // the last z, the last increment
    double gram[SNW_SECANTS_MOST * SNW_SECANTS_MOST]; // weighted products of the g
} snw_secants;

// On memory of snw_secants_doubles; `most` pairs (SNW_SECANTS_MOST at most) are kept, the weights
// stay the caller's.
size_t snw_secants_doubles(int n, int most);
snw_secants snw_secants_on(int n, int most, const double *weight, double *memory);

// The matrix is another one.
void snw_secants_reset(snw_secants *s);
// The problem is another one like it, or the increment was not taken as it was given.
void snw_secants_pause(snw_secants *s);

// z holds -T^-1 r; z <- the increment to take.
void snw_secants_next(snw_secants *s, double *z);
