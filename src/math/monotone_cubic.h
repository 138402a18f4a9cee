// SPDX-License-Identifier: MIT
//
// monotone_cubic.h: interpolation of a table by cubics that are monotone wherever its values are
// (Fritsch and Carlson 1980, slopes by the weighted harmonic mean of Fritsch and Butland). The
// interpolant has a continuous derivative and no extremum between the samples.
#pragma once

#include "base/pool.h"
#include "math/expr.h"

typedef struct snw_monotone_cubic {
    int n;
    const double *x, *y;    // n samples, x ascending
    const double *slope;    // n: derivatives at the samples
    const double *integral; // n: integral from x[0]
} snw_monotone_cubic;

// *out <- interpolant of n >= 2 samples, which must outlive it; NULL when memory is exhausted.
const snw_monotone_cubic *snw_monotone_cubic_create(snw_pool *pool, int n, const double *x,
                                                    const double *y);

// Does x lie between the first and the last sample?
bool snw_monotone_cubic_covers(const snw_monotone_cubic *c, double x);
// Value and first derivative (d); dd is unused and zero. x must be covered.
snw_jet snw_monotone_cubic_at(const snw_monotone_cubic *c, double x);
// Integral from 0 to x, both of which must be covered.
double snw_monotone_cubic_integral(const snw_monotone_cubic *c, double x);
