// SPDX-License-Identifier: MIT
//
// The Fer expansion against an independent program (numpy, expm; tests/oracle/README.md): end
// poses, errors and exponents on one strain field; and the bounds on the length of a slice.
#include "math/rule.h"
#include "model/step_bound.h"
#include "near.h"

enum { POINTS = SNW_MAGNUS_POINTS };

static snw_twist reference_strain(double s) {
    return (snw_twist){
        .e = {0.5 + sin(3 * s), 2 * cos(2 * s), 1 + s * s, 1 + 0.1 * s, 0.05 * s, -0.1 * cos(s)}};
}

static const snw_se3 end_pose = {{{{0.499536957629, 0.025913445425, 0.865904914704},
                                   {0.860243825004, -0.132751353174, -0.492298323958},
                                   {0.102192903397, 0.990810562911, -0.088606088497}}},
                                 {{0.612660783621, 0.619213270823, -0.379581072545}}};

static snw_se3 integrate(const snw_rule *rule, double length, int nslice) {
    snw_se3 g = snw_se3_identity();
    const double h = length / nslice;
    for (int k = 0; k < nslice; k++) {
        snw_twist xi[POINTS];
        for (int i = 0; i < rule->nc; i++) xi[i] = reference_strain(h * (k + rule->c[i]));
        g = snw_se3_mul(g, snw_se3_exp(snw_rule_value(rule, h, xi)));
    }
    return g;
}

static double largest_entry(snw_se3 a, snw_se3 b) {
    double most = 0;
    for (int i = 0; i < 3; i++) {
        most = fmax(most, fabs(a.p.e[i] - b.p.e[i]));
        for (int j = 0; j < 3; j++) most = fmax(most, fabs(a.R.e[i][j] - b.R.e[i][j]));
    }
    return most;
}

static void errors_are_those_of_an_independent_program(void **state) {
    (void)state;
    static const struct {
        snw_rule_kind kind;
        int number;
        double error[5]; // 2, 4, 8, 16, 32 slices
    } rows[] = {
        {SNW_RULE_MAGNUS, 4, {7.832e-3, 5.120e-4, 3.233e-5, 2.025e-6, 1.267e-7}},
        {SNW_RULE_FER, 2, {1.280e-1, 3.197e-2, 7.975e-3, 1.992e-3, 4.980e-4}},
        {SNW_RULE_FER, 4, {2.215e-2, 1.477e-3, 9.329e-5, 5.822e-6, 3.630e-7}},
        {SNW_RULE_MAGNUS, 6, {2.479e-4, 3.958e-6, 6.203e-8, 9.698e-10, 1.515e-11}},
        {SNW_RULE_FER, 6, {1.558e-3, 2.707e-5, 4.267e-7, 6.620e-9, 1.028e-10}},
    };
    snw_pool *pool = snw_pool_create(1 << 20);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        snw_rule rule;
        assert_int_equal(snw_rule_make(pool, rows[r].kind, rows[r].number, &rule), SNW_OK);
        for (int k = 0; k < 5; k++) {
            const double e = largest_entry(integrate(&rule, 1, 2 << k), end_pose);
            // half a unit of the last digit, and 12 digits of the end pose
            assert_near(e, rows[r].error[k], 1e-3 * rows[r].error[k] + 1e-12);
        }
    }
    snw_pool_destroy(pool);
}

// F_0 and F_1 of the slice from 0 to 0.25, and the position at its end
static void exponents_are_those_of_an_independent_program(void **state) {
    (void)state;
    static const double F0[6] = {0.214430374396, 0.479418547054, 0.255208333333,
                                 0.253125,       0.0015625,      -0.024740373510};
    static const struct {
        int number;
        double F1[6], p[3];
    } rows[] = {
        {4,
         {-0.000420921643, 0.004508907820, -0.008116489079, -0.000415688899, 0.000565413994,
          -0.001109830445},
         {0.234269312825, 0.037900035353, -0.082313824282}},
        {6,
         {-0.000489539273, 0.004229316393, -0.007764930630, -0.000436969694, 0.000510916938,
          -0.000929252048},
         {0.234257414347, 0.037922755858, -0.082071028073}},
    };
    snw_pool *pool = snw_pool_create(1 << 20);
    for (int r = 0; r < 2; r++) {
        snw_rule rule;
        snw_twist xi[POINTS], first = {0}, F1;
        const snw_twist *z = xi;
        assert_int_equal(snw_rule_make(pool, SNW_RULE_FER, rows[r].number, &rule), SNW_OK);
        for (int i = 0; i < rule.nc; i++) {
            xi[i] = reference_strain(0.25 * rule.c[i]);
            first = snw_twist_axpy(0.25 * rule.b[i], xi[i], first);
        }
        snw_brackets_rates(&rule.brackets, 1, 0.25, &z, &F1);
        const snw_se3 g = integrate(&rule, 0.25, 1);
        for (int i = 0; i < 6; i++) {
            if (r == 0) assert_near(first.e[i], F0[i], 1e-12);
            assert_near(F1.e[i], rows[r].F1[i], 1e-12);
        }
        for (int i = 0; i < 3; i++) assert_near(g.p.e[i], rows[r].p[i], 1e-12);
    }
    snw_pool_destroy(pool);
}

// (6.11) of Ufkes 2024 and the bound by the curvature alone
static void bounds_are_those_of_the_source(void **state) {
    (void)state;
    static const double beta[] = {1, 5, 10, 50};
    static const double norm[] = {1.187410, 0.2556592, 0.1281482, 0.02565014};
    static const double turn[] = {1.813799, 0.3627599, 0.1813799, 0.03627599};
    for (int i = 0; i < 4; i++) {
        assert_near(snw_step_bound_norm(SNW_RULE_MAGNUS, beta[i]), norm[i], 5e-7 * norm[i]);
        assert_near(snw_step_bound_turn(SNW_RULE_MAGNUS, beta[i]), turn[i], 5e-7 * turn[i]);
    }
}

// The bound of Fer is the root x of int_0^x phi(2s) ds = x; here by Simpson's rule and bisection.
static void the_bound_of_fer_is_a_root(void **state) {
    (void)state;
    double low = 0.5, high = 1;
    while (high - low > 1e-13) {
        const double x = 0.5 * (low + high), h = x / 2000;
        double sum = 0;
        for (int k = 0; k <= 2000; k++) {
            const double z = 2 * k * h, w = k == 0 || k == 2000 ? 1 : k % 2 ? 4 : 2;
            sum += w * h / 3 * (z > 1e-6 ? exp(z) - expm1(z) / z : z / 2);
        }
        if (sum < x) {
            low = x;
        } else {
            high = x;
        }
    }
    assert_near(snw_rule_norm_bound(SNW_RULE_FER), low, 1e-10);
    assert_near(snw_rule_norm_bound(SNW_RULE_FER), 0.8604065090, 1e-10);
    assert_near(snw_rule_turn_bound(SNW_RULE_FER), 1.7208130179, 1e-10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_those_of_an_independent_program),
        cmocka_unit_test(exponents_are_those_of_an_independent_program),
        cmocka_unit_test(bounds_are_those_of_the_source),
        cmocka_unit_test(the_bound_of_fer_is_a_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
