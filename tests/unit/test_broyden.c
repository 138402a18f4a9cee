// SPDX-License-Identifier: MIT
#include "solve/broyden.h"

#include "solve/dense.h"

#include "near.h"

#include <string.h>

enum { N = 5, MOST = 2 * N + 2 };

static double memory[N * MOST];
static const double typical[N] = {1, 0.5, 2, 10, 0.1};

// a fixed matrix near another one, by columns
static void matrices(double *A, double *T) {
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < N; i++) {
            const double x = sin(1.3 * i + 2.1 * j * j + 0.4);
            T[N * j + i] = x + (i == j ? 4 : 0);
            A[N * j + i] = T[N * j + i] + 0.3 * cos(2.9 * i - 1.7 * j);
        }
    }
}

// r <- A x - b, with a nonlinear term added
static void residual(const double *A, double bend, const double *x, double *r) {
    for (int i = 0; i < N; i++) {
        r[i] = -cos(i) + bend * x[i] * x[(i + 1) % N];
        for (int j = 0; j < N; j++) r[i] += A[N * j + i] * x[j];
    }
}

static double size(const double *r) {
    double most = 0;
    for (int i = 0; i < N; i++) most = fmax(most, fabs(r[i]));
    return most;
}

// B <- B + (y - B s) s'W/(s'W s), the update written out, with a new solution each time
static void increments_are_those_of_the_updated_matrix(void **state) {
    (void)state;
    double A[N * N], T[N * N], B[N * N], LU[N * N], x[N] = {0}, r[N], r_new[N], z[N], want[N];
    int pivot[N], pivot_B[N];
    matrices(A, T);
    memcpy(B, T, sizeof B);
    assert_int_equal(snw_lu_factor(N, T, pivot), SNW_OK);
    snw_broyden b = snw_broyden_on(N, MOST, typical, memory);
    residual(A, 0.2, x, r);
    for (int k = 0; k < 8; k++) {
        for (int i = 0; i < N; i++) z[i] = want[i] = -r[i];
        snw_lu_solve(N, T, pivot, z);
        assert_true(snw_broyden_next(&b, z));
        memcpy(LU, B, sizeof LU);
        assert_int_equal(snw_lu_factor(N, LU, pivot_B), SNW_OK);
        snw_lu_solve(N, LU, pivot_B, want);
        for (int i = 0; i < N; i++) assert_near(z[i] / size(want), want[i] / size(want), 1e-9);
        for (int i = 0; i < N; i++) x[i] += z[i];
        residual(A, 0.2, x, r_new);
        double length = 0;
        for (int i = 0; i < N; i++) length += z[i] * z[i] / (typical[i] * typical[i]);
        for (int i = 0; i < N; i++) {
            double lacks = r_new[i] - r[i];
            for (int j = 0; j < N; j++) lacks -= B[N * j + i] * z[j];
            want[i] = lacks;
        }
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++)
                B[N * j + i] += want[i] * z[j] / (typical[j] * typical[j]) / length;
        }
        memcpy(r, r_new, sizeof r);
    }
}

// Gay's theorem: a linear system of n unknowns is solved in 2 n increments whatever the first
// matrix
static void linear_systems_end_after_twice_their_size(void **state) {
    (void)state;
    double A[N * N], T[N * N], x[N] = {0}, r[N];
    int pivot[N], steps = 0;
    matrices(A, T);
    assert_int_equal(snw_lu_factor(N, T, pivot), SNW_OK);
    snw_broyden b = snw_broyden_on(N, MOST, typical, memory);
    residual(A, 0, x, r);
    while (size(r) > 1e-13 && steps < 2 * N) {
        double z[N];
        for (int i = 0; i < N; i++) z[i] = -r[i];
        snw_lu_solve(N, T, pivot, z);
        assert_true(snw_broyden_next(&b, z));
        for (int i = 0; i < N; i++) x[i] += z[i];
        residual(A, 0, x, r);
        steps++;
    }
    assert_true(steps > 3 && size(r) <= 1e-13);
}

static void a_new_matrix_is_asked_for_when_it_is_needed(void **state) {
    (void)state;
    snw_broyden b = snw_broyden_on(N, 2, typical, memory);
    double z[N] = {1, 2, 3, 4, 5}, same[N] = {1, 2, 3, 4, 5}, none[N] = {NAN, 0, 0, 0, 0};
    assert_true(snw_broyden_next(&b, z)); // the first increment is unchanged
    assert_memory_equal(z, same, sizeof z);
    // the residual has not changed at all: the updated matrix is singular
    assert_false(snw_broyden_next(&b, z));
    assert_memory_equal(z, same, sizeof z);
    assert_false(snw_broyden_next(&b, none));
    z[4] = -1;
    assert_true(snw_broyden_next(&b, z));
    z[1] = 0.5;
    assert_false(snw_broyden_next(&b, z)); // no memory left for updates
    snw_broyden_reset(&b);
    memcpy(z, same, sizeof z);
    assert_true(snw_broyden_next(&b, z));
    assert_memory_equal(z, same, sizeof z);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(increments_are_those_of_the_updated_matrix),
        cmocka_unit_test(linear_systems_end_after_twice_their_size),
        cmocka_unit_test(a_new_matrix_is_asked_for_when_it_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
