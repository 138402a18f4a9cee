// SPDX-License-Identifier: MIT
//
// Coefficients of Gauss and Radau collocation with 2 to SNW_STAGES stages, by exact quadrature.

#include "solve/collocation.h"

#include "base/fail.h"
#include "math/quadrature.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

void snw_lagrange(int n, const double *c, double x, double *l) {
    for (int j = 0; j < n; j++) {
        l[j] = 1;
        for (int k = 0; k < n; k++) {
            if (k != j) l[j] *= (x - c[k]) / (c[j] - c[k]);
        }
    }
}

// the polynomial that is 1 at the start and 0 at all c_j, integrated twice up to u by Gauss
// quadrature, which is exact here: int_0^u (u - t) prod (1 - t/c_j) dt
static double error_within(const snw_collocation *k, double u) {
    double sum = 0, c[SNW_STAGES], b[SNW_STAGES];
    snw_gauss(k->s, c, b);
    for (int i = 0; i < k->s; i++) {
        const double t = u * c[i];
        double p = u - t;
        for (int j = 0; j < k->s; j++) p *= 1 - t / k->c[j];
        sum += u * b[i] * p;
    }
    return sum;
}

// points and weights of Radau's quadrature with 2 or 3 points, the last at the end. Hairer and
// Wanner, Solving Ordinary Differential Equations II, tables IV.5.5 and 5.6
static void radau(int s, double *c, double *b) {
    const double w = sqrt(6);
    const double c3[] = {0.4 - 0.1 * w, 0.4 + 0.1 * w, 1}, c2[] = {1.0 / 3, 1};
    const double b3[] = {(16 - w) / 36, (16 + w) / 36, 1.0 / 9}, b2[] = {0.75, 0.25};
    memcpy(c, s == 2 ? c2 : c3, (size_t)s * sizeof *c);
    memcpy(b, s == 2 ? b2 : b3, (size_t)s * sizeof *b);
}

snw_collocation_weights snw_collocation_at(const snw_collocation *k, double u) {
    snw_collocation_weights w = {0};
    snw_lagrange(k->s, k->c, u, w.l);
    for (int p = 0; p < k->s; p++) { // the same points on [0, u]
        double l[SNW_STAGES];
        snw_lagrange(k->s, k->c, u * k->c[p], l);
        for (int j = 0; j < k->s; j++) {
            w.A[j] += u * k->b[p] * l[j];
            w.AA[j] += u * u * k->b[p] * (1 - k->c[p]) * l[j];
        }
    }
    return w;
}

snw_collocation snw_collocation_of(int s, int order) {
    SNW_ASSERT(s >= 2 && (order == 2 * s ? s <= SNW_STAGES : order == 2 * s - 1 && s <= 3));
    snw_collocation k = {.s = s, .order = order, .ends = order < 2 * s};
    if (k.ends) {
        radau(s, k.c, k.b);
    } else {
        snw_gauss(s, k.c, k.b);
    }
    // A_ij = int_0^c_i l_j, by the same points on [0, c_i]
    for (int i = 0; i < s; i++) {
        for (int p = 0; p < s; p++) {
            double l[SNW_STAGES];
            snw_lagrange(s, k.c, k.c[i] * k.c[p], l);
            for (int j = 0; j < s; j++) k.A[i][j] += k.c[i] * k.b[p] * l[j];
        }
    }
    for (int i = 0; i < s; i++) {
        k.bb[i] = k.b[i] * (1 - k.c[i]);
        for (int j = 0; j < s; j++) {
            for (int p = 0; p < s; p++) k.AA[i][j] += k.A[i][p] * k.A[p][j];
        }
    }
    double B[SNW_STAGES * SNW_STAGES];
    int pivot[SNW_STAGES];
    for (int j = 0; j < s; j++) {
        k.turn[j] = 1;
        for (int i = 0; i < s; i++) B[j * s + i] = k.A[i][j];
    }
    const snw_status regular = snw_lu_factor(s, B, pivot);
    SNW_ASSERT(regular == SNW_OK);
    (void)regular;
    snw_lu_solve(s, B, pivot, k.turn);
    for (int i = 1; i <= 100; i++) k.within = fmax(k.within, fabs(error_within(&k, 0.01 * i)));
    return k;
}
