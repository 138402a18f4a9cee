// SPDX-License-Identifier: MIT
//
// broyden.h: Broyden's method (good update) with one factorised matrix. The increments are stored,
// and the inverse of the updated matrix is applied as a product of rank-one updates.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct snw_broyden {
    int n, most, kept;
    const double *typical; // n typical magnitudes, which scale the increments
    double *s;             // increments taken, in order
} snw_broyden;

// memory: snw_broyden_doubles. At most `most` increments are stored; `typical` stays the caller's.
size_t snw_broyden_doubles(int n, int most);
snw_broyden snw_broyden_on(int n, int most, const double *typical, double *memory);

// Call when the matrix was factorised anew, or an increment was not taken in full.
void snw_broyden_reset(snw_broyden *b);

// In: z = -T^-1 r with the factorised matrix T. Out: z <- the increment to take, which is stored.
// Returns false, with z unchanged, when the storage is full or the update is singular: factorise
// again.
bool snw_broyden_next(snw_broyden *b, double *z);
