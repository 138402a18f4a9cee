// SPDX-License-Identifier: MIT
//
// Step control, with a stepper that only counts: every loop is bounded, and every loop can be
// interrupted.
#include "integrate/step_control.h"
#include "random_rod.h"

#include "near.h"

#include <string.h>

// x'' = 1 of one coordinate: the error of a step is (rate h)^3; steps longer than `fails` fail
typedef struct counter {
    snw_state *now;
    double rate, fails;
    double before, last; // start and length of the last step
    long steps;
    int stop_after; // attempts after which it is stopped; 0: never
} counter;

static snw_status step(void *self, double h, double t_laws, snw_chord_info *info) {
    (void)t_laws;
    counter *c = self;
    c->steps++;
    *info = (snw_chord_info){.iterations = 5, .residual = 1};
    if (!(h > 0) || h > c->fails) return SNW_E_DIVERGED;
    c->before = c->now->t;
    c->last = h;
    c->now->t += h;
    return SNW_OK;
}

static void back(void *self) { ((counter *)self)->now->t = ((counter *)self)->before; }
static double error(const void *self) {
    const counter *c = self;
    return pow(c->rate * c->last, 3);
}
static const snw_state *state(const void *self) { return ((const counter *)self)->now; }
static snw_status check(void *self, double t, snw_error *err) {
    (void)self, (void)t, (void)err;
    return SNW_OK;
}
static bool stop(void *self) {
    const counter *c = self;
    return c->stop_after > 0 && c->steps >= c->stop_after;
}

static const snw_stepper stepper = {
    .step = step, .undo = back, .error = error, .state = state, .check = check, .advice = "this"};

typedef struct setting {
    robot r;
    snw_model *m;
    counter c;
} setting;

static void set_up(setting *s) {
    snw_error err = {0};
    robot_init(&s->r, 0.5, 0.02);
    robot_strain(&s->r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, 1);
    assert_int_equal(snw_model_compile(&s->r.desc, &s->m, &err), SNW_OK);
    s->c = (counter){.rate = 1, .fails = INFINITY};
    assert_int_equal(snw_state_create(s->m, &s->c.now), SNW_OK);
}

static void tear_down(setting *s) {
    snw_state_destroy(s->c.now);
    snw_model_destroy(s->m);
    snw_pool_destroy(s->r.pool);
}

static snw_status advance(setting *s, snw_step_control *p, double to, snw_error *err) {
    snw_stats took = {0};
    p->interrupt = (snw_interrupt){.stop = stop, .user = &s->c};
    *err = (snw_error){0};
    return snw_step_control_advance(p, s->m, &stepper, &s->c, to, INFINITY, &took, err);
}

// the first step is short compared with the time scales of the state, and no later one misses the
// tolerance
static void a_first_step_is_chosen_where_none_is_given(void **state_) {
    (void)state_;
    static const double accelerations[] = {0, 1, 1e4, 1e12};
    for (int k = 0; k < 4; k++) {
        setting s;
        snw_error err;
        set_up(&s);
        s.c.now->a[0] = accelerations[k] * s.m->typical[0];
        snw_step_control p = {.control = true, .tolerance = 1e-6, .power = 3, .longest = INFINITY};
        s.c.rate = sqrt(accelerations[k]);
        assert_int_equal(advance(&s, &p, fmin(1, 100 / s.c.rate), &err), SNW_OK);
        assert_true(error(&s.c) <= 1e-6);
        assert_true(s.c.steps < 20000);
        tear_down(&s);
    }
}

// as documented in the language: without a limit a step may extend to the next instant
static void a_robot_at_rest_takes_the_whole_way_at_once(void **state_) {
    (void)state_;
    setting s;
    snw_error err;
    set_up(&s);
    s.c.rate = 0;
    snw_step_control p = {.control = true, .tolerance = 1e-6, .power = 3, .longest = INFINITY};
    assert_int_equal(advance(&s, &p, 1, &err), SNW_OK);
    assert_int_equal(s.c.steps, 1);
    tear_down(&s);
}

static void a_missed_tolerance_is_reported(void **state_) {
    (void)state_;
    setting s;
    snw_error err;
    set_up(&s);
    s.c.rate = 1e30; // a jump
    snw_step_control p = {.control = true, .tolerance = 1e-6, .power = 3, .longest = 0.1};
    assert_int_equal(advance(&s, &p, 1, &err), SNW_E_DIVERGED);
    assert_non_null(strstr(err.text, "misses the tolerance 1e-06"));
    assert_true(s.c.now->t == 0);
    tear_down(&s);
}

static void endless_halving_of_steps_ends(void **state_) {
    (void)state_;
    setting s;
    snw_error err;
    set_up(&s);
    s.c.fails = 3e-6; // of an interval of 1 s: 300000 steps, and as many that fail
    snw_step_control p = {.longest = 1, .patience = 1000};
    assert_int_equal(advance(&s, &p, 1, &err), SNW_E_DIVERGED);
    assert_non_null(strstr(err.text, "too many steps"));
    assert_true(s.c.steps <= 1000 / 5 + 1);
    s.c.now->t = 0, s.c.steps = 0, s.c.fails = 1e-6;
    p.patience = 0;
    assert_int_equal(advance(&s, &p, 1, &err), SNW_E_DIVERGED);
    assert_non_null(strstr(err.text, "too many steps"));
    tear_down(&s);
}

static void an_interrupt_is_heeded_between_steps(void **state_) {
    (void)state_;
    for (int control = 0; control < 2; control++) {
        setting s;
        snw_error err;
        set_up(&s);
        s.c.fails = 1e-6;
        s.c.rate = 1e4;
        s.c.stop_after = 30;
        snw_step_control p = {.control = control, .tolerance = 1e-6, .power = 3, .longest = 1};
        assert_int_equal(advance(&s, &p, 1, &err), SNW_E_STOPPED);
        assert_int_equal(s.c.steps, 30);
        tear_down(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_step_is_chosen_where_none_is_given),
        cmocka_unit_test(a_robot_at_rest_takes_the_whole_way_at_once),
        cmocka_unit_test(a_missed_tolerance_is_reported),
        cmocka_unit_test(endless_halving_of_steps_ends),
        cmocka_unit_test(an_interrupt_is_heeded_between_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
