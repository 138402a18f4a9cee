// SPDX-License-Identifier: MIT
//
// Parts of a public model: counts, names, types, units and index ranges, on a model with every
// kind.
#include "sinew/sinew.h"

#include "near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char everything[] =
    "sinew: 1\n"
    "title: everything\n"
    "parameters: {E: 1 MPa, n: 3, grip: 0.2*sin(t), list: [1, 2], f(u): 2*u}\n"
    "materials: {rubber: {young: E, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  base: {on: world, joint: free, body: {box: [0.1, 0.2, 0.3], mass: 4}}\n"
    "  arm: {on: base, rod: {length: 0.5, section: {circle: {radius: 20 mm}}, material: rubber, "
    "strain: {bend_y: legendre 3, stretch: legendre 1}}}\n"
    "  ball: {on: arm.tip, joint: spherical, body: {mass: 1, inertia: [1, 1, 1]}}\n"
    "  tube: {on: ball, joint: cylindrical, axis: x, body: {mass: 1, inertia: [1, 1, 1]}}\n"
    "  plate: {on: world, body: {mass: 1, inertia: [1, 1, 1]}}\n"
    "  shaft: {on: plate, joint: revolute, rod: {length: 0.3, section: {rectangle: {y: 10 mm, z: "
    "20 "
    "mm}}, material: rubber, strain: {bend_z: legendre 2}}}\n"
    "  needle: {on: world, rod: {length: 0.4, section: {circle: {radius: 5 mm}}, material: rubber, "
    "strain: {bend_y: legendre 2}}}\n"
    "sites: {eye: {on: tube, pose: {xyz: [1, 0, 0]}}, hook: {on: world}}\n"
    "loops: {tie: {join: [eye, hook], as: spherical, when: t > 5 s}}\n"
    "actuators:\n"
    "  cord: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0 N}\n"
    "  motor: {joint: tube, effort: [0 N*m, 0 N]}\n"
    "  turn: {joint: shaft, position: 0}\n"
    "  push_out: {feed: needle, rate: 0 m/s}\n"
    "  cavity: {chamber: {along: arm, at: [0, 0, 0], area: 10 mm^2}, effort: 0 Pa}\n"
    "  spin: {joint: ball, effort: [0, 0, 0]}\n"
    "  muscle: {stress: {along: shaft, bend_z: 0 N*m}}\n"
    "loads: {tap: {on: arm.tip, force: [0, 0, 0]}, wind: {along: shaft, force: [0, 0, 0]}}\n"
    "contacts: {floor: {ground: {on: plate, normal: z, at: [0, 0, -9], points: [[0, 0, 0]], "
    "stiffness: 1 N/m}}}\n"
    "springs: {coil: {spring: [world, plate], rest: 0.2, stiffness: 0.1, when: off}, mount: "
    "{bushing: "
    "[base, plate], stiffness: [0, 0, 0, 0, 0, 0]}}\n"
    "probes:\n"
    "  tip: {position: arm.tip}\n"
    "  spread: {wrench: arm, along: 3}\n"
    "  seen: {pose: eye}\n"
    "  angle: {angle: shaft}\n"
    "study: [static: {}, dynamic: {name: swing, for: 0.1 s, step: 1 ms}]\n"
    "runs: {soft: {E: 0.5 MPa}, hard: {E: 2 MPa}}\n";

static snw_robot_model *parsed(const char *run) {
    snw_robot_model *m = NULL;
    snw_error err = {0};
    if (snw_robot_model_parse("all", everything, strlen(everything), run, 0, NULL, &m, &err) !=
        SNW_OK)
        fail_msg("%s:%d:%d: %s", err.file, err.line, err.column, err.text);
    return m;
}

static snw_part part_of(const snw_robot_model *m, snw_part_kind kind, const char *name) {
    snw_part part;
    const int i = snw_robot_model_find(m, kind, name);
    if (i < 0) fail_msg("there is no '%s'", name);
    assert_int_equal(snw_robot_model_part(m, kind, i, &part), SNW_OK);
    assert_string_equal(part.name, name);
    return part;
}

static void counts_are_those_of_the_file(void **state) {
    (void)state;
    static const int want[SNW_PART_KINDS] = {
        [SNW_PART_LINK] = 7,      [SNW_PART_JOINT] = 4, [SNW_PART_ROD] = 3,
        [SNW_PART_SITE] = 2,      [SNW_PART_LOOP] = 1,  [SNW_PART_ACTUATOR] = 7,
        [SNW_PART_INPUT] = 10,    [SNW_PART_LOAD] = 2,  [SNW_PART_CONTACT] = 1,
        [SNW_PART_SPRING] = 2,    [SNW_PART_PROBE] = 4, [SNW_PART_COLUMN] = 3 + 18 + 19 + 1,
        [SNW_PART_PARAMETER] = 5, [SNW_PART_STEP] = 2,  [SNW_PART_RUN] = 2};
    snw_robot_model *m = parsed("hard");
    snw_robot *r = NULL;
    snw_error err = {0};
    for (int k = 0; k < SNW_PART_KINDS; k++) {
        const int n = snw_robot_model_parts(m, (snw_part_kind)k);
        if (want[k] > 0 && n != want[k]) fail_msg("kind %d has %d parts, not %d", k, n, want[k]);
    }
    assert_int_equal(snw_robot_from_model(m, &r, &err), SNW_OK);
    assert_int_equal(snw_robot_model_parts(m, SNW_PART_COORDINATE), snw_robot_nq(r));
    assert_int_equal(snw_robot_model_parts(m, SNW_PART_NODE), snw_robot_nodes(r));
    // numbers of loads and actuators are those of the calls that set them
    for (int i = 0; i < 7; i++) {
        snw_part part;
        assert_int_equal(snw_robot_model_part(m, SNW_PART_ACTUATOR, i, &part), SNW_OK);
        assert_int_equal(snw_robot_actuator(r, part.name), i);
        assert_int_equal(snw_robot_actuator_size(r, i), part.size);
    }
    assert_int_equal(snw_robot_load(r, "wind"), snw_robot_model_find(m, SNW_PART_LOAD, "wind"));
    assert_string_equal(snw_robot_model_title(m), "everything");
    assert_string_equal(snw_robot_model_run(m), "hard");
    snw_robot_close(r);
    snw_robot_model_close(m);
}

static void assert_range(snw_part p, int nq, int nv, const char *type) {
    assert_int_equal(p.nq, nq);
    assert_int_equal(p.nv, nv);
    assert_string_equal(p.type, type);
}

static void coordinates_are_found_by_name(void **state) {
    (void)state;
    snw_robot_model *m = parsed(NULL);
    assert_range(part_of(m, SNW_PART_JOINT, "base"), 7, 6, "free");
    assert_range(part_of(m, SNW_PART_JOINT, "ball"), 4, 3, "spherical");
    assert_range(part_of(m, SNW_PART_JOINT, "tube"), 2, 2, "cylindrical");
    assert_range(part_of(m, SNW_PART_ROD, "arm"), 4, 4, "circle");
    assert_range(part_of(m, SNW_PART_ROD, "shaft"), 2, 2, "rectangle");
    assert_range(part_of(m, SNW_PART_LINK, "shaft"), 3, 3, "revolute");
    assert_range(part_of(m, SNW_PART_ROD, "needle"), 3, 3, "circle"); // with its free length
    assert_range(part_of(m, SNW_PART_LINK, "plate"), 0, 0, "fixed");
    assert_near(part_of(m, SNW_PART_ROD, "arm").value, 0.5, 0);
    assert_near(part_of(m, SNW_PART_SPRING, "coil").value, 0.2, 0);
    assert_range(part_of(m, SNW_PART_SPRING, "mount"), 0, 0, "bushing");

    // links share the coordinates without gap or overlap
    int q = 0, v = 0, node = 0;
    for (int i = 0; i < snw_robot_model_parts(m, SNW_PART_LINK); i++) {
        snw_part p;
        assert_int_equal(snw_robot_model_part(m, SNW_PART_LINK, i, &p), SNW_OK);
        if (p.nq > 0) {
            assert_int_equal(p.q, q);
            assert_int_equal(p.v, v);
        }
        q += p.nq, v += p.nv;
        assert_true(p.node >= node);
        node = p.node + p.nnode;
    }
    assert_int_equal(q, snw_robot_model_parts(m, SNW_PART_COORDINATE));

    const snw_part bend = part_of(m, SNW_PART_COORDINATE, "arm.bend_y.2");
    assert_string_equal(bend.type, "strain");
    assert_string_equal(bend.unit, "1/m");
    const snw_part arm = part_of(m, SNW_PART_ROD, "arm");
    assert_int_equal(bend.q, arm.q + 2);
    assert_int_equal(bend.v, arm.v + 2);
    assert_string_equal(part_of(m, SNW_PART_COORDINATE, "arm.stretch.0").unit, "");
    assert_string_equal(part_of(m, SNW_PART_COORDINATE, "tube.angle").unit, "rad");
    assert_string_equal(part_of(m, SNW_PART_COORDINATE, "tube.slide").unit, "m");
    assert_string_equal(part_of(m, SNW_PART_COORDINATE, "needle.feed").type, "length");
    assert_string_equal(part_of(m, SNW_PART_COORDINATE, "ball.qx").type, "rotation");
    assert_int_equal(part_of(m, SNW_PART_COORDINATE, "ball.qx").v, -1);
    assert_string_equal(part_of(m, SNW_PART_COORDINATE, "base.y").unit, "m");
    snw_robot_model_close(m);
}

static void units_are_those_of_the_quantities(void **state) {
    (void)state;
    snw_robot_model *m = parsed(NULL);
    assert_string_equal(part_of(m, SNW_PART_ACTUATOR, "cord").type, "tension");
    assert_string_equal(part_of(m, SNW_PART_ACTUATOR, "cord").unit, "N");
    assert_string_equal(part_of(m, SNW_PART_ACTUATOR, "cavity").type, "pressure");
    assert_string_equal(part_of(m, SNW_PART_ACTUATOR, "cavity").unit, "Pa");
    assert_string_equal(part_of(m, SNW_PART_ACTUATOR, "turn").type, "position");
    assert_string_equal(part_of(m, SNW_PART_ACTUATOR, "turn").unit, "rad");
    assert_string_equal(part_of(m, SNW_PART_ACTUATOR, "push_out").unit, "m/s");
    assert_string_equal(part_of(m, SNW_PART_ACTUATOR, "muscle").type, "activation");
    assert_string_equal(part_of(m, SNW_PART_ACTUATOR, "motor").unit, ""); // two units
    assert_string_equal(part_of(m, SNW_PART_INPUT, "motor.1").unit, "N*m");
    assert_string_equal(part_of(m, SNW_PART_INPUT, "motor.2").unit, "N");
    assert_int_equal(part_of(m, SNW_PART_INPUT, "motor.2").q,
                     part_of(m, SNW_PART_COORDINATE, "tube.slide").q);
    assert_range(part_of(m, SNW_PART_ACTUATOR, "spin"), 4, 3, "effort"); // a quaternion
    assert_int_equal(part_of(m, SNW_PART_INPUT, "spin.2").q, -1);
    assert_int_equal(part_of(m, SNW_PART_INPUT, "spin.2").v,
                     part_of(m, SNW_PART_JOINT, "ball").v + 1);
    assert_string_equal(part_of(m, SNW_PART_COLUMN, "tip.z").unit, "m");
    assert_string_equal(part_of(m, SNW_PART_COLUMN, "spread@2.mx").unit, "N*m");
    assert_string_equal(part_of(m, SNW_PART_PROBE, "tip").unit, "m");
    assert_string_equal(part_of(m, SNW_PART_PROBE, "spread").unit, "");
    assert_int_equal(part_of(m, SNW_PART_PROBE, "spread").size, 18);
    assert_int_equal(part_of(m, SNW_PART_PROBE, "seen").first, 21);
    assert_string_equal(part_of(m, SNW_PART_LOAD, "wind").type, "distributed");
    assert_int_equal(part_of(m, SNW_PART_SITE, "hook").link, -1);
    assert_int_equal(part_of(m, SNW_PART_SITE, "eye").link,
                     snw_robot_model_find(m, SNW_PART_LINK, "tube"));
    assert_string_equal(part_of(m, SNW_PART_LOOP, "tie").type, "spherical");
    assert_int_equal(part_of(m, SNW_PART_LOOP, "tie").size, 3);
    assert_string_equal(part_of(m, SNW_PART_STEP, "swing").type, "dynamic");
    assert_near(part_of(m, SNW_PART_STEP, "swing").value, 0.1, 0);
    snw_robot_model_close(m);
}

static void parameters_have_the_values_of_the_run(void **state) {
    (void)state;
    snw_robot_model *m = parsed("hard");
    snw_error err = {0};
    const snw_part E = part_of(m, SNW_PART_PARAMETER, "E");
    assert_string_equal(E.type, "number");
    assert_string_equal(E.unit, "Pa");
    assert_near(E.value, 2e6, 0);
    assert_string_equal(part_of(m, SNW_PART_PARAMETER, "n").unit, "");
    assert_string_equal(part_of(m, SNW_PART_PARAMETER, "grip").type, "law");
    assert_true(isnan(part_of(m, SNW_PART_PARAMETER, "grip").value));
    assert_string_equal(part_of(m, SNW_PART_PARAMETER, "list").type, "list");
    assert_string_equal(part_of(m, SNW_PART_PARAMETER, "f(u)").type, "function");
    double value = 0;
    char unit[48];
    assert_int_equal(snw_robot_model_value(m, "arm.rod.length", &value, unit, &err), SNW_OK);
    assert_near(value, 0.5, 0);
    assert_int_equal(snw_robot_model_value(m, "rubber.young", &value, unit, &err), SNW_OK);
    assert_near(value, 2e6, 0);
    assert_string_equal(unit, "Pa");
    assert_int_equal(snw_robot_model_value(m, "ruber.young", &value, NULL, &err), SNW_E_PARSE);
    assert_int_equal(snw_robot_model_value(m, "rubber.shear", &value, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_model_value(m, NULL, &value, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_model_value(m, "E", NULL, NULL, &err), SNW_E_ARGUMENT);
    snw_robot_model_close(m);
}

// one call sets every kind of actuator: twins, one set by it, one by the call of its kind
static void inputs_are_set_whatever_they_are(void **state) {
    (void)state;
    snw_robot_model *m = parsed(NULL);
    snw_robot *a = NULL, *b = NULL;
    snw_error err = {0};
    const double torque[2] = {0.1, 0.2}, tension = 2, angle = 0.01, rate = 0.05, pressure = 1e3,
                 factor = 0.5, zero = 0;
    assert_int_equal(snw_robot_from_model(m, &a, &err), SNW_OK);
    assert_int_equal(snw_robot_from_model(m, &b, &err), SNW_OK);
    const double *const value[6] = {torque, &angle, &rate, &tension, &pressure, &factor};
    static const char *const name[6] = {"motor", "turn", "push_out", "cord", "cavity", "muscle"};
    for (int i = 0; i < 6; i++) {
        if (snw_robot_set_actuator(a, snw_robot_actuator(a, name[i]), value[i], &err) != SNW_OK)
            fail_msg("%s: %s", name[i], err.text);
    }
    const double length = snw_robot_q(b)[part_of(m, SNW_PART_COORDINATE, "needle.feed").q];
    assert_int_equal(snw_robot_set_effort(b, snw_robot_actuator(b, "motor"), torque, &err), SNW_OK);
    assert_int_equal(
        snw_robot_set_motion(b, snw_robot_actuator(b, "turn"), &angle, NULL, NULL, &err), SNW_OK);
    assert_int_equal(
        snw_robot_set_motion(b, snw_robot_actuator(b, "push_out"), &length, &rate, NULL, &err),
        SNW_OK);
    assert_int_equal(snw_robot_set_effort(b, snw_robot_actuator(b, "cord"), &tension, &err),
                     SNW_OK);
    assert_int_equal(snw_robot_set_effort(b, snw_robot_actuator(b, "cavity"), &pressure, &err),
                     SNW_OK);
    assert_int_equal(snw_robot_set_activation(b, snw_robot_actuator(b, "muscle"), factor, &err),
                     SNW_OK);
    const snw_robot_steps how = snw_robot_steps_defaults(1e-3);
    snw_robot *const both[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        if (snw_robot_start(both[k], &how, &err) != SNW_OK) fail_msg("%s", err.text);
        for (int i = 0; i < 5; i++) {
            if (snw_robot_step(both[k], 1e-3, &err) != SNW_OK) fail_msg("%s", err.text);
        }
    }
    assert_memory_equal(snw_robot_q(a), snw_robot_q(b), (size_t)snw_robot_nq(a) * sizeof(double));
    // a rate moves on from where the coordinate is
    assert_near(snw_robot_q(a)[part_of(m, SNW_PART_COORDINATE, "needle.feed").q], 0.4 + 5e-3 * rate,
                1e-12);
    assert_int_equal(snw_robot_set_actuator(a, 7, &zero, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_set_actuator(a, -1, &zero, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_set_actuator(a, 0, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_set_actuator(NULL, 0, &zero, &err), SNW_E_ARGUMENT);
    snw_robot_close(a);
    snw_robot_close(b);
    snw_robot_model_close(m);
}

static void parts_that_do_not_exist_are_refused(void **state) {
    (void)state;
    snw_robot_model *m = parsed(NULL);
    snw_part part;
    assert_int_equal(snw_robot_model_part(m, SNW_PART_LINK, -1, &part), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_model_part(m, SNW_PART_LINK, 7, &part), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_model_part(m, SNW_PART_LINK, 0, NULL), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_model_part(m, SNW_PART_KINDS, 0, &part), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_model_part(m, (snw_part_kind)-1, 0, &part), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_model_part(NULL, SNW_PART_LINK, 0, &part), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_model_parts(m, SNW_PART_KINDS), 0);
    assert_int_equal(snw_robot_model_find(m, SNW_PART_LINK, "nobody"), -1);
    assert_int_equal(snw_robot_model_find(m, SNW_PART_LINK, NULL), -1);
    assert_int_equal(snw_robot_model_find(NULL, SNW_PART_LINK, "arm"), -1);
    assert_string_equal(snw_robot_model_title(NULL), "");
    snw_robot_model_close(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_file),
        cmocka_unit_test(coordinates_are_found_by_name),
        cmocka_unit_test(units_are_those_of_the_quantities),
        cmocka_unit_test(parameters_have_the_values_of_the_run),
        cmocka_unit_test(inputs_are_set_whatever_they_are),
        cmocka_unit_test(parts_that_do_not_exist_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
