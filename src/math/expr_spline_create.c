// SPDX-License-Identifier: MIT
//
// Cubic splines through the samples of tables: second derivatives at the samples from a tridiagonal
// system.
#include "math/expr_spline.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>

static snw_status spline_check(snw_table s, snw_error *err) {
    if (s.n < 1 || !s.x || !s.y) {
        return snw_fail(err, SNW_E_MODEL, "the table has no rows");
    }
    for (int i = 0; i < s.n; i++) {
        if (!isfinite(s.x[i]) || !isfinite(s.y[i])) {
            return snw_fail(err, SNW_E_MODEL, "row %d of the table is not a number", i + 1);
        }
        if (i > 0 && !(s.x[i] > s.x[i - 1])) {
            return snw_fail(err, SNW_E_MODEL,
                            "the first column must increase, but row %d has %g after %g", i + 1,
                            s.x[i], s.x[i - 1]);
        }
    }
    return SNW_OK;
}

// Continuity of the first derivative at inner samples:
//   h0 m[i-1] + 2 (h0 + h1) m[i] + h1 m[i+1] = 6 ((y[i+1]-y[i])/h1 - (y[i]-y[i-1])/h0)
// with m[0] = ((h0 + h1) m[1] - h0 m[2])/h1 inserted into the first row, likewise at the other end.
// The matrix is diagonally dominant, so elimination needs no pivoting. `up`: scratch of n doubles.
static void solve_moments(snw_table s, double *up, double *m) {
    const double *x = s.x, *y = s.y;
    const int last = s.n - 1;
    for (int i = 1; i < last; i++) {
        const double h0 = x[i] - x[i - 1], h1 = x[i + 1] - x[i];
        double low = h0, mid = 2 * (h0 + h1), high = h1;
        if (i == 1) {
            mid += h0 * (h0 + h1) / h1;
            high -= h0 * h0 / h1;
            low = 0;
        }
        if (i == last - 1) {
            mid += h1 * (h0 + h1) / h0;
            low -= i == 1 ? 0 : h1 * h1 / h0;
            high = 0;
        }
        const double r = 6 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0);
        const double pivot = mid - (i > 1 ? low * up[i - 1] : 0);
        up[i] = high / pivot;
        m[i] = (r - (i > 1 ? low * m[i - 1] : 0)) / pivot;
    }
    for (int i = last - 2; i >= 1; i--) m[i] -= up[i] * m[i + 1];
    const double a0 = x[1] - x[0], a1 = x[2] - x[1];
    const double b0 = x[last - 1] - x[last - 2], b1 = x[last] - x[last - 1];
    m[0] = ((a0 + a1) * m[1] - a0 * m[2]) / a1;
    m[last] = ((b0 + b1) * m[last - 1] - b1 * m[last - 2]) / b0;
}

// Second derivatives for any number of samples: a line through two, a parabola through three.
static void moments(snw_table s, double *up, double *m) {
    if (s.n < 3) return;
    if (s.n > 3) {
        solve_moments(s, up, m);
        return;
    }
    const double h0 = s.x[1] - s.x[0], h1 = s.x[2] - s.x[1];
    m[0] = 2 * ((s.y[2] - s.y[1]) / h1 - (s.y[1] - s.y[0]) / h0) / (h0 + h1);
    m[1] = m[2] = m[0];
}

snw_status snw_spline_create(snw_pool *pool, snw_table samples, snw_spline **out, snw_error *err) {
    SNW_TRY(spline_check(samples, err));
    snw_spline *s = snw_pool_take(pool, sizeof *s);
    double *m = snw_pool_array(pool, (size_t)samples.n, sizeof *m);
    double *up = snw_alloc((size_t)samples.n * sizeof *up);
    if (!s || !m || !up) {
        snw_free(up);
        return snw_fail(err, SNW_E_MEMORY, "no memory for a table of %d rows", samples.n);
    }
    moments(samples, up, m);
    snw_free(up);
    *s = (snw_spline){samples.n, samples.x, samples.y, m};
    *out = s;
    return SNW_OK;
}
