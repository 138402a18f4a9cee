// SPDX-License-Identifier: MIT
//
// Symmetric eigenvalue problems: reduction to tridiagonal form by reflections, then the implicit QL
// iteration with Wilkinson's shifts.
#include "lapack.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

static const double one = 1;

void dsygst_(const int *itype, const char *uplo, const int *n, double *a, const int *lda,
             const double *b, const int *ldb, int *info) {
    (void)itype;
    *info = 0;
    for (int j = 0; j < *n; j++) {
        for (int i = 0; i < j; i++) a[i + (ptrdiff_t)j * *lda] = a[j + (ptrdiff_t)i * *lda];
    }
    dtrsm_("L", uplo, "N", "N", n, n, &one, b, ldb, a, lda);
    dtrsm_("R", uplo, "T", "N", n, n, &one, b, ldb, a, lda);
}

// w (n) <- a x, of which the lower triangle is stored
static void symmetric_times(int n, const double *a, ptrdiff_t lda, const double *x, double *w) {
    for (int i = 0; i < n; i++) w[i] = 0;
    for (int j = 0; j < n; j++) {
        const double *column = a + j * lda;
        double sum = column[j] * x[j];
        for (int i = j + 1; i < n; i++) {
            w[i] += column[i] * x[j];
            sum += column[i] * x[i];
        }
        w[j] += sum;
    }
}

// d, e <- diagonal and subdiagonal of Q' A Q; the reflections remain below the subdiagonal of a
static void make_tridiagonal(int n, double *a, int lda, double *d, double *e, double *tau,
                             double *w) {
    for (int k = 0; k < n; k++) {
        double *column = a + (ptrdiff_t)k * lda, *v = column + k + 1;
        const int m = n - k - 1;
        d[k] = column[k];
        tau[k] = m > 0 ? web_reflector(m, v) : 0;
        if (m > 0) e[k] = v[0];
        if (tau[k] == 0) continue;
        double *block = v + lda;
        v[0] = 1;
        symmetric_times(m, block, lda, v, w); // block <- H block H = block - v w' - w v'
        double sum = 0;
        for (int i = 0; i < m; i++) sum += v[i] * w[i];
        for (int i = 0; i < m; i++) w[i] = tau[k] * (w[i] - 0.5 * tau[k] * sum * v[i]);
        for (int j = 0; j < m; j++) {
            double *restrict to = block + (ptrdiff_t)j * lda;
            for (int i = j; i < m; i++) to[i] -= v[i] * w[j] + w[i] * v[j];
        }
        v[0] = e[k];
    }
}

// a <- Q, from the reflections below its subdiagonal
static void form_factor(int n, double *a, int lda, const double *tau) {
    for (int k = n - 1; k >= 0; k--) {
        double *column = a + (ptrdiff_t)k * lda;
        const int m = n - k - 1;
        // columns k + 1 .. of Q already hold the later reflections
        if (m > 0) {
            double *v = column + k + 1;
            web_reflect_left(m, m, v, tau[k], v + lda, lda);
        }
        for (int i = 0; i < n; i++) column[i] = 0;
        for (int j = k + 1; j < n; j++) a[k + (ptrdiff_t)j * lda] = 0;
        column[k] = 1;
    }
}

// columns k and k + 1 of z turned by the angle of (c, s)
static void turn_columns(int n, double *z, ptrdiff_t ldz, int k, double c, double s) {
    double *restrict x = z + k * ldz, *restrict y = x + ldz;
    for (int i = 0; i < n; i++) {
        const double t = y[i];
        y[i] = s * x[i] + c * t;
        x[i] = c * x[i] - s * t;
    }
}

// One QL step with shift on rows first .. last of the tridiagonal matrix.
static void ql_step(int n, int first, int last, double *d, double *e, double *z, int ldz) {
    const double half = (d[first + 1] - d[first]) / (2 * e[first]);
    const double shift = d[first] - e[first] / (half + copysign(hypot(half, 1), half));
    double g = d[last] - shift, s = 1, c = 1, p = 0;
    for (int i = last - 1; i >= first; i--) {
        const double f = s * e[i], b = c * e[i], r = hypot(f, g);
        e[i + 1] = r;
        if (r == 0) { // the matrix splits here
            d[i + 1] -= p;
            e[last] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        const double t = (d[i] - g) * s + 2 * c * b;
        p = s * t;
        d[i + 1] = g + p;
        g = c * t - b;
        if (z) turn_columns(n, z, ldz, i, c, s);
    }
    d[first] -= p;
    e[first] = g;
    e[last] = 0;
}

// the first row from k on after which the matrix splits
static int find_split(int n, const double *d, const double *e, int k) {
    while (k < n - 1 && fabs(e[k]) > DBL_EPSILON * (fabs(d[k]) + fabs(d[k + 1]))) k++;
    return k;
}

// eigenvalues in ascending order, and their columns
static void sort_values(int n, double *d, double *z, ptrdiff_t ldz) {
    for (int i = 0; i < n; i++) {
        int least = i;
        for (int j = i + 1; j < n; j++) {
            if (d[j] < d[least]) least = j;
        }
        if (least == i) continue;
        const double t = d[i];
        d[i] = d[least];
        d[least] = t;
        for (int k = 0; z && k < n; k++) {
            const double x = z[k + i * ldz];
            z[k + i * ldz] = z[k + least * ldz];
            z[k + least * ldz] = x;
        }
    }
}

void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info) {
    (void)uplo, (void)lwork;
    enum { STEPS = 60 }; // for one eigenvalue; three are usual
    const int size = *n;
    double *e = work, *tau = work + size, *more = work + 2 * (ptrdiff_t)size;
    double *z = *jobz == 'V' ? a : NULL;
    *info = 0;
    make_tridiagonal(size, a, *lda, w, e, tau, more);
    if (z) form_factor(size, a, *lda, tau);
    if (size > 0) e[size - 1] = 0;
    for (int k = 0; k < size; k++) {
        for (int step = 0;; step++) {
            const int last = find_split(size, w, e, k);
            if (last == k) break;
            if (step == STEPS) {
                *info = k + 1;
                return;
            }
            ql_step(size, k, last, w, e, z, *lda);
        }
    }
    sort_values(size, w, z, *lda);
}
