// SPDX-License-Identifier: MIT
//
// The routines of web/lapack_*.c against OpenBLAS, and against the equations they solve.
#include "../../web/lapack.h"

#include "near.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

// those of web/ under names of their own, see tests.cmake
#define WEB(name) __typeof__(name) web_##name
WEB(dgemm_);
WEB(dtrsm_);
WEB(dgetrf_);
WEB(dgetrs_);
WEB(dpotrf_);
WEB(dpotrs_);
WEB(dsytrf_);
WEB(dsygst_);
WEB(dsyev_);
WEB(dgeev_);
WEB(dgeqp3_);
WEB(dorgqr_);
WEB(dormqr_);
WEB(dgesvd_);
WEB(dgelsy_);

enum { MOST = 90, WORK = 64 * MOST };

static double work[WORK];
static const int nwork = WORK;
static const double one = 1, zero = 0;
static const int sizes[] = {1, 2, 3, 5, 12, 13, 25, 40, 90};
#define FOR_SIZES(n)                                                                               \
    for (size_t s_ = 0, n = 1; s_ < sizeof sizes / sizeof *sizes && (n = (size_t)sizes[s_], 1);    \
         s_++)

static double random_number(void) {
    static unsigned long long state = 88172645463325252ULL;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(state >> 11) / (double)(1ULL << 53) * 2 - 1;
}

static void fill(size_t n, double *a) {
    for (size_t i = 0; i < n; i++) a[i] = random_number();
}

static double largest_difference(size_t n, const double *a, const double *b) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static void assert_same(size_t n, const double *a, const double *b, double tol) {
    assert_near(largest_difference(n, a, b), 0, tol);
}

static double A[MOST * MOST], B[MOST * MOST], C[MOST * MOST], D[MOST * MOST], E[MOST * MOST],
    F[MOST * MOST];

// positive definite
static void fill_positive(int n, double *a) {
    static double x[MOST * MOST];
    fill((size_t)n * (size_t)n, x);
    dgemm_("N", "T", &n, &n, &n, &one, x, &n, x, &n, &zero, a, &n);
    for (int i = 0; i < n; i++) a[i * (n + 1)] += 1;
}

static void products_agree(void **state) {
    (void)state;
    const double alpha = 0.7, beta = -0.3;
    for (int m = 1; m < 12; m += 2) {
        for (int n = 1; n < 9; n++) {
            for (int k = 1; k < 11; k++) {
                const char *const op[] = {"N", "T"};
                for (int t = 0; t < 4; t++) {
                    const int lda = t & 1 ? k : m, ldb = t & 2 ? n : k;
                    fill((size_t)(m * k), A);
                    fill((size_t)(k * n), B);
                    fill((size_t)(m * n), C);
                    memcpy(D, C, sizeof C);
                    dgemm_(op[t & 1], op[t >> 1], &m, &n, &k, &alpha, A, &lda, B, &ldb, &beta, C,
                           &m);
                    web_dgemm_(op[t & 1], op[t >> 1], &m, &n, &k, &alpha, A, &lda, B, &ldb, &beta,
                               D, &m);
                    assert_same((size_t)(m * n), C, D, 1e-14);
                }
            }
        }
    }
}

static void triangular_systems_agree(void **state) {
    (void)state;
    const char *const side[] = {"L", "R"}, *const op[] = {"N", "T"};
    for (int n = 1; n < 14; n++) {
        for (int t = 0; t < 4; t++) {
            const int m = 5, rows = t & 1 ? m : n, columns = t & 1 ? n : m;
            fill_positive(n, A);
            fill((size_t)(n * m), B);
            memcpy(C, B, sizeof B);
            dtrsm_(side[t & 1], "L", op[t >> 1], "N", &rows, &columns, &one, A, &n, B, &rows);
            web_dtrsm_(side[t & 1], "L", op[t >> 1], "N", &rows, &columns, &one, A, &n, C, &rows);
            double size = 0;
            for (int i = 0; i < n * m; i++) size = fmax(size, fabs(B[i]));
            assert_same((size_t)(n * m), B, C, 1e-10 * size);
        }
    }
}

static void lu_agrees(void **state) {
    (void)state;
    FOR_SIZES(size) {
        const int n = (int)size, two = 2;
        int p[MOST], q[MOST], info[2];
        fill(size * size, A);
        memcpy(B, A, sizeof A);
        dgetrf_(&n, &n, A, &n, p, &info[0]);
        web_dgetrf_(&n, &n, B, &n, q, &info[1]);
        assert_int_equal(info[0], info[1]);
        assert_memory_equal(p, q, size * sizeof *p);
        assert_same(size * size, A, B, 1e-11);
        for (int t = 0; t < 2; t++) {
            fill(2 * size, C);
            memcpy(D, C, 2 * size * sizeof *C);
            dgetrs_(t ? "T" : "N", &n, &two, A, &n, p, C, &n, &info[0]);
            web_dgetrs_(t ? "T" : "N", &n, &two, B, &n, q, D, &n, &info[1]);
            double most = 1;
            for (size_t i = 0; i < 2 * size; i++) most = fmax(most, fabs(C[i]));
            assert_same(2 * size, C, D, 1e-11 * most * most);
        }
        // two equal rows
        if (n < 2) continue;
        fill(size * size, A);
        for (int j = 0; j < n; j++) A[n - 1 + j * n] = A[j * n] = j == 0 ? 0 : A[j * n];
        for (int j = 0; j < n; j++) A[j] = 0;
        web_dgetrf_(&n, &n, A, &n, q, &info[1]);
        assert_int_equal(info[1], 1);
    }
}

static void cholesky_agrees(void **state) {
    (void)state;
    FOR_SIZES(size) {
        const int n = (int)size, two = 2;
        int info[2];
        fill_positive(n, A);
        memcpy(B, A, sizeof A);
        dpotrf_("L", &n, A, &n, &info[0]);
        web_dpotrf_("L", &n, B, &n, &info[1]);
        assert_int_equal(info[0] | info[1], 0);
        assert_same(size * size, A, B, 1e-12); // above the diagonal both leave the matrix alone
        fill(2 * size, C);
        memcpy(D, C, 2 * size * sizeof *C);
        dpotrs_("L", &n, &two, A, &n, C, &n, &info[0]);
        web_dpotrs_("L", &n, &two, B, &n, D, &n, &info[1]);
        assert_same(2 * size, C, D, 1e-12);
        fill_positive(n, A);
        A[size * size - 1] = -1;
        memcpy(B, A, sizeof A);
        dpotrf_("L", &n, A, &n, &info[0]);
        web_dpotrf_("L", &n, B, &n, &info[1]);
        assert_int_equal(info[0], info[1]);
    }
}

// numbers of negative eigenvalues by the signs of D, as dense.c counts them
static int count_negative(int n, const double *a, const int *pivot) {
    int negative = 0;
    for (int i = 0; i < n; i++) {
        const bool two = pivot[i] < 0;
        negative += two || a[i * (n + 1)] < 0;
        i += two;
    }
    return negative;
}

static void indefinite_factors_have_the_inertia(void **state) {
    (void)state;
    FOR_SIZES(size) {
        const int n = (int)size;
        for (int trial = 0; trial < 20; trial++) {
            int p[MOST], q[MOST], info[2];
            fill(size * size, A);
            for (int i = 0; trial % 2 && i < n; i++)
                A[i * (n + 1)] *= 1e-3; // asks for 2 x 2 blocks
            for (int j = 0; j < n; j++) {
                for (int i = 0; i < j; i++) A[i + j * n] = A[j + i * n];
            }
            memcpy(B, A, sizeof A);
            memcpy(C, A, sizeof A);
            dsytrf_("L", &n, A, &n, p, work, &nwork, &info[0]);
            web_dsytrf_("L", &n, B, &n, q, work, &nwork, &info[1]);
            assert_int_equal(info[0], info[1]);
            double w[MOST];
            dsyev_("N", "L", &n, C, &n, w, work, &nwork, &info[0]);
            int negative = 0;
            for (int i = 0; i < n; i++) negative += w[i] < 0;
            assert_int_equal(count_negative(n, B, q), negative);
            if (n > 25) continue; // OpenBLAS may choose other pivots in blocks
            assert_memory_equal(p, q, size * sizeof *p);
            for (int j = 0; j < n; j++)
                assert_same((size_t)(n - j), A + j * (n + 1), B + j * (n + 1), 1e-9);
        }
    }
}

static void symmetric_eigenvalues_agree(void **state) {
    (void)state;
    const int kind = 1;
    FOR_SIZES(size) {
        const int n = (int)size;
        for (int trial = 0; trial < 3; trial++) {
            int info[2];
            double w[MOST], x[MOST];
            fill(size * size, A);
            for (int j = 0; j < n; j++) {
                for (int i = 0; i < j; i++) A[j + i * n] = A[i + j * n];
            }
            // several equal eigenvalues: I + u u'
            for (int i = 0; trial == 1 && i < n * n; i++) {
                A[i] = (i % (n + 1) == 0) + (double)(1 + i % n) * (1 + i / n) / n;
            }
            fill_positive(n, B);
            dpotrf_("L", &n, B, &n, &info[0]);
            memcpy(C, A, sizeof A);
            if (trial == 2) dsygst_(&kind, "L", &n, A, &n, B, &n, &info[0]);
            if (trial == 2) web_dsygst_(&kind, "L", &n, C, &n, B, &n, &info[1]);
            // upper triangles are not part of the result
            for (int j = 0; j < n; j++) {
                for (int i = 0; i < j; i++)
                    A[i + j * n] = A[j + i * n], C[i + j * n] = C[j + i * n];
            }
            assert_same(size * size, A, C, 1e-11);
            memcpy(D, A, sizeof A);
            dsyev_("N", "L", &n, A, &n, w, work, &nwork, &info[0]);
            web_dsyev_("V", "L", &n, C, &n, x, work, &nwork, &info[1]);
            assert_int_equal(info[1], 0);
            const double scale = fmax(fabs(w[0]), fabs(w[n - 1]));
            assert_same(size, w, x, 1e-13 * n * scale);
            // D C = C diag(x), C' C = 1
            dgemm_("N", "N", &n, &n, &n, &one, D, &n, C, &n, &zero, E, &n);
            for (int i = 0; i < n * n; i++) F[i] = C[i] * x[i / n];
            assert_same(size * size, E, F, 1e-13 * n * scale);
            dgemm_("T", "N", &n, &n, &n, &one, C, &n, C, &n, &zero, E, &n);
            for (int i = 0; i < n * n; i++) F[i] = i % (n + 1) == 0;
            assert_same(size * size, E, F, 1e-14 * (n + 10));
            web_dsyev_("N", "L", &n, D, &n, w, work, &nwork, &info[0]);
            assert_same(size, w, x, 1e-13 * n * scale);
        }
    }
}

// nearest of the values to (re, im)
static double distance(int n, const double *wr, const double *wi, double re, double im) {
    double least = INFINITY;
    for (int i = 0; i < n; i++) least = fmin(least, hypot(wr[i] - re, wi[i] - im));
    return least;
}

// |A x - l x| for right, |A' y - conj(l) y| for left vectors
static double vector_fault(int n, const double *a, const double *v, double re, double im, bool pair,
                           bool left) {
    const double _Complex l = re + (left ? -im : im) * I;
    double most = 0, norm = 0;
    for (int i = 0; i < n; i++) {
        double _Complex sum = 0;
        for (int j = 0; j < n; j++) {
            sum += (left ? a[j + i * n] : a[i + j * n]) * (v[j] + (pair ? v[j + n] : 0) * I);
        }
        const double _Complex own = v[i] + (pair ? v[i + n] : 0) * I;
        most = fmax(most, cabs(sum - l * own));
        norm += creal(own) * creal(own) + cimag(own) * cimag(own);
    }
    assert_near(norm, 1, 1e-12);
    return most;
}

static void fill_general(int n, int trial, double *a) {
    fill((size_t)n * (size_t)n, a);
    for (int i = 0; i < n * n; i++) {
        const int row = i % n, column = i / n;
        if (trial == 1) a[i] *= pow(10, 6.0 * (row - column) / n);               // badly scaled
        if (trial == 2) a[i] = row == (column + 1) % n;                          // roots of unity
        if (trial == 3) a[i] = (row == column) + (column == row + 1 ? 1e-3 : 0); // defective
        if (trial == 4) a[i] = row <= column ? a[i] : 0;                         // triangular
        if (trial == 5)
            a[i] = row < column ? a[i] : row == column ? 0 : -a[column + row * n]; // skew
        if (trial == 6) a[i] = 0;
    }
}

static void general_eigenvalues_agree(void **state) {
    (void)state;
    FOR_SIZES(size) {
        const int n = (int)size;
        for (int trial = 0; trial < 7; trial++) {
            double wr[MOST], wi[MOST], xr[MOST], xi[MOST];
            int info[2];
            fill_general(n, trial, A);
            memcpy(B, A, sizeof A);
            memcpy(C, A, sizeof A);
            dgeev_("N", "N", &n, A, &n, wr, wi, NULL, &n, NULL, &n, work, &nwork, &info[0]);
            web_dgeev_("V", "V", &n, B, &n, xr, xi, D, &n, E, &n, work, &nwork, &info[1]);
            assert_int_equal(info[1], 0);
            double scale = 0;
            for (int i = 0; i < n * n; i++) scale = fmax(scale, fabs(C[i]));
            // a defective matrix has eigenvalues of the accuracy eps^(1/n)
            for (int k = 0; trial != 3 && k < n; k++) {
                assert_near(distance(n, wr, wi, xr[k], xi[k]), 0, 1e-11 * n * scale);
                assert_near(distance(n, xr, xi, wr[k], wi[k]), 0, 1e-11 * n * scale);
            }
            for (int k = 0; k < n; k++) {
                if (xi[k] < 0) continue; // the second of a pair
                const bool pair = xi[k] > 0;
                assert_near(vector_fault(n, C, D + k * n, xr[k], xi[k], pair, true), 0,
                            1e-12 * n * fmax(scale, 1e-30));
                assert_near(vector_fault(n, C, E + k * n, xr[k], xi[k], pair, false), 0,
                            1e-12 * n * fmax(scale, 1e-30));
            }
        }
    }
}

static void pivoted_qr_agrees(void **state) {
    (void)state;
    static const int shape[][2] = {{1, 1}, {5, 3}, {3, 5}, {12, 12}, {40, 7}, {7, 40}, {60, 60}};
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++) {
        const int m = shape[s][0], n = shape[s][1], k = m < n ? m : n;
        int p[MOST] = {0}, q[MOST] = {0}, info;
        double t[MOST], u[MOST];
        fill((size_t)(m * n), A);
        memcpy(B, A, sizeof A);
        p[n - 1] = q[n - 1] = 1; // the last column comes first
        dgeqp3_(&m, &n, A, &m, p, t, work, &nwork, &info);
        web_dgeqp3_(&m, &n, B, &m, q, u, work, &nwork, &info);
        assert_memory_equal(p, q, (size_t)n * sizeof *p);
        assert_same((size_t)(m * n), A, B, 1e-12);
        assert_same((size_t)k, t, u, 1e-12);
        // products with Q, from both sides
        const char *const op[] = {"N", "T"};
        for (int c = 0; c < 4; c++) {
            fill((size_t)(m * m), C);
            memcpy(D, C, sizeof C);
            dormqr_(c & 1 ? "R" : "L", op[c >> 1], &m, &m, &k, A, &m, t, C, &m, work, &nwork,
                    &info);
            web_dormqr_(c & 1 ? "R" : "L", op[c >> 1], &m, &m, &k, A, &m, t, D, &m, work, &nwork,
                        &info);
            assert_same((size_t)(m * m), C, D, 1e-12);
        }
        memset(C, 0, sizeof C);
        memcpy(C, A, (size_t)(m * k) * sizeof *A);
        memcpy(D, C, sizeof C);
        dorgqr_(&m, &m, &k, C, &m, t, work, &nwork, &info);
        web_dorgqr_(&m, &m, &k, D, &m, t, work, &nwork, &info);
        assert_same((size_t)(m * m), C, D, 1e-13);
    }
}

// m x n of the rank r
static void fill_rank(int m, int n, int r, double *a) {
    static double x[MOST * MOST], y[MOST * MOST];
    fill((size_t)(m * r), x);
    fill((size_t)(r * n), y);
    dgemm_("N", "N", &m, &n, &r, &one, x, &m, y, &r, &zero, a, &m);
}

static void least_squares_agree(void **state) {
    (void)state;
    static const int shape[][3] = {{4, 4, 4}, {8, 3, 3}, {3, 8, 3},   {9, 9, 4},
                                   {9, 5, 2}, {5, 9, 2}, {30, 40, 20}};
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++) {
        const int m = shape[s][0], n = shape[s][1], single = 1, most = m > n ? m : n;
        const double tol = 1e-9;
        int p[MOST] = {0}, q[MOST] = {0}, rank[2], info;
        double x[MOST], y[MOST];
        fill_rank(m, n, shape[s][2], A);
        memcpy(B, A, sizeof A);
        fill((size_t)most, x);
        memcpy(y, x, sizeof x);
        dgelsy_(&m, &n, &single, A, &m, x, &most, p, &tol, &rank[0], work, &nwork, &info);
        web_dgelsy_(&m, &n, &single, B, &m, y, &most, q, &tol, &rank[1], work, &nwork, &info);
        assert_int_equal(rank[0], shape[s][2]);
        assert_int_equal(rank[1], shape[s][2]);
        double size = 1;
        for (int i = 0; i < n; i++) size = fmax(size, fabs(x[i]));
        assert_same((size_t)n, x, y, 1e-10 * size);
    }
}

static void singular_values_agree(void **state) {
    (void)state;
    static const int shape[][3] = {{1, 1, 1}, {5, 3, 3}, {3, 5, 3},   {6, 6, 6},
                                   {8, 8, 3}, {9, 4, 0}, {20, 12, 7}, {12, 30, 10}};
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++) {
        const int m = shape[s][0], n = shape[s][1], least = m < n ? m : n;
        double x[MOST], y[MOST];
        int info;
        fill_rank(m, n, shape[s][2], A);
        if (shape[s][2] == 0) memset(A, 0, sizeof A);
        memcpy(B, A, sizeof A);
        memcpy(C, A, sizeof A);
        dgesvd_("N", "N", &m, &n, A, &m, x, NULL, &m, NULL, &n, work, &nwork, &info);
        web_dgesvd_("S", "A", &m, &n, B, &m, y, D, &m, E, &n, work, &nwork, &info);
        assert_int_equal(info, 0);
        assert_same((size_t)least, x, y, 1e-13 * (1 + x[0]));
        // U S V' = A; U and V are orthonormal
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < m; i++) {
                double sum = 0;
                for (int k = 0; k < least; k++) sum += D[i + k * m] * y[k] * E[k + j * n];
                assert_near(sum, C[i + j * m], 1e-13 * (1 + x[0]));
            }
        }
        dgemm_("T", "N", &least, &least, &m, &one, D, &m, D, &m, &zero, F, &least);
        for (int i = 0; i < least * least; i++) assert_near(F[i], i % (least + 1) == 0, 1e-13);
        dgemm_("T", "N", &n, &n, &n, &one, E, &n, E, &n, &zero, F, &n);
        for (int i = 0; i < n * n; i++) assert_near(F[i], i % (n + 1) == 0, 1e-13);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_agree),
        cmocka_unit_test(triangular_systems_agree),
        cmocka_unit_test(lu_agrees),
        cmocka_unit_test(cholesky_agrees),
        cmocka_unit_test(indefinite_factors_have_the_inertia),
        cmocka_unit_test(symmetric_eigenvalues_agree),
        cmocka_unit_test(general_eigenvalues_agree),
        cmocka_unit_test(pivoted_qr_agrees),
        cmocka_unit_test(least_squares_agree),
        cmocka_unit_test(singular_values_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
