// SPDX-License-Identifier: MIT
//
// integral.h: integral of a law over time from t = 0. It gives the coordinate whose rate is the law
// as a function of time, without a state variable, so that the value at t does not depend on the
// order of evaluations.
#pragma once

#include "model/desc.h"

enum { SNW_INTEGRAL_POINTS = 8 };

typedef struct snw_integral {
    int n;                                                 // knots
    const double *t;                                       // n: times, rising from 0, s
    const double *value;                                   // n: integral from 0 to t
    double x[SNW_INTEGRAL_POINTS], w[SNW_INTEGRAL_POINTS]; // Gauss' rule on [0, 1]
} snw_integral;

// Place knots from 0 to `end`: at discontinuities of the law, and so close that Gauss' rule between
// them is exact to rounding. Arrays belong to the pool. Fails with SNW_E_MEMORY only.
SNW_NODISCARD snw_status snw_integral_make(snw_pool *pool, snw_law law, double end,
                                           snw_integral *out);

// Integral of the law from a to b by Gauss' rule, without knots.
double snw_integral_gauss(const snw_integral *g, snw_law law, double a, double b);

// Value at t >= 0. Beyond the last knot Gauss' rule is applied to intervals as long as the last.
double snw_integral_at(const snw_integral *g, snw_law law, double t);
