// SPDX-License-Identifier: MIT
//
// vector.h: sums and checks over n numbers, in fixed order.
#pragma once

#include <math.h>
#include <stdbool.h>

static inline double snw_vector_dot(int n, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// The larger of two numbers; NaN if one of them is.
static inline double snw_larger(double a, double b) { return isnan(a) || b <= a ? a : b; }

// Sum of absolute values.
static inline double snw_vector_norm1(int n, const double *x) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(x[i]);
    return sum;
}

static inline bool snw_vector_is_finite(int n, const double *x) {
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) return false;
    }
    return true;
}

// Rising order of doubles, for qsort.
static inline int snw_compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
