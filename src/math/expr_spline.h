// SPDX-License-Identifier: MIT
//
// expr_spline.h: cubic spline interpolation of samples.
#pragma once

#include "math/expr.h"

// Cubic spline with not-a-knot end conditions (the third derivative is continuous at the second and
// at the last but one sample), so that smooth data are interpolated to fourth order up to the ends.
// Outside the samples the value is constant; at the two ends derivatives are those from inside.
typedef struct snw_spline {
    int n;
    const double *x, *y; // the samples, not owned
    const double *m;     // second derivatives at the samples
} snw_spline;

// The samples are not copied and must live as long as the pool.
SNW_NODISCARD snw_status snw_spline_create(snw_pool *pool, snw_table samples, snw_spline **out,
                                           snw_error *err);
snw_jet snw_spline_jet(const snw_spline *s, double x);
double snw_spline_value(const snw_spline *s, double x);
