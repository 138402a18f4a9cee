// SPDX-License-Identifier: MIT
//
// Eigenvalues and left and right eigenvectors of a general real matrix: scaling of rows and columns
// to equal norms, reduction to Hessenberg form by reflections, Francis' double QR steps to the real
// Schur form A = Z T Z', vectors of T by substitution.
#include "lapack.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define AT(a, i, j) (a)[(i) + (ptrdiff_t)(j)*n]

// ---- Schur form ---------------------------------------------------------------------------------

// Scale by powers of two until the norms of row and column i agree, D^-1 A D.
static void balance(int n, double *a, double *scale) {
    for (int i = 0; i < n; i++) scale[i] = 1;
    for (int changed = 1; changed;) {
        changed = 0;
        for (int i = 0; i < n; i++) {
            double column = 0, row = 0;
            for (int j = 0; j < n; j++) {
                if (j == i) continue;
                column += fabs(AT(a, j, i));
                row += fabs(AT(a, i, j));
            }
            if (column == 0 || row == 0) continue;
            const double sum = column + row;
            double f = 1;
            while (column < row / 2) column *= 4, f *= 2;
            while (column >= row * 2) column /= 4, f /= 2;
            if (column + row >= 0.95 * sum * f || f == 1) continue;
            changed = 1;
            scale[i] *= f;
            for (int j = 0; j < n; j++) AT(a, i, j) /= f;
            for (int j = 0; j < n; j++) AT(a, j, i) *= f;
        }
    }
}

// h <- Z' h Z, Hessenberg; z <- Z
static void make_hessenberg(int n, double *h, double *z, double *w) {
    for (int i = 0; i < n * n; i++) z[i] = i % (n + 1) == 0;
    for (int k = 0; k + 2 < n; k++) {
        const int m = n - k - 1;
        double *v = &AT(h, k + 1, k);
        const double tau = web_reflector(m, v);
        if (tau == 0) continue;
        const double beta = v[0];
        v[0] = 1;
        web_reflect_left(m, n - k - 1, v, tau, &AT(h, k + 1, k + 1), n);
        double *const target[2] = {h, z}; // times H from the right
        for (int t = 0; t < 2; t++) {
            for (int i = 0; i < n; i++) w[i] = 0;
            for (int j = 0; j < m; j++) {
                for (int i = 0; i < n; i++) w[i] += AT(target[t], i, k + 1 + j) * v[j];
            }
            for (int j = 0; j < m; j++) {
                for (int i = 0; i < n; i++) AT(target[t], i, k + 1 + j) -= tau * w[i] * v[j];
            }
        }
        v[0] = beta;
        for (int i = 1; i < m; i++) v[i] = 0;
    }
}

// reflection of rows and columns k .. k + size - 1 of h, and of the columns of z
static void reflect_both(int n, int k, int size, double tau, const double *v, int first, int last,
                         double *h, double *z) {
    for (int j = first; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < size; i++) sum += v[i] * AT(h, k + i, j);
        for (int i = 0; i < size; i++) AT(h, k + i, j) -= tau * sum * v[i];
    }
    const int low = k + 3 < last ? k + 3 : last; // the last row that is not zero
    for (int i = 0; i <= low; i++) {
        double sum = 0;
        for (int j = 0; j < size; j++) sum += v[j] * AT(h, i, k + j);
        for (int j = 0; j < size; j++) AT(h, i, k + j) -= tau * sum * v[j];
    }
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < size; j++) sum += v[j] * AT(z, i, k + j);
        for (int j = 0; j < size; j++) AT(z, i, k + j) -= tau * sum * v[j];
    }
}

// A double QR step on rows first .. last, with the sum and product of the two shifts.
static void francis_step(int n, int first, int last, double sum, double product, double *h,
                         double *z) {
    const double a = AT(h, first, first), b = AT(h, first, first + 1);
    const double c = AT(h, first + 1, first), d = AT(h, first + 1, first + 1);
    // first column of (H - s1)(H - s2)
    double v[3] = {a * a + b * c - sum * a + product, c * (a + d - sum),
                   first + 2 <= last ? c * AT(h, first + 2, first + 1) : 0};
    for (int k = first; k < last; k++) {
        const int size = k + 2 <= last ? 3 : 2;
        if (k > first) {
            for (int i = 0; i < size; i++) v[i] = AT(h, k + i, k - 1);
        }
        const double tau = web_reflector(size, v), beta = v[0];
        v[0] = 1;
        reflect_both(n, k, size, tau, v, k > first ? k - 1 : k, last, h, z);
        if (k == first && k > 0) AT(h, k, k - 1) *= 1 - tau; // below it negligible
        if (k > first) {
            AT(h, k, k - 1) = beta;
            for (int i = 1; i < size; i++) AT(h, k + i, k - 1) = 0;
        }
    }
}

// Make the 2 x 2 block at k triangular when its eigenvalues are real.
static void split_block(int n, int k, double *h, double *z) {
    const double a = AT(h, k, k), b = AT(h, k, k + 1), c = AT(h, k + 1, k), d = AT(h, k + 1, k + 1);
    const double p = 0.5 * (a - d), disc = p * p + b * c;
    if (disc < 0) return;
    // eigenvector (x, y) of the eigenvalue farther from d: (a - l) x + b y = 0, c x + (d - l) y = 0
    const double r = p + copysign(sqrt(disc), p); // l - d
    double x = r, y = c;
    const double size = hypot(x, y);
    if (size == 0) return;
    x /= size;
    y /= size;
    for (int j = k; j < n; j++) {
        const double u = AT(h, k, j), w = AT(h, k + 1, j);
        AT(h, k, j) = x * u + y * w;
        AT(h, k + 1, j) = x * w - y * u;
    }
    for (int t = 0; t < 2; t++) {
        double *m = t ? z : h;
        for (int i = 0; i < (t ? n : k + 2); i++) {
            const double u = AT(m, i, k), w = AT(m, i, k + 1);
            AT(m, i, k) = x * u + y * w;
            AT(m, i, k + 1) = x * w - y * u;
        }
    }
    AT(h, k + 1, k) = 0;
}

// the first row of the block that ends in row last: above it a subdiagonal entry is negligible
static int find_block(int n, const double *h, int last, double size) {
    int k = last;
    for (; k > 0; k--) {
        double near = fabs(AT(h, k - 1, k - 1)) + fabs(AT(h, k, k));
        if (near == 0) near = size;
        if (fabs(AT(h, k, k - 1)) <= DBL_EPSILON * near) break;
    }
    return k;
}

// h (Hessenberg) <- T, z <- z Z. False: no convergence.
static int make_schur(int n, double *h, double *z) {
    enum { STEPS = 30 }; // for one eigenvalue; two or three are usual
    double size = 0;
    for (int i = 0; i < n * n; i++) size = fmax(size, fabs(h[i]));
    int steps = 0;
    for (int last = n - 1; last > 0;) {
        const int first = find_block(n, h, last, size);
        if (first > 0) AT(h, first, first - 1) = 0;
        if (first >= last - 1) {
            if (first == last - 1) split_block(n, first, h, z);
            last = first - 1;
            steps = 0;
            continue;
        }
        if (steps++ == STEPS * 3) return 0;
        const double a = AT(h, last - 1, last - 1), b = AT(h, last - 1, last);
        const double c = AT(h, last, last - 1), d = AT(h, last, last);
        double sum = a + d, product = a * d - b * c;
        if (steps % 10 == 0) { // exceptional shifts end a cycle
            const double s = fabs(c) + fabs(AT(h, last - 1, last - 2));
            sum = 1.5 * s;
            product = s * s;
        }
        // begin below two small subdiagonal entries in a row
        int from = last - 2;
        for (; from > first; from--) {
            const double p = AT(h, from, from), q = AT(h, from + 1, from + 1);
            const double low = AT(h, from + 1, from);
            const double x = p * p + AT(h, from, from + 1) * low - sum * p + product;
            const double y = low * (p + q - sum), w = low * AT(h, from + 2, from + 1);
            const double all = fabs(x) + fabs(y) + fabs(w);
            if (fabs(AT(h, from, from - 1)) * (fabs(y) + fabs(w)) <=
                    DBL_EPSILON * fabs(x) * (fabs(AT(h, from - 1, from - 1)) + fabs(p) + fabs(q)) &&
                all > 0) {
                break;
            }
        }
        francis_step(n, from, last, sum, product, h, z);
    }
    return 1;
}

// ---- vectors ------------------------------------------------------------------------------------

typedef double _Complex number;

// Keep a vector small: entries grow where eigenvalues nearly agree.
static void shrink(int n, number *x, number added) {
    if (!(cabs(added) > 1e100)) return;
    for (int i = 0; i < n; i++) x[i] *= 1e-100;
}

static number divide_safely(number x, number by, double least) {
    return x / (cabs(by) < least ? (number)least : by);
}

// x at rows j, j + 1 <- solution of the 2 x 2 system [a b; c d] x = r
static void solve_pair(number a, number b, number c, number d, const number r[2], double least,
                       number *x) {
    const number det = a * d - b * c;
    const double size = cabs(a) + cabs(b) + cabs(c) + cabs(d);
    x[0] = divide_safely(r[0] * d - b * r[1], det, least * size);
    x[1] = divide_safely(a * r[1] - c * r[0], det, least * size);
}

static int is_pair(int n, const double *t, int k) { return k + 1 < n && AT(t, k + 1, k) != 0; }

// x <- right eigenvector of T for l, whose block begins in row k; x[i] = 0 below it
static void right_vector(int n, const double *t, int k, number l, double least, number *x) {
    for (int i = 0; i < n; i++) x[i] = 0;
    int j = k - 1;
    x[k] = 1;
    if (is_pair(n, t, k)) { // (t - l) x = 0 in the second row of the block
        x[k + 1] = -AT(t, k + 1, k) / (AT(t, k + 1, k + 1) - l);
    }
    const int rear = is_pair(n, t, k) ? k + 2 : k + 1;
    while (j >= 0) {
        const int two = j > 0 && AT(t, j, j - 1) != 0, i = two ? j - 1 : j;
        number r[2] = {0, 0};
        for (int m = j + 1; m < rear; m++) {
            r[0] -= AT(t, i, m) * x[m];
            if (two) r[1] -= AT(t, j, m) * x[m];
        }
        if (two) {
            solve_pair(AT(t, i, i) - l, AT(t, i, j), AT(t, j, i), AT(t, j, j) - l, r, least, &x[i]);
            shrink(rear, x, x[j]);
        } else {
            x[i] = divide_safely(r[0], AT(t, i, i) - l, least);
        }
        shrink(rear, x, x[i]);
        j = i - 1;
    }
}

// y <- left eigenvector, T' y = conj(l) y; y[i] = 0 above its block
static void left_vector(int n, const double *t, int k, number l, double least, number *y) {
    for (int i = 0; i < n; i++) y[i] = 0;
    const number c = conj(l);
    int j = k + 1;
    y[k] = 1;
    if (is_pair(n, t, k)) { // T' - conj(l) in the second row of the block
        y[k + 1] = -AT(t, k, k + 1) / (AT(t, k + 1, k + 1) - c);
        j++;
    }
    while (j < n) {
        const int two = is_pair(n, t, j);
        number r[2] = {0, 0};
        for (int m = k; m < j; m++) {
            r[0] -= AT(t, m, j) * y[m];
            if (two) r[1] -= AT(t, m, j + 1) * y[m];
        }
        if (two) {
            solve_pair(AT(t, j, j) - c, AT(t, j + 1, j), AT(t, j, j + 1), AT(t, j + 1, j + 1) - c,
                       r, least, &y[j]);
            shrink(n, y, y[j + 1]);
        } else {
            y[j] = divide_safely(r[0], AT(t, j, j) - c, least);
        }
        shrink(n, y, y[j]);
        j += two ? 2 : 1;
    }
}

// v (one column, or two for a pair: real and imaginary part) <- D^(+-1) Z x, of norm 1; that of a
// pair is turned so that its largest component is real
static void store_vector(int n, const double *z, const double *scale, int left, int pair,
                         const number *x, number *full, double *v) {
    double sum = 0, most = -1;
    number turn = 1;
    for (int i = 0; i < n; i++) full[i] = 0;
    for (int j = 0; j < n; j++) {
        if (x[j] == 0) continue;
        for (int i = 0; i < n; i++) full[i] += AT(z, i, j) * x[j];
    }
    double largest = 0;
    for (int i = 0; i < n; i++) {
        full[i] *= left ? 1 / scale[i] : scale[i];
        largest = fmax(largest, cabs(full[i]));
    }
    for (int i = 0; i < n; i++) {
        if (largest > 0) full[i] /= largest;
        const double size = creal(full[i]) * creal(full[i]) + cimag(full[i]) * cimag(full[i]);
        sum += size;
        if (size > most) most = size, turn = full[i];
    }
    const number factor = (pair ? conj(turn) / cabs(turn) : 1) / sqrt(sum);
    for (int i = 0; i < n; i++) {
        const number value = full[i] * factor;
        v[i] = creal(value);
        if (pair) v[i + (ptrdiff_t)n] = full[i] == turn ? 0 : cimag(value);
    }
}

static void find_vectors(int n, const double *t, const double *z, const double *scale,
                         const double *wr, const double *wi, int left, number *space, double *v) {
    double size = 0;
    for (int i = 0; i < n * n; i++) size = fmax(size, fabs(t[i]));
    const double least = fmax(DBL_EPSILON * size, DBL_MIN / DBL_EPSILON);
    for (int k = 0; k < n;) {
        const int pair = wi[k] != 0;
        const number l = wr[k] + wi[k] * I;
        if (left) {
            left_vector(n, t, k, l, least, space);
        } else {
            right_vector(n, t, k, l, least, space);
        }
        store_vector(n, z, scale, left, pair, space, space + n, v + (ptrdiff_t)k * n);
        k += pair ? 2 : 1;
    }
}

// ---- the routine --------------------------------------------------------------------------------

static void read_values(int n, const double *t, double *wr, double *wi) {
    for (int k = 0; k < n; k++) {
        wr[k] = AT(t, k, k);
        wi[k] = 0;
        if (!is_pair(n, t, k)) continue;
        const double p = 0.5 * (AT(t, k, k) - AT(t, k + 1, k + 1));
        const double disc = p * p + AT(t, k, k + 1) * AT(t, k + 1, k);
        wr[k] = wr[k + 1] = AT(t, k + 1, k + 1) + p;
        wi[k] = sqrt(fmax(0, -disc));
        wi[k + 1] = -wi[k];
        k++;
    }
}

// lda = ldvl = ldvr = n
void dgeev_(const char *jobvl, const char *jobvr, const int *size, double *a, const int *lda,
            double *wr, double *wi, double *vl, const int *ldvl, double *vr, const int *ldvr,
            double *work, const int *lwork, int *info) {
    (void)lda, (void)ldvl, (void)ldvr, (void)lwork;
    const int n = *size;
    double *scale = work, *more = work + n;
    double *z = malloc((size_t)n * (size_t)n * sizeof *z);
    number *space = malloc(2 * (size_t)n * sizeof *space);
    *info = z && space ? 0 : 1;
    if (*info == 0) {
        balance(n, a, scale);
        make_hessenberg(n, a, z, more);
        if (!make_schur(n, a, z)) *info = 1;
    }
    if (*info == 0) {
        read_values(n, a, wr, wi);
        if (*jobvl == 'V') find_vectors(n, a, z, scale, wr, wi, 1, space, vl);
        if (*jobvr == 'V') find_vectors(n, a, z, scale, wr, wi, 0, space, vr);
    }
    free(z);
    free(space);
}
