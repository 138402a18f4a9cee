// SPDX-License-Identifier: MIT
//
// Multi-secant increments by weighted least squares on stored pairs, for the boundary-value solvers
// of src/shoot.

#include "solve/secants.h"

#include "base/fail.h"

#include <math.h>
#include <string.h>

size_t snw_secants_doubles(int n, int most) { return 2 * (size_t)n * ((size_t)most + 1); }

snw_secants snw_secants_on(int n, int most, const double *weight, double *memory) {
    SNW_ASSERT(most > 0 && most <= SNW_SECANTS_MOST);
    const size_t rows = (size_t)n * (size_t)most;
    return (snw_secants){.n = n,
                         .most = most,
                         .weight = weight,
                         .g = memory,
                         .e = memory + rows,
                         .z = memory + 2 * rows,
                         .d = memory + 2 * rows + n};
}

void snw_secants_reset(snw_secants *s) { s->kept = 0, s->chained = false; }

void snw_secants_pause(snw_secants *s) { s->chained = false; }

static double secants_inner(const snw_secants *s, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < s->n; i++) sum += s->weight[i] * x[i] * y[i];
    return sum;
}

// row of the pair that is `age` pairs older than the newest
static int secants_row_of(const snw_secants *s, int age) {
    return (s->newest - age + s->most) % s->most;
}

static void secants_store_pair(snw_secants *s, const double *z) {
    const int row = s->kept > 0 ? (s->newest + 1) % s->most : 0, n = s->n;
    double *g = s->g + (size_t)row * (size_t)n, *e = s->e + (size_t)row * (size_t)n;
    for (int i = 0; i < n; i++) g[i] = s->z[i] - z[i];
    const double size = sqrt(secants_inner(s, g, g));
    if (!(size > 0)) return;
    for (int i = 0; i < n; i++) {
        g[i] /= size;
        e[i] = s->d[i] / size - g[i];
    }
    s->newest = row;
    if (s->kept < s->most) s->kept++;
    for (int age = 0; age < s->kept; age++) {
        const int k = secants_row_of(s, age);
        s->gram[row * s->most + k] = s->gram[k * s->most + row] =
            secants_inner(s, g, s->g + (size_t)k * (size_t)n);
    }
}

// smallest part of a g, relative to its length, that is independent of those of newer pairs
static const double independence = 1e-2;

void snw_secants_next(snw_secants *s, double *z) {
    if (s->chained) secants_store_pair(s, z);
    memcpy(s->z, z, (size_t)s->n * sizeof *z);
    // Cholesky factors of the Gram matrix of the independent g, newest first, and z' g
    double L[SNW_SECANTS_MOST][SNW_SECANTS_MOST], c[SNW_SECANTS_MOST];
    int used[SNW_SECANTS_MOST], m = 0;
    for (int age = 0; age < s->kept; age++) {
        const int k = secants_row_of(s, age);
        double left = s->gram[k * s->most + k];
        for (int i = 0; i < m; i++) {
            double x = s->gram[used[i] * s->most + k];
            for (int j = 0; j < i; j++) x -= L[i][j] * L[m][j];
            L[m][i] = x / L[i][i];
            left -= L[m][i] * L[m][i];
        }
        if (!(left > independence * independence)) continue;
        L[m][m] = sqrt(left);
        c[m] = secants_inner(s, s->g + (size_t)k * (size_t)s->n, z);
        used[m++] = k;
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < i; j++) c[i] -= L[i][j] * c[j];
        c[i] /= L[i][i];
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int j = i + 1; j < m; j++) c[i] -= L[j][i] * c[j];
        c[i] /= L[i][i];
    }
    for (int k = 0; k < m; k++) {
        const double *e = s->e + (size_t)used[k] * (size_t)s->n;
        for (int i = 0; i < s->n; i++) z[i] += c[k] * e[i];
    }
    memcpy(s->d, z, (size_t)s->n * sizeof *z);
    s->chained = true;
}
