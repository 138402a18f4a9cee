// SPDX-License-Identifier: MIT
//
// Singular values by one-sided Jacobi rotations: pairs of columns are turned until all are
// orthogonal. Small singular values are as accurate as the columns allow.
#include "lapack.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

static double product(int n, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static void turn(int n, double *restrict x, double *restrict y, double c, double s) {
    for (int i = 0; i < n; i++) {
        const double t = x[i];
        x[i] = c * t - s * y[i];
        y[i] = s * t + c * y[i];
    }
}

// Turn the columns of w (rows x n) until they are orthogonal; v (n x n) <- the product of the
// rotations, w_before v = w. Columns below the rounding of the whole matrix are noise, which no
// rotation makes orthogonal; they are left. False: no convergence.
static int orthogonalise(int rows, int n, double *w, double *v) {
    enum { SWEEPS = 60 };
    const double noise = DBL_EPSILON * sqrt(product(rows * n, w, w));
    const double rounding = DBL_EPSILON * (2 + sqrt(rows)); // of the product of two unit columns
    for (int i = 0; i < n * n; i++) v[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        int turned = 0;
        for (int i = 0; i < n; i++) {
            for (int j = i + 1; j < n; j++) {
                double *x = w + (ptrdiff_t)i * rows, *y = w + (ptrdiff_t)j * rows;
                const double xx = product(rows, x, x), yy = product(rows, y, y);
                const double xy = product(rows, x, y);
                if (fabs(xy) <= rounding * sqrt(xx) * sqrt(yy)) continue;
                if (sqrt(fmin(xx, yy)) <= noise) continue;
                turned = 1;
                const double zeta = (yy - xx) / (2 * xy);
                const double t = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta));
                const double c = 1 / sqrt(1 + t * t), s = c * t;
                turn(rows, x, y, c, s);
                turn(n, v + (ptrdiff_t)i * n, v + (ptrdiff_t)j * n, c, s);
            }
        }
        if (!turned) return 1;
    }
    return 0;
}

// Column k of q (rows x n) <- a unit vector orthogonal to columns 0 .. k - 1, the best of the axes.
static void complete(int rows, int k, double *q) {
    double *to = q + (ptrdiff_t)k * rows, best = -1;
    int axis = 0;
    for (int i = 0; i < rows; i++) { // norm of the axis outside of the columns
        double left = 1;
        for (int j = 0; j < k; j++) left -= q[i + (ptrdiff_t)j * rows] * q[i + (ptrdiff_t)j * rows];
        if (left > best) best = left, axis = i;
    }
    for (int i = 0; i < rows; i++) to[i] = i == axis;
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < k; j++) {
            const double *column = q + (ptrdiff_t)j * rows;
            const double x = product(rows, column, to);
            for (int i = 0; i < rows; i++) to[i] -= x * column[i];
        }
    }
    const double size = sqrt(product(rows, to, to));
    for (int i = 0; i < rows; i++) to[i] /= size;
}

static void swap_columns(int n, double *a, int i, int j) {
    double *x = a + (ptrdiff_t)i * n, *y = a + (ptrdiff_t)j * n;
    for (int k = 0; k < n; k++) {
        const double t = x[k];
        x[k] = y[k];
        y[k] = t;
    }
}

// s <- norms of the columns of w, in descending order; w (rows x rows at least) <- an orthonormal
// basis whose first columns are theirs, `total` columns in all
static void normalise(int rows, int n, int total, double *w, double *v, double *s) {
    for (int i = 0; i < n; i++) {
        const double *x = w + (ptrdiff_t)i * rows;
        s[i] = sqrt(product(rows, x, x));
    }
    for (int i = 0; i < n; i++) {
        int most = i;
        for (int j = i + 1; j < n; j++) {
            if (s[j] > s[most]) most = j;
        }
        const double t = s[i];
        s[i] = s[most];
        s[most] = t;
        if (most == i) continue;
        swap_columns(rows, w, i, most);
        swap_columns(n, v, i, most);
    }
    for (int k = 0; k < total; k++) {
        double *x = w + (ptrdiff_t)k * rows;
        // columns below the rounding of the matrix, of norm sqrt(n) s_0 at most, are noise
        if (k < n && s[k] > DBL_EPSILON * sqrt(n) * s[0]) {
            for (int i = 0; i < rows; i++) x[i] /= s[k];
        } else {
            complete(rows, k, w);
        }
    }
}

// jobu "S", jobvt "A". The matrix, or its transpose when it has more columns than rows.
void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt,
             double *work, const int *lwork, int *info) {
    (void)jobu, (void)jobvt, (void)work, (void)lwork;
    const int wide = *n > *m, rows = wide ? *n : *m, least = wide ? *m : *n;
    const int total = wide ? rows : least; // columns of the basis wanted
    double *w = malloc((size_t)rows * (size_t)total * sizeof *w);
    double *v = malloc((size_t)least * (size_t)least * sizeof *v);
    double scale = 0;
    *info = w && v ? 0 : 1;
    for (int j = 0; *info == 0 && j < *n; j++) {
        for (int i = 0; i < *m; i++) scale = fmax(scale, fabs(a[i + (ptrdiff_t)j * *lda]));
    }
    for (int j = 0; *info == 0 && j < *n; j++) {
        for (int i = 0; i < *m; i++) {
            const double x = a[i + (ptrdiff_t)j * *lda] / (scale > 0 ? scale : 1);
            w[wide ? j + (ptrdiff_t)i * rows : i + (ptrdiff_t)j * rows] = x;
        }
    }
    if (*info == 0 && !orthogonalise(rows, least, w, v)) *info = 1;
    if (*info == 0) {
        normalise(rows, least, total, w, v, s);
        for (int i = 0; i < least; i++) s[i] *= scale > 0 ? scale : 1;
        // A = W S V', or A' = W S V'
        const double *left = wide ? v : w, *right = wide ? w : v;
        for (int j = 0; j < least; j++) {
            for (int i = 0; i < *m; i++) u[i + (ptrdiff_t)j * *ldu] = left[i + (ptrdiff_t)j * *m];
        }
        for (int j = 0; j < *n; j++) {
            for (int i = 0; i < *n; i++)
                vt[j + (ptrdiff_t)i * *ldvt] = right[i + (ptrdiff_t)j * *n];
        }
    }
    free(w);
    free(v);
}
