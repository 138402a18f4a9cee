// SPDX-License-Identifier: MIT
//
// Derivatives of the numbers of models by a number of the file, from samples of them.
#include "robot/gradient_slope.h"

#include "base/alloc.h"
#include "robot/gradient_difference.h"

#include <math.h>
#include <string.h>

static const double straight = 1e-9, // curvature that counts as rounding, relative to the change
    exact = 1e-13,                   // the same of numbers that are moved together
    shared_rounding = 10;            // of a sum of changes, over that of a number

bool gradient_slope_straight(size_t size, const double *low, const double *x, const double *high,
                             const double *scale) {
    for (size_t i = 0; i < size; i++) {
        const double down = low[i] - x[i], up = high[i] - x[i];
        if (!(fabs(down + up) <= straight * (fabs(down) + fabs(up)) + gradient_rounding * scale[i]))
            return false;
    }
    return true;
}

// s <- the numbers of sum and coarse (n each) that are not zero and, where owners are given, belong
// to `of`
static snw_status keep_numbers(size_t n, const int *owner, int of, const double *sum,
                               const double *coarse, gradient_slope *s) {
    size_t used = 0;
    for (size_t i = 0; i < n; i++) used += sum[i] != 0 && (!owner || owner[i] == of);
    s->by = snw_alloc((2 * used + 1) * sizeof *s->by);
    s->at = snw_alloc((used + 1) * sizeof *s->at);
    if (!s->by || !s->at) return SNW_E_MEMORY;
    s->coarse = s->by + used;
    for (size_t i = 0; i < n; i++) {
        if (sum[i] == 0 || (owner && owner[i] != of)) continue;
        s->at[s->n] = (uint32_t)i;
        s->by[s->n] = sum[i];
        s->coarse[s->n++] = coarse[i];
    }
    return SNW_OK;
}

snw_status gradient_slope_find(size_t size, const double *sum, const double *coarse,
                               gradient_slope *out) {
    return keep_numbers(size, NULL, 0, sum, coarse, out);
}

void gradient_slope_close(gradient_slope *s) {
    snw_free(s->at);
    snw_free(s->by);
    *s = (gradient_slope){0};
}

double gradient_slope_product(const gradient_slope *s, const double *bars, double *coarse,
                              double *size) {
    double sum = 0;
    *coarse = *size = 0;
    for (size_t i = 0; i < s->n; i++) {
        sum += bars[s->at[i]] * s->by[i];
        *coarse += bars[s->at[i]] * s->coarse[i];
        *size += fabs(bars[s->at[i]] * s->by[i]);
    }
    return sum;
}

// ---- numbers that are moved together ------------------------------------------------------------

static const double first_ratio = -1, ratios = 0.6; // of the second move to the first

// No fraction is the mean of others, and the two sequences have no pattern in common: a sum of two
// numbers of the file must not look like a third.
double gradient_group_fraction(int i, int k, int n) {
    const double u = (k + 0.5) / n;
    if (i == 0) return 1;
    if (i == 1) return first_ratio + ratios * 0.5 * u * (1 + u);
    return 1 - 0.7 * fmod(0.4142135623730951 * (k + 1) * (k + 1), 1);
}

// The number whose second fraction is `ratio`; -1: none.
static int number_of_ratio(double ratio, int n) {
    const double v = (ratio - first_ratio) / ratios, u = 0.5 * (sqrt(1 + 8 * fmax(v, 0)) - 1);
    return v > 0 && u < 1 ? (int)(u * n) : -1;
}

void gradient_group_linear(size_t size, int n, const double *move, int models, const double *x,
                           const double *scale, gradient_owners *out, bool *ok) {
    *ok = true;
    for (size_t i = 0; i < size && *ok; i++) {
        const double noise = gradient_rounding * scale[i], change = x[size + i] - x[i];
        double most = 0;
        for (int j = 0; j < models; j++)
            most = fmax(most, fabs(x[(size_t)(j + 1) * size + i] - x[i]));
        out->owner[i] = 0;
        out->by[i] = out->coarse[i] = 0;
        if (most <= noise) continue;
        const int k = number_of_ratio((x[2 * size + i] - x[i]) / change, n);
        *ok = k >= 0 && noise < 0.1 * ratios / n * fabs(change);
        for (int j = 1; j < models && *ok; j++) {
            const double got = x[(size_t)(j + 1) * size + i] - x[i];
            const double want = change * gradient_group_fraction(j, k, n);
            *ok = fabs(got - want) <= exact * fabs(got) + noise;
        }
        if (!*ok) return;
        out->owner[i] = k + 1;
        out->by[i] = out->coarse[i] = change / move[k];
    }
}

// Owner of one array number by its changes in the vectors of the bits, and its change; -1: not one.
static int find_owner(size_t size, size_t i, int n, int bits, const double *x, double noise,
                      double *change) {
    int code = 0;
    *change = 0;
    for (int b = 0; b < bits; b++) {
        const double by = x[(size_t)(b + 1) * size + i] - x[i];
        if (fabs(by) <= noise) continue;
        if (code != 0 && !(fabs(by - *change) <= noise)) return -1;
        code |= 1 << b;
        *change = by;
    }
    return code <= n ? code : -1;
}

void gradient_group_bits(size_t size, int n, int bits, const double *x, const double *noise,
                         gradient_owners *out, bool *ok) {
    const double *all = x + (size_t)(bits + GRADIENT_VARIANTS) * size;
    *ok = true;
    for (size_t i = 0; i < size && *ok; i++) {
        double change;
        out->owner[i] = find_owner(size, i, n, bits, x, noise[i], &change);
        *ok = out->owner[i] >= 0 && fabs(all[i] - x[i] - change) <= noise[i];
    }
}

bool gradient_group_owned(size_t size, int n, int bits, const double *x, const double *noise) {
    double change;
    for (size_t i = 0; i < size; i++) {
        if (find_owner(size, i, n, bits, x, noise[i], &change) < 0) return false;
    }
    return true;
}

void gradient_shared_add(size_t size, double move, double fraction, const double *x0,
                         const double *x, const double *scale, double *by, double *sum) {
    for (size_t i = 0; i < size; i++) {
        const double change = x[i] - x0[i]; // exact
        by[i] = fabs(change) > gradient_rounding * scale[i] ? change / move : 0;
        sum[i] += fraction * change;
    }
}

bool gradient_shared_is(size_t size, const double *x0, const double *x, const double *sum,
                        const double *scale) {
    for (size_t i = 0; i < size; i++) {
        const double change = x[i] - x0[i];
        const double noise = exact * fabs(change) + shared_rounding * gradient_rounding * scale[i];
        if (!(fabs(change - sum[i]) <= noise)) return false;
    }
    return true;
}

void gradient_group_samples(size_t size, const double *step, const double *x0, const double *x,
                            gradient_owners *out) {
    for (size_t i = 0; i < size; i++) {
        double by = 0, coarse = 0;
        for (int j = 0; j < GRADIENT_VARIANTS; j++) {
            const double change = x[(size_t)j * size + i] - x0[i]; // exact
            by += gradient_sample_weight(gradient_weight6, j) * change;
            coarse += gradient_sample_weight(gradient_weight4, j) * change;
        }
        const int k = out->owner[i] > 0 ? out->owner[i] - 1 : 0;
        out->by[i] = out->owner[i] > 0 ? by / step[k] : 0;
        out->coarse[i] = out->owner[i] > 0 ? coarse / step[k] : 0;
    }
}

snw_status gradient_group_slope(size_t size, int k, const gradient_owners *from,
                                gradient_slope *out) {
    return keep_numbers(size, from->owner, k + 1, from->by, from->coarse, out);
}
