// SPDX-License-Identifier: MIT
//
// Joints as they are read: their keys, initial values, and the columns of their probes.
#include "described.h"
#include "model/model.h"

static void joints_are_read(void **state) {
    (void)state;
    snw_document *doc;
    snw_desc *desc;
    snw_error err;
    const char *const text = HEAD
        "robot:\n"
        "  a: {on: world, joint: revolute, body: {mass: 1}, stiffness: 2 N*m, rest: 90 deg, "
        "damping: 3,\n"
        "      friction: 0.1 N*m, creep: 1 deg/s, limits: [-90 deg, 1]}\n"
        "  b: {on: a, joint: cylindrical, axis: [0, 3, 0], stiffness: [1, 2 N/cm]}\n"
        "  c: {on: b, joint: universal, stiffness: 4, axis: x}\n"
        "  d: {on: c, joint: universal, axes: [z, -x], stiffness: [4, 5]}\n"
        "  e: {on: d, joint: spherical, stiffness: 6, rest: {axis: z, angle: 30 deg}}\n"
        "  f: {on: e, joint: planar, axis: y, limits: [[0, 1 cm], [0, 2], [0, 3]]}\n"
        "initial:\n"
        "  a: 30 deg\n"
        "  b: [10 deg, 2 cm]\n"
        "  c: {position: 1, rate: [2, 3]}\n"
        "  e: {position: {axis: x, angle: 90 deg}, rate: [1, 2, 3 rad/s]}\n"
        "  f: {rate: [1 cm/s, 0, 5]}\n"
        "probes: {a: {angle: a}, b: {value: b}, c: {rate: c}, e: {effort: e}, f: {value: f}}\n";
    if (describe(text, &doc, &desc, &err) != SNW_OK)
        fail_msg("%d:%d: %s", err.line, err.column, err.text);
    const snw_desc *d = desc;
    const snw_joint_desc *a = &d->link[0].moves, *b = &d->link[1].moves, *c = &d->link[2].moves,
                         *u = &d->link[3].moves, *e = &d->link[4].moves, *f = &d->link[5].moves;
    assert_int_equal(d->link[0].joint, SNW_JOINT_REVOLUTE);
    assert_near(a->axis.z, 1, 0);
    assert_near(a->stiffness[0], 2, 0);
    assert_near(a->rest[0], M_PI / 2, 1e-15);
    assert_near(a->damping[0], 3, 0);
    assert_near(a->friction[0], 0.1, 1e-15);
    assert_near(a->creep[0], M_PI / 180, 1e-15);
    assert_true(a->limited[0] && !b->limited[0]);
    assert_near(a->low[0], -M_PI / 2, 1e-15);
    assert_near(a->high[0], 1, 0);
    assert_int_equal(d->link[1].joint, SNW_JOINT_CYLINDRICAL);
    assert_near(b->axis.y, 1, 1e-15);
    assert_near(b->stiffness[1], 200, 1e-12);
    // axis x, so the second one is y; both springs alike
    assert_near(c->axis.x, 1, 0);
    assert_near(c->second.y, 1, 0);
    assert_near(c->stiffness[1], 4, 0);
    assert_near(u->second.x, -1, 0);
    assert_near(u->stiffness[1], 5, 0);
    assert_int_equal(d->link[4].joint, SNW_JOINT_SPHERICAL);
    assert_true(e->has_rest_turn);
    assert_near(e->rest_turn.e[1][0], 0.5, 1e-15);
    assert_near(f->axis.y, 1, 0);
    assert_near(f->high[0], 0.01, 1e-15);
    assert_near(f->high[2], 3, 0);
    const snw_initial_desc *i = d->initial;
    assert_near(i[0].position[0], M_PI / 6, 1e-15);
    assert_near(i[1].position[1], 0.02, 1e-15);
    assert_near(i[2].position[1], 1, 0);
    assert_near(i[2].speed[1], 3, 0);
    assert_true(i[3].has_pose);
    assert_near(i[3].pose.R.e[2][1], 1, 1e-15);
    assert_near(i[3].twist.w.z, 3, 0);
    assert_near(i[4].speed[0], 0.01, 1e-15);
    // columns of the probes
    const int columns[] = {1, 2, 2, 3, 3};
    for (int k = 0; k < 5; k++) assert_int_equal(snw_probe_columns(&d->probe[k]), columns[k]);
    release(doc, desc);
}

static void motors_are_read(void **state) {
    (void)state;
    snw_document *doc;
    snw_desc *d;
    snw_error err;
    const snw_status s = describe(
        HEAD
        "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
        "robot: {a: {on: world, joint: cylindrical, rod: {length: 1 m, section: {circle: "
        "{radius: 1 mm}}, material: rubber, strain: {twist: legendre 1, stretch: legendre 2}}}, "
        "b: {on: a, joint: revolute}}\n"
        "loops: {l: {join: [b, world], as: spherical}}\n"
        "actuators:\n"
        "  m(k=1..2): {joint: b, effort: \"k*1 N*m - 2 N*m*q\", when: t < 1 s}\n"
        "  muscle: {stress: {along: a, twist: 1 N*m}}\n"
        "  slide: {joint: a, position: [free, 3 mm*t], when: off}\n"
        "  shape: {rod: a, position: [2 1/m, free, 0.1]}\n"
        "  turn: {joint: b, rate: 2 rad/s, when: off}\n"
        "probes: {q: {value: m(2)}, s: {value: slide}, f: {effort: shape}, r: {reaction: l}}\n",
        &doc, &d, &err);
    if (s != SNW_OK) fail_msg("%d:%d: %s", err.line, err.column, err.text);
    assert_int_equal(d->nstress, 1);
    assert_int_equal(d->nmotor, 5);
    const snw_motor_desc *m = d->motor;
    assert_string_equal(m[1].name, "m(2)");
    assert_int_equal(m[1].given, SNW_GIVEN_EFFORT);
    assert_int_equal(m[1].n, 1);
    const double q = 0.25;
    assert_near(snw_expr_value(m[1].law[0], (snw_at){.signal = &q}), 1.5, 1e-15);
    assert_non_null(m[1].when);
    assert_int_equal(m[2].given, SNW_GIVEN_MOTION);
    assert_false(m[2].rod);
    assert_int_equal(m[2].n, 2);
    assert_null(m[2].law[0]);
    assert_near(snw_expr_value(m[2].law[1], (snw_at){.t = 2}), 6e-3, 1e-18);
    assert_true(m[3].rod);
    assert_int_equal(m[3].n, 3);
    assert_null(m[3].law[1]);
    assert_int_equal(m[4].given, SNW_GIVEN_RATE);
    // columns of the probes: a joint's are named, a rod's are numbered
    const int columns[] = {1, 2, 3, 6};
    for (int k = 0; k < 4; k++) assert_int_equal(snw_probe_columns(&d->probe[k]), columns[k]);
    assert_int_equal(d->probe[1].item, 2);
    assert_int_equal(d->probe[3].of, SNW_PROBE_OF_LOOP);
    release(doc, d);
}

// a coordinate may be driven only once
static void two_drives_of_one_coordinate_are_refused(void **state) {
    (void)state;
    snw_document *doc;
    snw_desc *d;
    snw_error err;
    snw_model *m;
    assert_int_equal(
        describe(HEAD
                 "robot: {a: {on: world, joint: universal, body: {mass: 1}}}\n"
                 "actuators: {m: {joint: a, position: [1, 2]}, n: {joint: a, rate: [free, 1]}, "
                 "o: {joint: a, position: [3, 4], when: off}}\n",
                 &doc, &d, &err),
        SNW_OK);
    assert_int_equal(snw_model_compile(d, &m, &err), SNW_E_MODEL);
    assert_non_null(strstr(err.text, "'m' and 'n' both drive coordinate 2 of joint 'a'"));
    assert_int_equal(err.line, 4);
    release(doc, d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_are_read),
        cmocka_unit_test(motors_are_read),
        cmocka_unit_test(two_drives_of_one_coordinate_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
