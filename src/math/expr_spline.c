// SPDX-License-Identifier: MIT
//
// Cubic splines through the samples of tables: values and derivatives.
#include "math/expr_spline.h"

#include <math.h>

// The i with x[i] <= at < x[i+1]: a guess that is right for equidistant samples, else bisection.
static int segment(const snw_spline *s, double at) {
    const double *x = s->x;
    int lo = 0, hi = s->n - 1;
    int i = (int)((at - x[0]) / (x[hi] - x[0]) * hi);
    if (i > hi - 1) i = hi - 1;
    if (i < 0) i = 0;
    if (x[i] <= at && at < x[i + 1]) return i;
    while (hi - lo > 1) {
        i = lo + (hi - lo) / 2;
        if (x[i] <= at) {
            lo = i;
        } else {
            hi = i;
        }
    }
    return lo;
}

snw_jet snw_spline_jet(const snw_spline *s, double at) {
    const double *x = s->x, *y = s->y, *m = s->m;
    if (isnan(at)) return (snw_jet){at, at, at};
    if (at < x[0]) return (snw_jet){y[0], 0, 0};
    if (at > x[s->n - 1] || s->n == 1) return (snw_jet){y[s->n - 1], 0, 0};
    const int i = segment(s, at);
    const double h = x[i + 1] - x[i], a = x[i + 1] - at, b = at - x[i];
    snw_jet r;
    r.dd = (a * m[i] + b * m[i + 1]) / h;
    r.d = (y[i + 1] - y[i]) / h + (b * b * m[i + 1] - a * a * m[i]) / (2 * h) -
          h * (m[i + 1] - m[i]) / 6;
    r.v = a == 0 ? y[i + 1]
                 : (a * y[i] + b * y[i + 1]) / h -
                       a * b * ((h + a) * m[i] + (h + b) * m[i + 1]) / (6 * h);
    return r;
}

double snw_spline_value(const snw_spline *s, double at) { return snw_spline_jet(s, at).v; }
