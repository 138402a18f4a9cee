// SPDX-License-Identifier: MIT
//
// Indices of Sobol' and Morris with bootstrap intervals, correlations, Pareto fronts.
// theory.md 7.9
#include "sweep/sensitivity.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "sweep/random.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 500 };
static const double LOW = 0.025, HIGH = 0.975, NORMAL_95 = 1.959963984540054;
static const uint64_t STREAM_BOOTSTRAP = (uint64_t)1 << 48;

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Interval of the resampled values (RESAMPLES, sorted here).
static void set_interval(double *sample, snw_interval *out) {
    qsort(sample, RESAMPLES, sizeof *sample, by_size);
    out->low = sample[(int)(LOW * RESAMPLES)];
    out->high = sample[(int)(HIGH * RESAMPLES)];
}

// Element i of bootstrap sample `which` of n elements; the first sample is the original.
static int64_t resampled(uint64_t seed, int which, int64_t n, int64_t i) {
    if (which < 0) return i;
    return (int64_t)(snw_random_bits(seed, STREAM_BOOTSTRAP + (uint64_t)which, (uint64_t)i) %
                     (uint64_t)n);
}

// ---- Sobol' -------------------------------------------------------------------------------------

// (7.15): first, total (k) <- indices of one bootstrap sample of the blocks
static void sobol_indices(int k, int64_t n, const double *f, double centre, uint64_t seed,
                          int which, double *first, double *total) {
    double sum = 0, square = 0;
    memset(first, 0, (size_t)k * sizeof *first);
    memset(total, 0, (size_t)k * sizeof *total);
    for (int64_t j = 0; j < n; j++) {
        const double *block = f + resampled(seed, which, n, j) * (k + 2);
        const double a = block[0] - centre, b = block[1] - centre;
        sum += a + b;
        square += a * a + b * b;
        for (int i = 0; i < k; i++) {
            const double ab = block[2 + i] - centre;
            first[i] += b * (ab - a);
            total[i] += (a - ab) * (a - ab);
        }
    }
    const double count = 2 * (double)n, variance = (square - sum * sum / count) / count;
    for (int i = 0; i < k; i++) {
        first[i] /= (double)n * variance;
        total[i] /= 2 * (double)n * variance;
    }
}

// kept (n blocks) <- blocks whose results are all numbers; mean of the first two of each
static int64_t complete_blocks(int width, int64_t n, const double *f, double *kept,
                               double *centre) {
    int64_t used = 0;
    double sum = 0;
    for (int64_t j = 0; j < n; j++) {
        bool good = true;
        for (int i = 0; i < width; i++) good = good && isfinite(f[j * width + i]);
        if (!good) continue;
        memcpy(kept + used * width, f + j * width, (size_t)width * sizeof *kept);
        sum += f[j * width] + f[j * width + 1];
        used++;
    }
    *centre = used > 0 ? sum / (2 * (double)used) : 0;
    return used;
}

snw_status snw_sensitivity_sobol(int k, int64_t n, const double *f, uint64_t seed,
                                 snw_interval *first, snw_interval *total, int64_t *used,
                                 snw_error *err) {
    double *kept = snw_alloc((size_t)n * (size_t)(k + 2) * sizeof *kept);
    double *sample = snw_alloc((size_t)(2 * k) * (RESAMPLES + 1) * sizeof *sample);
    double *one = snw_alloc(2 * (size_t)k * sizeof *one), centre = 0;
    snw_status s = kept && sample && one ? SNW_OK : snw_fail_memory(err);
    if (s == SNW_OK) {
        *used = complete_blocks(k + 2, n, f, kept, &centre);
        if (*used < 2) s = snw_fail(err, SNW_E_ARGUMENT, "fewer than two pairs are complete");
    }
    if (s == SNW_OK) {
        sobol_indices(k, *used, kept, centre, seed, -1, one, one + k);
        for (int i = 0; i < k; i++) first[i].value = one[i], total[i].value = one[k + i];
        if (!isfinite(one[0])) s = snw_fail(err, SNW_E_ARGUMENT, "the result does not vary");
    }
    for (int r = 0; s == SNW_OK && r < RESAMPLES; r++) {
        sobol_indices(k, *used, kept, centre, seed, r, one, one + k);
        for (int i = 0; i < 2 * k; i++) sample[(size_t)i * RESAMPLES + (size_t)r] = one[i];
    }
    for (int i = 0; s == SNW_OK && i < k; i++) {
        set_interval(sample + (size_t)i * RESAMPLES, &first[i]);
        set_interval(sample + (size_t)(k + i) * RESAMPLES, &total[i]);
    }
    snw_free(kept);
    snw_free(sample);
    snw_free(one);
    return s;
}

// ---- Morris -------------------------------------------------------------------------------------

// effect (k) <- effects of a path by (7.16); false: a result is missing, or nothing changes
static bool path_effects(int k, int64_t rows, int64_t at, const double *x, const double *f,
                         double *effect) {
    for (int i = 0; i < k; i++) effect[i] = NAN;
    for (int j = 0; j < k; j++) {
        const int64_t row = at + j;
        for (int i = 0; i < k; i++) {
            const double change = x[i * rows + row + 1] - x[i * rows + row];
            if (change == 0 || !isnan(effect[i])) continue;
            effect[i] = (f[row + 1] - f[row]) / (change > 0 ? 0.5 : -0.5);
            break;
        }
    }
    for (int i = 0; i < k; i++) {
        if (!isfinite(effect[i])) return false;
    }
    return true;
}

snw_status snw_sensitivity_morris(int k, int64_t n, const double *x, const double *f, uint64_t seed,
                                  double *mean, double *deviation, snw_interval *size,
                                  int64_t *used, snw_error *err) {
    double *effect = snw_alloc((size_t)n * (size_t)k * sizeof *effect);
    double *sample = snw_alloc(RESAMPLES * sizeof *sample);
    snw_status s = effect && sample ? SNW_OK : snw_fail_memory(err);
    *used = 0;
    for (int64_t j = 0; s == SNW_OK && j < n; j++)
        *used += path_effects(k, n * (k + 1), j * (k + 1), x, f, effect + *used * k);
    if (s == SNW_OK && *used < 2)
        s = snw_fail(err, SNW_E_ARGUMENT, "fewer than two paths are complete");
    for (int i = 0; s == SNW_OK && i < k; i++) {
        const double count = (double)*used;
        double sum = 0, square = 0, absolute = 0;
        for (int64_t j = 0; j < *used; j++) {
            sum += effect[j * k + i] / count;
            absolute += fabs(effect[j * k + i]) / count;
        }
        for (int64_t j = 0; j < *used; j++) square += pow(effect[j * k + i] - sum, 2);
        mean[i] = sum;
        deviation[i] = sqrt(square / (count - 1));
        size[i].value = absolute;
        for (int r = 0; r < RESAMPLES; r++) {
            sample[r] = 0;
            for (int64_t j = 0; j < *used; j++)
                sample[r] += fabs(effect[resampled(seed, r, *used, j) * k + i]) / count;
        }
        set_interval(sample, &size[i]);
    }
    snw_free(effect);
    snw_free(sample);
    return s;
}

// ---- correlations -------------------------------------------------------------------------------

snw_interval snw_sensitivity_correlation(int64_t n, const double *x, const double *f) {
    double count = 0, mx = 0, mf = 0, xx = 0, ff = 0, xf = 0;
    for (int64_t i = 0; i < n; i++) { // means and moments about them, one by one (Welford)
        if (!isfinite(x[i]) || !isfinite(f[i])) continue;
        count++;
        const double dx = x[i] - mx, df = f[i] - mf;
        mx += dx / count;
        mf += df / count;
        xx += dx * (x[i] - mx);
        ff += df * (f[i] - mf);
        xf += dx * (f[i] - mf);
    }
    const double scale = sqrt(xx) * sqrt(ff), r = scale > 0 ? xf / scale : NAN;
    snw_interval out = {.value = fmax(-1, fmin(1, r)), .low = NAN, .high = NAN};
    if (isnan(r)) out.value = NAN;
    if (count > 3 && fabs(r) < 1) {
        const double z = atanh(r), width = NORMAL_95 / sqrt(count - 3);
        out.low = tanh(z - width);
        out.high = tanh(z + width);
    }
    return out;
}

typedef struct ranked {
    double x;
    int64_t at;
} ranked;

static int by_x(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    return x->x != y->x ? (x->x > y->x) - (x->x < y->x) : (x->at > y->at) - (x->at < y->at);
}

// rank (n) <- ranks of x, equal ones sharing their mean
static void rank_values(int64_t n, const double *x, ranked *order, double *rank) {
    for (int64_t i = 0; i < n; i++) order[i] = (ranked){x[i], i};
    qsort(order, (size_t)n, sizeof *order, by_x);
    for (int64_t i = 0, j = 0; i < n; i = j) {
        while (j < n && order[j].x == order[i].x) j++;
        for (int64_t k = i; k < j; k++) rank[order[k].at] = 0.5 * (double)(i + j - 1);
    }
}

snw_status snw_sensitivity_rank_correlation(int64_t n, const double *x, const double *f,
                                            snw_interval *out, snw_error *err) {
    double *number = snw_alloc(4 * (size_t)n * sizeof *number + 1);
    ranked *order = snw_alloc((size_t)n * sizeof *order + 1);
    const bool good = number && order;
    if (good) {
        double *gx = number, *gf = number + n;
        int64_t m = 0;
        for (int64_t i = 0; i < n; i++) {
            if (isfinite(x[i]) && isfinite(f[i])) gx[m] = x[i], gf[m++] = f[i];
        }
        rank_values(m, gx, order, number + 2 * n);
        rank_values(m, gf, order, number + 3 * n);
        *out = snw_sensitivity_correlation(m, number + 2 * n, number + 3 * n);
    }
    snw_free(number);
    snw_free(order);
    return good ? SNW_OK : snw_fail_memory(err);
}

// ---- Pareto front -------------------------------------------------------------------------------

snw_status snw_sensitivity_pareto(int64_t n, const double *a, const double *b, int64_t *front,
                                  int64_t *size, snw_error *err) {
    ranked *order = snw_alloc((size_t)n * sizeof *order + 1);
    if (!order) return snw_fail_memory(err);
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++) {
        if (isfinite(a[i]) && isfinite(b[i])) order[m++] = (ranked){a[i], i};
    }
    qsort(order, (size_t)m, sizeof *order, by_x);
    double best = INFINITY;
    *size = 0;
    for (int64_t i = 0, j = 0; i < m; i = j) {
        // of equal a the smallest b
        int64_t least = order[i].at;
        for (; j < m && order[j].x == order[i].x; j++) {
            if (b[order[j].at] < b[least]) least = order[j].at;
        }
        if (!(b[least] < best)) continue;
        best = b[least];
        front[(*size)++] = least;
    }
    snw_free(order);
    return SNW_OK;
}
