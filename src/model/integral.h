// SPDX-License-Identifier: MIT
//
// integral.h: the integral of a law over time from t = 0 on. A coordinate whose rate is given is to
// be somewhere at every instant, whoever asks and in whichever order: so the integral is a function
// of time, not a memory.
#pragma once

#include "model/desc.h"

enum { SNW_INTEGRAL_POINTS = 8 };

typedef struct snw_integral {
    int n;                                                 // times at which it is known,
    const double *t;                                       // rising from 0,
    const double *to;                                      // and its values there
    double x[SNW_INTEGRAL_POINTS], w[SNW_INTEGRAL_POINTS]; // Gauss' rule
} snw_integral;

// Knots up to `end`, so close that Gauss' rule between them is exact to rounding, and where the law
// jumps. Everything lives in the pool. SNW_E_MEMORY.
SNW_NODISCARD snw_status snw_integral_make(snw_pool *pool, snw_law law, double end,
                                           snw_integral *out);

// Its value at t >= 0. Beyond the last knot it goes on in stretches like the last one.
double snw_integral_at(const snw_integral *g, snw_law law, double t);
