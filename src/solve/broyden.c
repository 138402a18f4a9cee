// SPDX-License-Identifier: MIT
//
// Broyden's good update from stored increments, for the chord iteration of time steps (chord.c).

#include "solve/broyden.h"

#include <math.h>
#include <string.h>

size_t snw_broyden_doubles(int n, int most) { return (size_t)n * (size_t)most; }

snw_broyden snw_broyden_on(int n, int most, const double *typical, double *memory) {
    return (snw_broyden){.n = n, .most = most, .typical = typical, .s = memory};
}

void snw_broyden_reset(snw_broyden *b) { b->kept = 0; }

static double broyden_inner(const snw_broyden *b, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < b->n; i++) sum += x[i] * y[i] / (b->typical[i] * b->typical[i]);
    return sum;
}

// with y = -T^-1 r: y <- (1 + s_(j+1) s_j'/s_j's_j) y for all stored pairs, then s = y/(1 -
// s_k'y/s_k's_k)
bool snw_broyden_next(snw_broyden *b, double *z) {
    if (b->kept == b->most) return false;
    const size_t n = (size_t)b->n;
    double *y = b->s + (size_t)b->kept * n;
    memcpy(y, z, n * sizeof *y);
    for (int j = 0; j + 1 < b->kept; j++) {
        const double *s = b->s + (size_t)j * n, w = broyden_inner(b, s, y) / broyden_inner(b, s, s);
        for (size_t i = 0; i < n; i++) y[i] += w * s[n + i];
    }
    if (b->kept > 0) {
        const double *s = y - n, w = 1 - broyden_inner(b, s, y) / broyden_inner(b, s, s);
        if (!(fabs(w) > 1e-3)) return false;
        for (size_t i = 0; i < n; i++) y[i] /= w;
    }
    memcpy(z, y, n * sizeof *z);
    b->kept++;
    return true;
}
