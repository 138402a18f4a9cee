// SPDX-License-Identifier: MIT
//
// time_formula.h: the rate of a quantity from its values at the last instants, for implicit time
// schemes with steps of any length (theory.md 6.1 and 10.2),
//   x_t(i) = c_0 x(i) + c_1 x(i-1) + c_2 x(i-2) + c_3 x(i-3) + d x_t(i-1).
#pragma once

// With x' the slope of the polynomial through the present value and those of `past` instants,
//   (1 + alpha) x_t(i) - alpha x_t(i-1) = x'(i) + alpha (x'(i) - x'(i-1)).
// past 1: backward Euler (alpha 0), the trapezoidal rule (-1/2); past 2: BDF2 (0), BDF-alpha (-1/2
// to 0); past 3: BDF3, with alpha 0 only.
typedef struct snw_levels {
    int past; // 0: statics, all coefficients are zero
    double alpha;
} snw_levels;

enum { SNW_TIME_LEVELS = 3 }; // previous instants

typedef struct snw_time_formula {
    double c[SNW_TIME_LEVELS + 1], d;
} snw_time_formula;

// h[0]: length of the step; h[1], h[2]: of the previous steps; all positive, s.
snw_time_formula snw_time_formula_at(snw_levels levels, const double h[SNW_TIME_LEVELS]);

// The same for past 1 and 2 in increments dx(i) = x(i) - x(i-1), which alone exist on a Lie group,
//   x_t(i) = c_0 dx(i) - c_2 dx(i-1) + d x_t(i-1),
// rounded on its own. h, before: lengths of this step and of the previous one, s.
typedef struct snw_increment_formula {
    double c0, c2, d;
} snw_increment_formula;
snw_increment_formula snw_increment_formula_at(snw_levels levels, double h, double before);
