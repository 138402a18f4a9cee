// SPDX-License-Identifier: MIT
//
// Robots with closed loops by the conserving scheme: a linkage that is equivalent to a pendulum,
// against small Runge-Kutta steps; a floating frame of rods, against the conservation of energy and
// momentum; an arm whose tip is driven, against its law.
#include "described.h"

#include "constraint/projection.h"
#include "dynamics/constraint.h"
#include "integrate/integrator_private.h"
#include "oracle/linear.h"
#include "sanitized.h"

#include <stdio.h>

typedef struct closed {
    snw_document *doc;
    snw_desc *desc;
    snw_model *m;
    snw_state *s;
    snw_inputs *in;
    snw_integrator mv;
} closed;

static void open(closed *c, const char *text) {
    snw_error err;
    if (describe(text, &c->doc, &c->desc, &err) != SNW_OK) fail_msg("%d: %s", err.line, err.text);
    if (snw_projection_compile(c->desc, &c->m, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_true(c->m->nconstraint > 0);
    assert_int_equal(snw_state_create(c->m, &c->s), SNW_OK);
    assert_int_equal(snw_inputs_create(c->m, &c->in), SNW_OK);
    snw_inputs_at(c->m, 0, c->in);
}

static void close(closed *c) {
    snw_state_destroy(c->s);
    snw_inputs_destroy(c->in);
    snw_model_destroy(c->m);
    release(c->doc, c->desc);
}

typedef struct drift {
    double energy, momentum, gap, rate; // largest: changes, violation and its rate
    double size;                        // kinetic energy
    double end[64];                     // final coordinates
} drift;

static double energy_of(const closed *c, const snw_state *s, const snw_work *w) {
    return snw_kinetic_energy(c->m, w) + snw_elastic_energy(c->m, s) +
           snw_gravity_energy(c->m, c->in, w);
}

static drift run(closed *c, double time, int n) {
    const snw_model *m = c->m;
    const snw_step_desc step = {.scheme = SNW_SCHEME_CONSERVING, .step = time / n};
    snw_error err = {0};
    assert_int_equal(snw_integrator_conserving(m, &step, &c->mv), SNW_OK);
    if (c->mv.start(c->mv.self, c->s, &err) != SNW_OK) fail_msg("%s", err.text);
    const snw_work *w = c->mv.work_at(c->mv.self);
    const double first = energy_of(c, c->s, w);
    const snw_wrench before = snw_momentum(m, w);
    drift worst = {0};
    for (int i = 1; i <= n; i++) {
        snw_stats took = {0};
        if (c->mv.advance(c->mv.self, time * i / n, INFINITY, &took, &err) != SNW_OK) {
            fail_msg("%s", err.text);
        }
        const snw_state *s = c->mv.state(c->mv.self);
        w = c->mv.work_at(c->mv.self);
        worst.energy = fmax(worst.energy, fabs(energy_of(c, s, w) - first));
        worst.size = fmax(worst.size, snw_kinetic_energy(m, w));
        const snw_wrench P = snw_momentum(m, w);
        for (int k = 0; k < 6; k++) {
            worst.momentum = fmax(worst.momentum, fabs(P.e[k] - before.e[k]));
        }
        double rate[16];
        snw_constraints_rates(m, c->mv.inputs(c->mv.self), s, w, rate, NULL);
        for (int k = 0; k < m->nconstraint; k++) {
            worst.gap = fmax(worst.gap, fabs(w->violation[k]));
            worst.rate = fmax(worst.rate, fabs(rate[k]));
        }
    }
    memcpy(worst.end, c->mv.state(c->mv.self)->q, (size_t)m->nq * sizeof *worst.end);
    c->mv.close(c->mv.self);
    return worst;
}

// Two cranks of 0.3 m and a bar between: (2 I + m1 a^2/2 + m2 a^2) angle'' = -(m1 + m2) g a
// sin(angle), by small Runge-Kutta steps.
static double pendulum(double angle, double time) {
    const double a = 0.3, m1 = 0.5, m2 = 2, I = 0.01, g = 9.81;
    const double k = (m1 + m2) * g * a / (2 * I + m1 * a * a / 2 + m2 * a * a);
    const int n = 20000;
    const double h = time / n;
    double v = 0;
    for (int i = 0; i < n; i++) {
        const double x1 = v, v1 = -k * sin(angle);
        const double x2 = v + h / 2 * v1, v2 = -k * sin(angle + h / 2 * x1);
        const double x3 = v + h / 2 * v2, v3 = -k * sin(angle + h / 2 * x2);
        const double x4 = v + h * v3, v4 = -k * sin(angle + h * x3);
        angle += h / 6 * (x1 + 2 * x2 + 2 * x3 + x4);
        v += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
    }
    return angle;
}

static const char linkage[] =
    "sinew: 1\n"
    "robot:\n"
    "  left: {on: world, joint: revolute, axis: y, body: {mass: 0.5, com: [0, 0, -0.15], inertia: "
    "[0.01, 0.01, 0.01]}}\n"
    "  right: {on: world, pose: {xyz: [0.5, 0, 0]}, joint: revolute, axis: y, body: {mass: 0.5, "
    "com: [0, 0, -0.15], inertia: [0.01, 0.01, 0.01]}}\n"
    "  bar: {on: left, pose: {xyz: [0, 0, -0.3]}, joint: revolute, axis: y, body: {mass: 2, com: "
    "[0.25, 0, 0], inertia: [0.02, 0.02, 0.02]}}\n"
    "sites: {one: {on: bar, pose: {xyz: [0.5, 0, 0]}}, other: {on: right, pose: {xyz: [0, 0, "
    "-0.3]}}}\n"
    "loops: {pin: {join: [one, other], as: revolute, axis: y}}\n"
    "initial: {left: 1, right: 1, bar: -1}\n";

static void a_parallelogram_swings_as_a_pendulum(void **state) {
    (void)state;
    closed c;
    open(&c, linkage);
    const double want = pendulum(1, 1);
    const drift a = run(&c, 1, 100), b = run(&c, 1, 200),
                far = run(&c, AMONG(5, 50), AMONG(500, 5000));
    const double slope = log2(fabs(a.end[0] - want) / fabs(b.end[0] - want));
    printf("linkage: error %.1e, slope %.3f; energy %.1e of %.1e, gap %.1e, its rate %.1e\n",
           b.end[0] - want, slope, far.energy, far.size, far.gap, far.rate);
    assert_true(fabs(slope - 2) < 0.1);
    assert_true(far.energy <= 1e-11 * far.size && far.gap <= 1e-11 && far.rate <= 1e-11);
    close(&c);
}

// A hull with two rods whose tips are joined by a bar; it rotates as a whole and deforms.
static const char frame[] =
    "sinew: 1\n"
    "gravity: 0\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
    "robot:\n"
    "  hull: {on: world, joint: free, body: {mass: 0.3, inertia: [1e-3, 2e-3, 2e-3]}}\n"
    "  left: {on: hull, pose: {xyz: [0, 0.1, 0]}, rod: {length: 0.4, section: {circle: {radius: 8 "
    "mm}}, material: rubber, strain: {twist: legendre 1, bend_y: legendre 2, bend_z: legendre "
    "3}}}\n"
    "  right: {on: hull, pose: {xyz: [0, -0.1, 0]}, rod: {length: 0.4, section: {circle: {radius: "
    "8 mm}}, material: rubber, strain: {twist: legendre 1, bend_y: legendre 2, bend_z: legendre "
    "3}}}\n"
    "  bar: {on: left, joint: spherical, body: {mass: 0.1, com: [0, -0.1, 0], inertia: [1e-4, "
    "1e-4, "
    "1e-4]}}\n"
    "sites: {end: {on: bar, pose: {xyz: [0, -0.2, 0]}}}\n"
    "loops: {ball: {join: [end, right.tip], as: spherical}}\n"
    "initial: {hull: {twist: [2, 3, 4, 0.1, 0.2, 0.3]}}\n";

static void a_floating_frame_of_rods_keeps_energy_and_momenta(void **state) {
    (void)state;
    closed c;
    open(&c, frame);
    const double until = AMONG(0.1, 0.4);
    const int n = AMONG(25, 100);
    const drift a = run(&c, until, n), b = run(&c, until, 2 * n), d = run(&c, until, 4 * n),
                far = run(&c, AMONG(0.2, 8), AMONG(50, 2000));
    const size_t nq = (size_t)c.m->nq;
    const double slope =
        log2(oracle_distance(nq, a.end, b.end) / oracle_distance(nq, b.end, d.end));
    printf("frame: slope %.3f; energy %.1e of %.1e, momenta %.1e, gap %.1e, its rate %.1e\n", slope,
           far.energy, far.size, far.momentum, far.gap, far.rate);
    assert_true(AMONG(true, fabs(slope - 2) < 0.15)); // not checked when the time is short
    assert_true(far.energy <= 1e-11 * far.size && far.momentum <= 1e-11);
    assert_true(far.gap <= 1e-11 && far.rate <= 1e-11);
    close(&c);
}

// The tip of a planar arm is driven along a path: no degree of freedom is left, position and
// velocity are those of the law.
static const char led[] =
    "sinew: 1\n"
    "robot:\n"
    "  upper: {on: world, joint: revolute, axis: y, body: {mass: 1, inertia: [0.01, 0.01, 0.01]}}\n"
    "  lower: {on: upper, pose: {xyz: [0.4, 0, 0]}, joint: revolute, axis: y, body: {mass: 1, "
    "inertia: [0.01, 0.01, 0.01]}}\n"
    "sites: {hand: {on: lower, pose: {xyz: [0.3, 0, 0]}}}\n"
    "loops: {leash: {join: [world, hand], as: spherical, pose: {xyz: [0.4 + 0.1*sin(3*t), 0, -0.3 "
    "+ "
    "0.05*sin(2*t)]}}}\n"
    "initial: {lower: 90 deg}\n";

static void a_loop_driven_by_a_law_follows_it(void **state) {
    (void)state;
    closed c;
    open(&c, led);
    const drift d = run(&c, 2, 100);
    printf("led: gap %.1e, its rate %.1e, energy %.1e\n", d.gap, d.rate, d.size);
    assert_true(d.gap <= 1e-11 && d.rate <= 1e-11 && d.size > 0.01);
    close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parallelogram_swings_as_a_pendulum),
        cmocka_unit_test(a_floating_frame_of_rods_keeps_energy_and_momenta),
        cmocka_unit_test(a_loop_driven_by_a_law_follows_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
