// SPDX-License-Identifier: MIT
//
// Formulas of time: the published coefficients at even steps, and exactness on polynomials at
// uneven ones.
#include "shoot/time_formula.h"

#include "near.h"

static const double even[3] = {0.01, 0.01, 0.01}, uneven[3] = {0.01, 0.025, 0.004};

static void check(snw_time_kind kind, double alpha, const double want[5]) {
    const snw_time_formula f = snw_time_formula_at(kind, alpha, even);
    for (int k = 0; k < 4; k++) assert_near(f.c[k] * 0.01, want[k], 1e-10);
    assert_near(f.d, want[4], 1e-10);
}

// theory.md 10.2
static void published_coefficients(void **state) {
    (void)state;
    check(SNW_TIME_STATIC, 0, (const double[]){0, 0, 0, 0, 0});
    check(SNW_TIME_EULER, 0, (const double[]){1, -1, 0, 0, 0});
    check(SNW_TIME_TRAPEZOIDAL, 0, (const double[]){2, -2, 0, 0, -1});
    check(SNW_TIME_BDF2, 0, (const double[]){1.5, -2, 0.5, 0, 0});
    check(SNW_TIME_BDF3, 0, (const double[]){11.0 / 6, -3, 1.5, -1.0 / 3, 0});
    check(SNW_TIME_BDF_ALPHA, 0, (const double[]){1.5, -2, 0.5, 0, 0});
    check(SNW_TIME_BDF_ALPHA, -0.5, (const double[]){2, -2, 0, 0, -1});
    check(SNW_TIME_BDF_ALPHA, -0.2, (const double[]){1.625, -2, 0.375, 0, -0.25});
    check(SNW_TIME_BDF_ALPHA, -0.48,
          (const double[]){1.9615384615, -2, 0.0384615385, 0, -0.9230769231});
}

// x = t^n at the instants before t = 0.3: the rate there is n t^(n-1)
static void polynomials_are_exact(void **state) {
    (void)state;
    static const struct {
        snw_time_kind kind;
        double alpha;
        int order;
    } schemes[] = {{SNW_TIME_EULER, 0, 1},        {SNW_TIME_TRAPEZOIDAL, 0, 2},
                   {SNW_TIME_BDF2, 0, 2},         {SNW_TIME_BDF3, 0, 3},
                   {SNW_TIME_BDF_ALPHA, -0.3, 2}, {SNW_TIME_BDF_ALPHA, -0.03, 2}};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        const snw_time_formula f = snw_time_formula_at(schemes[i].kind, schemes[i].alpha, uneven);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_coefficients),
        cmocka_unit_test(polynomials_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
