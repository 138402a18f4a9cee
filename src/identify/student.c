// SPDX-License-Identifier: MIT
//
// Student's distribution: P(|T| > t) = I_x(f/2, 1/2), x = f/(f + t^2), with the regularised
// incomplete beta function by its continued fraction (Abramowitz and Stegun 26.5.8, 26.7.1).
#include "identify/student.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

// continued fraction of I_x(a, b) by Lentz's method; converges quickly for x < (a + 1)/(a + b + 2)
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m < 1000; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int k = 0; k < 2; k++) {
            const double term = k == 0 ? even : odd;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            if (fabs(c) < tiny) c = tiny;
            value *= c * d;
        }
        if (fabs(c * d - 1) < DBL_EPSILON) break;
    }
    return value;
}

static double beta_regularised(double a, double b, double x) {
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    const bool direct = x < (a + 1) / (a + b + 2);
    return direct ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// P(T > t), t >= 0
static double upper_tail(double t, double freedom) {
    if (isinf(freedom)) return erfc(t / sqrt(2)) / 2;
    return t == 0 ? 0.5 : beta_regularised(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
}

double snw_student_quantile(double p, double freedom) {
    if (!(p > 0 && p < 1 && freedom > 0)) return NAN;
    const double tail = fmin(p, 1 - p);
    double low = 0, high = 1;
    while (upper_tail(high, freedom) > tail && high < 1e100) low = high, high *= 2;
    for (int i = 0; i < 200 && high - low > DBL_EPSILON * high; i++) {
        const double middle = (low + high) / 2;
        if (upper_tail(middle, freedom) > tail) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const double t = (low + high) / 2;
    return p < 0.5 ? -t : p > 0.5 ? t : 0;
}
