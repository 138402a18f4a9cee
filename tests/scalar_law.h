// SPDX-License-Identifier: MIT
//
// scalar_law.h: numerical damping and frequency of one undamped mode under a time formula, in
// closed form: x_t = i w x has solutions z^n with
//   i w (1 - d/z) = c_0 + c_1/z + c_2/z^2 + c_3/z^3,
// of which the one nearest to exp(i w h) is the mode; the amplitude falls as exp(-t/tau), tau =
// -h/log|z|.
#pragma once

#include "model/scheme.h"

#include <complex.h>
#include <math.h>

#undef I // the name is used for inertias

static inline double complex scalar_root(snw_scheme_kind kind, double alpha, double w, double h) {
    const double steps[SNW_TIME_LEVELS] = {h, h, h};
    const snw_time_formula f = snw_time_formula_at(snw_scheme_levels(kind, alpha), steps);
    double complex u = cexp(-_Complex_I * w * h); // 1/z
    for (int i = 0; i < 50; i++) {
        const double complex r =
            f.c[0] + u * (f.c[1] + u * (f.c[2] + u * f.c[3])) - _Complex_I * w * (1 - f.d * u);
        const double complex s = f.c[1] + u * (2 * f.c[2] + u * 3 * f.c[3]) + _Complex_I * w * f.d;
        u -= r / s;
    }
    return 1 / u;
}

// Time constant of the amplitude, negative when it grows.
static inline double scalar_law(snw_scheme_kind kind, double alpha, double w, double h) {
    return -h / log(cabs(scalar_root(kind, alpha, w, h)));
}

// Frequency of the numerical solution over the exact one.
static inline double scalar_frequency(snw_scheme_kind kind, double alpha, double w, double h) {
    return carg(scalar_root(kind, alpha, w, h)) / (w * h);
}
