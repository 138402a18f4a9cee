// SPDX-License-Identifier: MIT
//
// A live simulation: it follows values set by the user, the drag spring pulls, a reset starts anew,
// and a change of a parameter continues the motion.
#include "robot/live.h"

#include "base/fail.h"
#include "language/document.h"
#include "sinew/sinew.h"

#include "near.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char arm[] =
    "sinew: 1\n"
    "parameters: {E: 1 MPa, n: 4, F: 0 N}\n"
    "materials: {silicone: {young: E, poisson: 0.5, density: 1070, damping: 60 ms}}\n"
    "robot:\n"
    "  arm: {on: world, pose: {x: -z}, rod: {length: 0.3, section: {circle: {radius: 10 mm}},\n"
    "        material: silicone, strain: {bend_y: legendre 4, stretch: legendre 1}, nodes: 4 + "
    "n}}\n"
    "  wrist: {on: arm, joint: revolute, axis: y, body: {mass: 20 g, inertia: [1e-5, 1e-5, "
    "1e-5]}}\n"
    "actuators:\n"
    "  left: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0 N}\n"
    "  hand: {joint: wrist, position: '0.2*ramp(t, 0 s, 1 s)'}\n"
    "loads: {push: {on: arm.tip, force: [F, 0, 0]}}\n"
    "probes: {tip: {position: arm.tip}, e: energy}\n"
    "study: [static: {}, dynamic: {for: 1 s, step: 5 ms}]\n"
    "live: {left: [0 N, 4 N], E: [0.2 MPa, 5 MPa], n: [1, 9], F: [-1 N, 1 N]}\n";

typedef struct setting {
    snw_document *d;
    snw_desc *desc;
    snw_live *v;
} setting;

static void open_text(setting *s, const char *text) {
    snw_error err = {0};
    const snw_live_opts opts = {0};
    if (snw_document_parse("arm", text, strlen(text), 0, NULL, &s->d, &err) != SNW_OK ||
        snw_document_describe(s->d, 0, &s->desc, &err) != SNW_OK ||
        snw_live_create(s->desc, "main", &opts, NULL, &s->v, &err) != SNW_OK) {
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
    }
}

static void open_live(setting *s) { open_text(s, arm); }

static void close_live(setting *s) {
    snw_live_destroy(s->v);
    snw_desc_destroy(s->desc);
    snw_document_destroy(s->d);
}

static void go_on(setting *s, double seconds) {
    snw_error err = {0};
    const int n = (int)lround(seconds / snw_live_step_length(s->v));
    for (int i = 0; i < n; i++) {
        if (snw_live_step(s->v, &err) != SNW_OK) fail_msg("%s", err.text);
    }
}

static int find(const setting *s, const char *name) {
    for (int i = 0; i < snw_live_controls(s->v); i++) {
        if (strcmp(snw_live_control(s->v, i)->name, name) == 0) return i;
    }
    fail_msg("no control %s", name);
    return -1;
}

static void turn(setting *s, const char *name, double value) {
    snw_error err = {0};
    if (snw_live_set(s->v, find(s, name), value, &err) != SNW_OK) fail_msg("%s", err.text);
}

// contents of a frame
typedef struct seen {
    int frames, ncolumn;
    double t, column[16], balance;
} seen;

static snw_status see(void *user, const snw_frame *f, snw_error *err) {
    (void)err;
    seen *s = user;
    assert_null(f->save);
    s->frames++;
    s->t = f->t;
    s->balance = f->energy.balance;
    for (int i = 0; i < s->ncolumn && i < 16; i++) s->column[i] = f->column[i];
    return SNW_OK;
}

static seen look(const setting *s) {
    seen out = {.ncolumn = snw_live_describe(s->v)->ncolumn};
    snw_error err = {0};
    const snw_recorder r = {.user = &out, .frame = see};
    assert_int_equal(snw_live_frame(s->v, &r, &err), SNW_OK);
    assert_int_equal(out.frames, 1);
    return out;
}

// position of the tip in equilibrium, from a separate robot; `set` as on the command line
static void equilibrium(const char *set, double tension, double tip[3]) {
    snw_robot *r = NULL;
    snw_error err = {0};
    const char *const sets[] = {set, "hand.position=0.2"};
    assert_int_equal(snw_robot_parse("arm", arm, strlen(arm), NULL, 2, sets, &r, &err), SNW_OK);
    assert_int_equal(snw_robot_set_effort(r, snw_robot_actuator(r, "left"), &tension, &err),
                     SNW_OK);
    if (snw_robot_equilibrium(r, 0, &err) != SNW_OK) fail_msg("%s", err.text);
    snw_robot_probe(r, "tip", 3, tip);
    snw_robot_close(r);
}

static void controls_are_actuators_and_live_parameters(void **state) {
    (void)state;
    setting s;
    open_live(&s);
    assert_int_equal(snw_live_controls(s.v), 5);
    const snw_control *left = snw_live_control(s.v, find(&s, "left"));
    assert_string_equal(left->unit, "N");
    assert_true(left->low == 0 && left->high == 4 && !left->guessed);
    const snw_control *hand = snw_live_control(s.v, find(&s, "hand"));
    assert_string_equal(hand->unit, "rad");
    assert_true(hand->guessed && hand->low < 0 && hand->high > 0.2);
    const snw_control *E = snw_live_control(s.v, find(&s, "E"));
    assert_string_equal(E->unit, "Pa");
    assert_int_equal(E->actuator, -1);
    assert_near(snw_live_value(s.v, find(&s, "E")), 1e6, 1e-6);
    assert_near(snw_live_step_length(s.v), 5e-3, 0);
    close_live(&s);
}

static void controls_are_followed_without_overshoot(void **state) {
    (void)state;
    setting s;
    open_live(&s);
    go_on(&s, 1.2); // the wrist has reached its law and is at rest
    assert_near(snw_live_value(s.v, find(&s, "hand")), 0.2, 1e-9);
    turn(&s, "left", 2);
    turn(&s, "hand", -0.1);
    double last = 0;
    for (int i = 0; i < 60; i++) {
        go_on(&s, 5e-3);
        const double now = snw_live_value(s.v, find(&s, "left"));
        assert_true(now >= last && now <= 2);
        last = now;
    }
    assert_near(last, 2, 1e-3);
    assert_near(snw_live_value(s.v, find(&s, "hand")), -0.1, 1e-3);
    turn(&s, "left", 1e9); // not beyond its range
    go_on(&s, 1);
    assert_near(snw_live_value(s.v, find(&s, "left")), 4, 1e-6);
    turn(&s, "hand", NAN); // back to its law
    go_on(&s, 1);
    assert_near(snw_live_value(s.v, find(&s, "hand")), 0.2, 1e-6);
    turn(&s, "hand", 0.2);
    go_on(&s, 20); // until the robot is at rest
    const seen x = look(&s);
    double tip[3];
    equilibrium("F=0", 4, tip);
    for (int i = 0; i < 3; i++) assert_near(x.column[i], tip[i], 1e-5);
    close_live(&s);
}

// From a given state no step of the study is run, and a reset returns to that state. The tip is
// where a separate robot has it.
static void a_state_may_be_given(void **_) {
    (void)_;
    setting s;
    open_live(&s);
    snw_error err = {0};
    snw_robot *r = NULL;
    assert_int_equal(snw_robot_parse("arm", arm, strlen(arm), NULL, 0, NULL, &r, &err), SNW_OK);
    const int nq = snw_robot_nq(r), nv = snw_robot_nv(r);
    double state[32] = {2}, tip[3];
    assert_true(1 + nq + nv <= 32);
    state[1] = 1.25;       // bend_y, 1/m
    state[nq] = 0.2;       // the wrist, as its law has it at t = 2 s
    state[1 + nq + 1] = 2; // a rate
    memcpy(snw_robot_q(r), state + 1, (size_t)nq * sizeof(double));
    assert_int_equal(snw_robot_set_time(r, 2), SNW_OK);
    assert_int_equal(snw_robot_probe(r, "tip", 3, tip), 3);
    snw_robot_close(r);
    snw_live_destroy(s.v);
    snw_live_opts opts = {.state = state, .nstate = 1 + nq + nv};
    assert_int_equal(snw_live_create(s.desc, "main", &opts, NULL, &s.v, &err), SNW_OK);
    for (int again = 0; again < 2; again++) {
        const seen now = look(&s);
        assert_true(now.t == 2);
        for (int i = 0; i < 3; i++) assert_near(now.column[i], tip[i], 1e-14);
        go_on(&s, 0.02);
        assert_true(look(&s).t > 2);
        assert_int_equal(snw_live_reset(s.v, &err), SNW_OK);
    }
    snw_live *none = NULL;
    opts.nstate--;
    assert_int_equal(snw_live_create(s.desc, "main", &opts, NULL, &none, &err), SNW_E_ARGUMENT);
    opts.nstate++;
    state[2] = NAN;
    assert_int_equal(snw_live_create(s.desc, "main", &opts, NULL, &none, &err), SNW_E_ARGUMENT);
    assert_null(none);
    close_live(&s);
}

static void a_reset_begins_anew(void **state) {
    (void)state;
    setting s;
    open_live(&s);
    snw_error err = {0};
    const seen start = look(&s);
    go_on(&s, 0.3);
    const seen first = look(&s);
    turn(&s, "left", 3);
    const double at[3] = {0}, to[3] = {0.1, 0, -0.2};
    assert_int_equal(snw_live_pull(s.v, 4, at, to, 1, &err), SNW_OK);
    go_on(&s, 0.2);
    assert_int_equal(snw_live_reset(s.v, &err), SNW_OK);
    const seen again = look(&s);
    assert_near(again.t, start.t, 0);
    for (int i = 0; i < again.ncolumn; i++) assert_true(again.column[i] == start.column[i]);
    go_on(&s, 0.3);
    const seen second = look(&s);
    for (int i = 0; i < 3; i++) assert_true(first.column[i] == second.column[i]);
    close_live(&s);
}

// The mouse pulls a puck that carries a hard obstacle; it pushes a rod aside without entering it. A
// plunger whose place is a control does the same.
// A pendulum that an inverse step has lifted: tau = k a + m g l sin(a), held from then on, and
// after a reset.
static void inputs_that_a_step_found_are_held(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "robot:\n"
        "  arm: {on: world, joint: revolute, axis: y, stiffness: 3, body: {mass: 2 kg, com: [0, "
        "0,\n"
        "        -0.5], inertia: [0.1, 0.1, 0.1]}}\n"
        "actuators: {motor: {joint: arm, effort: 0}}\n"
        "sites: {bob: {on: arm, pose: {xyz: [0, 0, -0.5]}}}\n"
        "probes: {tip: {position: bob}, e: energy}\n"
        "study: [inverse: {target: {tip.x: -0.25}}, dynamic: {for: 1 s, step: 5 ms}]\n";
    setting s = {0};
    open_text(&s, text);
    const double torque = 3 * asin(0.5) + 2 * 9.81 * 0.5 * 0.5;
    for (int pass = 0; pass < 2; pass++) {
        snw_error err = {0};
        assert_near(snw_live_value(s.v, find(&s, "motor")), torque, 1e-9);
        go_on(&s, 0.5);
        assert_near(look(&s).column[0], -0.25, 1e-9);
        turn(&s, "motor", 0);
        go_on(&s, 0.5);
        assert_true(look(&s).column[0] > -0.2);
        assert_int_equal(snw_live_reset(s.v, &err), SNW_OK);
    }
    close_live(&s);
}

static void obstacles_are_pushed_by_hand_and_by_controls(void **state) {
    (void)state;
    setting s;
    snw_error err = {0};
    open_text(&s,
              "sinew: 1\n"
              "gravity: 0\n"
              "materials: {silicone: {young: 0.3 MPa, density: 1070, damping: 60 ms}}\n"
              "robot:\n"
              "  puck: {on: world, joint: planar, damping: [0.2, 0.2, 1e-4], body: {sphere: "
              "{radius: 12 mm}, mass: 0.05}}\n"
              "  hair: {on: world, pose: {xyz: [30 mm, 0, -50 mm], x: z}, rod: {length: 80 mm, "
              "section: {circle: {radius: 3 mm}}, material: silicone, strain: {bend_y: legendre 3, "
              "bend_z: legendre 3}, nodes: 8}}\n"
              "  plunger: {on: world, pose: {xyz: [80 mm, 0, 10 mm]}, joint: prismatic, axis: x, "
              "body: {sphere: {radius: 10 mm}, mass: 0.05}}\n"
              "contacts:\n"
              "  a: {obstacle: {links: hair, on: puck, shape: sphere, radius: 12 mm, hard: true}}\n"
              "  b: {obstacle: {links: hair, on: plunger, shape: sphere, radius: 10 mm, hard: "
              "true}}\n"
              "actuators: {push: {joint: plunger, position: '0*t'}}\n"
              "live: {push: [-0.08, 0]}\n"
              "probes: {tip: {position: hair.tip}, a: {contact: a}}\n"
              "study: [dynamic: {for: 1 s, step: 5 ms}]\n");
    enum { PUCK = 2, TIP_X = 0, FX = 3, GAP = 6 };
    const double at[3] = {0}, to[3] = {30e-3, 0, 0};
    go_on(&s, 0.1);
    assert_near(look(&s).column[TIP_X], 30e-3, 1e-9);
    assert_int_equal(snw_live_pull(s.v, PUCK, at, to, 1, &err), SNW_OK);
    go_on(&s, 1);
    seen now = look(&s);
    assert_true(now.column[TIP_X] > 40e-3); // pushed by the puck
    assert_true(now.column[FX] > 0);
    assert_near(now.column[GAP], 0, 1e-9);
    snw_live_release(s.v);
    turn(&s, "push", -60e-3);
    go_on(&s, 1);
    now = look(&s);
    assert_true(now.column[TIP_X] < 25e-3); // pushed back by the plunger, with the puck
    assert_true(now.column[GAP] > -1e-9);
    close_live(&s);
}

static void pulls_are_limited_and_refused(void **state) {
    (void)state;
    setting s;
    open_live(&s);
    snw_error err = {0};
    const double at[3] = {0}, to[3] = {1e300, -1e300, 0}, bad[3] = {NAN, 0, 0};
    double point[3], hand[3];
    int node;
    assert_int_equal(snw_live_pull(s.v, -1, at, to, 1, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_live_pull(s.v, 1000, at, to, 1, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_live_pull(s.v, 3, bad, to, 1, &err), SNW_E_ARGUMENT);
    assert_false(snw_live_pulled(s.v, &node, point, hand));
    assert_int_equal(snw_live_pull(s.v, 3, at, to, 1e300, &err), SNW_OK);
    assert_true(snw_live_pulled(s.v, &node, point, hand));
    for (int i = 0; i < 3; i++) assert_near(point[i], hand[i], 1e-12); // initially no force
    go_on(&s, 0.05);
    assert_true(snw_live_pulled(s.v, &node, point, hand));
    for (int i = 0; i < 3; i++) assert_true(fabs(hand[i]) < 30);
    snw_live_release(s.v);
    assert_false(snw_live_pulled(s.v, &node, point, hand));
    close_live(&s);
}

static void release(void *owner) { snw_desc_destroy(owner); }

static snw_status change(setting *s, const char *set, snw_error *err) {
    snw_desc *desc;
    SNW_TRY(
        snw_document_change(s->d, 0, snw_live_step_index(s->desc), 1, &set, s->desc, &desc, err));
    return snw_live_change(s->v, desc, release, desc, err);
}

// after a change the state continues, values set by the user stay, and the robot comes to rest in
// the equilibrium of the changed robot
static void a_change_continues_the_motion(void **state) {
    (void)state;
    setting s;
    open_live(&s);
    snw_error err = {0};
    turn(&s, "left", 3);
    go_on(&s, 1.05);
    const seen before = look(&s);
    if (change(&s, "E=3e6", &err) != SNW_OK) fail_msg("%s", err.text);
    const seen after = look(&s);
    assert_near(after.t, before.t, 0);
    for (int i = 0; i < 3; i++) assert_near(after.column[i], before.column[i], 1e-12);
    go_on(&s, 6);
    double tip[3];
    equilibrium("E=3e6", 3, tip);
    const seen end = look(&s);
    for (int i = 0; i < 3; i++) assert_near(end.column[i], tip[i], 1e-5);
    assert_near(snw_live_value(s.v, find(&s, "left")), 3, 1e-6);
    if (change(&s, "F=0.3", &err) != SNW_OK) fail_msg("%s", err.text);
    go_on(&s, 1);
    assert_true(look(&s).column[0] > end.column[0] + 0.01);
    close_live(&s);
}

// The moment of a tendon on a thin rod jumps by a quarter. Steps of 1/60 s do not resolve the
// response of the rod and must not turn it into velocity. In a study that begins with consistent
// accelerations the scheme creates 0.7 J.
static void check_change_under_tension(const char *scheme) {
    char thin[1024];
    (void)snprintf(
        thin, sizeof thin,
        "sinew: 1\n"
        "parameters: {d: 9.5 mm}\n"
        "materials: {steel: {young: 207 GPa, shear: 207 GPa/2.6, density: 1.6e4}}\n"
        "robot:\n"
        "  arm: {on: world, pose: {x: z, y: x}, rod: {length: 0.24 m, material: steel, nodes: 20, "
        "magnus: 6,\n"
        "        section: {circle: {radius: 0.4 mm}, damping: {twist: 1e-6, bend_y: 1e-6, bend_z: "
        "1e-6}},\n"
        "        strain: cosserat legendre 6}}\n"
        "actuators: {cord: {tendon: {along: arm, discs: 15 mm, at: [0, d, 0]}, effort: 2 N}}\n"
        "probes: {tip: {position: arm.tip}}\n"
        "study: [static: {}, dynamic: {for: 4 s, step: 1 s/60, scheme: %s}]\n",
        scheme);
    setting s;
    open_text(&s, thin);
    snw_error err = {0};
    go_on(&s, 0.2);
    const seen before = look(&s);
    if (change(&s, "d=12e-3", &err) != SNW_OK) fail_msg("%s", err.text);
    go_on(&s, 1);
    const seen after = look(&s);
    assert_near(after.balance, 0, 2e-5); // J, of 26 mJ of kinetic energy
    assert_true(after.column[0] > before.column[0] + 0.01 && after.column[0] < 0.24);
    close_live(&s);
}

static void a_change_under_tension_causes_no_impact(void **state) {
    (void)state;
    check_change_under_tension("bdf-alpha, alpha: -0.03");
    check_change_under_tension("radau5");
}

// a change that needs other coordinates or nodes is refused without effect
static void a_change_of_nodes_is_refused(void **state) {
    (void)state;
    setting s;
    open_live(&s);
    snw_error err = {0};
    go_on(&s, 0.1);
    const seen before = look(&s);
    assert_int_equal(change(&s, "n=7", &err), SNW_E_PARSE);
    assert_non_null(strstr(err.text, "nodes"));
    const seen after = look(&s);
    for (int i = 0; i < 3; i++) assert_true(after.column[i] == before.column[i]);
    go_on(&s, 0.1);
    close_live(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controls_are_actuators_and_live_parameters),
        cmocka_unit_test(controls_are_followed_without_overshoot),
        cmocka_unit_test(a_reset_begins_anew),
        cmocka_unit_test(inputs_that_a_step_found_are_held),
        cmocka_unit_test(a_state_may_be_given),
        cmocka_unit_test(obstacles_are_pushed_by_hand_and_by_controls),
        cmocka_unit_test(pulls_are_limited_and_refused),
        cmocka_unit_test(a_change_continues_the_motion),
        cmocka_unit_test(a_change_under_tension_causes_no_impact),
        cmocka_unit_test(a_change_of_nodes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
