// SPDX-License-Identifier: MIT
//
// Fifty thousand steps of the conserving scheme: energy and momenta of trees and closed robots,
// against their initial values, do not drift.
#include "closed_robot.h"

#include "integrate/integrator_private.h"
#include "sanitized.h"

#include <stdio.h>

enum { STEPS = AMONG(2000, 50000) };

enum { LOOK = 7 }; // one instant in seven is evaluated

typedef struct lasting {
    double energy, late;    // largest change of the energy, and of its mean over the last tenth
    double linear, angular; // largest changes of the momenta
    double gap;             // largest violation, in radians or relative to the robot's length
    double size, momentum;  // largest kinetic energy; largest momentum
    double way;             // largest change of a coordinate: the robot does move
} lasting;

static double energy_of(const closed_robot *c, const snw_state *s, const snw_work *w) {
    return snw_kinetic_energy(c->m, w) + snw_elastic_energy(c->m, s) +
           snw_gravity_energy(c->m, c->in, w);
}

static lasting go(closed_robot *c, double h) {
    const snw_model *m = c->m;
    const snw_step_desc step = {.scheme = SNW_SCHEME_CONSERVING, .step = h};
    snw_integrator it = {0};
    snw_error err = {0};
    if (snw_integrator_open(m, &step, 0, &it, &err) != SNW_OK) fail_msg("%s", err.text);
    if (it.start(it.self, c->s, &err) != SNW_OK) fail_msg("%s", err.text);
    const snw_work *w = it.work_at(it.self);
    const double first = energy_of(c, it.state(it.self), w);
    const snw_wrench before = snw_momentum(m, w);
    lasting o = {0};
    double sum = 0;
    for (int i = 1; i <= STEPS; i++) {
        snw_stats took = {0};
        if (it.advance(it.self, h * i, INFINITY, &took, &err) != SNW_OK) fail_msg("%s", err.text);
        if (i % LOOK) continue;
        const snw_state *s = it.state(it.self);
        w = it.work_at(it.self);
        const double change = energy_of(c, s, w) - first;
        const snw_wrench P = snw_momentum(m, w);
        o.energy = fmax(o.energy, fabs(change));
        if (i > STEPS - STEPS / 10) sum += change;
        o.linear = fmax(o.linear, snw_norm(snw_sub(P.f, before.f)));
        o.angular = fmax(o.angular, snw_norm(snw_sub(P.m, before.m)));
        o.size = fmax(o.size, snw_kinetic_energy(m, w));
        o.momentum = fmax(o.momentum, fmax(snw_norm(P.f), snw_norm(P.m)));
        for (int k = 0; k < m->nconstraint; k++) {
            o.gap = fmax(o.gap, fabs(w->violation[k]) / snw_constraint_at(m, w, k).size);
        }
        for (int k = 0; k < m->nq; k++) o.way = fmax(o.way, fabs(s->q[k] - c->s->q[k]));
    }
    o.late = fabs(sum) * LOOK / (0.1 * STEPS);
    it.close(it.self);
    return o;
}

static void check(const char *name, double h, bool floats, const char *text) {
    closed_robot c;
    closed_robot_open(&c, text);
    const lasting o = go(&c, h);
    closed_robot_close(&c);
    printf("%-12s energy %.1e, late %.1e of %.1e J; momenta %.1e %.1e; gap %.1e; way %.1e\n", name,
           o.energy, o.late, o.size, o.linear, o.angular, o.gap, o.way);
    // the error at an instant is bounded by Newton's tolerance, 1e-10, and does not accumulate: its
    // mean over the last tenth is much smaller
    assert_true(o.energy <= 1e-10 * o.size && o.late <= 1e-12 * o.size);
    assert_true(o.gap <= 1e-10);
    assert_true(o.way > 0.3); // the robot does move
    if (!floats) return;
    // Newton's tolerance again. The robot flies away, so that the rounding of the angular momentum
    // about the origin grows with the distance
    assert_true(o.linear <= 1e-10 * o.momentum);
    assert_true(o.angular <= 1e-10 * o.momentum * fmax(1, o.way));
}

// A pendulum, a rod and a spherical joint.
static void trees_keep_their_energy(void **state) {
    (void)state;
    check("tree", 2e-3, false,
          "sinew: 1\n"
          "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
          "robot:\n"
          "  arm: {on: world, joint: revolute, axis: y, rod: {length: 0.4, section: {circle: "
          "{radius: 8 mm}}, material: rubber, nodes: 2, magnus: 2, strain: {bend_y: legendre 1, "
          "bend_z: "
          "legendre 1}}}\n"
          "  bob: {on: arm, joint: spherical, body: {mass: 0.1, com: [0.1, 0, 0.02], inertia: "
          "[1e-4, 2e-4, 2e-4]}}\n"
          "initial: {bob: {rate: [1, 2, 3]}}\n");
}

// A hull with an arm and a bob, without external forces.
static void floating_trees_keep_their_momenta(void **state) {
    (void)state;
    check("free tree", 2e-3, true,
          "sinew: 1\n"
          "gravity: 0\n"
          "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
          "robot:\n"
          "  hull: {on: world, joint: free, body: {mass: 0.3, inertia: [1e-3, 2e-3, 2e-3]}}\n"
          "  arm: {on: hull, rod: {length: 0.4, section: {circle: {radius: 8 mm}}, material: "
          "rubber, nodes: 2, magnus: 2, strain: {bend_y: legendre 1, bend_z: legendre 1}}}\n"
          "  bob: {on: arm, joint: revolute, axis: [1, 1, 0], body: {mass: 0.1, com: [0.1, 0, "
          "0.02], inertia: [1e-4, 2e-4, 2e-4]}}\n"
          "initial: {hull: {twist: [2, 3, 4, 0.1, 0.2, 0.3]}, bob: {rate: 5}}\n");
}

static void four_bars_keep_their_energy(void **state) {
    (void)state;
    check("four-bar", 2e-3, false,
          "sinew: 1\n"
          "gravity: [0, -9.81, 0]\n"
          "robot:\n"
          "  crank: {on: world, joint: revolute, body: {mass: 1, com: [0.1, 0, 0], inertia: "
          "[1e-3, 1e-3, 2e-3]}}\n"
          "  coupler: {on: crank, pose: {xyz: [0.2, 0, 0]}, joint: revolute, body: {mass: 2, "
          "com: [0.25, 0.05, 0], inertia: [1e-2, 1e-2, 2e-2]}}\n"
          "  rocker: {on: world, pose: {xyz: [0.45, 0, 0]}, joint: revolute, body: {mass: 1.5, "
          "com: [0.15, 0, 0], inertia: [5e-3, 5e-3, 1e-2]}}\n"
          "sites: {a: {on: coupler, pose: {xyz: [0.5, 0, 0]}}, b: {on: rocker, pose: {xyz: "
          "[0.3, 0, 0]}}}\n"
          "loops: {pin: {join: [a, b], as: revolute}}\n"
          "initial: {crank: {position: 0.7, rate: 3}}\n");
}

static void limbs_in_a_loop_keep_their_energy(void **state) {
    (void)state;
    check(
        "limbs", 2e-3, false,
        "sinew: 1\n"
        "gravity: [0, -9.81, 0]\n"
        "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"
        "robot:\n"
        "  limb(k=1..2): {on: world, pose: {xyz: [0.3*(k - 1), 0, 0]}, joint: revolute, rod: "
        "{length: 0.5, section: {circle: {radius: 15 mm}}, material: rubber, nodes: 2, magnus: 2, "
        "strain: {bend_z: legendre 1}}}\n"
        "  plate: {on: limb(1), body: {mass: 0.1, inertia: [5e-4, 5e-4, 1e-3]}}\n"
        "loops: {pin: {join: [plate, limb(2).tip], as: revolute}}\n"
        "initial: {limb(1): {position: 1.2, rate: 1}, limb(2): 1.9}\n");
}

// A hull, two rods and a bar between their tips, without external forces.
static void a_floating_frame_keeps_its_momenta(void **state) {
    (void)state;
    check("frame", 4e-3, true,
          "sinew: 1\n"
          "gravity: 0\n"
          "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
          "robot:\n"
          "  hull: {on: world, joint: free, body: {mass: 0.3, inertia: [1e-3, 2e-3, 2e-3]}}\n"
          "  side(k=1..2): {on: hull, pose: {xyz: [0, 0.1*(3 - 2*k), 0]}, rod: {length: 0.4, "
          "section: {circle: {radius: 8 mm}}, material: rubber, nodes: 2, magnus: 2, strain: "
          "{bend_z: "
          "legendre 1}}}\n"
          "  bar: {on: side(1), joint: revolute, body: {mass: 0.1, com: [0, -0.1, 0], inertia: "
          "[1e-4, 1e-4, 1e-4]}}\n"
          "sites: {end: {on: bar, pose: {xyz: [0, -0.2, 0]}}}\n"
          "loops: {pin: {join: [end, side(2).tip], as: revolute}}\n"
          "initial: {hull: {twist: [2, 3, 4, 0.1, 0.2, 0.3]}}\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_keep_their_energy),
        cmocka_unit_test(floating_trees_keep_their_momenta),
        cmocka_unit_test(four_bars_keep_their_energy),
        cmocka_unit_test(limbs_in_a_loop_keep_their_energy),
        cmocka_unit_test(a_floating_frame_keeps_its_momenta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
