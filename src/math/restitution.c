// SPDX-License-Identifier: MIT
//
// Hunt-Crossley damping from a coefficient of restitution. Without other forces
//   m v dv/dg = k <-g> c(1 - d v),   v = g',   c the smooth positive part of width 1,
// so that between the first and the last touch, at equal g, with y = d v
//   int y/c(1 - y) dy = 0   from -x to e x,   x = d v_in.
// c(1 - y) is 1 - y up to y = 1/2, where this is
//   x (1 + e) = ln[(1 + x)/(1 - e x)].
// Beyond, with s = 3/2 - y, c is s^3 (1 - s/2), and
//   y/c = 3/(2 s^3) - 1/(4 s^2) - 1/(8 s) - 1/(16 (1 - s/2)),
// whose integral grows without bound as y approaches 3/2: every e above zero has its x.
#include "math/restitution.h"

#include <math.h>

// - antiderivative of y/c(1 - y) over s in (0, 1]
static double loss_beyond(double s) {
    return -0.75 / (s * s) + 0.25 / s - 0.125 * log(s) + 0.125 * log(1 - 0.5 * s);
}

// int_0^z y/c(1 - y) dy
static double loss_out(double z) {
    if (z <= 0.5) return -z - log(1 - z);
    return -0.5 + log(2) + loss_beyond(1) - loss_beyond(1.5 - z);
}

// int_0^x y/(1 + y) dy less the same on the way out, over x^2; falls through its only zero
static double imbalance(double e, double x) {
    if (x > 0.1) return (x - log(1 + x) - loss_out(e * x)) / (x * x);
    double sum = 0, xn = 1, en = e * e, sign = 1; // series, for x and 1 - e small
    for (int n = 2; n < 24; n++) {
        sum += xn * (sign - en) / n;
        xn *= x, en *= e, sign = -sign;
    }
    return sum;
}

double snw_restitution_damping(double e, double v) {
    if (!(e > 0 && e <= 1 && v > 0)) return NAN;
    if (e == 1) return 0;
    double low = 0, high = 1.5 / e;
    for (int i = 0; i < 200; i++) {
        const double x = 0.5 * (low + high);
        if (!(x > low && x < high)) break;
        if (imbalance(e, x) > 0) {
            low = x;
        } else {
            high = x;
        }
    }
    return 0.5 * (low + high) / v;
}
