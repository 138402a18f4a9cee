// SPDX-License-Identifier: MIT
//
// Coefficients of backward Euler, BDF2, BDF3, BDF-alpha and the trapezoidal rule for variable
// steps.

#include "math/time_formula.h"

// derivative at t = 0 of the polynomial through n + 1 values at t = 0, -h[0], -h[0] - h[1], ..
static void backward_difference(int n, const double *h, double *c) {
    double t[SNW_TIME_LEVELS + 1] = {0};
    for (int k = 0; k < n; k++) t[k + 1] = t[k] - h[k];
    c[0] = 0;
    for (int k = 1; k <= n; k++) {
        c[0] -= 1 / t[k];
        c[k] = 1 / t[k];
        for (int j = 1; j <= n; j++) {
            if (j != k) c[k] *= -t[j] / (t[k] - t[j]);
        }
    }
}

// weight of the previous rate
static double rate_weight(double alpha) { return alpha / (1 + alpha); }

// The slope of a straight line does not change; that of a parabola changes by twice the second
// divided difference times the step. Second order for any steps.
snw_time_formula snw_time_formula_at(snw_levels levels, const double h[SNW_TIME_LEVELS]) {
    const double a = levels.alpha;
    snw_time_formula f = {.c = {0}, .d = rate_weight(a)};
    backward_difference(levels.past, h, f.c);
    if (levels.past == 2) {
        const double s = 2 * a / (h[0] + h[1]);
        f.c[0] += s;
        f.c[1] -= s * (1 + h[0] / h[1]);
        f.c[2] += s * h[0] / h[1];
    }
    for (int k = 0; k <= levels.past; k++) f.c[k] /= 1 + a;
    return f;
}

// exact for parabolas, for straight lines with past 1
snw_increment_formula snw_increment_formula_at(snw_levels levels, double h, double before) {
    const double d = rate_weight(levels.alpha);
    const double c2 = levels.past == 2 ? h * (1 + d) / (before * (h + before)) : 0;
    return (snw_increment_formula){.c0 = (1 - d + c2 * before) / h, .c2 = c2, .d = d};
}
