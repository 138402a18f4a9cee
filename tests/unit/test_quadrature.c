// SPDX-License-Identifier: MIT
#include "math/quadrature.h"

#include "near.h"

#include <float.h>

enum { NMAX = 200 };
static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 17, 32, 33, 64, 101, 150, 199, 200};
enum { NSIZES = sizeof sizes / sizeof *sizes };

static double integrate_power(int n, const double *x, const double *w, int degree) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += w[i] * pow(x[i], degree);
    return sum;
}

// up to degree 2n - 1, the integral of x^k is 1/(k+1)
static void gauss_is_exact_to_degree_2n_minus_1(void **state) {
    (void)state;
    for (int i = 0; i < NSIZES; i++) {
        const int n = sizes[i];
        double x[NMAX], w[NMAX];
        snw_gauss(n, x, w);
        for (int k = 0; k < 2 * n; k++) {
            // half a unit in the last place of a point near 1 becomes k half units in its power
            assert_near((k + 1) * integrate_power(n, x, w, k), 1, (8 + k) * DBL_EPSILON);
        }
    }
}

// for the next degree the error is the classical one: n!^4 / ((2n+1) (2n)!^2) for Gauss on [0, 1]
static void gauss_is_not_exact_beyond(void **state) {
    (void)state;
    for (int n = 1; n <= 5; n++) {
        double x[5], w[5], error = 1.0 / (2 * n + 1);
        snw_gauss(n, x, w);
        for (int k = 1; k <= n; k++) error *= pow(k, 2) / pow(n + k, 2);
        const double got = 1.0 / (2 * n + 1) - integrate_power(n, x, w, 2 * n);
        assert_near(got / error, 1, 4 * DBL_EPSILON / error);
    }
}

// P_n(t) and P_n'(t) by the textbook recurrence in extended precision
static void legendre(int n, long double t, long double *p, long double *dp) {
    long double before = 1;
    *p = t;
    for (int k = 1; k < n; k++) {
        const long double next = ((2 * k + 1) * t * *p - k * before) / (k + 1);
        before = *p;
        *p = next;
    }
    *dp = n * (before - t * *p) / ((1 - t) * (1 + t));
}

static void gauss_points_are_the_roots_of_legendre(void **state) {
    (void)state;
    for (int s = 1; s < NSIZES; s++) {
        const int n = sizes[s];
        double x[NMAX], w[NMAX];
        snw_gauss(n, x, w);
        for (int i = 0; i < n; i++) {
            long double t = 2 * (long double)x[i] - 1, p, dp;
            for (int it = 0; it < 3; it++) {
                legendre(n, t, &p, &dp);
                t -= p / dp;
            }
            legendre(n, t, &p, &dp);
            assert_near(x[i], (double)((1 + t) / 2), DBL_EPSILON);
            // the derivative at an end is n^2 times less sensitive to the rounding of its point
            // than the point itself
            const double want = (double)(1 / ((1 - t) * (1 + t) * dp * dp));
            assert_near(w[i] / want, 1, (8 + 0.2 * n) * DBL_EPSILON + 1e5 * (double)LDBL_EPSILON);
        }
    }
}

static void points_rise_within_and_weights_are_positive_and_symmetric(void **state) {
    (void)state;
    for (int n = 1; n <= NMAX; n++) {
        double x[NMAX], w[NMAX], sum = 0;
        snw_gauss(n, x, w);
        for (int i = 0; i < n; i++) {
            assert_true(w[i] > 0);
            assert_true(x[i] > (i > 0 ? x[i - 1] : 0));
            assert_near(x[i] + x[n - 1 - i], 1, DBL_EPSILON);
            assert_true(w[i] == w[n - 1 - i]);
            sum += w[i];
        }
        assert_true(x[n - 1] < 1);
        assert_near(sum, 1, 8 * DBL_EPSILON);
        if (n % 2) assert_true(x[n / 2] == 0.5);
    }
}

static void small_rules_are_those_of_the_book(void **state) {
    (void)state;
    double x[3], w[3];
    snw_gauss(1, x, w);
    assert_near(x[0], 0.5, 0);
    assert_near(w[0], 1, 0);
    snw_gauss(2, x, w);
    assert_near(x[0], 0.5 - sqrt(3) / 6, DBL_EPSILON);
    snw_gauss(3, x, w);
    assert_near(x[0], 0.5 - sqrt(15) / 10, DBL_EPSILON);
    assert_near(x[1], 0.5, 0);
    assert_near(w[1], 4.0 / 9, DBL_EPSILON);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gauss_is_exact_to_degree_2n_minus_1),
        cmocka_unit_test(gauss_is_not_exact_beyond),
        cmocka_unit_test(gauss_points_are_the_roots_of_legendre),
        cmocka_unit_test(points_rise_within_and_weights_are_positive_and_symmetric),
        cmocka_unit_test(small_rules_are_those_of_the_book),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
