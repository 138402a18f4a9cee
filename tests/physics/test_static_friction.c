// SPDX-License-Identifier: MIT
//
// Friction of hard contacts in static steps (theory.md 5.4): what it holds and what it does not, by
// closed forms; dependence on the path; rods on rods; messages. Sliding against shooting is
// examples/contact/hard_press.yaml.
#include "executed.h"
#include "near.h"

#include <math.h>
#include <stdio.h>

// ---- the least friction -------------------------------------------------------------------------

// Block on a slope with the friction 0.5, friction angle 26.56505118 degrees.
static void write_block(double angle, char *text, size_t size) {
    (void)snprintf(text, size,
                   "sinew: 1\ngravity: [9.81*sin(%g deg), 0, -9.81*cos(%g deg)]\n"
                   "robot: {block: {on: world, joint: free, body: {box: [0.2, 0.1, 0.1], mass: "
                   "1}}}\n"
                   "initial: {block: {pose: {xyz: [0, 0, 50 mm]}}}\n"
                   "contacts: {slope: {ground: {on: block, hard: true, friction: 0.5}}}\n"
                   "probes: {p: {position: block}, c: {contact: slope}}\n"
                   "study:\n  - static: {friction: on}\n",
                   angle, angle);
}

static void a_block_rests_up_to_the_friction_angle(void **state) {
    (void)state;
    static const double rests[] = {0, 10, 26, 26.565}, slips[] = {26.566, 27, 40};
    char text[700];
    outcome o;
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
        const double angle = rests[i] / 180 * acos(-1);
        write_block(rests[i], text, sizeof text);
        execute_ok(text, &o);
        const int last = o.series.nframe - 1;
        assert_near(shown(&o, last, 0), 0, 1e-12);
        assert_near(shown(&o, last, 3), -9.81 * sin(angle), 1e-8);
        assert_near(shown(&o, last, 5), 9.81 * cos(angle), 1e-8);
        snw_series_clear(&o.series);
    }
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        write_block(slips[i], text, sizeof text);
        execute(text, &o);
        assert_int_equal(o.status, SNW_E_DIVERGED);
        if (!strstr(o.err.text, "no equilibrium with friction")) fail_msg("%s", o.err.text);
        snw_series_clear(&o.series);
    }
}

// Three fingers at 120 degrees, normals inclined by b upwards, hold a ball of 0.5 kg: the least
// force of each is W/(3 (sin b + mu cos b)).
static snw_status grasp(double mu, double b, double force) {
    char text[2200];
    outcome o;
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\n"
        "parameters: {r: 40 mm, w: 10 mm, b: %g deg, out: (r + w/2)*cos(b), low: -(r + "
        "w/2)*sin(b), push: -%.9g N - 0.02*9.81 N*sin(b)}\n"
        "robot:\n"
        "  pad(1): {on: world, pose: {xyz: [out, 0, low], rpy: [0, b, 0]}, joint: prismatic, axis: "
        "x, body: &pad {box: [w, 30 mm, 60 mm], mass: 0.02}}\n"
        "  pad(2): {on: world, pose: {xyz: [-out/2, out*sqrt(3)/2, low], rpy: [0, b, 120 deg]}, "
        "joint: prismatic, axis: x, body: *pad}\n"
        "  pad(3): {on: world, pose: {xyz: [-out/2, -out*sqrt(3)/2, low], rpy: [0, b, -120 deg]}, "
        "joint: prismatic, axis: x, body: *pad}\n"
        "  ball: {on: world, joint: free, body: {sphere: {radius: r}, mass: 0.5}}\n"
        "actuators: {f1: {joint: pad(1), effort: push}, f2: {joint: pad(2), effort: push}, f3: "
        "{joint: pad(3), effort: push}}\n"
        "contacts:\n"
        "  grip(1): {obstacle: &grip {links: ball, on: pad(1), shape: box, size: [w, 30 mm, 60 "
        "mm], hard: true, friction: %g}}\n"
        "  grip(2): {obstacle: {<<: *grip, on: pad(2)}}\n"
        "  grip(3): {obstacle: {<<: *grip, on: pad(3)}}\n"
        "probes: {ball: {position: ball}}\n"
        "study:\n  - static: {friction: on}\n",
        b, force, mu);
    execute(text, &o);
    snw_series_clear(&o.series);
    return o.status;
}

static void a_grasp_needs_the_least_force(void **state) {
    (void)state;
    static const double cases[][3] = {
        {0.5, 0, 3.27}, {0.5, 20, 2.0138780}, {0.5, -15, 7.2944222}, {0.3, 0, 5.45}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double *c = cases[i];
        assert_int_equal(grasp(c[0], c[1], 1.001 * c[2]), SNW_OK);
        assert_int_equal(grasp(c[0], c[1], 0.999 * c[2]), SNW_E_DIVERGED);
    }
}

// ---- the path -----------------------------------------------------------------------------------

// A block on a spring is pulled over a floor and back: it starts at 2 mu N, stays where the pull is
// less than mu N away from the spring force, and where it rests depends on the way.
static void friction_remembers_the_path(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\n"
               "robot:\n"
               "  slide: {on: world, joint: prismatic, axis: x, stiffness: 100 N/m, body: {mass: "
               "1e-3}}\n"
               "  block: {on: slide, joint: prismatic, axis: z, body: {sphere: {radius: 50 mm}, "
               "mass: 1}}\n"
               "gravity: 0\n"
               "contacts: {floor: {ground: {on: block, at: [0, 0, -50 mm], hard: true, friction: "
               "0.4}}}\n"
               "loads:\n"
               "  press: {on: block, force: [0, 0, -10 N]}\n"
               "  pull: {on: block, force: [\"10 N*min(t, 2 s - t)/(1 s)\", 0, 0]}\n"
               "probes: {x: {position: block}, c: {contact: floor}}\n"
               "study:\n  - static: {friction: on, for: 2 s, step: 100 ms}\n",
               &o);
    for (int i = 0; i < o.series.nframe; i++) {
        const double t = 0.1 * i, pull = 10 * fmin(t, 2 - t), mu = 0.4 * 10, k = 100;
        // up: sticks until mu N, then (pull - mu N)/k; back: stays until it slides the other way
        const double most = (10 - mu) / k;
        const double x = t <= 1 ? fmax(pull - mu, 0) / k : fmin(most, (pull + mu) / k);
        assert_near(shown(&o, i, 0), x, 1e-9);
        assert_near(shown(&o, i, 3), k * x - pull, 1e-7);
    }
    snw_series_clear(&o.series);
}

// ---- rods ---------------------------------------------------------------------------------------

// A rod lies across two inclined rails, which are rods, and is kept from rolling: it stays up to
// the friction angle.
static snw_status rod_on_rails(double angle, double mu) {
    char text[1600];
    outcome o;
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\ngravity: [9.81*sin(%g deg), 0, -9.81*cos(%g deg)]\n"
        "materials: {steel: {young: 200 GPa, density: 7800}}\n"
        "robot:\n"
        "  left: {on: world, pose: {xyz: [-0.15, 0.2, -18 mm]}, rod: {length: 0.3, section: "
        "{circle: {radius: 8 mm}}, material: steel, strain: rigid}}\n"
        "  right: {on: world, pose: {xyz: [-0.15, -0.2, -18 mm]}, rod: {length: 0.3, section: "
        "{circle: {radius: 8 mm}}, material: steel, strain: rigid}}\n"
        "  slide: {on: world, joint: prismatic, axis: x, body: {mass: 1e-6}}\n"
        "  lift: {on: slide, joint: prismatic, axis: z, body: {mass: 1e-6}}\n"
        "  rod: {on: lift, pose: {xyz: [0, -0.3, 0], rpy: [0, 0, 90 deg]}, rod: {length: 0.6, "
        "section: {circle: {radius: 10 mm}}, material: steel, strain: rigid}}\n"
        "contacts: {rails: {rods: {between: rod, against: [left, right], hard: true, friction: "
        "%g}}}\n"
        "probes: {p: {position: rod}, c: {contact: rails}}\n"
        "study:\n  - static: {friction: on}\n",
        angle, angle, mu);
    execute(text, &o);
    if (o.status == SNW_OK) assert_near(shown(&o, o.series.nframe - 1, 0), 0, 1e-10);
    snw_series_clear(&o.series);
    return o.status;
}

static void friction_holds_rods_on_rods(void **state) {
    (void)state;
    assert_int_equal(rod_on_rails(26, 0.5), SNW_OK);
    assert_int_equal(rod_on_rails(27, 0.5), SNW_E_DIVERGED);
    assert_int_equal(rod_on_rails(10, 0.2), SNW_OK);
}

// Friction of a compliant contact is left out of statics, which is told where it touches.
static void friction_that_is_left_out_is_told(void **state) {
    (void)state;
    static const struct {
        const char *height, *friction;
        int warnings;
    } row[] = {{"9.9 mm", "0.3", 1}, {"9.9 mm", "0", 0}, {"12 mm", "0.3", 0}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[600];
        outcome o;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\n"
                       "robot: {ball: {on: world, joint: prismatic, axis: z, stiffness: 1 kN/m, "
                       "rest: %s, body: {sphere: {radius: 10 mm}, mass: 0.01}}}\n"
                       "initial: {ball: %s}\n"
                       "contacts: {floor: {ground: {on: ball, stiffness: 10 kN/m, friction: %s}}}\n"
                       "study: [static, static]\nprobes: {p: {value: ball}}\n",
                       row[i].height, row[i].height, row[i].friction);
        execute_ok(text, &o);
        assert_int_equal(o.warnings, row[i].warnings);
        snw_series_clear(&o.series);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_that_is_left_out_is_told),
        cmocka_unit_test(a_block_rests_up_to_the_friction_angle),
        cmocka_unit_test(a_grasp_needs_the_least_force),
        cmocka_unit_test(friction_remembers_the_path),
        cmocka_unit_test(friction_holds_rods_on_rods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
