// SPDX-License-Identifier: MIT
//
// The damped march with loops (theory.md 5.2a): the rod of B4.11 led by its tip, against an
// independent program; loops that are open close at their rate; the end is Newton's equilibrium.
#include "led_rod.h"

#include "executed.h"
#include "solve/kernel.h"

// ---- kernel
// --------------------------------------------------------------------------------------

static double pseudo(int i) { return sin(1.7 * i + 0.3 * i * i); }

// The projection on the kernel is the solution of the bordered equations; a row that depends on the
// others is found and changes nothing.
static void the_kernel_solves_the_bordered_equations(void **state) {
    (void)state;
    enum { N = 6, C = 3 };
    static unsigned char block[1 << 16];
    snw_arena arena = {.base = block, .size = sizeof block};
    for (int redundant = 0; redundant < 2; redundant++) {
        arena.used = 0;
        snw_kernel k = snw_kernel_take(N, C + redundant, &arena);
        double A[N * N], Ct[N * (C + 1)], f[N], b[C + 1], x[N], lambda[C + 1];
        for (int i = 0; i < N * N; i++) A[i] = pseudo(i + 1) + (i % (N + 1) == 0 ? 3 : 0);
        for (int i = 0; i < N * C; i++) Ct[i] = pseudo(i + 50);
        for (int i = 0; i < N; i++) Ct[N * C + i] = 2 * Ct[i] - Ct[N + i];
        for (int i = 0; i < C; i++) b[i] = pseudo(i + 90);
        b[C] = 2 * b[0] - b[1];
        for (int i = 0; i < N; i++) f[i] = pseudo(i + 70);
        memcpy(k.A, A, sizeof A);
        memcpy(k.Ct, Ct, sizeof *Ct * (size_t)(N * (C + redundant)));
        snw_kernel_factor(&k, 1e-10, &arena);
        assert_int_equal(k.rank, C);
        double g[N];
        memcpy(g, f, sizeof g);
        assert_int_equal(snw_kernel_solve(&k, g, b, &arena, x, lambda), SNW_OK);
        assert_true(k.mismatch < 1e-14);
        for (int i = 0; i < N; i++) {
            double sum = -f[i];
            for (int j = 0; j < N; j++) sum += A[j * N + i] * x[j];
            for (int j = 0; j < C + redundant; j++) sum -= Ct[j * N + i] * lambda[j];
            assert_near(sum, 0, 1e-13);
        }
        for (int j = 0; j < C + redundant; j++) {
            double sum = -b[j];
            for (int i = 0; i < N; i++) sum += Ct[j * N + i] * x[i];
            assert_near(sum, 0, 1e-13);
        }
        if (!redundant) continue;
        b[C] += 1; // a contradiction
        memcpy(k.A, A, sizeof A);
        memcpy(k.Ct, Ct, sizeof Ct);
        memcpy(g, f, sizeof g);
        snw_kernel_factor(&k, 1e-10, &arena);
        assert_int_equal(snw_kernel_solve(&k, g, b, &arena, x, lambda), SNW_OK);
        assert_true(k.mismatch > 0.1);
    }
}

// ---- the flow of B4.11
// -----------------------------------------------------------------------------

static snw_statics_opts flow_of(double dt) {
    snw_statics_opts opts = snw_statics_defaults();
    opts.march_flow = true;
    opts.march_step = dt;
    opts.march_gain = 2;
    return opts;
}

// The rule is of order one; two extrapolations remove the errors of first and second order.
static void the_flow_is_that_of_an_independent_program(void **state) {
    (void)state;
    static const double at[3] = {0.25, 0.5, 1.5};
    static const double want[3][9] = {{0.0750000, 0.06714976, -0.18741141, -0.00412893, -0.04913349,
                                       0.00014389, -0.0312343, -6.7995263, 1.1571850},
                                      {0.1500000, 0.11703201, -0.30091062, -0.01614023, -0.09685351,
                                       0.00036341, -0.0416047, -11.4417951, 1.8402575},
                                      {0.3000000, 0.15412418, -0.80627299, -0.04602032, -0.18612871,
                                       0.00112394, -0.3092115, -18.3248791, 3.9904966}};
    double got[3][3][9];
    for (int k = 0; k < 3; k++) {
        const snw_statics_opts opts = flow_of(0.0025 / (1 << k));
        led_rod l;
        led_rod_open(&l, LED_ROD);
        for (int i = 0; i < 3; i++) {
            // the goal has a corner at t = 1, which must end a step
            if (i == 2) (void)led_rod_solve(&l, 1, &opts);
            (void)led_rod_solve(&l, at[i], &opts);
            led_rod_numbers(&l, got[k][i]);
        }
        led_rod_close(&l);
    }
    double first = 0, last = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 9; j++) {
            const double a = 2 * got[1][i][j] - got[0][i][j], b = 2 * got[2][i][j] - got[1][i][j];
            const double scale = j < 6 ? 1 : 20;
            assert_near((4 * b - a) / 3, want[i][j], 2e-6 * scale);
            first = fmax(first, fabs(got[0][i][j] - want[i][j]) / scale);
            last = fmax(last, fabs(got[2][i][j] - want[i][j]) / scale);
        }
    }
    print_message("errors %.1e, %.1e with a quarter of the step\n", first, last);
    assert_near(first / last, 4, 0.4); // first order
}

static const double steady[9] = {0.3,           0.1541240992,   -0.8098928859,
                                 -0.0460195365, -0.1861024997,  0.0011230773,
                                 -0.3101359798, -18.3246410581, 3.9904688340};

// The flow, the march in pseudo-time with and without a rate, and Newton's method end at the same
// equilibrium.
static void all_marches_end_at_the_equilibrium(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        snw_statics_opts opts = flow_of(0.05);
        if (k > 0) opts.march_flow = false;
        if (k == 1 || k == 2) opts.march = 25;
        if (k == 2) opts.march_gain = 0;
        led_rod l;
        led_rod_open(&l, LED_ROD);
        const snw_statics_info info = led_rod_solve(&l, 25, &opts);
        assert_int_equal(info.dependent, 0);
        double x[9];
        led_rod_numbers(&l, x);
        for (int i = 0; i < 9; i++) assert_near(x[i], steady[i], 2e-9 * (i < 6 ? 1 : 20));
        const snw_work *w = snw_statics_work_at(l.st, l.c.s);
        assert_near(snw_stored_energy(l.c.m, l.c.s, w), 1.8464310, 5e-8);
        led_rod_close(&l);
    }
}

// Boyer's third test on the paper's functions: twisted by a turn, pushed to x1 = 14 m, then held.
// The flow comes to rest at the equilibrium of Newton's method.
static void the_march_of_the_paper_ends_where_newton_does(void **state) {
    (void)state;
    led_rod l;
    led_rod_open(
        &l, "sinew: 1\ngravity: 0\n"
            "parameters: {turn: '2*pi*min(t/(18 s), 1)', x1: '20 m - 2 m/s*max(t - 18 s, 0 s)'}\n"
            "materials: {steel: {young: 210 GPa, poisson: 0.3, density: 0, damping: 100 ms}}\n"
            "robot: {rod: {on: world, rod: {length: 20, section: {circle: {radius: 17.6 mm}}, "
            "material: steel, nodes: 24, strain: {twist: chebyshev 3, bend_y: chebyshev 5, bend_z: "
            "chebyshev 5, stretch: chebyshev 2}}}}\n"
            "loops: {clamp: {join: [world, rod.tip], as: fixed, pose: {xyz: [x1, 0, 0], axis: x, "
            "angle: turn}}}\n"
            "loads: {weight: {along: rod, force: [0, 0, 9.81 N/m], frame: world}}\n");
    snw_statics_opts opts = flow_of(0.1);
    (void)led_rod_solve(&l, 18, &opts);
    (void)led_rod_solve(&l, 21, &opts);
    opts = snw_statics_defaults();
    opts.march = 150, opts.march_step = 0.5;
    (void)led_rod_solve(&l, 21, &opts);
    double q[15];
    memcpy(q, l.c.s->q, sizeof q);
    opts.march = 0;
    (void)led_rod_solve(&l, 21, &opts);
    for (int i = 0; i < 15; i++) assert_near(q[i], l.c.s->q[i], 1e-8);
    // B4.3, effect of the basis: Newton's method of a separate program on the same functions
    static const double want[6] = {2776.24, -2490.61, -4664.20, -802.31, 666.31, -98.10};
    const snw_work *w = snw_statics_work_at(l.st, l.c.s);
    const snw_wrench F = snw_loop_wrench(l.c.m, w, 0, l.c.s->lambda);
    for (int i = 0; i < 6; i++) assert_near(F.e[i], want[i], 0.01);
    led_rod_close(&l);
}

// An open loop closes along its screw, Psi = log of SE(3), by exp(-k_p t); the rule is exact for it
// up to the nonlinearity in a step.
static void an_open_loop_closes_along_its_screw(void **state) {
    (void)state;
    led_rod l;
    led_rod_open(&l, LED_ROD);
    snw_statics_opts opts = flow_of(1e-3);
    opts.march_flow = false;
    l.c.s->t = 2;
    snw_twist psi[3];
    for (int k = 0; k < 3; k++) {
        const snw_work *w = snw_statics_work_at_time(l.st, l.c.s, 2);
        const snw_loop *loop = &l.c.m->loop[0];
        psi[k] = snw_se3_log(snw_se3_mul(snw_se3_inv(w->g[loop->a]), w->g[loop->b]));
        opts.march = 0.5;
        (void)led_rod_solve(&l, 2, &opts);
    }
    for (int k = 1; k < 3; k++) {
        for (int i = 0; i < 6; i++) {
            assert_near(psi[k].e[i], exp(-2 * 0.5 * k) * psi[0].e[i], 1e-4); // order one
        }
    }
    led_rod_close(&l);
}

static void faults_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"sinew: 1\ngravity: 0\nrobot: {rod: {on: world, rod: {length: 1, section: {stiffness: "
         "{bend_z: 1, stretch: 100}, damping: {stretch: 10}}, strain: {bend_z: legendre 4, "
         "stretch: "
         "legendre 2}}}}\n"
         "loops: {clamp: {join: [world, rod.tip], as: fixed, pose: {xyz: [0.9, 0, 0]}}}\n"
         "study: [static: {march: 1 s}]\n",
         "march needs damping of every motion that the loops allow"},
        {LED_ROD "study: [static: {march: {flow: on}}]\n", "follows t: give 'for' and 'step'"},
        {LED_ROD "study: [static: {march: {step: 1 ms}}]\n", "needs 'for'"},
        {LED_ROD "study: [static: {march: {for: 1 s, gain: 0}}]\n", "'gain' must be positive"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fails_with(rows[i].text, rows[i].why);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_solves_the_bordered_equations),
        cmocka_unit_test(the_flow_is_that_of_an_independent_program),
        cmocka_unit_test(all_marches_end_at_the_equilibrium),
        cmocka_unit_test(the_march_of_the_paper_ends_where_newton_does),
        cmocka_unit_test(an_open_loop_closes_along_its_screw),
        cmocka_unit_test(faults_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
