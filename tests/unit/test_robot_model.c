// SPDX-License-Identifier: MIT
//
// Models and robots of the public API: one model for several robots, copies of robots, and values
// changed without reading the file again.
#include "sinew/sinew.h"

#include "sanitized.h"

#include "near.h"
// after near.h: it asserts
#include "heap_calls.h"

#include "robot_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char arm[] =
    "sinew: 1\n"
    "parameters: {E: 1 MPa, r: 10 mm}\n"
    "materials: {rubber: {young: E, poisson: 0.5, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  hip: {on: world, joint: revolute, axis: y, damping: 1e-3 N*m*s, body: {mass: 0.1, inertia: "
    "[1e-4, 1e-4, 1e-4]}}\n"
    "  arm: {on: hip, rod: {length: 0.5 m, section: {circle: {radius: r}}, material: rubber,\n"
    "        strain: cosserat legendre 3}}\n"
    "actuators:\n"
    "  cord: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0.5 N}\n"
    "  motor: {joint: hip, effort: \"-0.1 N*m*sin(swing)\"}\n"
    "loads: {push: {on: arm.tip, force: [0, 10 mN, \"5 mN*step(t, 3 ms)\"]}}\n"
    "probes: {tip: {position: arm.tip}, swing: {angle: hip}, turned: {rotation: arm.tip}}\n"
    "runs: {one: {}, two: {r: 12 mm}}\n";

static snw_robot_model *parsed(const char *text, const char *run, int nset,
                               const char *const *set) {
    snw_robot_model *m = NULL;
    snw_error err = {0};
    if (snw_robot_model_parse("arm", text, strlen(text), run, nset, set, &m, &err) != SNW_OK)
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
    return m;
}

static snw_robot *robot_of(snw_robot_model *m) {
    snw_robot *r = NULL;
    snw_error err = {0};
    if (snw_robot_from_model(m, &r, &err) != SNW_OK) fail_msg("%s", err.text);
    return r;
}

static void start(snw_robot *r, const char *scheme, const char *engine) {
    snw_error err = {0};
    snw_robot_steps how = snw_robot_steps_defaults(2e-3);
    how.scheme = scheme;
    how.engine = engine;
    if (snw_robot_start(r, &how, &err) != SNW_OK) fail_msg("%s", err.text);
}

static void steps(snw_robot *r, int n) {
    snw_error err = {0};
    for (int i = 0; i < n; i++) {
        if (snw_robot_step(r, 2e-3, &err) != SNW_OK) fail_msg("%s", err.text);
    }
}

static void assert_same(snw_robot *a, snw_robot *b) {
    const int nq = snw_robot_nq(a), nv = snw_robot_nv(a);
    double x[32], y[32];
    assert_int_equal(nq, snw_robot_nq(b));
    assert_true(snw_robot_time(a) == snw_robot_time(b));
    assert_memory_equal(snw_robot_q(a), snw_robot_q(b), (size_t)nq * sizeof(double));
    assert_memory_equal(snw_robot_v(a), snw_robot_v(b), (size_t)nv * sizeof(double));
    assert_memory_equal(snw_robot_a(a), snw_robot_a(b), (size_t)nv * sizeof(double));
    const int n = snw_robot_probe(a, "tip", 32, x);
    assert_true(n > 0);
    assert_int_equal(snw_robot_probe(b, "tip", 32, y), n);
    assert_memory_equal(x, y, (size_t)n * sizeof *x);
}

// ---- sharing ------------------------------------------------------------------------------------

static void robots_of_one_model_move_alike(void **state) {
    (void)state;
    snw_robot_model *m = parsed(arm, "two", 0, NULL);
    snw_robot *a = robot_of(m), *b = robot_of(m), *c = NULL;
    snw_error err = {0};
    assert_ptr_equal(snw_robot_model_of(a), m);
    snw_robot_model_close(m); // the robots keep it
    assert_int_equal(snw_robot_parse("arm", arm, strlen(arm), "two", 0, NULL, &c, &err), SNW_OK);
    snw_robot *const all[3] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        start(all[i], "generalized-alpha", NULL);
        steps(all[i], 10);
    }
    assert_same(a, b);
    assert_same(a, c);
    snw_robot_close(a);
    steps(b, 1);
    snw_robot_close(b);
    snw_robot_close(c);
}

static void references_are_counted(void **state) {
    (void)state;
    snw_robot_model *m = parsed(arm, NULL, 0, NULL);
    assert_ptr_equal(snw_robot_model_share(m), m);
    snw_robot_model_close(m);
    assert_int_equal(snw_robot_model_parts(m, SNW_PART_LINK), 2); // still there
    snw_robot_model_close(m);
    snw_robot_model_close(NULL);
    assert_null(snw_robot_model_share(NULL));
    assert_null(snw_robot_model_of(NULL));
}

// ---- copies -------------------------------------------------------------------------------------

static const char bars[] = "sinew: 1\n" FOUR_BAR "probes: {tip: {position: a}}\n";

// Bricard's ring of six hinges, one of which closes it: one of its five rows is redundant, and
// which one is left out changes as it turns
#define LINK(name, on, pose)                                                                       \
    "  " name ": {on: " on ", " pose "joint: revolute, axis: z, body: {mass: 1, com: [0.05, 0, "   \
    "0], inertia: [2e-4, 1e-3, 1e-3]}}\n"
#define TURNED(angle) "pose: {xyz: [0.1, 0, 0], rpy: [" angle " deg, 0, 0]}, "
static const char ring[] =
    "sinew: 1\n"
    "gravity: [0, 0, 0]\n"
    "robot:\n" LINK("l1", "world", "") LINK("l2", "l1", TURNED("90"))
        LINK("l3", "l2", TURNED("-90")) LINK("l4", "l3", TURNED("90"))
            LINK("l5", "l4",
                 TURNED("-90")) "sites:\n"
                                "  e: {on: l5, pose: {xyz: [0.1, 0, 0], rpy: [90 deg, 0, 0]}}\n"
                                "  g: {on: world, pose: {xyz: [-0.1, 0, 0], rpy: [90 deg, 0, 0]}}\n"
                                "loops: {tie: {join: [e, g], as: revolute}}\n"
                                "initial: {l1: {position: 60 deg, rate: 3}, l2: acos(-1/3), l3: 60 "
                                "deg, l4: acos(-1/3), l5: 60 "
                                "deg}\n"
                                "probes: {tip: {position: l3}}\n";

static const struct {
    const char *text, *scheme, *engine;
} motions[] = {{arm, "generalized-alpha", NULL},  {arm, "gauss4", NULL},
               {arm, "adaptive", NULL},           {bars, "bdf2", NULL},
               {ring, "generalized-alpha", NULL}, {arm, NULL, NULL}};

static void copies_continue_with_the_same_bits(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof motions / sizeof *motions; k++) {
        snw_robot_model *m = parsed(motions[k].text, NULL, 0, NULL);
        snw_robot *a = robot_of(m), *b = NULL;
        snw_error err = {0};
        snw_robot_model_close(m);
        const double force[3] = {0, 0, 0.02}, gravity[3] = {0, 1, -9};
        if (snw_robot_load(a, "push") >= 0)
            assert_int_equal(snw_robot_set_load(a, 0, force, NULL), SNW_OK);
        assert_int_equal(snw_robot_set_gravity(a, gravity), SNW_OK);
        const char *scheme = motions[k].scheme;
        if (scheme) {
            start(a, scheme, motions[k].engine);
            steps(a, 5);
        } else {
            assert_int_equal(snw_robot_equilibrium(a, 0.1, &err), SNW_OK);
        }
        if (scheme && snw_robot_saves(a) == 0) { // no checkpoint of this scheme
            assert_int_equal(snw_robot_copy(a, &b, &err), SNW_E_ARGUMENT);
            assert_null(b);
            snw_robot_close(a);
            continue;
        }
        if (snw_robot_copy(a, &b, &err) != SNW_OK) fail_msg("%s", err.text);
        assert_same(a, b);
        if (scheme) {
            steps(a, 7);
            steps(b, 7);
        } else {
            assert_int_equal(snw_robot_equilibrium(a, 0.2, &err), SNW_OK);
            assert_int_equal(snw_robot_equilibrium(b, 0.2, &err), SNW_OK);
        }
        assert_same(a, b);
        snw_robot_close(a);
        if (scheme) steps(b, 1); // it stands alone
        snw_robot_close(b);
    }
}

// ---- values -------------------------------------------------------------------------------------

static void changed_values_are_those_of_the_command_line(void **state) {
    (void)state;
    const char *const set[] = {"E=2.5 MPa", "hip.damping=2e-3 N*m*s"}, *const next[] = {"E=3 MPa"};
    const char *const both[] = {"hip.damping=2e-3 N*m*s", "E=3 MPa"};
    snw_robot_model *m = parsed(arm, "two", 0, NULL), *want = parsed(arm, "two", 2, both);
    snw_robot *a = robot_of(m), *b = robot_of(want);
    snw_error err = {0};
    snw_robot_model_close(m);
    snw_robot_model_close(want);
    if (snw_robot_set_parameters(a, 2, set, &err) != SNW_OK) fail_msg("%s", err.text);
    if (snw_robot_set_parameters(a, 1, next, &err) != SNW_OK) fail_msg("%s", err.text);
    double value = 0;
    assert_int_equal(
        snw_robot_model_value(snw_robot_model_of(a), "rubber.young", &value, NULL, &err), SNW_OK);
    assert_near(value, 3e6, 0);
    assert_int_equal(snw_robot_equilibrium(a, 0, &err), SNW_OK);
    assert_int_equal(snw_robot_equilibrium(b, 0, &err), SNW_OK);
    assert_same(a, b);
    start(a, "generalized-alpha", NULL);
    start(b, "generalized-alpha", NULL);
    steps(a, 10);
    steps(b, 10);
    assert_same(a, b);
    // states can be exchanged: they are of the same model
    double *row = calloc(snw_robot_saves(a), sizeof *row);
    assert_int_equal(snw_robot_save(a, row), SNW_OK);
    assert_int_equal(snw_robot_restore(b, row), SNW_OK);
    free(row);
    snw_robot_close(a);
    snw_robot_close(b);
}

// state, inputs and motion stay when a value is set to what it was
static void a_motion_goes_on_after_a_change(void **state) {
    (void)state;
    const char *const softer[] = {"E=0.8 MPa"}, *const same[] = {"E=1 MPa"};
    snw_robot_model *m = parsed(arm, NULL, 0, NULL);
    snw_robot *a = robot_of(m), *b = robot_of(m);
    snw_error err = {0};
    snw_robot_model_close(m);
    start(a, "generalized-alpha", NULL);
    steps(a, 5);
    const double force[3] = {0, 0, 0.02};
    assert_int_equal(snw_robot_set_load(a, 0, force, NULL), SNW_OK);
    const double t = snw_robot_time(a), q0 = snw_robot_q(a)[0];
    const double *q = snw_robot_q(a), *v = snw_robot_v(a);
    if (snw_robot_set_parameters(a, 1, softer, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_ptr_equal(snw_robot_q(a), q); // pointers of the caller stay valid
    assert_ptr_equal(snw_robot_v(a), v);
    assert_true(snw_robot_time(a) == t);
    assert_near(snw_robot_q(a)[0], q0, 0);
    if (snw_robot_set_parameters(a, 1, same, &err) != SNW_OK) fail_msg("%s", err.text);
    // the same as a start from that state
    memcpy(snw_robot_q(b), snw_robot_q(a), (size_t)snw_robot_nq(a) * sizeof(double));
    memcpy(snw_robot_v(b), snw_robot_v(a), (size_t)snw_robot_nv(a) * sizeof(double));
    assert_int_equal(snw_robot_set_time(b, t), SNW_OK);
    assert_int_equal(snw_robot_set_load(b, 0, force, NULL), SNW_OK);
    start(b, "generalized-alpha", NULL);
    steps(a, 5);
    steps(b, 5);
    assert_same(a, b);
    snw_robot_close(a);
    snw_robot_close(b);
}

static void changes_of_structure_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"arm.rod.strain=cosserat legendre 4",
                                      "arm.rod.nodes=40",
                                      "hip.joint=spherical",
                                      "nobody=1",
                                      "E=1 kg",
                                      "E",
                                      "r=-1 mm"};
    snw_robot_model *m = parsed(arm, NULL, 0, NULL), *changed = NULL;
    snw_robot *r = robot_of(m);
    start(r, "generalized-alpha", NULL);
    steps(r, 2);
    const double *q = snw_robot_q(r), q0 = q[0];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snw_error err = {0};
        assert_int_not_equal(snw_robot_set_parameters(r, 1, &bad[i], &err), SNW_OK);
        assert_true(err.text[0] != 0);
        assert_int_not_equal(snw_robot_model_change(m, 1, &bad[i], &changed, &err), SNW_OK);
        assert_null(changed);
        assert_ptr_equal(snw_robot_q(r), q); // nothing has changed
        assert_true(q[0] == q0);
        assert_ptr_equal(snw_robot_model_of(r), m);
    }
    snw_error err = {0};
    const char *const none[] = {NULL};
    assert_int_equal(snw_robot_set_parameters(r, 1, none, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_set_parameters(r, -1, none, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_set_parameters(r, 1, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_set_parameters(NULL, 0, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_model_change(NULL, 0, NULL, &changed, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_model_change(m, 0, NULL, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_from_model(NULL, &r, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_from_model(m, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_copy(NULL, &r, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_copy(r, NULL, &err), SNW_E_ARGUMENT);
    steps(r, 1);
    snw_robot_close(r);
    snw_robot_model_close(m);
}

static void a_thousand_changes_leave_nothing_behind(void **state) {
    (void)state;
    snw_robot_model *m = parsed(arm, NULL, 0, NULL);
    snw_robot *r = robot_of(m);
    snw_robot_model_close(m);
    const int n = AMONG(49, 1001);
    long first = 0;
    for (int i = 0; i < n; i++) {
        char text[40];
        const char *const set[] = {text};
        snw_error err = {0};
        (void)snprintf(text, sizeof text, "E=%d.5 MPa", 1 + i % 7);
        if (snw_robot_set_parameters(r, 1, set, &err) != SNW_OK) fail_msg("%s", err.text);
        if (i == 6) first = heap_blocks;
    }
    assert_int_equal(heap_blocks, first);
    snw_robot_close(r);
}

int main(void) {
    count_heap_calls();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robots_of_one_model_move_alike),
        cmocka_unit_test(references_are_counted),
        cmocka_unit_test(copies_continue_with_the_same_bits),
        cmocka_unit_test(changed_values_are_those_of_the_command_line),
        cmocka_unit_test(a_motion_goes_on_after_a_change),
        cmocka_unit_test(changes_of_structure_are_refused),
        cmocka_unit_test(a_thousand_changes_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
