// SPDX-License-Identifier: MIT
//
// secants.h: multi-secant correction of Newton's method with a kept factorised matrix T, over a
// sequence of similar problems. Each increment taken gives a secant pair: z = -T^-1 r fell by g
// when the unknowns moved by d; g = d if T is exact. The last pairs, also those of earlier
// problems, are fitted to the next z by least squares, and the fitted part of z is replaced by the
// same combination of the d.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SNW_SECANTS_MOST = 16 };

typedef struct snw_secants {
    int n, most, kept,
        newest;           // numbers of an increment; pairs: most, present number, row of the newest
    bool chained;         // the next z belongs to the last increment
    const double *weight; // n: weights of squares in the fit
    double *g, *e;        // most rows of n: g scaled to weighted length one, and d - g
    double *z, *d;        // the last z, the last increment
    double gram[SNW_SECANTS_MOST * SNW_SECANTS_MOST]; // weighted products of the g
} snw_secants;

// memory: snw_secants_doubles. At most `most` pairs (up to SNW_SECANTS_MOST) are stored; the
// weights stay the caller's.
size_t snw_secants_doubles(int n, int most);
snw_secants snw_secants_on(int n, int most, const double *weight, double *memory);

// Call when the matrix was factorised anew.
void snw_secants_reset(snw_secants *s);
// Call before the next problem, or when the increment was not taken in full.
void snw_secants_pause(snw_secants *s);

// In: z = -T^-1 r. Out: z <- the increment to take.
void snw_secants_next(snw_secants *s, double *z);
