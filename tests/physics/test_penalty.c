// SPDX-License-Identifier: MIT
//
// Loops closed by an augmented Lagrangian (theory.md 5.2d), against an independent program: the
// violations after each update, the condition of the Newton matrix, contraction and the stiffness
// that is needed; compared with exact loops.
#include "led_rod.h"

#include "executed.h"

static snw_statics_opts penalty_of(double rho, int updates) {
    snw_statics_opts opts = snw_statics_defaults();
    opts.penalty = rho;
    opts.penalty_length = 0.1; // W = diag(1, 1, 0.01)
    opts.penalty_updates = updates;
    return opts;
}

// The rod at its final goal, by exact loops; its multipliers are forgotten.
static void exact_start(led_rod *l) {
    const snw_statics_opts exact = snw_statics_defaults();
    led_rod_open(l, LED_ROD);
    for (int k = 1; k <= 4; k++) (void)led_rod_solve(l, 0.25 * k, &exact);
    memset(l->c.s->lambda, 0, (size_t)l->c.m->nconstraint * sizeof(double));
}

static void violations_are_those_of_an_independent_program(void **state) {
    (void)state;
    static const struct {
        double rho, violation[4], digits, condition;
    } rows[] = {{1e2, {9.440e-2, 4.62e-2, 2.35e-2, 1.28e-2}, 5e-3, 1.6e3},
                {1e3, {1.7114e-2, 1.78e-3, 2.26e-4, 3.24e-5}, 5e-3, 9.1e3},
                {1e4, {1.87972e-3, 2.23e-5, 3.34e-7, 5.61e-9}, 5e-3, 8.4e4},
                {1e6, {1.90067e-5, 2.29e-9, 3.5e-13, 0}, 2e-2, 8.3e6}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (int k = 0; k < 4 && rows[r].violation[k] > 0; k++) {
            led_rod l;
            exact_start(&l);
            const snw_statics_opts opts = penalty_of(rows[r].rho, k);
            const snw_statics_info info = led_rod_solve(&l, 1, &opts);
            print_message("%g, %d: %.4e, condition %.2e, contraction %.4g, needed %.4g\n",
                          rows[r].rho, k, info.penalty.violation, info.condition,
                          info.penalty.contraction, info.penalty.needed);
            assert_int_equal(info.penalty.updates, k);
            assert_near(info.penalty.violation, rows[r].violation[k],
                        rows[r].digits * rows[r].violation[k] + 1e-14);
            if (k == 3 && rows[r].rho > 1e3)
                assert_near(info.condition, rows[r].condition, 0.02 * rows[r].condition);
            led_rod_close(&l);
        }
    }
}

// mu = (-0.0372440, 0.0115484, 0.0055644): the last determines the contraction, the first the
// stiffness below which updates diverge.
static void contraction_and_need_are_told(void **state) {
    (void)state;
    led_rod l;
    exact_start(&l);
    snw_statics_opts opts = penalty_of(1e4, -1);
    const snw_statics_info info = led_rod_solve(&l, 1, &opts);
    assert_near(info.penalty.contraction, 1 / (1 + 1e4 * 0.0055644), 1e-5);
    assert_near(info.penalty.needed, 2 / 0.0372440, 1e-3);
    // closed, and at the solution of exact loops
    double x[9];
    static const double want[9] = {0.3,           0.1541240992,   -0.8098928859,
                                   -0.0460195365, -0.1861024997,  0.0011230773,
                                   -0.3101359798, -18.3246410581, 3.9904688340};
    led_rod_numbers(&l, x);
    for (int i = 0; i < 9; i++) assert_near(x[i], want[i], 1e-9 * (i < 6 ? 1 : 20));
    led_rod_close(&l);
}

static void faults_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } rows[] = {
        {LED_ROD "study: [static: {penalty: 1 N/m, march: 1 s}]\n", "has neither march"},
        {LED_ROD "study: [static: {penalty: {updates: 2}}]\n", "needs its 'stiffness'"},
        {LED_ROD "study: [static: {for: 1 s, step: 0.5 s, penalty: 30 N/m}]\n", "updates diverge"},
        {"sinew: 1\ngravity: 0\nrobot: {rod: {on: world, rod: {length: 1, section: {stiffness: "
         "{bend_z: 1}}, strain: {bend_z: legendre 4}}}}\nstudy: [static: {penalty: 1 N/m}]\n",
         "there are none"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fails_with(rows[i].text, rows[i].why);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(violations_are_those_of_an_independent_program),
        cmocka_unit_test(contraction_and_need_are_told),
        cmocka_unit_test(faults_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
