// SPDX-License-Identifier: MIT
//
// Formulas of time: the published coefficients at even steps, and exactness on polynomials at
// uneven ones.
#include "model/scheme.h"

#include "near.h"

#include <float.h>

static const double even[3] = {0.01, 0.01, 0.01}, uneven[3] = {0.01, 0.025, 0.004};

static void check_levels(snw_levels levels, const double want[5]) {
    const snw_time_formula f = snw_time_formula_at(levels, even);
    for (int k = 0; k < 4; k++) assert_near(f.c[k] * 0.01, want[k], 1e-10);
    assert_near(f.d, want[4], 1e-10);
}

static void check(snw_scheme_kind kind, double alpha, const double want[5]) {
    check_levels(snw_scheme_levels(kind, alpha), want);
}

// theory.md 10.2
static void published_coefficients(void **state) {
    (void)state;
    check_levels((snw_levels){0}, (const double[]){0, 0, 0, 0, 0});
    check(SNW_SCHEME_EULER, 0, (const double[]){1, -1, 0, 0, 0});
    check(SNW_SCHEME_TRAPEZOIDAL, 0, (const double[]){2, -2, 0, 0, -1});
    check(SNW_SCHEME_BDF2, 0, (const double[]){1.5, -2, 0.5, 0, 0});
    check(SNW_SCHEME_BDF3, 0, (const double[]){11.0 / 6, -3, 1.5, -1.0 / 3, 0});
    check(SNW_SCHEME_BDF_ALPHA, 0, (const double[]){1.5, -2, 0.5, 0, 0});
    check(SNW_SCHEME_BDF_ALPHA, -0.5, (const double[]){2, -2, 0, 0, -1});
    check(SNW_SCHEME_BDF_ALPHA, -0.2, (const double[]){1.625, -2, 0.375, 0, -0.25});
    check(SNW_SCHEME_BDF_ALPHA, -0.48,
          (const double[]){1.9615384615, -2, 0.0384615385, 0, -0.9230769231});
}

// x = t^n at the instants before t = 0.3: the rate there is n t^(n-1)
static void polynomials_are_exact(void **state) {
    (void)state;
    static const struct {
        snw_scheme_kind kind;
        double alpha;
        int order;
    } schemes[] = {{SNW_SCHEME_EULER, 0, 1},        {SNW_SCHEME_TRAPEZOIDAL, 0, 2},
                   {SNW_SCHEME_BDF2, 0, 2},         {SNW_SCHEME_BDF3, 0, 3},
                   {SNW_SCHEME_BDF_ALPHA, -0.3, 2}, {SNW_SCHEME_BDF_ALPHA, -0.03, 2}};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        const snw_levels levels = snw_scheme_levels(schemes[i].kind, schemes[i].alpha);
        const snw_time_formula f = snw_time_formula_at(levels, uneven);
        for (int n = 0; n <= schemes[i].order + 1; n++) {
            double t = 0.3, rate = 0;
            for (int k = 0; k < 4; k++) {
                rate += f.c[k] * pow(t, n);
                if (k < 3) t -= uneven[k];
            }
            const double before = 0.3 - uneven[0];
            if (n > 0) rate += f.d * n * pow(before, n - 1);
            const double want = n > 0 ? n * pow(0.3, n - 1) : 0;
            if (n <= schemes[i].order) {
                assert_near(rate, want, 1e-13);
            } else {
                assert_true(fabs(rate - want) > 1e-7); // the order is the documented one
            }
        }
    }
}

// both forms have the same coefficients, for steps of any length; where the previous step is short,
// the differences of instants round
static void increments_have_the_same_coefficients(void **state) {
    (void)state;
    static const snw_levels all[] = {{1, 0}, {1, -0.5}, {2, 0}, {2, -0.5}, {2, -0.48}, {2, -0.03}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (double before = 1e-4; before < 10; before *= 1.7) {
            const double h[3] = {0.01, before, 0.3};
            const snw_time_formula f = snw_time_formula_at(all[i], h);
            const snw_increment_formula g = snw_increment_formula_at(all[i], h[0], before);
            const double size = fabs(f.c[0]) + fabs(f.c[1]) + fabs(f.c[2]);
            const double rounding = 64 * DBL_EPSILON * (1 + h[0] / before);
            assert_near(f.c[0] / size, g.c0 / size, rounding);
            assert_near(f.c[1] / size, (-g.c0 - g.c2) / size, rounding);
            assert_near(f.c[2] / size, g.c2 / size, rounding);
            assert_true(f.d == g.d);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_coefficients),
        cmocka_unit_test(polynomials_are_exact),
        cmocka_unit_test(increments_have_the_same_coefficients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
