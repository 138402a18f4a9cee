// SPDX-License-Identifier: MIT
//
// Values of the integral of a law of time, from its knots and Gauss' rule: for inputs of robots,
// and of those on a graphics processor.
#include "model/integral.h"

double snw_integral_gauss(const snw_integral *g, snw_law law, double a, double b) {
    double sum = 0;
    for (int i = 0; i < SNW_INTEGRAL_POINTS; i++) {
        sum += g->w[i] * snw_expr_value(law, (snw_at){.t = a + (b - a) * g->x[i]});
    }
    return (b - a) * sum;
}

double snw_integral_at(const snw_integral *g, snw_law law, double t) {
    int low = 0, high = g->n;
    while (high - low > 1) { // t[low] <= t < t[high]
        const int middle = (low + high) / 2;
        if (g->t[middle] <= t) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double from = g->t[low], sum = g->value[low];
    const double length = g->n > 1 ? g->t[g->n - 1] - g->t[g->n - 2] : 1;
    for (; low == g->n - 1 && t - from > length; from += length) {
        sum += snw_integral_gauss(g, law, from, from + length);
    }
    return sum + snw_integral_gauss(g, law, from, t);
}
