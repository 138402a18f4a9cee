// SPDX-License-Identifier: MIT
//
// Factorisations of square matrices: LU with partial pivoting, Cholesky, and L D L' of symmetric
// matrices by Bunch and Kaufman.
#include "lapack.h"

#include <math.h>
#include <stddef.h>

enum { SMALL = 12 }; // columns that are factored without halving

static const double one = 1, minus_one = -1;

static void swap_rows(int n, double *a, ptrdiff_t lda, int i, int k) {
    for (int j = 0; i != k && j < n; j++) {
        const double x = a[i + j * lda];
        a[i + j * lda] = a[k + j * lda];
        a[k + j * lda] = x;
    }
}

// ---- LU -----------------------------------------------------------------------------------------

// columns from left to right
static void factor_columns(int m, int n, double *a, ptrdiff_t lda, int *pivot, int *info) {
    for (int j = 0; j < n && j < m; j++) {
        double *column = a + j * lda;
        int p = j;
        for (int i = j + 1; i < m; i++) {
            if (fabs(column[i]) > fabs(column[p])) p = i;
        }
        pivot[j] = p + 1;
        swap_rows(n, a, lda, j, p);
        if (column[j] == 0) {
            if (*info == 0) *info = j + 1;
            continue;
        }
        const double inverse = 1 / column[j];
        for (int i = j + 1; i < m; i++) column[i] *= inverse;
        for (int k = j + 1; k < n; k++) {
            double *restrict other = a + k * lda;
            const double x = other[j];
            for (int i = j + 1; i < m; i++) other[i] -= x * column[i];
        }
    }
}

// b (n columns) <- inv(L) b with the unit diagonal of LU
static void solve_unit(int m, int n, const double *a, ptrdiff_t lda, double *b, ptrdiff_t ldb) {
    for (int j = 0; j < n; j++) {
        double *restrict x = b + j * ldb;
        for (int k = 0; k < m; k++) {
            const double *restrict column = a + k * lda;
            const double value = x[k];
            for (int i = k + 1; i < m; i++) x[i] -= value * column[i];
        }
    }
}

// halves the columns: left half, right half by products, right half
static void factor_halves(int m, int n, double *a, int lda, int *pivot, int *info) {
    if (n <= SMALL || m <= SMALL) {
        factor_columns(m, n, a, lda, pivot, info);
        return;
    }
    const int left = (n < m ? n : m) / 2, right = n - left, below = m - left;
    double *top = a + (ptrdiff_t)left * lda, *rest = top + left;
    factor_halves(m, left, a, lda, pivot, info);
    for (int i = 0; i < left; i++) swap_rows(right, top, lda, i, pivot[i] - 1);
    solve_unit(left, right, a, lda, top, lda);
    dgemm_("N", "N", &below, &right, &left, &minus_one, a + left, &lda, top, &lda, &one, rest,
           &lda);
    int later = 0;
    factor_halves(below, right, rest, lda, pivot + left, &later);
    if (*info == 0 && later > 0) *info = later + left;
    for (int i = left; i < m && i < n; i++) {
        pivot[i] += left;
        swap_rows(left, a, lda, i, pivot[i] - 1);
    }
}

void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *ipiv, int *info) {
    *info = 0;
    factor_halves(*m, *n, a, *lda, ipiv, info);
}

void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *ipiv, double *b, const int *ldb, int *info) {
    *info = 0;
    const int size = *n;
    for (int j = 0; j < *nrhs; j++) {
        double *restrict x = b + (ptrdiff_t)j * *ldb;
        if (*trans == 'N') {
            for (int i = 0; i < size; i++) swap_rows(1, x, size, i, ipiv[i] - 1);
            solve_unit(size, 1, a, *lda, x, size);
            for (int k = size - 1; k >= 0; k--) {
                const double *restrict column = a + (ptrdiff_t)k * *lda;
                const double value = x[k] /= column[k];
                for (int i = 0; i < k; i++) x[i] -= value * column[i];
            }
            continue;
        }
        for (int k = 0; k < size; k++) {
            const double *column = a + (ptrdiff_t)k * *lda;
            double sum = x[k];
            for (int i = 0; i < k; i++) sum -= column[i] * x[i];
            x[k] = sum / column[k];
        }
        for (int k = size - 1; k >= 0; k--) {
            const double *column = a + (ptrdiff_t)k * *lda;
            for (int i = k + 1; i < size; i++) x[k] -= column[i] * x[i];
        }
        for (int i = size - 1; i >= 0; i--) swap_rows(1, x, size, i, ipiv[i] - 1);
    }
}

// ---- Cholesky -----------------------------------------------------------------------------------

// 0, or the number of the first pivot that is not positive
static int cholesky_columns(int n, double *a, ptrdiff_t lda) {
    for (int j = 0; j < n; j++) {
        double *column = a + j * lda;
        for (int k = 0; k < j; k++) {
            const double *before = a + k * lda;
            for (int i = j; i < n; i++) column[i] -= before[j] * before[i];
        }
        if (!(column[j] > 0)) return j + 1;
        column[j] = sqrt(column[j]);
        for (int i = j + 1; i < n; i++) column[i] /= column[j];
    }
    return 0;
}

// lower triangle of c (n x n) -= b b', with b n x k
static void subtract_square(int n, int k, const double *b, int ldb, double *c, int ldc) {
    if (n <= SMALL) {
        for (int l = 0; l < k; l++) {
            const double *x = b + (ptrdiff_t)l * ldb;
            for (int j = 0; j < n; j++) {
                for (int i = j; i < n; i++) c[i + (ptrdiff_t)j * ldc] -= x[i] * x[j];
            }
        }
        return;
    }
    const int half = n / 2, rest = n - half;
    subtract_square(half, k, b, ldb, c, ldc);
    dgemm_("N", "T", &rest, &half, &k, &minus_one, b + half, &ldb, b, &ldb, &one, c + half, &ldc);
    subtract_square(rest, k, b + half, ldb, c + half + (ptrdiff_t)half * ldc, ldc);
}

static int cholesky_halves(int n, double *a, int lda) {
    if (n <= SMALL) return cholesky_columns(n, a, lda);
    const int left = n / 2, below = n - left;
    double *rest = a + left + (ptrdiff_t)left * lda;
    const int first = cholesky_halves(left, a, lda);
    if (first > 0) return first;
    dtrsm_("R", "L", "T", "N", &below, &left, &one, a, &lda, a + left, &lda);
    subtract_square(below, left, a + left, lda, rest, lda);
    const int second = cholesky_halves(below, rest, lda);
    return second > 0 ? second + left : 0;
}

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info) {
    (void)uplo;
    *info = cholesky_halves(*n, a, *lda);
}

void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
             double *b, const int *ldb, int *info) {
    *info = 0;
    dtrsm_("L", uplo, "N", "N", n, nrhs, &one, a, lda, b, ldb);
    dtrsm_("L", uplo, "T", "N", n, nrhs, &one, a, lda, b, ldb);
}

// ---- L D L' -------------------------------------------------------------------------------------

// exchange rows and columns k and p > k of the trailing block, of which the lower triangle is
// stored
static void swap_symmetric(int n, double *a, ptrdiff_t lda, int k, int p) {
    double x;
    for (int i = p + 1; i < n; i++) {
        x = a[i + k * lda], a[i + k * lda] = a[i + p * lda], a[i + p * lda] = x;
    }
    for (int i = k + 1; i < p; i++) {
        x = a[i + k * lda], a[i + k * lda] = a[p + i * lda], a[p + i * lda] = x;
    }
    x = a[k + k * lda], a[k + k * lda] = a[p + p * lda], a[p + p * lda] = x;
}

// the row of the largest entry of column k below row `from`, and its size
static int largest_below(int n, const double *column, int from, double *size) {
    int p = from;
    *size = 0;
    for (int i = from; i < n; i++) {
        if (fabs(column[i]) > *size) *size = fabs(column[i]), p = i;
    }
    return p;
}

// Choose the pivot of column k: *p row to be exchanged, 1 or 2 columns.
static int choose_pivot(int n, const double *a, ptrdiff_t lda, int k, int *p) {
    const double alpha = (1 + sqrt(17.0)) / 8; // bounds the growth of entries
    const double own = fabs(a[k + k * lda]);
    double column, row = 0, under;
    const int r = largest_below(n, a + k * lda, k + 1, &column);
    *p = k;
    if (k + 1 >= n || own >= alpha * column) return 1;
    for (int j = k; j < r; j++) row = fmax(row, fabs(a[r + j * lda]));
    (void)largest_below(n, a + r * lda, r + 1, &under);
    row = fmax(row, under);
    if (own * row >= alpha * column * column) return 1;
    *p = r;
    return fabs(a[r + r * lda]) >= alpha * row ? 1 : 2;
}

static void eliminate_one(int n, double *a, ptrdiff_t lda, int k) {
    double *column = a + k * lda;
    const double d = column[k];
    for (int j = k + 1; j < n; j++) {
        const double x = column[j] / d;
        for (int i = j; i < n; i++) a[i + j * lda] -= column[i] * x;
    }
    for (int i = k + 1; i < n; i++) column[i] /= d;
}

static void eliminate_two(int n, double *a, ptrdiff_t lda, int k) {
    double *first = a + k * lda, *second = first + lda;
    const double d21 = first[k + 1], d11 = second[k + 1] / d21, d22 = first[k] / d21;
    const double scale = 1 / (d11 * d22 - 1) / d21;
    for (int j = k + 2; j < n; j++) {
        const double x = scale * (d11 * first[j] - second[j]);
        const double y = scale * (d22 * second[j] - first[j]);
        for (int i = j; i < n; i++) a[i + j * lda] -= first[i] * x + second[i] * y;
        first[j] = x;
        second[j] = y;
    }
}

void dsytrf_(const char *uplo, const int *n, double *a, const int *lda, int *ipiv, double *work,
             const int *lwork, int *info) {
    (void)uplo, (void)work, (void)lwork;
    *info = 0;
    for (int k = 0; k < *n;) {
        int p;
        const int size = choose_pivot(*n, a, *lda, k, &p), at = k + size - 1;
        if (p != at) {
            swap_symmetric(*n, a, *lda, at, p);
            if (size == 2) { // the column before, too
                double *column = a + (ptrdiff_t)k * *lda;
                const double x = column[at];
                column[at] = column[p];
                column[p] = x;
            }
        }
        if (size == 2) {
            ipiv[k] = ipiv[k + 1] = -(p + 1);
            eliminate_two(*n, a, *lda, k);
        } else {
            ipiv[k] = p + 1;
            if (a[k + (ptrdiff_t)k * *lda] != 0) {
                eliminate_one(*n, a, *lda, k);
            } else if (*info == 0) {
                *info = k + 1;
            }
        }
        k += size;
    }
}
