// SPDX-License-Identifier: MIT
//
// Integral of a law of time between knots by Gauss' rule, for coordinates whose rate is given.
// Knots are placed by bisection until the rule is exact to rounding.
#include "model/integral.h"

#include "base/alloc.h"
#include "math/quadrature.h"

#include <math.h>
#include <string.h>

enum {
    BREAKS = 1000, // most discontinuities of the law
    DEPTH = 16,    // of bisection
    KNOTS = 20000, // at most
    AT_LEAST = 8   // intervals between discontinuities
};

// Knots under construction.
typedef struct knots {
    const snw_integral *rule;
    snw_law law;
    int n;
    double *t, *value;
} knots;

// Add knots up to b; `whole`: integral from the last knot to b. Bisects unless the integrals over
// the two halves add up to it.
static void integral_extend(knots *k, double b, double whole, int depth) {
    const double a = k->t[k->n - 1], m = 0.5 * (a + b);
    const double first = snw_integral_gauss(k->rule, k->law, a, m),
                 second = snw_integral_gauss(k->rule, k->law, m, b);
    const double error = fabs(first + second - whole);
    const bool accurate =
        !(error > 1e-14 * (fabs(first) + fabs(second) + fabs(k->value[k->n - 1])));
    if (accurate || depth == DEPTH || k->n + 2 >= KNOTS) {
        k->t[k->n] = b;
        k->value[k->n] = k->value[k->n - 1] + first + second;
        k->n++;
        return;
    }
    integral_extend(k, m, first, depth + 1);
    integral_extend(k, b, second, depth + 1);
}

// Knots from 0 to `end`, with one at each discontinuity of the law.
static void integral_place_knots(knots *k, double end) {
    double stop[BREAKS + 1];
    int n = snw_expr_breaks_t(k->law, 0, end, stop, BREAKS);
    if (n == 0 || stop[n - 1] < end) stop[n++] = end;
    k->n = 1;
    k->t[0] = k->value[0] = 0;
    for (int i = 0; i < n; i++) {
        const double from = k->t[k->n - 1], interval = stop[i] - from;
        for (int j = 1; j <= AT_LEAST && interval > 0; j++) {
            const double to = j < AT_LEAST ? from + interval * j / AT_LEAST : stop[i];
            integral_extend(k, to, snw_integral_gauss(k->rule, k->law, k->t[k->n - 1], to), 0);
        }
    }
}

snw_status snw_integral_make(snw_pool *pool, snw_law law, double end, snw_integral *out) {
    knots k = {.rule = out, .law = law};
    *out = (snw_integral){0};
    snw_gauss(SNW_INTEGRAL_POINTS, out->x, out->w);
    k.t = snw_alloc(2 * (size_t)KNOTS * sizeof *k.t);
    if (!k.t) return SNW_E_MEMORY;
    k.value = k.t + KNOTS;
    integral_place_knots(&k, end);
    const size_t n = (size_t)k.n;
    double *copy = snw_pool_array(pool, 2 * n, sizeof *copy);
    if (copy) {
        memcpy(copy, k.t, n * sizeof *copy);
        memcpy(copy + n, k.value, n * sizeof *copy);
        out->n = k.n;
        out->t = copy;
        out->value = copy + n;
    }
    snw_free(k.t);
    return copy ? SNW_OK : SNW_E_MEMORY;
}
