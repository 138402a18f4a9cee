// SPDX-License-Identifier: MIT
//
// Integrators: order, exact end times, jumps, and failures with a message.
#include "solve/ode.h"
#include "solve/rk87.h"

#include "near.h"

#include <stdio.h>
#include <string.h>

typedef struct trouble {
    double nan_after, fail_after; // time after which it fails; INFINITY: never
    snw_status with;
    double latest; // latest time at which the right-hand side was evaluated
    double jump;   // time at which the force changes
    long calls;
} trouble;

static trouble none(void) {
    return (trouble){.nan_after = INFINITY, .fail_after = INFINITY, .jump = INFINITY};
}

// x'' = -x or, after the jump, x'' = -x + 1; with a quadrature of x: y = (x, v, integral of x)
static snw_status oscillator(void *user, double t, const double *y, double *dy, snw_error *err) {
    trouble *u = user;
    u->calls++;
    u->latest = fmax(u->latest, t);
    if (t > u->fail_after) {
        if (err) snprintf(err->text, sizeof err->text, "it broke at t = %g s", t);
        return u->with;
    }
    dy[0] = y[1];
    dy[1] = -y[0] + (t >= u->jump ? 1 : 0);
    dy[2] = y[0];
    if (t > u->nan_after) dy[1] = NAN;
    return SNW_OK;
}

// van der Pol: x'' = mu ((1 - x^2) x') - x, stiff for large mu
static snw_status van_der_pol(void *user, double t, const double *y, double *dy, snw_error *err) {
    (void)t, (void)err;
    const double mu = *(const double *)user;
    dy[0] = y[1];
    dy[1] = mu * (1 - y[0] * y[0]) * y[1] - y[0];
    return SNW_OK;
}

static snw_ode *make(int n, snw_rate_fn *rate, void *user, snw_ode_kind kind, double tol,
                     double step) {
    snw_ode_opts o = snw_ode_defaults();
    o.kind = kind, o.rtol = tol, o.step = step;
    snw_ode *out = NULL;
    snw_error err = {0};
    if (snw_ode_create(n, rate, user, &o, &out, &err) != SNW_OK) fail_msg("%s", err.text);
    return out;
}

static void go(snw_ode *o, double t, double limit) {
    snw_error err = {0};
    if (snw_ode_advance(o, t, limit, &err) != SNW_OK) fail_msg("%s", err.text);
}

static double oscillator_error(const snw_ode *o) {
    const double t = snw_ode_time(o), *y = snw_ode_y(o);
    return fmax(fabs(y[0] - cos(t)), fmax(fabs(y[1] + sin(t)), fabs(y[2] - sin(t))));
}

static const double at_rest[3] = {1, 0, 0};

// weights of all orders integrate powers, and rows sum to the abscissae
static void the_pair_of_orders_8_and_7_satisfies_its_conditions(void **state) {
    (void)state;
    enum { S = SNW_RK87_STAGES };
    for (int i = 0; i < S; i++) {
        double sum = 0;
        for (int j = 0; j < i; j++) sum += snw_rk87_A[i][j];
        assert_near(sum, snw_rk87_c[i], 1e-14);
    }
    for (int k = 0; k < 8; k++) {
        double b = 0, d = 0, bAc = 0;
        for (int i = 0; i < S; i++) {
            b += snw_rk87_b[i] * pow(snw_rk87_c[i], k);
            d += snw_rk87_d[i] * pow(snw_rk87_c[i], k);
            for (int j = 0; j < i; j++)
                bAc += snw_rk87_b[i] * snw_rk87_A[i][j] * pow(snw_rk87_c[j], k);
        }
        assert_near(b, 1.0 / (k + 1), 1e-14);
        if (k < 7) {
            assert_near(d, 1.0 / (k + 1), 1e-14);
            assert_near(bAc, 1.0 / (k + 1) / (k + 2), 1e-14);
        }
    }
}

// error with equal steps of one advance each, so that no step is adapted
static double error_of_steps(snw_ode_kind kind, int n) {
    trouble u = none();
    snw_ode *o = make(3, oscillator, &u, kind, 0.9, 1);
    snw_ode_start(o, 0, at_rest, 4.0 / n);
    for (int i = 1; i <= n; i++) go(o, 4.0 * i / n, INFINITY);
    assert_int_equal(snw_ode_statistics(o).steps, n);
    const double e = oscillator_error(o);
    snw_ode_destroy(o);
    return e;
}

static void orders_are_those_claimed(void **state) {
    (void)state;
    const struct {
        snw_ode_kind kind;
        int order, n;
    } c[] = {{SNW_ODE_RK4, 4, 64}, {SNW_ODE_RK54, 5, 32}, {SNW_ODE_RK87, 8, 10}};
    for (int i = 0; i < 3; i++) {
        const double a = error_of_steps(c[i].kind, c[i].n),
                     b = error_of_steps(c[i].kind, 2 * c[i].n);
        const double slope = log2(a / b);
        // a quadrature may have a higher order, a symmetric end a slightly lower one
        if (!(slope > c[i].order - 0.2 && slope < c[i].order + 1.2)) {
            fail_msg("kind %d: errors %.3g, %.3g, slope %.3f", (int)c[i].kind, a, b, slope);
        }
    }
}

// also within one advance, where the last stage of a step is the first of the next
static void steps_of_one_advance_have_the_order(void **state) {
    (void)state;
    const struct {
        snw_ode_kind kind;
        int order, n;
    } c[] = {{SNW_ODE_RK54, 5, 32}, {SNW_ODE_RK87, 8, 10}};
    for (int i = 0; i < 2; i++) {
        double e[2];
        for (int j = 0; j < 2; j++) {
            trouble u = none();
            const double h = 4.0 / (c[i].n << j);
            snw_ode *o = make(3, oscillator, &u, c[i].kind, 0.9, h);
            snw_ode_start(o, 0, at_rest, h);
            go(o, 4, INFINITY);
            e[j] = oscillator_error(o);
            snw_ode_destroy(o);
        }
        const double slope = log2(e[0] / e[1]);
        if (!(slope > c[i].order - 0.2 && slope < c[i].order + 1.2)) {
            fail_msg("kind %d: errors %.3g, %.3g, slope %.3f", (int)c[i].kind, e[0], e[1], slope);
        }
    }
}

// global error follows the tolerance
static void error_follows_the_tolerance(void **state) {
    (void)state;
    const snw_ode_kind kinds[] = {SNW_ODE_RK54, SNW_ODE_RK87, SNW_ODE_BDF};
    for (int k = 0; k < 3; k++) {
        const double factor =
            kinds[k] == SNW_ODE_BDF ? 1000 : 20; // over 100 s, undamped: BDF damps
        for (double tol = 1e-4; tol > 1e-12; tol *= 1e-3) {
            trouble u = none();
            snw_ode *o = make(3, oscillator, &u, kinds[k], tol, 0);
            snw_ode_start(o, 0, at_rest, 0);
            for (int i = 1; i <= 10; i++) go(o, 10 * i, INFINITY);
            const double e = oscillator_error(o);
            if (!(e < factor * 10 * tol))
                fail_msg("kind %d, tolerance %g: error %.3g", (int)kinds[k], tol, e);
            assert_int_equal(snw_ode_statistics(o).rates, u.calls);
            snw_ode_destroy(o);
        }
    }
}

static void an_advance_ends_exactly_and_asks_nothing_beyond_the_limit(void **state) {
    (void)state;
    for (int kind = SNW_ODE_RK4; kind <= SNW_ODE_BDF; kind++) {
        trouble u = none();
        snw_ode *o =
            make(3, oscillator, &u, (snw_ode_kind)kind, 1e-8, kind == SNW_ODE_RK4 ? 0.01 : 0);
        snw_ode_start(o, 0, at_rest, 0);
        const double ends[] = {0.1, 0.1 + 1e-13, 0.3, 1, 1.0000001, 3.3, 3.3, 7};
        for (int i = 0; i < 8; i++) {
            go(o, ends[i], 7);
            assert_true(snw_ode_time(o) == ends[i]);
            assert_true(u.latest <= 7);
            if (kind != SNW_ODE_BDF) assert_true(u.latest <= ends[i]);
            assert_true(oscillator_error(o) < 1e-6);
        }
        snw_ode_destroy(o);
    }
}

// x'' = -x, then -x + 1 from t = 1: after a restart at the jump the error stays at the tolerance
static void a_jump_is_passed_by_starting_anew(void **state) {
    (void)state;
    for (int kind = SNW_ODE_RK4; kind <= SNW_ODE_BDF; kind++) {
        trouble u = none();
        snw_ode *o =
            make(3, oscillator, &u, (snw_ode_kind)kind, 1e-9, kind == SNW_ODE_RK4 ? 0.01 : 0);
        snw_ode_start(o, 0, at_rest, 0);
        go(o, 0.7, 1);
        go(o, 1, 1);
        u.jump = 1;
        double y[3];
        memcpy(y, snw_ode_y(o), sizeof y);
        snw_ode_start(o, 1, y, 0);
        go(o, 2, INFINITY);
        // x = 1 + (cos 1 - 1) cos s - sin 1 sin s, s = t - 1
        assert_near(snw_ode_y(o)[0], 1 + (cos(1) - 1) * cos(1) - sin(1) * sin(1), 1e-7);
        snw_ode_destroy(o);
    }
}

// the state of a Runge-Kutta method is (t, y, h)
static void a_run_taken_up_from_its_numbers_is_the_same_to_the_last_bit(void **state) {
    (void)state;
    for (int kind = SNW_ODE_RK4; kind <= SNW_ODE_RK87; kind++) {
        trouble u = none();
        snw_ode *a =
            make(3, oscillator, &u, (snw_ode_kind)kind, 1e-8, kind == SNW_ODE_RK4 ? 0.01 : 0);
        snw_ode *b =
            make(3, oscillator, &u, (snw_ode_kind)kind, 1e-8, kind == SNW_ODE_RK4 ? 0.01 : 0);
        snw_ode_start(a, 0, at_rest, 0);
        for (int i = 1; i <= 5; i++) go(a, 0.77 * i, INFINITY);
        snw_ode_start(b, snw_ode_time(a), snw_ode_y(a), snw_ode_step(a));
        for (int i = 6; i <= 20; i++) {
            go(a, 0.77 * i, INFINITY);
            go(b, 0.77 * i, INFINITY);
            assert_memory_equal(snw_ode_y(a), snw_ode_y(b), 3 * sizeof(double));
        }
        snw_ode_destroy(a);
        snw_ode_destroy(b);
    }
}

// end times close together do not shorten the later steps
static void many_ends_cost_little(void **state) {
    (void)state;
    for (int kind = SNW_ODE_RK54; kind <= SNW_ODE_BDF; kind++) {
        long steps[2];
        for (int j = 0; j < 2; j++) {
            trouble u = none();
            snw_ode *o = make(3, oscillator, &u, (snw_ode_kind)kind, 1e-7, 0);
            snw_ode_start(o, 0, at_rest, 0);
            // the second time each end time is followed by another 1e-9 s later
            for (int i = 1; i <= 20; i++) {
                go(o, 2 * i, INFINITY);
                if (j) go(o, 2 * i + 1e-9, INFINITY);
            }
            steps[j] = snw_ode_statistics(o).steps;
            snw_ode_destroy(o);
        }
        if (!(steps[1] <= steps[0] + 45)) {
            fail_msg("kind %d: %ld and %ld steps", kind, steps[0], steps[1]);
        }
    }
}

static void refuse(int kind, trouble u, snw_status want, const char *text) {
    snw_ode *o = make(3, oscillator, &u, (snw_ode_kind)kind, 1e-6, kind == SNW_ODE_RK4 ? 0.01 : 0);
    snw_error err = {0};
    snw_ode_start(o, 0, at_rest, 0);
    go(o, 1, INFINITY);
    double y[3];
    memcpy(y, snw_ode_y(o), sizeof y);
    const snw_status got = snw_ode_advance(o, 5, INFINITY, &err);
    if (got != want || err.status != want || !strstr(err.text, text)) {
        fail_msg("kind %d: status %d, '%s', wanted %d, '%s'", kind, (int)got, err.text, (int)want,
                 text);
    }
    // the state is unchanged, and the integration can continue where the right-hand side has a
    // value
    assert_true(snw_ode_time(o) == 1);
    assert_memory_equal(snw_ode_y(o), y, sizeof y);
    go(o, 1.5, 1.5);
    assert_true(oscillator_error(o) < 1e-4);
    snw_ode_destroy(o);
}

static void trouble_is_reported_with_its_time(void **state) {
    (void)state;
    for (int kind = SNW_ODE_RK4; kind <= SNW_ODE_BDF; kind++) {
        trouble u = none();
        u.nan_after = 2;
        refuse(kind, u, SNW_E_DIVERGED, "component 2 is nan at t = 2");
        u = none();
        u.fail_after = 2, u.with = SNW_E_SINGULAR;
        refuse(kind, u, SNW_E_SINGULAR, "it broke at t = 2");
        u.with = SNW_E_STOPPED;
        refuse(kind, u, SNW_E_STOPPED, "it broke");
    }
}

// y' = y^2 from 1 has no solution beyond t = 1
static snw_status diverge(void *user, double t, const double *y, double *dy, snw_error *err) {
    (void)user, (void)t, (void)err;
    dy[0] = y[0] * y[0];
    return SNW_OK;
}

static void a_solution_that_ends_is_an_error(void **state) {
    (void)state;
    for (int kind = SNW_ODE_RK4; kind <= SNW_ODE_BDF; kind++) {
        snw_ode_opts opts = snw_ode_defaults();
        opts.kind = (snw_ode_kind)kind, opts.step = kind == SNW_ODE_RK4 ? 1e-3 : 0;
        opts.max_steps = 100000;
        snw_ode *o = NULL;
        snw_error err = {0};
        assert_int_equal(snw_ode_create(1, diverge, NULL, &opts, &o, &err), SNW_OK);
        const double one = 1;
        snw_ode_start(o, 0, &one, 0);
        assert_int_equal(snw_ode_advance(o, 2, INFINITY, &err), SNW_E_DIVERGED);
        assert_true(strlen(err.text) > 20);
        assert_true(snw_ode_y(o)[0] == 1);
        snw_ode_destroy(o);
    }
}

static void a_trial_step_too_long_is_shortened(void **state) {
    (void)state;
    // the first step tried reaches the NaN; shorter ones end before it
    for (int kind = SNW_ODE_RK54; kind <= SNW_ODE_BDF; kind++) {
        trouble u = none();
        u.nan_after = 1;
        snw_ode *o = make(3, oscillator, &u, (snw_ode_kind)kind, 1e-3, 0);
        snw_ode_start(o, 0, at_rest, 0.9);
        go(o, 1, 1);
        assert_true(oscillator_error(o) < 0.1);
        snw_ode_destroy(o);
    }
}

static void impossible_options_are_refused(void **state) {
    (void)state;
    const double bad[] = {0, -1, 1, 1e-17, NAN};
    for (int i = 0; i < 5; i++) {
        snw_ode_opts opts = snw_ode_defaults();
        opts.rtol = bad[i];
        snw_ode *o = NULL;
        snw_error err = {0};
        assert_int_equal(snw_ode_create(1, diverge, NULL, &opts, &o, &err), SNW_E_ARGUMENT);
        assert_non_null(strstr(err.text, "tolerance"));
        assert_null(o);
    }
    snw_ode_opts opts = snw_ode_defaults();
    const double atol[2] = {1e-6, 0};
    opts.atol = atol;
    snw_ode *o = NULL;
    snw_error err = {0};
    assert_int_equal(snw_ode_create(2, van_der_pol, NULL, &opts, &o, &err), SNW_E_ARGUMENT);
    opts = snw_ode_defaults();
    opts.kind = SNW_ODE_RK4;
    assert_int_equal(snw_ode_create(1, diverge, NULL, &opts, &o, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "step"));
    opts.step = 1e-9, opts.max_steps = 1000;
    assert_int_equal(snw_ode_create(1, diverge, NULL, &opts, &o, &err), SNW_OK);
    assert_int_equal(snw_ode_advance(o, 1, INFINITY, &err), SNW_E_DIVERGED);
    assert_non_null(strstr(err.text, "1000 steps"));
    snw_ode_destroy(o);
    snw_ode_destroy(NULL);
}

// mu = 1000: Hairer and Wanner's VDPOL in unscaled time, x(2000) = 1.706167732, and few steps
static void stiff_equations_take_few_steps_by_bdf(void **state) {
    (void)state;
    double mu = 1000;
    const double y0[2] = {2, 0};
    snw_ode *o = make(2, van_der_pol, &mu, SNW_ODE_BDF, 1e-9, 0);
    snw_ode_start(o, 0, y0, 0);
    go(o, 2000, INFINITY);
    assert_near(snw_ode_y(o)[0], 1.7061677321, 1e-6);
    assert_true(snw_ode_statistics(o).steps < 5000);
    snw_ode_destroy(o);
    // not stiff: all agree
    mu = 2;
    double x[3];
    for (int i = 0; i < 3; i++) {
        o = make(2, van_der_pol, &mu, (snw_ode_kind)(SNW_ODE_RK54 + i), 1e-10, 0);
        snw_ode_start(o, 0, y0, 0);
        go(o, 10, INFINITY);
        x[i] = snw_ode_y(o)[0];
        snw_ode_destroy(o);
    }
    assert_near(x[0], x[1], 1e-8);
    assert_near(x[2], x[1], 1e-7);
}

typedef struct visits {
    int n, most;
    double t, x; // of the last one
} visits;

static bool visit(void *user, double t, const double *y) {
    visits *v = user;
    assert_true(t > v->t);
    v->t = t, v->x = y[0];
    return ++v->n == v->most;
}

// A monitor sees the solution at the end of each step within an advance, changes nothing, and may
// end the advance.
static void a_monitor_sees_the_steps_of_an_advance(void **state) {
    (void)state;
    static const snw_ode_kind kinds[] = {SNW_ODE_RK4, SNW_ODE_RK54, SNW_ODE_RK87, SNW_ODE_BDF};
    const double y0[3] = {1, 0, 0};
    for (int i = 0; i < 4; i++) {
        trouble u = none();
        visits seen = {.most = -1}, few = {.most = 3};
        snw_ode *o = make(3, oscillator, &u, kinds[i], 1e-9, i == 0 ? 0.01 : 0);
        snw_ode_start(o, 0, y0, 0);
        go(o, 5, INFINITY);
        const double x = snw_ode_y(o)[0];
        const long steps = snw_ode_statistics(o).steps;
        snw_ode_set_monitor(o, visit, &seen);
        snw_ode_start(o, 0, y0, 0);
        go(o, 5, INFINITY);
        assert_near(snw_ode_y(o)[0], x, 0);
        assert_int_equal(seen.n, steps - 1);
        assert_near(seen.x, cos(seen.t), 1e-7);
        snw_ode_set_monitor(o, visit, &few);
        snw_ode_start(o, 0, y0, 0);
        go(o, 5, INFINITY);
        assert_int_equal(few.n, 3);
        snw_ode_destroy(o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pair_of_orders_8_and_7_satisfies_its_conditions),
        cmocka_unit_test(orders_are_those_claimed),
        cmocka_unit_test(steps_of_one_advance_have_the_order),
        cmocka_unit_test(error_follows_the_tolerance),
        cmocka_unit_test(an_advance_ends_exactly_and_asks_nothing_beyond_the_limit),
        cmocka_unit_test(a_jump_is_passed_by_starting_anew),
        cmocka_unit_test(a_run_taken_up_from_its_numbers_is_the_same_to_the_last_bit),
        cmocka_unit_test(many_ends_cost_little),
        cmocka_unit_test(trouble_is_reported_with_its_time),
        cmocka_unit_test(a_solution_that_ends_is_an_error),
        cmocka_unit_test(a_trial_step_too_long_is_shortened),
        cmocka_unit_test(impossible_options_are_refused),
        cmocka_unit_test(stiff_equations_take_few_steps_by_bdf),
        cmocka_unit_test(a_monitor_sees_the_steps_of_an_advance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
