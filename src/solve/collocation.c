// SPDX-License-Identifier: MIT
//
// Coefficients of Gauss collocation with 2 to SNW_STAGES stages, by exact quadrature.

#include "solve/collocation.h"

#include "base/fail.h"
#include "math/quadrature.h"
#include "solve/dense.h"

#include <math.h>

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
    double sum = 0;
    for (int i = 0; i < k->s; i++) {
        const double t = u * k->c[i];
        double p = u - t;
        for (int j = 0; j < k->s; j++) p *= 1 - t / k->c[j];
        sum += u * k->b[i] * p;
    }
    return sum;
}

snw_collocation snw_collocation_of(int s, int order) {
    SNW_ASSERT(s >= 2 && s <= SNW_STAGES && order == 2 * s);
    snw_collocation k = {.s = s, .order = order};
    snw_gauss(s, k.c, k.b);
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
