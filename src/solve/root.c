// SPDX-License-Identifier: MIT
//
// Root of a function by Brent's method: inverse quadratic interpolation or the secant, and
// bisection where these do not shorten the interval fast enough.
#include "solve/root.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { MOST_STEPS = 100 };

snw_status snw_find_root(snw_root_function *f, void *user, double a, double fa, double b, double fb,
                         double tolerance, double *root) {
    // b is the best estimate, a the one before, c the other end of the bracket
    double c = a, fc = fa, last = b - a, before = last, at = NAN;
    for (int k = 0; k < MOST_STEPS; k++) {
        if ((fb > 0) == (fc > 0)) c = a, fc = fa, last = before = b - a;
        if (fabs(fc) < fabs(fb)) {
            a = b, b = c, c = a;
            fa = fb, fb = fc, fc = fa;
        }
        const double enough = 2 * DBL_EPSILON * fabs(b) + 0.5 * tolerance, half = 0.5 * (c - b);
        if (fabs(half) <= enough || fb == 0) break;
        if (fabs(before) >= enough && fabs(fa) > fabs(fb)) {
            const double s = fb / fa;
            double p = 2 * half * s, q = 1 - s;
            if (a != c) {
                const double u = fa / fc, v = fb / fc;
                p = s * (2 * half * u * (u - v) - (b - a) * (v - 1));
                q = (u - 1) * (v - 1) * (s - 1);
            }
            if (p > 0) q = -q;
            p = fabs(p);
            const bool shorter = 2 * p < fmin(3 * half * q - fabs(enough * q), fabs(before * q));
            before = shorter ? last : half;
            last = shorter ? p / q : half;
        } else {
            before = last = half;
        }
        a = b, fa = fb;
        b += fabs(last) > enough ? last : copysign(enough, half);
        at = b;
        const snw_status status = f(user, b, &fb);
        if (status != SNW_OK) return status;
    }
    *root = b;
    double value;
    return b == at ? SNW_OK : f(user, b, &value);
}
