// SPDX-License-Identifier: MIT
#include "math/stumpff.h"

#include "near.h"

#include <float.h>

// m-th derivative of c_k by its series in extended precision; terms up to cosh(sqrt(z)) cancel, so
// about LDBL_EPSILON cosh(sqrt(z)) is lost
static long double reference(int k, int m, long double z) {
    long double sum = 0, term = 1, power = 1; // (-1)^j / (2j+k)! and z^(j-m)
    for (int i = 2; i <= k; i++) term /= i;
    for (int j = 0; j < 80; j++) {
        if (j >= m) {
            long double falling = 1;
            for (int i = 0; i < m; i++) falling *= j - i;
            sum += term * falling * power;
            power *= z;
        }
        term /= -(long double)(2 * j + k + 1) * (2 * j + k + 2);
    }
    return sum;
}

// errors from rounding z once and the result a few times
static long double bound(int k, double z) {
    const long double moved = z * reference(k, 1, z);
    return 4 * DBL_EPSILON * (fabsl(reference(k, 0, z)) + fabsl(moved)) +
           4 * LDBL_EPSILON * coshl(sqrtl(z));
}

static void assert_stumpff(double z, int kmax) {
    double c[SNW_STUMPFF_MAX];
    snw_stumpff(z, kmax, c);
    for (int k = 0; k <= kmax; k++) {
        const long double error = fabsl(c[k] - reference(k, 0, z));
        if (!(error <= bound(k, z))) {
            print_error("c_%d(%.17g) with kmax %d is off by %Lg\n", k, z, kmax, error);
            fail();
        }
    }
}

static void every_c_is_its_series_to_rounding(void **state) {
    (void)state;
    for (int i = 0; i < 80; i++) assert_stumpff(0.3 * pow(1.7, -i), 9);
    for (int i = 0; i < 4400; i++) assert_stumpff(0.0137 * i, 9);
}

static void a_shorter_list_is_as_good(void **state) {
    (void)state;
    for (int kmax = 0; kmax < SNW_STUMPFF_MAX; kmax++) {
        for (int i = 0; i < 600; i++) assert_stumpff(0.0731 * i, kmax);
    }
}

static void at_zero_they_are_inverse_factorials(void **state) {
    (void)state;
    double c[SNW_STUMPFF_MAX], f = 1;
    snw_stumpff(0, 9, c);
    for (int k = 0; k < SNW_STUMPFF_MAX; k++) {
        assert_near(c[k] * f, 1, DBL_EPSILON);
        f *= k + 1;
    }
}

// short series, long series, closed forms below, closed forms everywhere
static void branches_meet_without_a_step(void **state) {
    (void)state;
    const double seam[] = {SNW_STUMPFF_NEAR, 9, 25};
    for (int i = 0; i < 3; i++) {
        double below[SNW_STUMPFF_MAX], above[SNW_STUMPFF_MAX];
        snw_stumpff(nextafter(seam[i], 0), 9, below);
        snw_stumpff(seam[i], 9, above);
        for (int k = 0; k < SNW_STUMPFF_MAX; k++) {
            assert_true(fabs(below[k] - above[k]) <= 2 * bound(k, seam[i]));
        }
    }
}

static void c0_to_c3_are_the_trigonometric_ones(void **state) {
    (void)state;
    for (int i = 1; i < 60; i++) {
        const double th = 0.31 * i;
        double c[SNW_STUMPFF_MAX];
        snw_stumpff(th * th, 3, c);
        // th*th is rounded: half a unit of th, times a derivative of at most 1
        assert_near(c[0], cos(th), 4 * th * DBL_EPSILON);
        assert_near(th * c[1], sin(th), 4 * th * DBL_EPSILON);
        assert_near(th * th * c[2], 1 - cos(th), 8 * th * DBL_EPSILON);
        assert_near(th * th * th * c[3], th - sin(th), 8 * th * DBL_EPSILON);
    }
}

static void nan_and_infinity_are_not_hidden(void **state) {
    (void)state;
    double c[SNW_STUMPFF_MAX];
    snw_stumpff(NAN, 9, c);
    for (int k = 0; k < SNW_STUMPFF_MAX; k++) assert_true(isnan(c[k]));
    snw_stumpff(INFINITY, 3, c);
    assert_true(isnan(c[0]));
}

// 2 c_2 e = c_3 - 2 c_4, differentiated m times in extended precision
static void reference_inv(double z, long double e[4]) {
    static const int binomial[4][4] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}};
    for (int m = 0; m < 4; m++) {
        e[m] = reference(3, m, z) - 2 * reference(4, m, z);
        for (int i = 0; i < m; i++) e[m] -= binomial[m][i] * 2 * reference(2, m - i, z) * e[i];
        e[m] /= 2 * reference(2, 0, z);
    }
}

static void inverse_coefficient_and_derivatives_are_exact_up_to_the_pole(void **state) {
    (void)state;
    const double pole = 4 * 3.14159265358979323846 * 3.14159265358979323846;
    for (int i = 0; i < 642; i++) {
        const double z = 0.0613 * i;
        double e[4];
        long double want[4];
        snw_stumpff_inv(z, 3, e);
        reference_inv(z, want);
        for (int m = 0; m < 4; m++) {
            // the pole is known to half a unit; the reference divides m times by a c_2 that
            // vanishes
            const double tol = (8 + 4 * (m + 1) * pole / (pole - z)) * DBL_EPSILON;
            const long double c2 = reference(2, 0, z), lost = LDBL_EPSILON * coshl(sqrtl(z)) / c2;
            assert_near(e[m] / (double)want[m], 1, tol + (double)(100 * lost));
        }
    }
}

// |B_2k| / (2k)! z^(k-1)
static void inverse_coefficient_starts_with_bernoulli_numbers(void **state) {
    (void)state;
    double e[4];
    snw_stumpff_inv(0, 3, e);
    assert_near(e[0] * 12, 1, 4 * DBL_EPSILON);
    assert_near(e[1] * 720, 1, 4 * DBL_EPSILON);
    assert_near(e[2] * 30240 / 2, 1, 4 * DBL_EPSILON);
    assert_near(e[3] * 1209600 / 6, 1, 4 * DBL_EPSILON);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_c_is_its_series_to_rounding),
        cmocka_unit_test(a_shorter_list_is_as_good),
        cmocka_unit_test(at_zero_they_are_inverse_factorials),
        cmocka_unit_test(branches_meet_without_a_step),
        cmocka_unit_test(c0_to_c3_are_the_trigonometric_ones),
        cmocka_unit_test(nan_and_infinity_are_not_hidden),
        cmocka_unit_test(inverse_coefficient_and_derivatives_are_exact_up_to_the_pole),
        cmocka_unit_test(inverse_coefficient_starts_with_bernoulli_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
