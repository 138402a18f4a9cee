// SPDX-License-Identifier: MIT
//
// Monotone piecewise cubic interpolation: slopes at the samples, then Hermite's cubic with
// t = (x - x_i)/h:  y = y_i + t (h s_i + t (3 dy - h (2 s_i + s_j) + t (h (s_i + s_j) - 2 dy))).
#include "math/monotone_cubic.h"

#include <math.h>

// Slope at a sample between intervals of lengths h0, h1 and secants d0, d1.
static double inner_slope(double h0, double d0, double h1, double d1) {
    if (!(d0 * d1 > 0)) return 0;
    const double w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
    return (w0 + w1) / (w0 / d0 + w1 / d1);
}

// Slope at an end, by the parabola through three samples, limited so that it stays monotone.
static double end_slope(double h0, double d0, double h1, double d1) {
    const double s = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (!(s * d0 > 0)) return 0;
    return !(d0 * d1 > 0) && fabs(s) > 3 * fabs(d0) ? 3 * d0 : s;
}

// Coefficients of the cubic of interval i, in powers of t.
static void cubic_of(const snw_monotone_cubic *c, int i, double *h, double p[4]) {
    *h = c->x[i + 1] - c->x[i];
    const double dy = c->y[i + 1] - c->y[i], s = *h * c->slope[i], e = *h * c->slope[i + 1];
    p[0] = c->y[i], p[1] = s, p[2] = 3 * dy - 2 * s - e, p[3] = s + e - 2 * dy;
}

// Integral over the first fraction t of interval i.
static double part_integral(const snw_monotone_cubic *c, int i, double t) {
    double h, p[4];
    cubic_of(c, i, &h, p);
    return h * t * (p[0] + t * (p[1] / 2 + t * (p[2] / 3 + t * p[3] / 4)));
}

const snw_monotone_cubic *snw_monotone_cubic_create(snw_pool *pool, int n, const double *x,
                                                    const double *y) {
    snw_monotone_cubic *c = snw_pool_take(pool, sizeof *c);
    double *slope = snw_pool_array(pool, (size_t)n, sizeof *slope);
    double *integral = snw_pool_array(pool, (size_t)n, sizeof *integral);
    if (!c || !slope || !integral) return NULL;
    *c = (snw_monotone_cubic){.n = n, .x = x, .y = y, .slope = slope, .integral = integral};
    for (int i = 0; i < n; i++) {
        const int a = i == 0 ? 0 : i - 1, b = i == n - 1 ? n - 2 : i;
        const double h0 = x[a + 1] - x[a], d0 = (y[a + 1] - y[a]) / h0;
        const double h1 = x[b + 1] - x[b], d1 = (y[b + 1] - y[b]) / h1;
        if (n == 2) {
            slope[i] = d0;
        } else if (i == 0) {
            const double h2 = x[2] - x[1];
            slope[i] = end_slope(h0, d0, h2, (y[2] - y[1]) / h2);
        } else if (i == n - 1) {
            const double h2 = x[n - 2] - x[n - 3];
            slope[i] = end_slope(h1, d1, h2, (y[n - 2] - y[n - 3]) / h2);
        } else {
            slope[i] = inner_slope(h0, d0, h1, d1);
        }
    }
    integral[0] = 0;
    for (int i = 1; i < n; i++) integral[i] = integral[i - 1] + part_integral(c, i - 1, 1);
    return c;
}

bool snw_monotone_cubic_covers(const snw_monotone_cubic *c, double x) {
    return x >= c->x[0] && x <= c->x[c->n - 1];
}

// Interval that contains x.
static int interval_of(const snw_monotone_cubic *c, double x) {
    int low = 0, high = c->n - 1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (x < c->x[middle]) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return low;
}

snw_jet snw_monotone_cubic_at(const snw_monotone_cubic *c, double x) {
    const int i = interval_of(c, x);
    double h, p[4];
    cubic_of(c, i, &h, p);
    const double t = (x - c->x[i]) / h;
    return (snw_jet){p[0] + t * (p[1] + t * (p[2] + t * p[3])),
                     (p[1] + t * (2 * p[2] + t * 3 * p[3])) / h, 0};
}

// Integral from the first sample to x.
static double integral_to(const snw_monotone_cubic *c, double x) {
    const int i = interval_of(c, x);
    return c->integral[i] + part_integral(c, i, (x - c->x[i]) / (c->x[i + 1] - c->x[i]));
}

double snw_monotone_cubic_integral(const snw_monotone_cubic *c, double x) {
    return integral_to(c, x) - integral_to(c, 0);
}
