// SPDX-License-Identifier: MIT
//
// Estimates of condition numbers, compared with those of inverses computed column by column.
#include "near.h"
#include "solve/condition.h"
#include "solve/dense.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 60 };

static double roll(unsigned long long *seed) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 11) / (double)(1ULL << 52) - 1;
}

// |S|_1 |inv(S)|_1 of the matrix scaled as in the estimator, computed without the estimator
static double true_condition(int n, const double *A) {
    static double S[MOST * MOST], x[MOST], row[MOST];
    static int pivot[MOST];
    double norm = 0, inverse = 0;
    for (int i = 0; i < n; i++) {
        row[i] = 0;
        for (int j = 0; j < n; j++) row[i] = fmax(row[i], fabs(A[j * n + i]));
    }
    for (int j = 0; j < n; j++) {
        double largest = 0, sum = 0;
        for (int i = 0; i < n; i++) {
            S[j * n + i] = A[j * n + i] / row[i];
            largest = fmax(largest, fabs(S[j * n + i]));
        }
        for (int i = 0; i < n; i++) {
            S[j * n + i] /= largest;
            sum += fabs(S[j * n + i]);
        }
        norm = fmax(norm, sum);
    }
    assert_int_equal(snw_lu_factor(n, S, pivot), SNW_OK);
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++) x[i] = i == j;
        snw_lu_solve(n, S, pivot, x);
        for (int i = 0; i < n; i++) sum += fabs(x[i]);
        inverse = fmax(inverse, sum);
    }
    return norm * inverse;
}

typedef enum shape { FULL, BAND, UNITS, NEARLY_SINGULAR, BORDERED, SHAPES } shape;

// a random matrix of the given pattern; entries outside of the pattern are exactly zero
static void make(shape kind, int n, unsigned long long *seed, double *A) {
    const int rows = kind == BORDERED ? n / 5 : 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            const bool band = (kind == BAND || kind == BORDERED) && abs(i - j) > 2;
            A[j * n + i] = band ? 0 : roll(seed);
        }
        if (kind == BAND || kind == BORDERED) A[j * n + j] += 3;
    }
    // multipliers: symmetric rows, zeros on the diagonal
    for (int k = n - rows; k < n; k++) {
        for (int i = 0; i < n; i++) {
            const double c = i < n - rows && (i + k) % 3 == 0 ? roll(seed) : 0;
            A[k * n + i] = A[i * n + k] = c;
        }
        A[k * n + (k - (n - rows))] = A[(k - (n - rows)) * n + k] = 2;
    }
    for (int j = 0; kind == UNITS && j < n; j++) {
        const double unit = pow(10, 6 * roll(seed));
        for (int i = 0; i < n; i++) A[j * n + i] *= unit, A[i * n + j] *= unit;
    }
    for (int i = 0; kind == NEARLY_SINGULAR && n > 1 && i < n; i++) {
        A[i] = A[n + i] + 1e-9 * A[i];
    }
}

static snw_sparse *pattern_of(int n, const double *A) {
    static int start[MOST + 1], row[MOST * MOST];
    snw_sparse *sp = NULL;
    start[0] = 0;
    for (int j = 0; j < n; j++) {
        start[j + 1] = start[j];
        for (int i = 0; i < n; i++) {
            if (i == j || A[j * n + i] != 0 || A[i * n + j] != 0) row[start[j + 1]++] = i;
        }
    }
    assert_int_equal(snw_sparse_create(n, start, row, NULL, NULL, &sp), SNW_OK);
    return sp;
}

static void estimates_are_lower_bounds_and_near(void **state) {
    (void)state;
    static double A[MOST * MOST], LU[MOST * MOST], row[MOST], column[MOST], scratch[2 * MOST];
    static int pivot[MOST];
    unsigned long long seed = 7;
    int far = 0, all = 0;
    for (int k = 0; k < 600; k++) {
        const int n = k % 10 == 0 ? 1 + k / 100 : 2 + (k * 7) % (MOST - 1);
        make((shape)(k % SHAPES), n, &seed, A);
        memcpy(LU, A, sizeof A);
        snw_equilibration g = {.n = n, .row = row, .column = column};
        snw_equilibration_take(&g, snw_matrix_dense((size_t)n, A), NULL);
        assert_int_equal(snw_lu_factor(n, LU, pivot), SNW_OK);
        const double dense = snw_equilibration_condition(&g, LU, pivot, NULL, scratch);
        snw_sparse *sp = pattern_of(n, A);
        snw_equilibration_take(&g, snw_matrix_dense((size_t)n, A), sp);
        assert_int_equal(snw_sparse_factor(sp, snw_matrix_dense((size_t)n, A)), SNW_OK);
        const double sparse = snw_equilibration_condition(&g, NULL, NULL, sp, scratch);
        snw_sparse_destroy(sp);
        // a solve with a condition number of 1e9 loses nine digits
        const double want = true_condition(n, A), rounding = 1e-14 * want * want;
        const double found[2] = {dense, sparse};
        for (int i = 0; i < 2; i++, all++) {
            assert_true(found[i] <= want * (1 + 1e-10) + rounding);
            assert_true(found[i] >= want / 10 - rounding);
            far += found[i] < want / 3;
        }
    }
    assert_true(far < all / 50); // Higham: seldom less than a third
}

// the units of an equation, powers of two, change only the pivots
static void units_of_rows_do_not_matter(void **state) {
    (void)state;
    static double A[MOST * MOST], row[MOST], column[MOST], scratch[2 * MOST];
    static int pivot[MOST];
    const int n = 20;
    double found[2];
    for (int k = 0; k < 2; k++) {
        unsigned long long seed = 3;
        make(FULL, n, &seed, A);
        for (int i = 0; k && i < n * n; i++) A[i] = ldexp(A[i], (5 * (i % n)) % 23 - 11);
        snw_equilibration g = {.n = n, .row = row, .column = column};
        snw_equilibration_take(&g, snw_matrix_dense((size_t)n, A), NULL);
        assert_int_equal(snw_lu_factor(n, A, pivot), SNW_OK);
        found[k] = snw_equilibration_condition(&g, A, pivot, NULL, scratch);
    }
    assert_near(found[1], found[0], 1e-10);
}

// x' inv(A) y = y' inv(A') x
static void transposed_solves_are_adjoint(void **state) {
    (void)state;
    static double A[MOST * MOST], LU[MOST * MOST], x[MOST], y[MOST], p[MOST], q[MOST];
    static int pivot[MOST];
    unsigned long long seed = 5;
    for (int k = 0; k < 60; k++) {
        const int n = 1 + k % MOST;
        make(k % 2 ? BAND : BORDERED, n, &seed, A);
        memcpy(LU, A, sizeof A);
        assert_int_equal(snw_lu_factor(n, LU, pivot), SNW_OK);
        snw_sparse *sp = pattern_of(n, A);
        assert_int_equal(snw_sparse_factor(sp, snw_matrix_dense((size_t)n, A)), SNW_OK);
        for (int i = 0; i < n; i++) p[i] = x[i] = roll(&seed), q[i] = y[i] = roll(&seed);
        double forth = 0, back = 0, size = 0, sparse = 0;
        snw_lu_solve(n, LU, pivot, q);
        snw_lu_solve_transposed(n, LU, pivot, p);
        for (int i = 0; i < n; i++)
            forth += x[i] * q[i], back += y[i] * p[i], size += fabs(x[i] * q[i]);
        memcpy(p, x, sizeof p);
        snw_sparse_solve_transposed(sp, p);
        for (int i = 0; i < n; i++) sparse += y[i] * p[i];
        assert_near(back, forth, 1e-12 * (1 + size));
        assert_near(sparse, forth, 1e-12 * (1 + size));
        snw_sparse_destroy(sp);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_are_lower_bounds_and_near),
        cmocka_unit_test(units_of_rows_do_not_matter),
        cmocka_unit_test(transposed_solves_are_adjoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
