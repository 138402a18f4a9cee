// SPDX-License-Identifier: MIT
#include "solve/secants.h"

#include "solve/dense.h"

#include "near.h"

#include <string.h>

enum { N = 5, MOST = 8 };

static double memory[2 * N * (MOST + 1)];
static const double weight[N] = {1, 4, 0.25, 0.01, 100};

// a fixed matrix, and the factors of a matrix near it
static void matrices(double *A, double *T, int *pivot) {
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < N; i++) {
            const double x = sin(1.3 * i + 2.1 * j * j + 0.4);
            T[N * j + i] = x + (i == j ? 4 : 0);
            A[N * j + i] = T[N * j + i] + 0.3 * cos(2.9 * i - 1.7 * j + 1.1 * i * j);
        }
    }
    assert_int_equal(snw_lu_factor(N, T, pivot), SNW_OK);
}

// z <- -T^-1 (A x - b + bend x x); returns the largest absolute value of the residual
static double chord(const double *A, const double *T, const int *pivot, double b, double bend,
                    const double *x, double *z) {
    double most = 0;
    for (int i = 0; i < N; i++) {
        z[i] = cos(b * i) - bend * x[i] * x[(i + 1) % N];
        for (int j = 0; j < N; j++) z[i] -= A[N * j + i] * x[j];
        most = fmax(most, fabs(z[i]));
    }
    snw_lu_solve(N, T, pivot, z);
    return most;
}

// number of increments until the residual is small
static int solve(snw_secants *s, const double *A, const double *T, const int *pivot, double b,
                 double bend, double *x) {
    double z[N];
    for (int k = 0; k < 60; k++) {
        if (chord(A, T, pivot, b, bend, x, z) < 1e-12) return k;
        snw_secants_next(s, z);
        for (int i = 0; i < N; i++) x[i] += z[i];
    }
    return 60;
}

// n pairs determine a linear system of n unknowns completely, whatever the matrix, and also the
// next system with the same matrix
static void linear_systems_are_learnt(void **state) {
    (void)state;
    double A[N * N], T[N * N], x[N] = {0};
    int pivot[N];
    matrices(A, T, pivot);
    snw_secants s = snw_secants_on(N, MOST, weight, memory);
    assert_in_range(solve(&s, A, T, pivot, 1, 0, x), N, N + 2);
    snw_secants_pause(&s);
    double away[N] = {3, -1, 2, 5, 0.7};
    assert_in_range(solve(&s, A, T, pivot, 1, 0, away), 1, 2);
    for (int i = 0; i < N; i++) assert_near(away[i], x[i], 1e-12);
}

// one pair: the component of z along g, in the weighted product, is replaced by that of the pair;
// the rest is unchanged
static void a_pair_is_taken_by_weights(void **state) {
    (void)state;
    const double first[N] = {1, 2, -1, 0.5, 0.1}, second[N] = {0.3, -0.2, 0.4, 0.1, 0.6};
    double z[N], gg = 0, gz = 0;
    snw_secants s = snw_secants_on(N, MOST, weight, memory);
    memcpy(z, first, sizeof z);
    snw_secants_next(&s, z);
    for (int i = 0; i < N; i++) assert_near(z[i], first[i], 0); // no pairs yet
    memcpy(z, second, sizeof z);
    snw_secants_next(&s, z);
    for (int i = 0; i < N; i++) {
        const double g = first[i] - second[i];
        gg += weight[i] * g * g, gz += weight[i] * g * second[i];
    }
    for (int i = 0; i < N; i++) {
        const double g = first[i] - second[i];
        assert_near(z[i], second[i] + gz / gg * (first[i] - g), 1e-14);
    }
}

// pairs of earlier problems reduce the increments when the matrix changes slowly; the oldest pairs
// are discarded
static void problems_that_drift_take_fewer_increments(void **state) {
    (void)state;
    double A[N * N], T[N * N], x[N] = {0}, y[N] = {0};
    int pivot[N], with = 0, without = 0;
    matrices(A, T, pivot);
    snw_secants s = snw_secants_on(N, MOST, weight, memory);
    for (int k = 0; k < 20; k++) {
        const double b = 1 + 0.02 * k;
        snw_secants_pause(&s);
        with += solve(&s, A, T, pivot, b, 0.05, x);
        static double other[2 * N * (MOST + 1)];
        snw_secants anew = snw_secants_on(N, MOST, weight, other);
        without += solve(&anew, A, T, pivot, b, 0.05, y);
        for (int i = 0; i < N; i++) assert_near(x[i], y[i], 1e-11);
    }
    assert_true(4 * with < 3 * without);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_systems_are_learnt),
        cmocka_unit_test(a_pair_is_taken_by_weights),
        cmocka_unit_test(problems_that_drift_take_fewer_increments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
