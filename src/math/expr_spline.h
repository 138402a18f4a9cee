// SPDX-License-Identifier: MIT
//
// expr_spline.h: a twice differentiable curve through samples.
#pragma once

#include "math/expr.h"

// Cubic between samples; at the ends not-a-knot (the third derivative does not jump at the second
// and the last but one sample), so that smooth data are met to fourth order up to the ends.
// Outside the samples the value stays what it is at the end; at both ends rates are those within.
typedef struct snw_spline {
    int n;
    const double *x, *y; // the samples, owned by whoever handed out the table
    const double *m;     // second derivatives there
} snw_spline;

// The samples must stay where they are as long as the pool lives.
SNW_NODISCARD snw_status snw_spline_create(snw_pool *pool, snw_table samples, snw_spline **out,
                                           snw_error *err);
snw_jet snw_spline_jet(const snw_spline *s, double x);
double snw_spline_value(const snw_spline *s, double x);
