// SPDX-License-Identifier: MIT
//
// Coefficients of backward Euler, BDF2, BDF3, BDF-alpha and the trapezoidal rule for variable
// steps.

#include "shoot/time_formula.h"

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

// BDF-alpha: (1 + a) x_t(i) - a x_t(i-1) = x'(i) + a (x'(i) - x'(i-1)) on the parabola through
// three values. x' is that of BDF2; the change of x' is twice the second divided difference times
// the step. Second order for any steps.
static snw_time_formula bdf_alpha(double a, const double *h) {
    snw_time_formula f = {.c = {0}, .d = a / (1 + a)};
    backward_difference(2, h, f.c);
    const double s = 2 * a / (h[0] + h[1]);
    f.c[0] = (f.c[0] + s) / (1 + a);
    f.c[1] = (f.c[1] - s * (1 + h[0] / h[1])) / (1 + a);
    f.c[2] = (f.c[2] + s * h[0] / h[1]) / (1 + a);
    return f;
}

snw_time_formula snw_time_formula_at(snw_time_kind kind, double alpha,
                                     const double h[SNW_TIME_LEVELS]) {
    snw_time_formula f = {.c = {0}};
    switch (kind) {
    case SNW_TIME_STATIC:
        break;
    case SNW_TIME_EULER:
        backward_difference(1, h, f.c);
        break;
    case SNW_TIME_TRAPEZOIDAL:
        f = (snw_time_formula){.c = {2 / h[0], -2 / h[0]}, .d = -1};
        break;
    case SNW_TIME_BDF2:
        backward_difference(2, h, f.c);
        break;
    case SNW_TIME_BDF3:
        backward_difference(3, h, f.c);
        break;
    case SNW_TIME_BDF_ALPHA:
        f = bdf_alpha(alpha, h);
        break;
    }
    return f;
}
