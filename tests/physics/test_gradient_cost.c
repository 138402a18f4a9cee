// SPDX-License-Identifier: MIT
//
// The cost of gradients does not grow with the number of parameters, theory.md 7.5: numbers of
// every kind are gathered in one sweep, with three models at other values, since they enter
// linearly. Seconds depend on the machine, these counts do not; `bench/gradient.c` measures the
// former on the same robots, and the other tests of gradients hold the derivatives.
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
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sweep_for_numbers_of_every_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
