// SPDX-License-Identifier: MIT
//
// Zero-phase Butterworth filter of order 4 as two biquads, forwards and backwards, for measured
// series (theory.md 9). The analogue prototype has two pairs of poles, s^2 + d s + 1 with d = 2
// cos(pi/8) and 2 cos(3 pi/8). The bilinear transform s = (1 - z)/(1 + z)/w, z the delay of one
// sample and w = tan(pi fc h), gives for each pair
//   w^2 (1 + 2 z + z^2) / ((w^2 + d w + 1) + 2 (w^2 - 1) z + (w^2 - d w + 1) z^2).

#include "identify/butterworth.h"

#include "base/fail.h"

#include <math.h>

// samples of padding at each end, over which the initial transient of the filter decays
static int padding(int n, double w) {
    const double memory = 40 / w; // the slowest pole decays by exp(-0.77 w) a sample
    const double most = n - 1;
    return (int)fmin(fmax(memory, 12), most);
}

size_t snw_butterworth_scratch(int n) { return 3 * (size_t)n * sizeof(double) + 64; }

// filter n samples, `step` apart in memory, by one pair of poles, from the steady state of the
// first sample
static void butterworth_pass(int n, double *y, int step, double w, double d) {
    const double a0 = w * w + d * w + 1, a1 = 2 * (w * w - 1) / a0, a2 = (w * w - d * w + 1) / a0;
    const double b = w * w / a0;
    double x1 = *y, x2 = x1, y1 = x1, y2 = x1;
    for (int i = 0; i < n; i++, y += step) {
        const double x = *y, out = b * (x + 2 * x1 + x2) - a1 * y1 - a2 * y2;
        x2 = x1, x1 = x;
        y2 = y1, y1 = out;
        *y = out;
    }
}

void snw_butterworth(int n, double h, double cutoff, snw_arena *scratch, double *y) {
    SNW_ASSERT(n >= 1 && cutoff > 0 && 2 * cutoff * h < 1);
    const double w = tan(M_PI * cutoff * h), pole[2] = {2 * cos(M_PI / 8), 2 * cos(3 * M_PI / 8)};
    const size_t mark = snw_arena_mark(scratch);
    const int m = padding(n, w), all = n + 2 * m;
    double *z = snw_arena_doubles(scratch, (size_t)all);
    for (int i = 0; i < n; i++) z[m + i] = y[i];
    for (int i = 1; i <= m; i++) {
        z[m - i] = 2 * y[0] - y[i];
        z[m + n - 1 + i] = 2 * y[n - 1] - y[n - 1 - i];
    }
    for (int k = 0; k < 2; k++) butterworth_pass(all, z, 1, w, pole[k]);
    for (int k = 0; k < 2; k++) butterworth_pass(all, z + all - 1, -1, w, pole[k]);
    for (int i = 0; i < n; i++) y[i] = z[m + i];
    snw_arena_reset(scratch, mark);
}
