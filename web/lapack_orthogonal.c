// SPDX-License-Identifier: MIT
//
// Orthogonal factors by Householder reflections, and least squares by them.
#include "lapack.h"

#include <math.h>
#include <stddef.h>

static double norm(int n, const double *x) {
    double largest = 0, sum = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    if (largest == 0) return 0;
    for (int i = 0; i < n; i++) sum += (x[i] / largest) * (x[i] / largest);
    return largest * sqrt(sum);
}

double web_reflector(int n, double *x) {
    const double rest = n > 1 ? norm(n - 1, x + 1) : 0;
    if (rest == 0) return 0;
    const double beta = -copysign(hypot(x[0], rest), x[0]), tau = (beta - x[0]) / beta;
    const double scale = 1 / (x[0] - beta);
    for (int i = 1; i < n; i++) x[i] *= scale;
    x[0] = beta;
    return tau;
}

void web_reflect_left(int m, int n, const double *v, double tau, double *c, int ldc) {
    for (int j = 0; tau != 0 && j < n; j++) {
        double *restrict column = c + (ptrdiff_t)j * ldc, sum = column[0];
        for (int i = 1; i < m; i++) sum += v[i] * column[i];
        sum *= tau;
        column[0] -= sum;
        for (int i = 1; i < m; i++) column[i] -= sum * v[i];
    }
}

// c (m x n) <- c H, with v of n numbers
static void reflect_right(int m, int n, const double *v, double tau, double *c, int ldc) {
    for (int i = 0; tau != 0 && i < m; i++) {
        double *row = c + i, sum = row[0];
        for (int j = 1; j < n; j++) sum += v[j] * row[(ptrdiff_t)j * ldc];
        sum *= tau;
        row[0] -= sum;
        for (int j = 1; j < n; j++) row[(ptrdiff_t)j * ldc] -= sum * v[j];
    }
}

static void swap_columns(int m, double *a, ptrdiff_t lda, int *order, int i, int j) {
    for (int k = 0; i != j && k < m; k++) {
        const double x = a[k + i * lda];
        a[k + i * lda] = a[k + j * lda];
        a[k + j * lda] = x;
    }
    const int o = order[i];
    order[i] = order[j];
    order[j] = o;
}

// columns with a mark come first, in their order; the others by the norm that is left of them
void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *jpvt, double *tau,
             double *work, const int *lwork, int *info) {
    (void)lwork;
    *info = 0;
    int fixed = 0;
    for (int j = 0; j < *n; j++) {
        const int first = jpvt[j] != 0;
        jpvt[j] = j + 1;
        if (first) swap_columns(*m, a, *lda, jpvt, fixed++, j);
    }
    double *left = work, *at_update = work + *n; // norms below the present row
    for (int j = 0; j < *n; j++) left[j] = at_update[j] = norm(*m, a + (ptrdiff_t)j * *lda);
    for (int k = 0; k < *n && k < *m; k++) {
        int p = k;
        for (int j = k + 1; k >= fixed && j < *n; j++) {
            if (left[j] > left[p]) p = j;
        }
        if (p != k) {
            swap_columns(*m, a, *lda, jpvt, k, p);
            left[p] = left[k];
            at_update[p] = at_update[k];
        }
        double *column = a + k + (ptrdiff_t)k * *lda;
        tau[k] = web_reflector(*m - k, column);
        web_reflect_left(*m - k, *n - k - 1, column, tau[k], column + *lda, *lda);
        for (int j = k + 1; j < *n; j++) {
            if (left[j] == 0) continue;
            const double ratio = fabs(a[k + (ptrdiff_t)j * *lda]) / left[j];
            const double rest = fmax(0, (1 - ratio) * (1 + ratio));
            const double lost = rest * (left[j] / at_update[j]) * (left[j] / at_update[j]);
            left[j] *= sqrt(rest);
            if (lost > 1e-8) continue; // else cancellation: compute it anew
            left[j] = at_update[j] = norm(*m - k - 1, a + k + 1 + (ptrdiff_t)j * *lda);
        }
    }
}

void dorgqr_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau,
             double *work, const int *lwork, int *info) {
    (void)work, (void)lwork;
    *info = 0;
    for (int j = *k; j < *n; j++) {
        for (int i = 0; i < *m; i++) a[i + (ptrdiff_t)j * *lda] = i == j;
    }
    for (int j = *k - 1; j >= 0; j--) {
        double *column = a + j + (ptrdiff_t)j * *lda;
        web_reflect_left(*m - j, *n - j - 1, column, tau[j], column + *lda, *lda);
        for (int i = 1; i < *m - j; i++) column[i] *= -tau[j];
        column[0] = 1 - tau[j];
        for (int i = 0; i < j; i++) a[i + (ptrdiff_t)j * *lda] = 0;
    }
}

void dormqr_(const char *side, const char *trans, const int *m, const int *n, const int *k,
             const double *a, const int *lda, const double *tau, double *c, const int *ldc,
             double *work, const int *lwork, int *info) {
    (void)work, (void)lwork;
    *info = 0;
    const int left = *side == 'L', transposed = *trans != 'N';
    // Q = H0 H1 ..: the order of the reflections
    const int forward = left == transposed;
    for (int step = 0; step < *k; step++) {
        const int j = forward ? step : *k - 1 - step;
        const double *v = a + j + (ptrdiff_t)j * *lda;
        if (left) {
            web_reflect_left(*m - j, *n, v, tau[j], c + j, *ldc);
        } else {
            reflect_right(*m, *n - j, v, tau[j], c + (ptrdiff_t)j * *ldc, *ldc);
        }
    }
}

// ---- least squares ------------------------------------------------------------------------------

// Solution of smallest norm of R y = c with R rank x n upper trapezoidal: R' = Z T by reflections,
// y = Z inv(T') c. Rows of R, from the last one, are reflected onto their first `rank` columns; the
// reflection of row k changes columns k and rank.. only.
static void solve_trapezoid(int rank, int n, double *a, ptrdiff_t lda, double *tau, double *c) {
    for (int k = rank - 1; k >= 0 && n > rank; k--) {
        // reflect (a[k,k], a[k,rank..n-1]) onto its first entry
        double rest = 0;
        for (int j = rank; j < n; j++) rest = hypot(rest, a[k + j * lda]);
        double *head = &a[k + k * lda];
        tau[k] = 0;
        if (rest == 0) continue;
        const double beta = -copysign(hypot(*head, rest), *head);
        tau[k] = (beta - *head) / beta;
        for (int j = rank; j < n; j++) a[k + j * lda] /= *head - beta;
        *head = beta;
        for (int i = 0; i < k; i++) {
            double sum = a[i + k * lda];
            for (int j = rank; j < n; j++) sum += a[i + j * lda] * a[k + j * lda];
            sum *= tau[k];
            a[i + k * lda] -= sum;
            for (int j = rank; j < n; j++) a[i + j * lda] -= sum * a[k + j * lda];
        }
    }
    for (int k = rank - 1; k >= 0; k--) {
        for (int j = k + 1; j < rank; j++) c[k] -= a[k + j * lda] * c[j];
        c[k] /= a[k + k * lda];
    }
    for (int j = rank; j < n; j++) c[j] = 0;
    for (int k = 0; k < rank && n > rank; k++) {
        double sum = c[k];
        for (int j = rank; j < n; j++) sum += a[k + j * lda] * c[j];
        sum *= tau[k];
        c[k] -= sum;
        for (int j = rank; j < n; j++) c[j] -= sum * a[k + j * lda];
    }
}

// For one right-hand side. The rank is the number of pivots above rcond times the first one.
void dgelsy_(const int *m, const int *n, const int *nrhs, double *a, const int *lda, double *b,
             const int *ldb, int *jpvt, const double *rcond, int *rank, double *work,
             const int *lwork, int *info) {
    const int least = *m < *n ? *m : *n;
    double *tau = work, *x = work + least;
    dgeqp3_(m, n, a, lda, jpvt, tau, x, lwork, info);
    dormqr_("L", "T", m, nrhs, &least, a, lda, tau, b, ldb, x, lwork, info);
    *rank = 0;
    while (*rank < least && fabs(a[*rank + (ptrdiff_t)*rank * *lda]) > *rcond * fabs(a[0])) {
        ++*rank;
    }
    solve_trapezoid(*rank, *n, a, *lda, tau, b);
    for (int i = 0; i < *n; i++) x[jpvt[i] - 1] = b[i];
    for (int i = 0; i < *n; i++) b[i] = x[i];
}
