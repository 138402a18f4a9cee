// SPDX-License-Identifier: MIT
//
// The cost of gradients does not grow with the number of parameters, theory.md 7.5: numbers of
// every kind are gathered in one sweep, with three models at other values, since they enter
// linearly; those that share numbers of the model take a model each. Seconds depend on the machine,
// these counts do not; `bench/gradient.c` measures the former on the same robots, and the other
// tests of gradients hold the derivatives.
#include "gradient_arm.h"
#include "near.h"
#include "sanitized.h"
#include "sinew/gradient.h"

enum { NUMBERS = 100, STEPS = 4, ROOM = 60000 };

static snw_gradient_info evaluate(arm_numbers kind, int n) {
    static char text[ROOM], sum[ROOM], name[NUMBERS][16];
    static snw_gradient_variable by[NUMBERS];
    const char *const of[] = {arm_result(kind)};
    for (int i = 0; i < n; i++) {
        (void)snprintf(name[i], sizeof name[i], "f%d", i);
        by[i] = (snw_gradient_variable){.name = name[i]};
    }
    snw_gradient_options how = snw_gradient_defaults();
    how.nvariable = n, how.variable = by;
    how.nscalar = 1, how.scalar = of;
    how.method = SNW_GRADIENT_ADJOINT;
    snw_robot_model *m = NULL;
    snw_gradient *g = NULL;
    snw_error err = {0};
    double p[NUMBERS], dJ[NUMBERS], J;
    const size_t size = arm_write(kind, n, STEPS, ROOM, text, sum);
    if (snw_robot_model_parse("arm", text, size, NULL, 0, NULL, &m, &err) != SNW_OK ||
        snw_gradient_create(m, &how, &g, &err) != SNW_OK ||
        snw_gradient_start(g, p, &err) != SNW_OK ||
        snw_gradient_evaluate(g, p, &J, dJ, &err) != SNW_OK)
        fail_msg("kind %d, %d numbers: %s", (int)kind, n, err.text);
    const snw_gradient_info info = snw_gradient_report(g);
    snw_gradient_close(g);
    snw_robot_model_close(m);
    return info;
}

static void one_sweep_for_numbers_of_every_kind(void **state) {
    (void)state;
    for (int kind = 0; kind < ARM_KINDS; kind++) {
        for (int n = 10; n <= AMONG(10, NUMBERS); n *= 10) {
            const snw_gradient_info got = evaluate((arm_numbers)kind, n);
            if (got.sweeps != 1 || got.gathered != n || got.models != 3)
                print_error("kind %d: %d numbers, %d gathered, %d sweeps, %d models\n", kind, n,
                            got.gathered, got.sweeps, got.models);
            assert_int_equal(got.sweeps, 1);
            assert_int_equal(got.gathered, n);
            assert_int_equal(got.models, 3);
            assert_int_equal(got.differenced_steps + got.differenced_results, 0);
        }
    }
}

// Ten numbers that all enter a stiffness and a mass: each is moved alone, then all together.
static void numbers_that_share_take_a_model_each(void **state) {
    (void)state;
    enum { SHARING = 10 };
    static const char text[] =
        "sinew: 1\n"
        "parameters: {f0: 1, f1: 1.1, f2: 1.2, f3: 1.3, f4: 1.4, f5: 1.5, f6: 1.6, f7: 1.7, f8: "
        "1.8, f9: 1.9, sum: f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8 + f9, weighed: f0 + 2*f1 + "
        "3*f2 + 4*f3 + 5*f4 + 6*f5 + 7*f6 + 8*f7 + 9*f8 + 10*f9}\n"
        "robot: {arm: {on: world, rod: {length: 0.5, section: {stiffness: {bend_y: 0.1*sum}, "
        "damping: {bend_y: 0.01}, inertia: [0, 0, 0, 0.1, 0.1, 0.1]}, strain: {bend_y: legendre "
        "3}, nodes: 8}, body: {mass: 1e-3*weighed}}}\n"
        "probes: {tip: {position: arm.tip}}\n"
        "study: [dynamic: {for: 50 ms, step: 5 ms, scheme: bdf2}]\n";
    static const char *const name[SHARING] = {"f0", "f1", "f2", "f3", "f4",
                                              "f5", "f6", "f7", "f8", "f9"};
    static const char *const of[] = {"integral(tip.z)"};
    snw_gradient_variable by[SHARING];
    for (int i = 0; i < SHARING; i++) by[i] = (snw_gradient_variable){.name = name[i]};
    double p[SHARING], dJ[2][SHARING], J;
    for (int k = 0; k < 2; k++) {
        snw_gradient_options how = snw_gradient_defaults();
        how.nvariable = SHARING, how.variable = by;
        how.nscalar = 1, how.scalar = of;
        how.method = k ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT;
        snw_robot_model *m = NULL;
        snw_gradient *g = NULL;
        snw_error err = {0};
        if (snw_robot_model_parse("arm", text, sizeof text - 1, NULL, 0, NULL, &m, &err) !=
                SNW_OK ||
            snw_gradient_create(m, &how, &g, &err) != SNW_OK ||
            snw_gradient_start(g, p, &err) != SNW_OK ||
            snw_gradient_evaluate(g, p, &J, dJ[k], &err) != SNW_OK)
            fail_msg("%s", err.text);
        const snw_gradient_info info = snw_gradient_report(g);
        snw_gradient_close(g);
        snw_robot_model_close(m);
        if (k) continue;
        assert_int_equal(info.gathered, SHARING);
        assert_int_equal(info.sweeps, 1);
        // two that show that none is alone, four that spell owners, one each and one of all
        assert_int_equal(info.models, 2 + 4 + SHARING + 1);
    }
    for (int i = 0; i < SHARING; i++) assert_near(dJ[0][i], dJ[1][i], 1e-9 * fabs(dJ[1][0]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_share_take_a_model_each),
        cmocka_unit_test(one_sweep_for_numbers_of_every_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
