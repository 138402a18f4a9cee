// SPDX-License-Identifier: MIT
//
// Batches of robots: each robot has the bits it has alone, whatever the number of threads; a robot
// that fails leaves the others alone; a call can be cancelled. Inputs in the array u act as the
// calls that set them. Also built with ThreadSanitizer (preset tsan).
#include "sinew/sinew.h"

#include "sanitized.h"

#include "base/alloc.h"
#include "integrate/packs.h"
#include "near.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char arm[] =
    "sinew: 1\n"
    "parameters: {E: 1 MPa}\n"
    "materials: {rubber: {young: E, poisson: 0.5, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  base: {on: world, joint: revolute, axis: y, body: {mass: 0.1, box: [5 cm, 5 cm, 5 cm]}}\n"
    "  arm: {on: base, rod: {length: 0.3 m, section: {circle: {radius: 10 mm}}, material: rubber,\n"
    "        strain: kirchhoff legendre 3}}\n"
    "  slide: {on: world, joint: prismatic, axis: z, body: {mass: 1}}\n"
    "  wheel: {on: world, joint: revolute, axis: z, body: {mass: 1, inertia: [1, 1, 1]}}\n"
    "actuators:\n"
    "  motor: {joint: base, effort: 20 mN*m*sin(30*t)}\n"
    "  lift: {joint: slide, position: 0.1*sin(10*t)}\n"
    "  spin: {joint: wheel, rate: 1}\n"
    "  cord: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0.5 N}\n"
    "  muscle: {stress: {along: arm, bend_y: 5 mN*m*sin(50*t)}}\n"
    "probes: {tip: {position: arm.tip}, angle: {angle: base}}\n";

enum { N = 5, STEPS = AMONG(4, 12) };
static const double h = 2e-3;

static snw_robot_model *open_model(const char *text) {
    snw_robot_model *m = NULL;
    snw_error err = {0};
    if (snw_robot_model_parse("arm", text, strlen(text), NULL, 0, NULL, &m, &err) != SNW_OK)
        fail_msg("%d:%d: %s", err.line, err.column, err.text);
    return m;
}

static snw_batch *open_batch(snw_robot_model *m, int n, int threads) {
    snw_batch *b = NULL;
    snw_error err = {0};
    if (snw_batch_create(m, n, threads, &b, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_batch_size(b), n);
    return b;
}

static void expect_ok(snw_status s, const snw_error *err) {
    if (s != SNW_OK) fail_msg("%s", err->text);
}

static int input(const snw_robot_model *m, const char *actuator) {
    snw_part part;
    const int i = snw_robot_model_find(m, SNW_PART_ACTUATOR, actuator);
    assert_int_equal(snw_robot_model_part(m, SNW_PART_ACTUATOR, i, &part), SNW_OK);
    return part.first;
}

// Robot i of the tests, alone: its own angle, stiffness, tension and, after half of the steps,
// torque.
static void alone(snw_robot_model *m, int i, double *q, double *tip) {
    snw_robot *r = NULL;
    snw_error err = {0};
    char young[40];
    (void)snprintf(young, sizeof young, "E=%d", 1000000 + 100000 * i);
    const char *const set[] = {young};
    expect_ok(snw_robot_from_model(m, &r, &err), &err);
    expect_ok(snw_robot_set_parameters(r, 1, set, &err), &err);
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    snw_robot_q(r)[0] = 0.1 * i;
    const double tension = 0.2 * i, torque = 0.01 * i;
    expect_ok(snw_robot_set_effort(r, snw_robot_actuator(r, "cord"), &tension, &err), &err);
    expect_ok(snw_robot_start(r, &how, &err), &err);
    for (int k = 0; k < STEPS; k++) expect_ok(snw_robot_step(r, h, &err), &err);
    expect_ok(snw_robot_set_effort(r, snw_robot_actuator(r, "motor"), &torque, &err), &err);
    for (int k = 0; k < STEPS; k++) expect_ok(snw_robot_step(r, h, &err), &err);
    memcpy(q, snw_robot_q(r), (size_t)snw_robot_nq(r) * sizeof *q);
    assert_int_equal(snw_robot_probe(r, "tip", 3, tip), 3);
    snw_robot_close(r);
}

static void robots_of_a_batch_have_the_bits_they_have_alone(void **state) {
    (void)state;
    snw_robot_model *m = open_model(arm);
    double want[N][64], tip_want[N][3], tip[N][3];
    for (int i = 0; i < N; i++) alone(m, i, want[i], tip_want[i]);
    for (int threads = 1; threads <= 4; threads++) {
        snw_batch *b = open_batch(m, N, threads);
        snw_error err = {0};
        assert_int_equal(snw_batch_threads(b), threads);
        // packs have other matrices (test_packs.c)
        expect_ok(snw_batch_set_lanes(b, 1, &err), &err);
        const int nq = snw_robot_nq(snw_batch_robot(b, 0));
        const int nu = snw_robot_inputs(snw_batch_robot(b, 0));
        for (int i = 0; i < N; i++) {
            char young[40];
            (void)snprintf(young, sizeof young, "E=%d", 1000000 + 100000 * i);
            const char *const set[] = {young};
            expect_ok(snw_robot_set_parameters(snw_batch_robot(b, i), 1, set, &err), &err);
            snw_batch_q(b)[i * nq] = 0.1 * i;
            snw_batch_u(b)[i * nu + input(m, "cord")] = 0.2 * i;
        }
        const snw_robot_steps how = snw_robot_steps_defaults(h);
        expect_ok(snw_batch_start(b, &how, NULL, &err), &err);
        const size_t before = snw_alloc_count();
        expect_ok(snw_batch_step(b, h, STEPS, NULL, &err), &err);
        for (int i = 0; i < N; i++) snw_batch_u(b)[i * nu + input(m, "motor")] = 0.01 * i;
        expect_ok(snw_batch_step(b, h, STEPS, NULL, &err), &err);
        expect_ok(snw_batch_probe(b, "tip", &tip[0][0], &err), &err);
        assert_int_equal(snw_alloc_count(), before);
        for (int i = 0; i < N; i++) {
            assert_memory_equal(snw_batch_q(b) + i * nq, want[i], (size_t)nq * sizeof(double));
            assert_memory_equal(tip[i], tip_want[i], sizeof tip[i]);
            assert_near(snw_batch_time(b)[i], 2 * STEPS * h, 1e-14);
        }
        snw_batch_close(b);
    }
    snw_robot_model_close(m);
}

static void a_robot_that_fails_leaves_the_others_alone(void **state) {
    (void)state;
    snw_robot_model *m = open_model(arm);
    snw_batch *b = open_batch(m, 4, 2);
    snw_error err = {0};
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    const int nq = snw_robot_nq(snw_batch_robot(b, 0)),
              nu = snw_robot_inputs(snw_batch_robot(b, 0));
    assert_int_equal(snw_batch_step(b, h, 1, NULL, &err), SNW_E_ARGUMENT); // not started
    assert_int_equal(snw_batch_failures(b), 0);
    expect_ok(snw_batch_start(b, &how, NULL, &err), &err);
    assert_int_equal(snw_batch_step(b, 2 * h, 1, NULL, &err), SNW_E_ARGUMENT); // too long
    assert_int_equal(snw_batch_failures(b), 0);
    snw_batch_u(b)[1 * nu + input(m, "motor")] = 1e30;
    snw_batch_u(b)[2 * nu + input(m, "motor")] = INFINITY;
    assert_int_equal(snw_batch_step(b, h, 3, NULL, &err), SNW_E_DIVERGED);
    assert_int_equal(snw_batch_error(b, 1)->status, SNW_E_DIVERGED);
    assert_non_null(strstr(err.text, "robot 1: "));
    assert_non_null(strstr(err.text, "2 of 4 robots"));
    assert_int_equal(snw_batch_failures(b), 2);
    assert_int_equal(snw_batch_error(b, 0)->status, SNW_OK);
    assert_int_equal(snw_batch_error(b, 2)->status, SNW_E_ARGUMENT);
    assert_true(snw_batch_error(b, 1)->text[0] != 0);
    assert_null(snw_batch_error(b, 4));
    assert_memory_equal(snw_batch_q(b), snw_batch_q(b) + 3 * nq, (size_t)nq * sizeof(double));
    expect_ok(snw_batch_step(b, h, 1, NULL, &err), &err); // the others go on
    assert_near(snw_batch_time(b)[0], 4 * h, 1e-14);
    assert_near(snw_batch_time(b)[2], 0, 0);
    // begin the failed ones again
    unsigned char at[4] = {0, 1, 1, 0};
    for (int i = 1; i <= 2; i++) {
        snw_batch_u(b)[i * nu + input(m, "motor")] = snw_input_law();
        memset(snw_batch_q(b) + i * nq, 0, (size_t)nq * sizeof(double));
    }
    expect_ok(snw_batch_start(b, &how, at, &err), &err);
    assert_int_equal(snw_batch_failures(b), 0);
    const double t0 = snw_batch_time(b)[0], t1 = snw_batch_time(b)[1];
    expect_ok(snw_batch_step(b, h, 1, at, &err), &err); // those only
    assert_true(snw_batch_time(b)[0] == t0 && snw_batch_time(b)[1] > t1);
    snw_batch_close(b);
    snw_robot_model_close(m);
}

// Robots in packs, each second one with a stiffness of its own: the bits do not depend on the
// threads, which share the model, its numbers in packs and the order of its matrix.
static void threads_change_no_bit_of_packs(void **state) {
    (void)state;
    enum { PACKED = 19 };
    static const char *const precision[] = {"double", "single"};
    char text[2000];
    // a load that follows the tip: each robot evaluates its law with the poses of its pack
    (void)snprintf(text, sizeof text,
                   "%sloads: {wind: {on: arm.tip, force: [0, 0, -2 N/m*tip.z]}}\n", arm);
    snw_robot_model *const model[] = {open_model(arm), open_model(text)};
    snw_error err = {0};
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    for (int k = 0; k < 4; k++) {
        snw_robot_model *m = model[k / 2];
        const int p = k % 2;
        double want[PACKED][64] = {{0}};
        for (int threads = 1; threads <= 3; threads++) {
            snw_batch *b = open_batch(m, PACKED, threads);
            const size_t nq = (size_t)snw_robot_nq(snw_batch_robot(b, 0));
            assert_true(nq <= 64);
            expect_ok(snw_batch_set_precision(b, precision[p], &err), &err);
            for (int i = 1; i < PACKED; i += 2) {
                char young[40];
                (void)snprintf(young, sizeof young, "E=%d", 1000000 + 10000 * i);
                const char *const set[] = {young};
                expect_ok(snw_robot_set_parameters(snw_batch_robot(b, i), 1, set, &err), &err);
            }
            for (int i = 0; i < PACKED; i++) snw_batch_q(b)[(size_t)i * nq] = 0.02 * i;
            expect_ok(snw_batch_start(b, &how, NULL, &err), &err);
            expect_ok(snw_batch_step(b, h, STEPS, NULL, &err), &err);
            const char *const engine = snw_batch_engine(b, 0, NULL);
            assert_true(strncmp(engine, "packs", 5) == 0 || !snw_packs(0, p == 1));
            for (size_t i = 0; i < PACKED; i++) {
                const double *q = snw_batch_q(b) + i * nq;
                if (threads == 1) memcpy(want[i], q, nq * sizeof *q);
                assert_memory_equal(q, want[i], nq * sizeof *q);
            }
            snw_batch_close(b);
        }
    }
    for (int k = 0; k < 2; k++) snw_robot_model_close(model[k]);
}

static void *cancel(void *user) {
    snw_batch_cancel(user);
    return NULL;
}

static int count_and_stop(void *user) {
    (*(int *)user)++;
    return 1;
}

static int cancel_from_elsewhere(void *user) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel, user), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return 0;
}

// A call that would take years ends: asked by the caller's thread, and by another one.
static void a_call_can_be_cancelled(void **state) {
    (void)state;
    snw_robot_model *m = open_model(arm);
    snw_batch *b = open_batch(m, 3, 2);
    snw_error err = {0};
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    int asked = 0;
    expect_ok(snw_batch_start(b, &how, NULL, &err), &err);
    snw_batch_set_poll(b, count_and_stop, &asked);
    assert_int_equal(snw_batch_step(b, h, 1000000000, NULL, &err), SNW_E_STOPPED);
    assert_int_equal(asked, 1);
    assert_int_equal(snw_batch_failures(b), 0);
    snw_batch_set_poll(b, cancel_from_elsewhere, b);
    assert_int_equal(snw_batch_step(b, h, 1000000000, NULL, &err), SNW_E_STOPPED);
    snw_batch_set_poll(b, NULL, NULL);
    snw_batch_cancel(b); // without a call: nothing
    expect_ok(snw_batch_step(b, h, 1, NULL, &err), &err);
    snw_batch_close(b);
    snw_robot_model_close(m);
}

// The process made by fork() has no threads of the batch, and steps without them.
static void a_forked_process_steps_alone(void **state) {
    (void)state;
    snw_robot_model *m = open_model(arm);
    snw_batch *b = open_batch(m, 3, 3);
    snw_error err = {0};
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    expect_ok(snw_batch_start(b, &how, NULL, &err), &err);
    expect_ok(snw_batch_step(b, h, 1, NULL, &err), &err);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const bool good = snw_batch_step(b, h, 2, NULL, &err) == SNW_OK &&
                          snw_batch_threads(b) == 1 && fabs(snw_batch_time(b)[2] - 3 * h) < 1e-12;
        snw_batch_close(b);
        _exit(good ? 0 : 1);
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    expect_ok(snw_batch_step(b, h, 1, NULL, &err), &err);
    snw_batch_close(b);
    snw_robot_model_close(m);
}

static void bad_arguments_are_refused(void **state) {
    (void)state;
    snw_robot_model *m = open_model(arm);
    snw_batch *b = NULL;
    snw_error err = {0};
    double out[9];
    assert_int_equal(snw_batch_create(NULL, 1, 1, &b, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_batch_create(m, 0, 1, &b, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_batch_create(m, 1, -1, &b, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_batch_create(m, 1, 1, NULL, &err), SNW_E_ARGUMENT);
    assert_null(b);
    b = open_batch(m, 2, 0);
    assert_int_equal(snw_batch_start(b, NULL, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_batch_start(NULL, NULL, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_batch_step(b, h, -1, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_batch_step(NULL, h, 1, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_batch_probe(b, "tap", out, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_batch_probe(b, "tip", NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_batch_equilibrium(NULL, NULL, &err), SNW_E_ARGUMENT);
    assert_null(snw_batch_robot(b, 2));
    assert_null(snw_batch_robot(b, -1));
    assert_null(snw_batch_q(NULL));
    assert_null(snw_batch_u(NULL));
    assert_int_equal(snw_batch_failures(NULL), 0);
    snw_batch_cancel(NULL);
    snw_batch_set_poll(NULL, NULL, NULL);
    snw_batch_close(NULL);
    snw_batch_close(b);
    snw_robot_model_close(m);
}

// Rows of q and v, and states of the robots, act at the start; written later they are not lost
// silently.
static void a_state_written_after_the_start_is_refused(void **state) {
    (void)state;
    snw_robot_model *m = open_model(arm);
    snw_batch *b = open_batch(m, 3, 2);
    snw_error err = {0};
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    const int nq = snw_robot_nq(snw_batch_robot(b, 0));
    expect_ok(snw_batch_start(b, &how, NULL, &err), &err);
    double *const written[] = {snw_batch_q(b) + 2 * nq, snw_robot_q(snw_batch_robot(b, 2))};
    for (int i = 0; i < 2; i++) {
        const double old = *written[i];
        *written[i] += 0.1;
        assert_int_equal(snw_batch_step(b, h, 1, NULL, &err), SNW_E_ARGUMENT);
        assert_non_null(strstr(err.text, "robot 2"));
        *written[i] = old;
        expect_ok(snw_batch_step(b, h, 1, NULL, &err), &err);
    }
    *written[0] = 0.1;
    const unsigned char last[] = {0, 0, 1}, others[] = {1, 1, 0};
    expect_ok(snw_batch_step(b, h, 1, others, &err), &err);
    expect_ok(snw_batch_start(b, &how, last, &err), &err);
    expect_ok(snw_batch_step(b, h, 1, NULL, &err), &err);
    assert_int_equal(snw_batch_failures(b), 0);
    snw_batch_close(b);
    snw_robot_model_close(m);
}

// ---- the array u --------------------------------------------------------------------------------

static snw_robot *moving(snw_robot_model *m) {
    snw_robot *r = NULL;
    snw_error err = {0};
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    expect_ok(snw_robot_from_model(m, &r, &err), &err);
    expect_ok(snw_robot_start(r, &how, &err), &err);
    expect_ok(snw_robot_advance(r, h, 2, NULL, &err), &err);
    return r;
}

// Every kind of actuator, set by its call and through u: the same bits.
static void u_acts_as_the_calls(void **state) {
    (void)state;
    snw_robot_model *m = open_model(arm);
    snw_robot *a = moving(m), *b = moving(m);
    const int n = snw_robot_inputs(a);
    assert_int_equal(n, 5);
    static const char *const name[] = {"motor", "lift", "spin", "cord", "muscle"};
    const double value[] = {0.01, 0.05, -2, 1.5, 0.5};
    snw_error err = {0};
    for (int i = 0; i < n; i++) {
        assert_true(i == 4 ? snw_robot_u(a)[i] == 1 : isnan(snw_robot_u(a)[i]) != 0);
        assert_int_equal(input(m, name[i]), i);
        expect_ok(snw_robot_set_actuator(a, i, &value[i], &err), &err);
        assert_true(snw_robot_u(a)[i] == value[i]); // u shows what calls set
        snw_robot_u(b)[i] = value[i];
    }
    int done;
    expect_ok(snw_robot_advance(a, h, 3, &done, &err), &err);
    assert_int_equal(done, 3);
    // a copy has numbers of u that were not used yet
    snw_robot *c = NULL;
    expect_ok(snw_robot_copy(b, &c, &err), &err);
    for (int k = 0; k < 3; k++) expect_ok(snw_robot_step(b, h, &err), &err);
    expect_ok(snw_robot_advance(c, h, 3, NULL, &err), &err);
    const size_t bytes = (size_t)snw_robot_nq(a) * sizeof(double);
    assert_memory_equal(snw_robot_q(a), snw_robot_q(b), bytes);
    assert_memory_equal(snw_robot_q(a), snw_robot_q(c), bytes);
    // back to the laws
    for (int i = 0; i < n; i++) {
        assert_int_equal(snw_robot_unset_actuator(a, i), SNW_OK);
        snw_robot_u(b)[i] = snw_input_law();
    }
    expect_ok(snw_robot_advance(a, h, 3, NULL, &err), &err);
    expect_ok(snw_robot_advance(b, h, 3, NULL, &err), &err);
    assert_memory_equal(snw_robot_q(a), snw_robot_q(b), bytes);
    assert_true(snw_robot_u(b)[4] == 1);
    snw_robot_close(c);
    snw_robot_close(b);
    snw_robot_close(a);
    snw_robot_model_close(m);
}

static void u_is_refused_where_it_is_used_and_survives_changes(void **state) {
    (void)state;
    snw_robot_model *m = open_model(arm);
    snw_robot *r = moving(m);
    snw_error err = {0};
    double *u = snw_robot_u(r), effort, q[64], tau[64];
    u[0] = 0.02;
    u[3] = INFINITY;
    memcpy(q, snw_robot_q(r), sizeof(double));
    assert_int_equal(snw_robot_step(r, h, &err), SNW_E_ARGUMENT);
    assert_true(snw_robot_q(r)[0] == q[0]);
    assert_true(isnan(u[3]) && u[0] == 0.02);
    u[3] = NAN; // a fault of a controller is not the wish for the law
    assert_int_equal(snw_robot_step(r, h, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "'cord'"));
    expect_ok(snw_robot_step(r, h, &err), &err);
    // other calls take them too
    u[0] = 0.03;
    assert_int_equal(snw_robot_effort(r, 0, &effort), SNW_OK);
    assert_true(effort == 0.03);
    u[3] = 2;
    assert_int_equal(snw_robot_inverse_dynamics(r, tau), SNW_OK);
    assert_int_equal(snw_robot_effort(r, 3, &effort), SNW_OK);
    assert_true(effort == 2);
    // a saved state has them, and a restored one shows them
    double row[2000];
    assert_true(snw_robot_saves(r) < 2000);
    u[0] = 0.04;
    assert_int_equal(snw_robot_save(r, row), SNW_OK);
    u[0] = 1;
    assert_int_equal(snw_robot_restore(r, row), SNW_OK);
    assert_true(u[0] == 0.04);
    // another model keeps numbers and place
    const char *const set[] = {"E=2 MPa"};
    u[3] = 3;
    expect_ok(snw_robot_set_parameters(r, 1, set, &err), &err);
    assert_ptr_equal(snw_robot_u(r), u);
    assert_true(u[0] == 0.04 && u[3] == 3);
    expect_ok(snw_robot_step(r, h, &err), &err);
    assert_int_equal(snw_robot_effort(r, 3, &effort), SNW_OK);
    assert_true(effort == 3);
    assert_int_equal(snw_robot_inputs(NULL), 0);
    assert_null(snw_robot_u(NULL));
    assert_int_equal(snw_robot_advance(r, h, -1, NULL, &err), SNW_E_ARGUMENT);
    snw_robot_close(r);
    snw_robot_model_close(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robots_of_a_batch_have_the_bits_they_have_alone),
        cmocka_unit_test(a_robot_that_fails_leaves_the_others_alone),
        cmocka_unit_test(threads_change_no_bit_of_packs),
        cmocka_unit_test(a_call_can_be_cancelled),
        cmocka_unit_test(a_forked_process_steps_alone),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(a_state_written_after_the_start_is_refused),
        cmocka_unit_test(u_acts_as_the_calls),
        cmocka_unit_test(u_is_refused_where_it_is_used_and_survives_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
