// SPDX-License-Identifier: MIT
#include "model/integral.h"

#include "base/alloc.h"
#include "math/quadrature.h"

#include <math.h>
#include <string.h>

enum { BREAKS = 1000, DEPTH = 16, KNOTS = 20000, AT_LEAST = 8 };

// knots in the making
typedef struct knots {
    const snw_integral *rule;
    snw_law law;
    int n;
    double *t, *to;
} knots;

static double integral_stretch(const snw_integral *g, snw_law law, double a, double b) {
    double sum = 0;
    for (int i = 0; i < SNW_INTEGRAL_POINTS; i++) {
        sum += g->w[i] * snw_expr_value(law, (snw_at){.t = a + (b - a) * g->x[i]});
    }
    return (b - a) * sum;
}

// from the last knot to b: in one stretch when two halves say the same
static void integral_reach(knots *k, double b, double whole, int depth) {
    const double a = k->t[k->n - 1], m = 0.5 * (a + b);
    const double first = integral_stretch(k->rule, k->law, a, m),
                 second = integral_stretch(k->rule, k->law, m, b);
    const double miss = fabs(first + second - whole);
    const bool fine = !(miss > 1e-14 * (fabs(first) + fabs(second) + fabs(k->to[k->n - 1])));
    if (fine || depth == DEPTH || k->n + 2 >= KNOTS) {
        k->t[k->n] = b;
        k->to[k->n] = k->to[k->n - 1] + first + second;
        k->n++;
        return;
    }
    integral_reach(k, m, first, depth + 1);
    integral_reach(k, b, second, depth + 1);
}

static void integral_find(knots *k, double end) {
    double stop[BREAKS + 1];
    int n = snw_expr_breaks_t(k->law, 0, end, stop, BREAKS);
    if (n == 0 || stop[n - 1] < end) stop[n++] = end;
    k->n = 1;
    k->t[0] = k->to[0] = 0;
    for (int i = 0; i < n; i++) {
        const double from = k->t[k->n - 1], way = stop[i] - from;
        for (int j = 1; j <= AT_LEAST && way > 0; j++) {
            const double to = j < AT_LEAST ? from + way * j / AT_LEAST : stop[i];
            integral_reach(k, to, integral_stretch(k->rule, k->law, k->t[k->n - 1], to), 0);
        }
    }
}

snw_status snw_integral_make(snw_pool *pool, snw_law law, double end, snw_integral *out) {
    knots k = {.rule = out, .law = law};
    *out = (snw_integral){0};
    snw_gauss(SNW_INTEGRAL_POINTS, out->x, out->w);
    k.t = snw_alloc(2 * (size_t)KNOTS * sizeof *k.t);
    if (!k.t) return SNW_E_MEMORY;
    k.to = k.t + KNOTS;
    integral_find(&k, end);
    const size_t n = (size_t)k.n;
    double *kept = snw_pool_array(pool, 2 * n, sizeof *kept);
    if (kept) {
        memcpy(kept, k.t, n * sizeof *kept);
        memcpy(kept + n, k.to, n * sizeof *kept);
        out->n = k.n;
        out->t = kept;
        out->to = kept + n;
    }
    snw_free(k.t);
    return kept ? SNW_OK : SNW_E_MEMORY;
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
    double from = g->t[low], sum = g->to[low];
    const double length = g->n > 1 ? g->t[g->n - 1] - g->t[g->n - 2] : 1;
    for (; low == g->n - 1 && t - from > length; from += length) {
        sum += integral_stretch(g, law, from, from + length);
    }
    return sum + integral_stretch(g, law, from, t);
}
