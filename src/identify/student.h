// SPDX-License-Identifier: MIT
//
// student.h: quantiles of Student's distribution and of the normal one, for confidence intervals.
#pragma once

// The number below which a variable of Student's distribution with `freedom` > 0 degrees of freedom
// lies with probability p, 0 < p < 1; INFINITY: of the normal distribution. To 1e-13, relative. NaN
// for other arguments.
double snw_student_quantile(double p, double freedom);
