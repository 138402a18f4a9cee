// SPDX-License-Identifier: MIT
//
// broyden.h: Broyden's method on a matrix that stays factorised: every increment teaches it what
// the matrix lacks. The increments are kept, and the inverse of the updated matrix is applied
// through them (good update, in products).
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct snw_broyden {
    int n, most, kept;
    const double
        *typical; // n numbers that are neither small nor large: increments are measured by them
    double *s;    // increments taken, one after the other
} snw_broyden;

// On memory of snw_broyden_doubles; `most` increments are kept at most, `typical` stays the
// caller's.
size_t snw_broyden_doubles(int n, int most);
snw_broyden snw_broyden_on(int n, int most, const double *typical, double *memory);

// The matrix is a new one, or an increment was not taken as it was given.
void snw_broyden_reset(snw_broyden *b);

// z holds -T^-1 r with the factorised matrix T; z <- the increment to take, which is kept. False,
// and z as it was, when there is no room left or the update is singular: factorise anew.
bool snw_broyden_next(snw_broyden *b, double *z);
