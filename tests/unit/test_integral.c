// SPDX-License-Identifier: MIT
//
// Integrals of laws over time, against antiderivatives.
#include "model/integral.h"
#include "near.h"

static double of_sine(double t) { return (1 - cos(200 * t)) / 200; }
static double of_step(double t) { return t < 0.3 ? 0 : 2 * (t - 0.3); }
static double of_linear(double t) {
    const double u = fmin(fmax(t - 0.1, 0), 0.4);
    return 0.5 * u * u / 0.4 + fmax(t - 0.5, 0);
}
static double of_decay(double t) { return (1 - exp(-30 * t)) / 30; }
static double of_hats(double t) {
    const double n = floor(t / 0.25), s = t - 0.25 * n; // mod(t, 0.25)
    return n * 0.25 * 0.25 / 2 + 0.5 * s * s;
}
static double of_peak(double t) { return atan(1000 * (t - 0.6)) + atan(600); } // width 1 ms

// up to the end of the study, and beyond
static void integrals_are_antiderivatives(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double (*want)(double t);
        double tolerance;
    } laws[] = {{"sin(200*t)", of_sine, 1e-13},
                {"2*step(t, 0.3)", of_step, 1e-14},
                {"linear(t, 0.1, 0.5)", of_linear, 1e-14},
                {"exp(-30*t)", of_decay, 1e-14},
                {"mod(t, 0.25)", of_hats, 1e-14},
                {"1000/(1 + (1000*(t - 0.6))^2)", of_peak, 1e-12}};
    for (size_t k = 0; k < sizeof laws / sizeof laws[0]; k++) {
        snw_pool *pool = snw_pool_create((size_t)16 << 20);
        snw_scope *scope = snw_scope_create(pool, NULL);
        const snw_expr_rules rules = {.vars = SNW_VAR_T};
        snw_error err = {0};
        const snw_expr *e = NULL;
        snw_integral g;
        assert_int_equal(snw_expr_parse(pool, scope, laws[k].text, &rules, "m", 1, 1, &e, &err),
                         SNW_OK);
        assert_int_equal(snw_integral_make(pool, e, 1, &g), SNW_OK);
        for (double t = 0; t <= 1; t += 0.0137) {
            assert_near(snw_integral_at(&g, e, t), laws[k].want(t), laws[k].tolerance);
        }
        // jumps beyond the end are not searched
        const bool smooth = k == 0 || k == 3;
        for (double t = 1; smooth && t < 3; t += 0.137) {
            assert_near(snw_integral_at(&g, e, t), laws[k].want(t), 10 * laws[k].tolerance);
        }
        snw_pool_destroy(pool);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(integrals_are_antiderivatives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
