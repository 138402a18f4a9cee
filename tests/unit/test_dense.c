// SPDX-License-Identifier: MIT
#include "solve/dense.h"

#include "base/alloc.h"

#include "near.h"

#include <string.h>

enum { N = 12 };
static _Alignas(64) unsigned char memory[1 << 16];

// fixed numbers in (-1, 1) without a pattern
static double noise(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 23) - 1;
}

static void fill(int n, unsigned seed, double *A) {
    for (int i = 0; i < n * n; i++) A[i] = noise(&seed);
}

// A A' + 1: symmetric, eigenvalues at least one
static void fill_positive(int n, unsigned seed, double *S) {
    double A[N * N];
    fill(n, seed, A);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = i == j;
            for (int k = 0; k < n; k++) sum += A[i + k * n] * A[j + k * n];
            S[i + j * n] = sum;
        }
    }
}

static void multiply(int n, const double *A, const double *x, double *y) {
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++) y[i] += A[i + j * n] * x[j];
    }
}

// the bits of a result may not depend on the number of threads of a machine
static void blas_is_the_serial_build(void **state) {
    (void)state;
    assert_non_null(strstr(snw_blas_name(), "OpenBLAS"));
    assert_non_null(strstr(snw_blas_name(), "SINGLE_THREADED"));
}

static void lu_solves(void **state) {
    (void)state;
    double A[N * N], LU[N * N], x[N], y[N];
    int pivot[N];
    unsigned seed = 7;
    fill(N, 3, A);
    memcpy(LU, A, sizeof A);
    for (int i = 0; i < N; i++) x[i] = noise(&seed);
    multiply(N, A, x, y);
    assert_int_equal(snw_lu_factor(N, LU, pivot), SNW_OK);
    snw_lu_solve(N, LU, pivot, y);
    // rounding times the condition number, about 100 here
    for (int i = 0; i < N; i++) assert_near(y[i], x[i], 1e-13);
}

static void lu_knows_the_sign_of_the_determinant(void **state) {
    (void)state;
    int pivot[3];
    double even[9] = {0, 2, 0, 0, 0, 3, 5, 0, 0}; // a cycle of three rows, det 30
    assert_int_equal(snw_lu_factor(3, even, pivot), SNW_OK);
    assert_int_equal(snw_lu_sign(3, even, pivot), 1);
    double odd[9] = {0, 2, 0, 5, 0, 0, 0, 0, 3}; // two rows exchanged, det -30
    assert_int_equal(snw_lu_factor(3, odd, pivot), SNW_OK);
    assert_int_equal(snw_lu_sign(3, odd, pivot), -1);
}

static void cholesky_solves_from_the_lower_triangle(void **state) {
    (void)state;
    double S[N * N], L[N * N], x[N], y[N];
    unsigned seed = 9;
    fill_positive(N, 5, S);
    memcpy(L, S, sizeof S);
    for (int i = 0; i < N; i++) {
        for (int j = i + 1; j < N; j++) L[i + j * N] = NAN; // above the diagonal
        x[i] = noise(&seed);
    }
    multiply(N, S, x, y);
    assert_int_equal(snw_cholesky_factor(N, L), SNW_OK);
    snw_cholesky_solve(N, L, y);
    for (int i = 0; i < N; i++) assert_near(y[i], x[i], 1e-14);
}

static void no_factors_of_what_is_singular_or_not_finite(void **state) {
    (void)state;
    int pivot[2];
    double rank_one[4] = {1, 2, 2, 4};
    assert_int_equal(snw_lu_factor(2, rank_one, pivot), SNW_E_SINGULAR);
    double indefinite[4] = {1, 2, 2, 1};
    assert_int_equal(snw_cholesky_factor(2, indefinite), SNW_E_SINGULAR);
    const double bad[2] = {NAN, INFINITY};
    const int at[3] = {0, 1, 3}; // the lower triangle
    for (int k = 0; k < 6; k++) {
        double A[4] = {2, 1, 1, 2}, S[4] = {2, 1, 1, 2};
        A[at[k / 2]] = S[at[k / 2]] = bad[k % 2];
        assert_int_equal(snw_lu_factor(2, A, pivot), SNW_E_SINGULAR);
        assert_int_equal(snw_cholesky_factor(2, S), SNW_E_SINGULAR);
    }
}

static void symmetric_eigenvectors_are_orthonormal_in_B(void **state) {
    (void)state;
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    double A[N * N], B[N * N], X[N * N], L[N * N], lambda[N], alone[N];
    fill_positive(N, 11, A);
    for (int i = 0; i < N; i++) A[i + i * N] -= 3; // some negative eigenvalues
    fill_positive(N, 12, B);
    memcpy(X, A, sizeof A);
    memcpy(L, B, sizeof B);
    const size_t allocations = snw_alloc_count();
    assert_int_equal(snw_eigen_symmetric(N, X, L, true, &scratch, lambda), SNW_OK);
    assert_true(snw_alloc_count() == allocations);
    assert_true(scratch.used == 0 && scratch.peak <= snw_eigen_symmetric_scratch(N));
    for (int k = 0; k < N; k++) {
        double Ax[N], Bx[N];
        const double *x = &X[k * N + 0];
        multiply(N, A, x, Ax);
        multiply(N, B, x, Bx);
        for (int i = 0; i < N; i++) assert_near(Ax[i], lambda[k] * Bx[i], 1e-13);
        for (int l = 0; l < N; l++) {
            double dot = 0;
            for (int i = 0; i < N; i++) dot += X[i + l * N] * Bx[i];
            assert_near(dot, l == k, 1e-14);
        }
        assert_true(k == 0 || lambda[k] >= lambda[k - 1]);
    }
    memcpy(X, A, sizeof A);
    memcpy(L, B, sizeof B);
    assert_int_equal(snw_eigen_symmetric(N, X, L, false, &scratch, alone), SNW_OK);
    for (int k = 0; k < N; k++) assert_near(alone[k], lambda[k], 1e-13);
}

// clamped spring-mass chain of n equal links: lambda_k = 4 sin^2(k pi / (2 (n + 1)))
static void chain_has_its_closed_form_spectrum(void **state) {
    (void)state;
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    double A[N * N] = {0}, B[N * N] = {0}, lambda[N];
    for (int i = 0; i < N; i++) {
        A[i + i * N] = 2, B[i + i * N] = 1;
        if (i + 1 < N) A[i + 1 + i * N] = -1;
    }
    assert_int_equal(snw_eigen_symmetric(N, A, B, false, &scratch, lambda), SNW_OK);
    for (int k = 0; k < N; k++) {
        const double s = sin((k + 1) * acos(-1) / (2 * (N + 1)));
        assert_near(lambda[k], 4 * s * s, 4e-15);
    }
}

// rotation with growth: A = [a -b; b a] B has a +- i b
static void general_eigenvalues_come_in_conjugate_pairs(void **state) {
    (void)state;
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    const double B0[4] = {2, 0.5, 0.5, 1}, R[4] = {-0.3, 1.7, -1.7, -0.3};
    double A[4], B[4], re[2], im[2];
    memcpy(B, B0, sizeof B);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) A[i + 2 * j] = B0[i] * R[0 + 2 * j] + B0[i + 2] * R[1 + 2 * j];
    }
    const size_t allocations = snw_alloc_count();
    assert_int_equal(snw_eigen_general(2, A, B, &scratch, re, im), SNW_OK);
    assert_true(snw_alloc_count() == allocations);
    assert_true(scratch.used == 0 && scratch.peak <= snw_eigen_general_scratch(2));
    for (int k = 0; k < 2; k++) {
        assert_near(re[k], -0.3, 1e-15);
        assert_near(im[k], k == 0 ? 1.7 : -1.7, 1e-15);
    }
}

// on a symmetric A both routines must find the same real numbers
static void general_agrees_with_symmetric(void **state) {
    (void)state;
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    double A[N * N], B[N * N], X[N * N], L[N * N], lambda[N], re[N], im[N];
    fill_positive(N, 21, A);
    fill_positive(N, 22, B);
    memcpy(X, A, sizeof A);
    memcpy(L, B, sizeof B);
    assert_int_equal(snw_eigen_symmetric(N, X, L, false, &scratch, lambda), SNW_OK);
    assert_int_equal(snw_eigen_general(N, A, B, &scratch, re, im), SNW_OK);
    assert_true(scratch.peak <= snw_eigen_general_scratch(N));
    for (int k = 0; k < N; k++) {
        double nearest = INFINITY;
        for (int l = 0; l < N; l++) nearest = fmin(nearest, fabs(re[l] - lambda[k]));
        assert_near(nearest, 0, 1e-13);
        assert_near(im[k], 0, 1e-13);
    }
}

// right vectors A x = lambda B x, left ones y'A = lambda y'B, pairs as real and imaginary part
static void general_vectors_belong_to_their_eigenvalues(void **state) {
    (void)state;
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    double A[N * N], B[N * N], T[N * N], L[N * N], re[N], im[N], left[N * N], right[N * N];
    fill(N, 31, A);
    fill_positive(N, 32, B);
    memcpy(T, A, sizeof A);
    memcpy(L, B, sizeof B);
    assert_int_equal(snw_eigen_general_vectors(N, T, L, &scratch, re, im, left, right), SNW_OK);
    assert_true(scratch.used == 0 && scratch.peak <= snw_eigen_general_scratch(N));
    double At[N * N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) At[i + j * N] = A[j + i * N];
    }
    int pairs = 0;
    for (int k = 0; k < N; k++) {
        const bool pair = im[k] != 0;
        pairs += pair;
        for (int side = 0; side < 2; side++) {
            // A (u + i v) = (re + i im) B (u + i v); transposed with the conjugate of the
            // eigenvalue, since y* A = lambda y* B
            const double *V = side ? left : right, *M = side ? At : A, sign = side ? -1 : 1;
            const double zero[N] = {0}, *u = V + k * N, *v = pair ? V + (k + 1) * N : zero;
            double Au[N], Av[N], Bu[N], Bv[N], size = 0;
            multiply(N, M, u, Au);
            multiply(N, M, v, Av);
            multiply(N, B, u, Bu);
            multiply(N, B, v, Bv);
            for (int i = 0; i < N; i++) {
                assert_near(Au[i], re[k] * Bu[i] - sign * im[k] * Bv[i], 1e-13);
                assert_near(Av[i], re[k] * Bv[i] + sign * im[k] * Bu[i], 1e-13);
                size += u[i] * u[i] + v[i] * v[i];
            }
            assert_true(size > 1e-6);
        }
        k += pair;
    }
    assert_true(pairs > 0 && pairs < N / 2); // both kinds were seen
}

// three rows, the third a sum of the others: rank two
static void null_space_is_orthonormal_and_across_all_rows(void **state) {
    (void)state;
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    double rows[3 * N], A[3 * N], X[N * N];
    unsigned seed = 5;
    for (int i = 0; i < 2 * N; i++) rows[i] = noise(&seed);
    for (int i = 0; i < N; i++) rows[2 * N + i] = rows[i] + rows[N + i];
    memcpy(A, rows, sizeof A);
    int rank = 0;
    const size_t allocations = snw_alloc_count();
    assert_int_equal(snw_null_space(N, 3, A, 1e-10, &scratch, X, &rank), SNW_OK);
    assert_true(snw_alloc_count() == allocations);
    assert_true(scratch.used == 0 && scratch.peak <= snw_null_space_scratch(N, 3));
    assert_int_equal(rank, 2);
    for (int k = 0; k < N - rank; k++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int i = 0; i < N; i++) sum += rows[j * N + i] * X[k * N + i];
            assert_near(sum, 0, 1e-14);
        }
        for (int l = 0; l <= k; l++) {
            double sum = 0;
            for (int i = 0; i < N; i++) sum += X[l * N + i] * X[k * N + i];
            assert_near(sum, l == k, 1e-14);
        }
    }
    // no rows at all, rows of zeros, more rows than coordinates
    assert_int_equal(snw_null_space(2, 0, A, 1e-10, &scratch, X, &rank), SNW_OK);
    assert_int_equal(rank, 0);
    assert_near(fabs(X[0]) + fabs(X[3]), 2, 1e-15);
    double zeros[4] = {0}, many[6] = {1, 2, 3, 4, 5, 6}, bad[2] = {1, NAN};
    assert_int_equal(snw_null_space(2, 2, zeros, 1e-10, &scratch, X, &rank), SNW_OK);
    assert_int_equal(rank, 0);
    assert_int_equal(snw_null_space(2, 3, many, 1e-10, &scratch, X, &rank), SNW_OK);
    assert_int_equal(rank, 2);
    assert_int_equal(snw_null_space(2, 1, bad, 1e-10, &scratch, X, &rank), SNW_E_DIVERGED);
}

static void projection_is_the_double_sum(void **state) {
    (void)state;
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    enum { K = 3, L = 2 };
    double A[N * N], P[N * K], Q[N * L], out[K * L];
    unsigned seed = 9;
    fill(N, 41, A);
    for (int i = 0; i < N * K; i++) P[i] = noise(&seed);
    for (int i = 0; i < N * L; i++) Q[i] = noise(&seed);
    snw_project(N, A, K, P, L, Q, &scratch, out);
    assert_true(scratch.used == 0 && scratch.peak <= snw_project_scratch(N, L));
    for (int k = 0; k < K; k++) {
        for (int l = 0; l < L; l++) {
            double sum = 0;
            for (int i = 0; i < N; i++) {
                for (int j = 0; j < N; j++) sum += P[i + k * N] * A[i + j * N] * Q[j + l * N];
            }
            assert_near(out[k + l * K], sum, 1e-14);
        }
    }
}

// LAPACK's iterations may not terminate on NaN: they must not be called with it
static void eigenvalues_of_nan_are_refused(void **state) {
    (void)state;
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    double lambda[2], im[2];
    for (int at = 0; at < 4; at++) {
        double A[4] = {2, 1, 1, 2}, B[4] = {2, 0, 0, 2}, C[4] = {2, 1, 1, 2}, D[4] = {2, 0, 0, 2};
        A[at] = C[at] = NAN;
        if (at != 2) {
            assert_int_equal(snw_eigen_symmetric(2, A, B, true, &scratch, lambda), SNW_E_DIVERGED);
        }
        assert_int_equal(snw_eigen_general(2, C, D, &scratch, lambda, im), SNW_E_DIVERGED);
    }
    double A[4] = {2, 1, 1, 2}, B[4] = {1, 3, 3, 1};
    assert_int_equal(snw_eigen_symmetric(2, A, B, true, &scratch, lambda), SNW_E_SINGULAR);
    double C[4] = {2, 1, 1, 2}, D[4] = {1, NAN, NAN, 1};
    assert_int_equal(snw_eigen_general(2, C, D, &scratch, lambda, im), SNW_E_SINGULAR);
}

// columns 5 and 7 are combinations of others: QR finds the rank, keeps the requested columns in
// front, and the columns of Q beyond the rank are orthogonal to all columns of A
static void qr_finds_the_rank(void **state) {
    (void)state;
    enum { M = 11, K = 8 };
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    double A[M * K], QR[M * K], tau[K], B[M * M], P[M * M];
    int order[K];
    unsigned seed = 5;
    for (int i = 0; i < M * K; i++) A[i] = noise(&seed);
    for (int i = 0; i < M; i++) {
        A[5 * M + i] = 2 * A[i] - A[M + i];
        A[7 * M + i] = A[3 * M + i] + 1e-13 * A[6 * M + i];
    }
    for (int lead = 0; lead <= 3; lead++) {
        memcpy(QR, A, sizeof A);
        assert_int_equal(snw_qr_factor(M, K, QR, lead, 1e-10, &scratch, tau, order), 6);
        for (int k = 0; k < lead; k++) assert_int_equal(order[k], k);
        for (int k = 1; k < K; k++) {
            for (int j = 0; j < k; j++) assert_int_not_equal(order[j], order[k]);
        }
        assert_true(scratch.peak <= snw_qr_scratch(M, K));
    }
    // Q' (A A') Q is zero outside of its first corner
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < M; j++) {
            B[j * M + i] = 0;
            for (int k = 0; k < K; k++) B[j * M + i] += A[k * M + i] * A[k * M + j];
        }
    }
    double trace = 0, turned = 0;
    memcpy(P, B, sizeof B);
    snw_qr_turn(M, K, QR, tau, P, &scratch);
    for (int i = 0; i < M; i++) {
        trace += B[i * (M + 1)];
        turned += P[i * (M + 1)];
        for (int j = 0; j < M; j++) {
            if (i >= 6 || j >= 6) assert_near(P[j * M + i], 0, 1e-12);
        }
    }
    assert_near(turned, trace, 1e-14);
    // Q x keeps lengths, and the first column of Q has the direction of the first column chosen
    double x[M] = {1}, length = 0, along = 0;
    snw_qr_apply(M, K, QR, tau, x, &scratch);
    for (int i = 0; i < M; i++) length += x[i] * x[i], along += x[i] * A[order[0] * M + i];
    assert_near(length, 1, 1e-14);
    assert_near(along, QR[0], 1e-14);
    memcpy(QR, A, sizeof A);
    QR[3] = NAN;
    assert_int_equal(snw_qr_factor(M, K, QR, 0, 1e-10, &scratch, tau, order), 0);
    assert_int_equal(snw_qr_factor(0, 0, NULL, 0, 1e-10, &scratch, NULL, NULL), 0);
}

// the number of negative eigenvalues counted from the factors is that of the eigenvalues; in a
// bordered matrix each independent row adds one to the count on the null space of the rows
static void negative_eigenvalues_are_counted_by_factors(void **state) {
    (void)state;
    enum { M = 9, K = 4, ALL = M + K };
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    unsigned seed = 8;
    for (int trial = 0; trial < 30; trial++) {
        double A[M * M], B[(M - K) * (M - K)] = {0}, C[M * K], W[ALL * ALL] = {0}, null[M * M],
                                          lambda[M];
        int negative, below = 0, rank;
        for (int j = 0; j < M - K; j++) B[j * (M - K + 1)] = 1;
        for (int j = 0; j < M; j++) {
            for (int i = j; i < M; i++) A[j * M + i] = A[i * M + j] = noise(&seed);
            A[j * (M + 1)] += 0.2 * (trial % 10) - 1;
        }
        for (int i = 0; i < M * K; i++) C[i] = noise(&seed);
        for (int j = 0; j < M; j++) {
            memcpy(W + j * ALL, A + j * M, M * sizeof *A);
            for (int k = 0; k < K; k++) W[j * ALL + M + k] = -C[k * M + j];
        }
        assert_int_equal(snw_count_negative(ALL, W, &scratch, &negative), SNW_OK);
        assert_true(scratch.peak <= snw_negative_scratch(ALL));
        assert_int_equal(snw_null_space(M, K, C, 1e-10, &scratch, null, &rank), SNW_OK);
        snw_project(M, A, M - K, null, M - K, null, &scratch, W);
        assert_int_equal(snw_eigen_symmetric(M - K, W, B, false, &scratch, lambda), SNW_OK);
        for (int i = 0; i < M - K; i++) below += lambda[i] < 0;
        assert_int_equal(negative, K + below);
        scratch.peak = 0;
    }
    double zero[4] = {-1, 0, 0, 0}, broken[1] = {NAN};
    int negative;
    assert_int_equal(snw_count_negative(2, zero, &scratch, &negative), SNW_E_SINGULAR);
    assert_int_equal(negative, 1);
    assert_int_equal(snw_count_negative(1, broken, &scratch, &negative), SNW_E_DIVERGED);
    assert_int_equal(snw_count_negative(0, NULL, &scratch, &negative), SNW_OK);
}

// the normal equations hold, and of all solutions x is the one without a component in the null
// space of A
static void minimum_norm_solutions_are_least_squares(void **state) {
    (void)state;
    enum { M = 5, K = 8 };
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    double A[M * K], W[M * K], b[M], x[K], r[M], null[K];
    unsigned seed = 6;
    for (int i = 0; i < M * K; i++) A[i] = noise(&seed);
    for (int j = 0; j < K; j++) A[j * M + 4] = A[j * M] + A[j * M + 1]; // rank 4, b not in range
    for (int i = 0; i < M; i++) x[i] = b[i] = noise(&seed);
    memcpy(W, A, sizeof A);
    int rank;
    assert_int_equal(snw_minimum_norm(M, K, W, 1e-10, &scratch, x, &rank), SNW_OK);
    assert_int_equal(rank, 4);
    assert_true(scratch.peak <= snw_minimum_norm_scratch(M, K));
    double size = 0;
    for (int i = 0; i < M; i++) {
        r[i] = -b[i];
        for (int j = 0; j < K; j++) r[i] += A[j * M + i] * x[j];
        size += r[i] * r[i];
    }
    assert_true(size > 1e-3);
    for (int j = 0; j < K; j++) {
        double sum = 0;
        for (int i = 0; i < M; i++) sum += A[j * M + i] * r[i];
        assert_near(sum, 0, 1e-13);
    }
    // x is a combination of rows of A: orthogonal to the least-squares residual of any vector
    for (int j = 0; j < K; j++) null[j] = noise(&seed);
    double y[K] = {0};
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < K; j++) y[i] += A[j * M + i] * null[j];
    }
    memcpy(W, A, sizeof A);
    assert_int_equal(snw_minimum_norm(M, K, W, 1e-10, &scratch, y, &rank), SNW_OK);
    double dot = 0;
    for (int j = 0; j < K; j++) dot += (null[j] - y[j]) * x[j];
    assert_near(dot, 0, 1e-13);
    memcpy(W, A, sizeof A);
    W[7] = NAN;
    assert_int_equal(snw_minimum_norm(M, K, W, 1e-10, &scratch, y, &rank), SNW_E_DIVERGED);
    assert_int_equal(snw_minimum_norm(0, 0, NULL, 1e-10, &scratch, NULL, &rank), SNW_OK);
}

static void nothing_is_a_valid_size(void **state) {
    (void)state;
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    assert_int_equal(snw_lu_factor(0, NULL, NULL), SNW_OK);
    snw_lu_solve(0, NULL, NULL, NULL);
    assert_int_equal(snw_cholesky_factor(0, NULL), SNW_OK);
    snw_cholesky_solve(0, NULL, NULL);
    assert_int_equal(snw_eigen_symmetric(0, NULL, NULL, true, &scratch, NULL), SNW_OK);
    assert_int_equal(snw_eigen_general(0, NULL, NULL, &scratch, NULL, NULL), SNW_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blas_is_the_serial_build),
        cmocka_unit_test(lu_solves),
        cmocka_unit_test(lu_knows_the_sign_of_the_determinant),
        cmocka_unit_test(cholesky_solves_from_the_lower_triangle),
        cmocka_unit_test(no_factors_of_what_is_singular_or_not_finite),
        cmocka_unit_test(symmetric_eigenvectors_are_orthonormal_in_B),
        cmocka_unit_test(chain_has_its_closed_form_spectrum),
        cmocka_unit_test(general_eigenvalues_come_in_conjugate_pairs),
        cmocka_unit_test(general_agrees_with_symmetric),
        cmocka_unit_test(general_vectors_belong_to_their_eigenvalues),
        cmocka_unit_test(null_space_is_orthonormal_and_across_all_rows),
        cmocka_unit_test(projection_is_the_double_sum),
        cmocka_unit_test(eigenvalues_of_nan_are_refused),
        cmocka_unit_test(qr_finds_the_rank),
        cmocka_unit_test(negative_eigenvalues_are_counted_by_factors),
        cmocka_unit_test(minimum_norm_solutions_are_least_squares),
        cmocka_unit_test(nothing_is_a_valid_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
