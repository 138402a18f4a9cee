// SPDX-License-Identifier: MIT
#include "base/alloc.h"
#include "near.h"
#include "solve/nonlinear_program.h"

#include <math.h>
#include <string.h>

// Hock and Schittkowski, Test Examples for Nonlinear Programming Codes (1981), problem 71: min x1
// x4 (x1 + x2 + x3) + x3 with x1 x2 x3 x4 >= 25, |x|^2 = 40, 1 <= x <= 5; at best 17.0140172891563
static snw_status hock71(void *user, const double *x, double *f, double *df) {
    int *calls = user;
    if (++*calls == 1000) return SNW_E_STOPPED;
    f[0] = x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2];
    f[1] = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] - 40;
    f[2] = 25 - x[0] * x[1] * x[2] * x[3];
    if (!df) return SNW_OK;
    const double g[3][4] = {
        {x[3] * (2 * x[0] + x[1] + x[2]), x[0] * x[3], x[0] * x[3] + 1,
         x[0] * (x[0] + x[1] + x[2])},
        {2 * x[0], 2 * x[1], 2 * x[2], 2 * x[3]},
        {-x[1] * x[2] * x[3], -x[0] * x[2] * x[3], -x[0] * x[1] * x[3], -x[0] * x[1] * x[2]}};
    memcpy(df, g, sizeof g);
    return SNW_OK;
}

static const double low[4] = {1, 1, 1, 1}, high[4] = {5, 5, 5, 5};

static void a_known_problem_is_solved(void **state) {
    (void)state;
    if (!snw_program_available()) skip();
    int calls = 0;
    const snw_program p = {.n = 4, .nequal = 1, .nbelow = 1, .low = low, .high = high};
    snw_program program = p;
    program.user = &calls, program.evaluate = hock71;
    snw_program_opts opts = snw_program_defaults();
    double x[4] = {1, 5, 5, 1};
    snw_program_info info;
    snw_error err = {0};
    assert_int_equal(snw_program_solve(&program, &opts, x, &info, &err), SNW_OK);
    double f[3], df[12], multiplier[2], bound[4], optimality;
    assert_int_equal(hock71(&calls, x, f, df), SNW_OK);
    assert_near(f[0], 17.0140172891563, 1e-10);
    assert_near(f[1], 0, 1e-9);
    assert_near(x[0], 1, 1e-9);
    // the multipliers: by moving the limits
    snw_arena scratch = {.size = snw_program_multipliers_scratch(4, 2)};
    scratch.base = snw_alloc(scratch.size);
    assert_int_equal(
        snw_program_multipliers(&program, x, f, df, 1e-6, &scratch, multiplier, bound, &optimality),
        SNW_OK);
    snw_free(scratch.base);
    assert_true(optimality < 1e-6);
    assert_near(multiplier[0], 0.1614686, 1e-5); // as in the source
    assert_near(multiplier[1], 0.5522937, 1e-5);
    assert_true(bound[0] < 0 && bound[1] == 0 && bound[2] == 0);
}

static void equalities_need_their_method(void **state) {
    (void)state;
    if (!snw_program_available()) skip();
    int calls = 0;
    const snw_program p = {.n = 4,
                           .nequal = 1,
                           .nbelow = 1,
                           .low = low,
                           .high = high,
                           .user = &calls,
                           .evaluate = hock71};
    snw_program_opts opts = snw_program_defaults();
    opts.method = SNW_PROGRAM_MMA;
    double x[4] = {1, 5, 5, 1};
    snw_program_info info;
    snw_error err = {0};
    assert_int_equal(snw_program_solve(&p, &opts, x, &info, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "slsqp"));
}

// min (x - 3)^2 where x < 1 can be evaluated only; the start fails for user 1
static snw_status cliff(void *user, const double *x, double *f, double *df) {
    const int *mode = user;
    if (*mode == 1) return SNW_E_MODEL;
    if (*mode == 2 && x[0] != 0) return SNW_E_STOPPED;
    if (x[0] > 2) return SNW_E_DIVERGED;
    f[0] = (x[0] - 1.5) * (x[0] - 1.5);
    if (df) df[0] = 2 * (x[0] - 1.5);
    return SNW_OK;
}

static void failures_shorten_steps_or_are_returned(void **state) {
    (void)state;
    if (!snw_program_available()) skip();
    const double none = -INFINITY, all = INFINITY;
    for (int mode = 0; mode < 3; mode++) {
        const snw_program p = {
            .n = 1, .low = &none, .high = &all, .user = &mode, .evaluate = cliff};
        const snw_program_opts opts = snw_program_defaults();
        double x = 0;
        snw_program_info info;
        snw_error err = {0};
        const snw_status s = snw_program_solve(&p, &opts, &x, &info, &err);
        assert_int_equal(s, mode == 0 ? SNW_OK : mode == 1 ? SNW_E_MODEL : SNW_E_STOPPED);
        if (mode == 0) assert_near(x, 1.5, 1e-6);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_problem_is_solved),
        cmocka_unit_test(equalities_need_their_method),
        cmocka_unit_test(failures_shorten_steps_or_are_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
