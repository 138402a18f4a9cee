// SPDX-License-Identifier: MIT
//
// time_formula.h: implicit formulas for the rate of a quantity from its values at the last
// instants,
//   x_t(i) = c_0 x(i) + x^h,   x^h = c_1 x(i-1) + c_2 x(i-2) + c_3 x(i-3) + d x_t(i-1),
// for steps of any length (theory.md 10.2).
#pragma once

typedef enum snw_time_kind {
    SNW_TIME_STATIC, // all coefficients zero
    SNW_TIME_EULER,  // backward Euler
    SNW_TIME_TRAPEZOIDAL,
    SNW_TIME_BDF2,
    SNW_TIME_BDF3,
    SNW_TIME_BDF_ALPHA // alpha from -1/2 (trapezoidal) to 0 (BDF2)
} snw_time_kind;

enum { SNW_TIME_LEVELS = 3 }; // previous instants

typedef struct snw_time_formula {
    double c[SNW_TIME_LEVELS + 1], d;
} snw_time_formula;

// h[0]: length of the step; h[1], h[2]: of the previous steps; all positive, s.
snw_time_formula snw_time_formula_at(snw_time_kind kind, double alpha,
                                     const double h[SNW_TIME_LEVELS]);
