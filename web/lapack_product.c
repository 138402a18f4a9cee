// SPDX-License-Identifier: MIT
//
// Products and triangular systems of dense matrices.
#include "lapack.h"

#include <stddef.h>

// c (m x n) += s a b, with a m x k and b k x n: four columns of a for two of c, so that each number
// loaded serves several products
static void multiply_add(int m, int n, int k, double s, const double *a, ptrdiff_t lda,
                         const double *b, ptrdiff_t ldb, double *c, ptrdiff_t ldc) {
    for (int j = 0; j < n; j += 2) {
        const int pair = j + 1 < n;
        double *restrict c0 = c + j * ldc, *restrict c1 = c0 + (pair ? ldc : 0);
        const double *b0 = b + j * ldb, *b1 = b0 + (pair ? ldb : 0);
        int l = 0;
        for (; l + 3 < k; l += 4) {
            const double *restrict a0 = a + l * lda, *restrict a1 = a0 + lda,
                                   *restrict a2 = a1 + lda, *restrict a3 = a2 + lda;
            const double x0 = s * b0[l], x1 = s * b0[l + 1], x2 = s * b0[l + 2], x3 = s * b0[l + 3];
            if (!pair) {
                for (int i = 0; i < m; i++) {
                    c0[i] += a0[i] * x0 + a1[i] * x1 + a2[i] * x2 + a3[i] * x3;
                }
                continue;
            }
            const double y0 = s * b1[l], y1 = s * b1[l + 1], y2 = s * b1[l + 2], y3 = s * b1[l + 3];
            for (int i = 0; i < m; i++) {
                c0[i] += a0[i] * x0 + a1[i] * x1 + a2[i] * x2 + a3[i] * x3;
                c1[i] += a0[i] * y0 + a1[i] * y1 + a2[i] * y2 + a3[i] * y3;
            }
        }
        for (; l < k; l++) {
            const double *restrict a0 = a + l * lda;
            const double x = s * b0[l], y = s * b1[l];
            for (int i = 0; i < m; i++) c0[i] += a0[i] * x;
            for (int i = 0; pair && i < m; i++) c1[i] += a0[i] * y;
        }
    }
}

// c (m x n) += s a' b, with a k x m: products of columns
static void multiply_add_transposed(int m, int n, int k, double s, const double *a, ptrdiff_t lda,
                                    const double *b, ptrdiff_t ldb, double *c, ptrdiff_t ldc) {
    for (int j = 0; j < n; j++) {
        const double *y = b + j * ldb;
        for (int i = 0; i < m; i++) {
            const double *x = a + i * lda;
            double even = 0, odd = 0;
            int l = 0;
            for (; l + 1 < k; l += 2) {
                even += x[l] * y[l];
                odd += x[l + 1] * y[l + 1];
            }
            if (l < k) even += x[l] * y[l];
            c[i + j * ldc] += s * (even + odd);
        }
    }
}

// c += s op(a) b', entry by entry of b
static void multiply_add_right(int transposed, int m, int n, int k, double s, const double *a,
                               ptrdiff_t lda, const double *b, ptrdiff_t ldb, double *c,
                               ptrdiff_t ldc) {
    for (int j = 0; j < n; j++) {
        for (int l = 0; l < k; l++) {
            const double x = s * b[j + l * ldb];
            for (int i = 0; i < m; i++) {
                c[i + j * ldc] += x * (transposed ? a[l + i * lda] : a[i + l * lda]);
            }
        }
    }
}

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc) {
    for (int j = 0; j < *n; j++) {
        double *column = c + (ptrdiff_t)j * *ldc;
        for (int i = 0; i < *m; i++) column[i] = *beta == 0 ? 0 : *beta * column[i];
    }
    const int ta = *transa != 'N', tb = *transb != 'N';
    if (tb) {
        multiply_add_right(ta, *m, *n, *k, *alpha, a, *lda, b, *ldb, c, *ldc);
    } else if (ta) {
        multiply_add_transposed(*m, *n, *k, *alpha, a, *lda, b, *ldb, c, *ldc);
    } else {
        multiply_add(*m, *n, *k, *alpha, a, *lda, b, *ldb, c, *ldc);
    }
}

// b <- inv(L) b, or inv(L') b, one column of b after the other
static void solve_left(int transposed, int m, int n, const double *a, ptrdiff_t lda, double *b,
                       ptrdiff_t ldb) {
    for (int j = 0; j < n; j++) {
        double *restrict x = b + j * ldb;
        for (int k = 0; !transposed && k < m; k++) {
            const double *restrict column = a + k * lda;
            const double value = x[k] /= column[k];
            for (int i = k + 1; i < m; i++) x[i] -= value * column[i];
        }
        for (int k = m - 1; transposed && k >= 0; k--) {
            const double *restrict column = a + k * lda;
            double sum = x[k];
            for (int i = k + 1; i < m; i++) sum -= column[i] * x[i];
            x[k] = sum / column[k];
        }
    }
}

// b <- b inv(L'), or b inv(L): combinations of its columns
static void solve_right(int transposed, int m, int n, const double *a, ptrdiff_t lda, double *b,
                        ptrdiff_t ldb) {
    for (int step = 0; step < n; step++) {
        const int j = transposed ? step : n - 1 - step;
        double *restrict x = b + j * ldb;
        const int from = transposed ? 0 : j + 1, to = transposed ? j : n;
        for (int k = from; k < to; k++) {
            const double *restrict y = b + k * ldb;
            const double l = transposed ? a[j + k * lda] : a[k + j * lda];
            for (int i = 0; i < m; i++) x[i] -= l * y[i];
        }
        for (int i = 0; i < m; i++) x[i] /= a[j + j * lda];
    }
}

void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b,
            const int *ldb) {
    (void)uplo, (void)diag;
    for (int j = 0; *alpha != 1 && j < *n; j++) {
        for (int i = 0; i < *m; i++) b[i + (ptrdiff_t)j * *ldb] *= *alpha;
    }
    if (*side == 'L') {
        solve_left(*trans != 'N', *m, *n, a, *lda, b, *ldb);
    } else {
        solve_right(*trans != 'N', *m, *n, a, *lda, b, *ldb);
    }
}
