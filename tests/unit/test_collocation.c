// SPDX-License-Identifier: MIT
//
// Gauss and Radau collocation: coefficients in closed form, exactness on polynomials, errors within
// a step.
#include "solve/collocation.h"

#include "near.h"

#include <math.h>

// Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, table II.7.3 and 7.4
static void coefficients_are_those_of_kuntzmann_and_butcher(void **state) {
    (void)state;
    const double w = sqrt(3) / 6, v = sqrt(15);
    const snw_collocation two = snw_collocation_of(2, 4), three = snw_collocation_of(3, 6);
    const double A2[2][2] = {{0.25, 0.25 - w}, {0.25 + w, 0.25}};
    const double A3[3][3] = {{5.0 / 36, 2.0 / 9 - v / 15, 5.0 / 36 - v / 30},
                             {5.0 / 36 + v / 24, 2.0 / 9, 5.0 / 36 - v / 24},
                             {5.0 / 36 + v / 30, 2.0 / 9 + v / 15, 5.0 / 36}};
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) assert_near(two.A[i][j], A2[i][j], 1e-15);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) assert_near(three.A[i][j], A3[i][j], 1e-15);
    }
}

// Hairer and Wanner, Solving Ordinary Differential Equations II, tables IV.5.5 and 5.6
static void coefficients_are_those_of_ehle(void **state) {
    (void)state;
    const double w = sqrt(6);
    const snw_collocation two = snw_collocation_of(2, 3), three = snw_collocation_of(3, 5);
    const double A2[2][2] = {{5.0 / 12, -1.0 / 12}, {0.75, 0.25}};
    const double A3[3][3] = {{(88 - 7 * w) / 360, (296 - 169 * w) / 1800, (-2 + 3 * w) / 225},
                             {(296 + 169 * w) / 1800, (88 + 7 * w) / 360, (-2 - 3 * w) / 225},
                             {(16 - w) / 36, (16 + w) / 36, 1.0 / 9}};
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) assert_near(two.A[i][j], A2[i][j], 1e-15);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) assert_near(three.A[i][j], A3[i][j], 1e-15);
    }
}

// at the stages and at the end the weights are those of the step; those of coordinates at the end
// only, since A A integrates the polynomial through the rates at the stages
static void weights_within_a_step_are_continuous(void **state) {
    (void)state;
    for (int order = 3; order <= 8; order++) {
        if (order == 7) continue;
        const int s = (order + 1) / 2;
        const snw_collocation k = snw_collocation_of(s, order);
        const snw_collocation_weights end = snw_collocation_at(&k, 1);
        for (int j = 0; j < s; j++) {
            assert_near(end.A[j], k.b[j], 1e-15);
            assert_near(end.AA[j], k.bb[j], 1e-15);
            for (int i = 0; i < s; i++) {
                const snw_collocation_weights at = snw_collocation_at(&k, k.c[i]);
                assert_near(at.l[j], i == j, 1e-14);
                assert_near(at.A[j], k.A[i][j], 1e-15);
            }
        }
    }
}

// x'' = t^p: rates and coordinates are exact at the stages up to p = s - 1, at the end up to the
// order of the quadrature
static void polynomials_are_integrated(void **state) {
    (void)state;
    for (int order = 3; order <= 8; order++) {
        if (order == 7) continue;
        const int s = (order + 1) / 2;
        const snw_collocation k = snw_collocation_of(s, order);
        for (int p = 0; p < order; p++) {
            double rate = 0, way = 0;
            for (int j = 0; j < s; j++) {
                rate += k.b[j] * pow(k.c[j], p);
                way += k.bb[j] * pow(k.c[j], p);
            }
            assert_near(rate, 1.0 / (p + 1), 1e-15);
            if (p < order - 1) assert_near(way, 1.0 / (p + 1) / (p + 2), 1e-15);
            for (int i = 0; i < s && p < s; i++) {
                rate = way = 0;
                for (int j = 0; j < s; j++) {
                    rate += k.A[i][j] * pow(k.c[j], p);
                    way += k.AA[i][j] * pow(k.c[j], p);
                }
                assert_near(rate, pow(k.c[i], p + 1) / (p + 1), 1e-15);
                if (p < s - 1) assert_near(way, pow(k.c[i], p + 2) / (p + 1) / (p + 2), 1e-15);
            }
        }
    }
}

// two stages: 6 t^2 - 6 t + 1 integrated twice is t^2 (1 - t)^2/2, largest in the middle
static void an_error_at_the_start_strays_within_the_step(void **state) {
    (void)state;
    assert_near(snw_collocation_of(2, 4).within, 1.0 / 32, 1e-15);
    for (int s = 3; s <= SNW_STAGES; s++) {
        assert_true(snw_collocation_of(s, 2 * s).within <
                    snw_collocation_of(s - 1, 2 * s - 2).within);
    }
}

static void weights_continue_polynomials(void **state) {
    (void)state;
    const double c[4] = {0.1, 0.4, 0.7, 1};
    double l[4], sum = 0;
    snw_lagrange(4, c, 1.6, l);
    for (int j = 0; j < 4; j++) sum += l[j] * (c[j] * c[j] * c[j] - 2 * c[j] + 3);
    assert_near(sum, 1.6 * 1.6 * 1.6 - 3.2 + 3, 1e-13);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_are_those_of_kuntzmann_and_butcher),
        cmocka_unit_test(coefficients_are_those_of_ehle),
        cmocka_unit_test(weights_within_a_step_are_continuous),
        cmocka_unit_test(polynomials_are_integrated),
        cmocka_unit_test(an_error_at_the_start_strays_within_the_step),
        cmocka_unit_test(weights_continue_polynomials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
