// SPDX-License-Identifier: MIT
//
// Gauss collocation: symmetric in time, no energy drift, prescribed motion at the order of the
// scheme, refused options. Its order on rods and trees: test_schemes.c, test_trees.c.
#include "executed.h"
#include "integrate/integrator.h"
#include "random_rod.h"

#include "near.h"

#include <stdio.h>
#include <string.h>

static void open_integrator(const snw_model *m, snw_scheme_kind method, double h, double tolerance,
                            snw_integrator *it) {
    const snw_step_desc step = {.scheme = method, .step = h, .tolerance = tolerance};
    snw_error err = {0};
    if (snw_integrator_open(m, &step, 0, it, &err) != SNW_OK) fail_msg("%s", err.text);
}

static void go(const snw_integrator *it, double t) {
    snw_stats took = {0};
    snw_error err = {0};
    if (it->advance(it->self, t, INFINITY, &took, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_true(took.increments == 1);
}

// A soft rod that bends in both planes and twists, or in one plane with one function, under its
// weight, moving; no dissipation.
static snw_model *soft_rod(robot *r, bool planar) {
    robot_init(r, 0.5, 0.02);
    r->material.young = number(r, 2e4);
    robot_strain(r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, planar ? 1 : 2);
    if (!planar) robot_strain(r, 0, SNW_TWIST, SNW_BASIS_LEGENDRE, 1);
    if (!planar) robot_strain(r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 2);
    r->link[0].rod.nodes = 6;
    r->desc.gravity[2] = number(r, -2);
    snw_model *m = NULL;
    snw_error err = {0};
    if (snw_model_compile(&r->desc, &m, &err) != SNW_OK) fail_msg("%s", err.text);
    return m;
}

static snw_state *moving(const snw_model *m) {
    snw_state *s = NULL;
    assert_int_equal(snw_state_create(m, &s), SNW_OK);
    for (int i = 0; i < m->nv; i++) s->v[i] = 0.5 * cos(1.7 * i);
    return s;
}

// Forward, velocities reversed, and back: the steps retrace those of the forward motion, including
// their errors.
static void a_reversed_motion_returns_to_its_start(void **state) {
    (void)state;
    robot r;
    snw_model *m = soft_rod(&r, false);
    for (int method = SNW_SCHEME_GAUSS4; method <= SNW_SCHEME_GAUSS8; method++) {
        snw_state *s = moving(m), *turned = moving(m);
        snw_integrator it;
        snw_error err = {0};
        open_integrator(m, (snw_scheme_kind)method, 0.02, 1e-13, &it);
        assert_int_equal(it.start(it.self, s, &err), SNW_OK);
        for (int i = 1; i <= 20; i++) go(&it, 0.02 * i);
        snw_state_copy(m, it.state(it.self), turned);
        for (int i = 0; i < m->nv; i++) turned->v[i] = -turned->v[i];
        turned->t = 0;
        double far = 0, miss = 0;
        for (int i = 0; i < m->nv; i++) far = fmax(far, fabs(turned->q[i] - s->q[i]));
        assert_int_equal(it.start(it.self, turned, &err), SNW_OK);
        for (int i = 1; i <= 20; i++) go(&it, 0.02 * i);
        const snw_state *back = it.state(it.self);
        for (int i = 0; i < m->nv; i++) {
            miss = fmax(miss, fabs(back->q[i] - s->q[i]));
            miss = fmax(miss, fabs(back->v[i] + s->v[i]));
        }
        printf("%s: %.1e away and back to %.1e\n", snw_scheme_table[method].name, far, miss);
        assert_true(far > 0.1);
        assert_true(miss <
                    1e-9); // Newton's tolerance, forty times; the error of the motion is far larger
        it.close(it.self);
        snw_state_destroy(s);
        snw_state_destroy(turned);
    }
    snw_model_destroy(m);
    robot_free(&r);
}

// With one coordinate the motion is periodic; symmetric schemes then have an energy error that
// oscillates without drift: over 5000 steps it is that over the first 500.
static void energy_does_not_drift(void **state) {
    (void)state;
    robot r;
    snw_model *m = soft_rod(&r, true);
    snw_state *s = moving(m);
    snw_integrator it;
    snw_error err = {0};
    open_integrator(m, SNW_SCHEME_GAUSS4, 0.01, 1e-11, &it);
    assert_int_equal(it.start(it.self, s, &err), SNW_OK);
    double first = 0, early = 0, late = 0;
    for (int i = 0; i <= 5000; i++) {
        if (i > 0) go(&it, 0.01 * i);
        const snw_work *w = it.work_at(it.self);
        const double e = snw_kinetic_energy(m, w) + snw_elastic_energy(m, it.state(it.self)) +
                         snw_gravity_energy(m, it.inputs(it.self), w);
        if (i == 0) first = e;
        double *worst = i <= 500 ? &early : &late;
        *worst = fmax(*worst, fabs(e - first));
    }
    printf("energy: %.2e J in 500 steps, %.2e J in 5000\n", early, late);
    assert_true(early > 1e-12 && late < 1.1 * early);
    it.close(it.self);
    snw_state_destroy(s);
    snw_model_destroy(m);
    robot_free(&r);
}

// A revolute joint with a prescribed angle and a rod on it, a base with prescribed oscillation, a
// prescribed strain: motion, effort of the joint and the work of all of them converge at the order
// of the scheme.
static void given_motion_keeps_the_order(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\ngravity: [0, 0, -3]\n"
        "materials: {gel: {young: 20 kPa, poisson: 0.5, density: 1000, damping: 5 ms}}\n"
        "robot:\n"
        "  base: {on: world, pose: {xyz: [0.05*sin(5*t), 0, 0]}, joint: revolute, axis: y,\n"
        "    body: {mass: 1, inertia: [1e-3, 1e-3, 1e-3]}}\n"
        "  arm: {on: base, rod: {length: 0.5, section: {circle: {radius: 20 mm}}, material: gel,\n"
        "    nodes: 6, strain: {bend_y: legendre 2, bend_z: legendre 2, twist: 0.3*sin(3*t)}}}\n"
        "actuators: {motor: {joint: base, position: 0.4*sin(4*t)}}\n"
        "study: [dynamic: {for: 0.4 s, %s}]\n"
        "probes: {tip: {position: arm.tip}, angle: {angle: base}, effort: {effort: motor}, "
        "e: energy}\n";
    static const struct {
        const char *keys;
        int order;
        double step;
    } ways[] = {{"scheme: gauss4, tolerance: 1e-13, step: %g", 4, 0.02},
                {"scheme: gauss6, tolerance: 1e-13, step: %g", 6, 0.04},
                {"scheme: radau5, tolerance: 1e-13, step: %g", 5, 0.04}};
    enum { NCOLUMN = 5, BALANCE = 11 }; // tip, angle, effort
    char keys[100], whole[2000];
    outcome o;
    (void)snprintf(whole, sizeof whole, text, "scheme: adaptive, tolerance: 1e-12");
    execute_ok(whole, &o);
    double want[NCOLUMN];
    for (int c = 0; c < NCOLUMN; c++) want[c] = last(&o, c);
    snw_series_clear(&o.series);
    for (int i = 0; i < 2; i++) {
        double error[2] = {0}, left[2];
        for (int k = 0; k < 2; k++) {
            (void)snprintf(keys, sizeof keys, ways[i].keys, ways[i].step / (k + 1));
            (void)snprintf(whole, sizeof whole, text, keys);
            execute_ok(whole, &o);
            for (int c = 0; c < NCOLUMN; c++)
                error[k] = fmax(error[k], fabs(last(&o, c) - want[c]));
            assert_near(last(&o, 3), 0.4 * sin(1.6), 1e-14);
            left[k] = fabs(last(&o, BALANCE));
            snw_series_clear(&o.series);
        }
        const double slope = log2(error[0] / error[1]);
        printf("order %d: %.2e %.2e, slope %.2f; balance %.1e %.1e\n", ways[i].order, error[0],
               error[1], slope, left[0], left[1]);
        assert_true(fabs(slope - ways[i].order) < 0.1 * ways[i].order);
        assert_true(left[1] < left[0] / (1 << (ways[i].order - 1)));
    }
}

// A steel rod pulled by a winch whose rate jumps within a step, which excites motions far faster
// than the steps. The initial guess of a step continues the displacements, not the accelerations at
// the end of the last step, and no step is halved.
static void a_corner_of_a_law_costs_no_halved_steps(void **state) {
    (void)state;
    static const char *const ways[] = {"scheme: generalized-alpha, step: 1 ms",
                                       "scheme: gauss4, step: 5 ms", "scheme: gauss6, step: 5 ms"};
    double tip = 0, pull = 0;
    for (int i = 0; i < 3; i++) {
        char text[1500];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "gravity: [-9.81, 0, 0]\n"
            "materials: {steel: {young: 207 GPa, shear: 80 GPa, density: 33253}}\n"
            "robot:\n"
            "  arm:\n"
            "    on: world\n"
            "    pose: {x: z, y: x}\n"
            "    rod: {length: 0.7144 m, section: {circle: {diameter: 1.35 mm}, damping: {twist: "
            "5e-4, bend_y: 5e-4, bend_z: 5e-4}}, material: steel, strain: cosserat legendre 8, "
            "nodes: 20}\n"
            "actuators: {pull: {tendon: {along: arm, at: [0, 15 mm, 0], discs: 15.1 mm, extra: "
            "51.8 mm, compliance: 1e-4 1/N}, shortening: \"25 mm/(1 s)*(t - 12 ms + sqrt((t - 12 "
            "ms)^2))\"}}\n"
            "study: [static: {}, dynamic: {for: 0.15 s, %s}]\n"
            "probes: {tip: {position: arm.tip}, T: {tension: pull}}\n",
            ways[i]);
        execute_ok(text, &o);
        if (i == 0) tip = last(&o, 0), pull = last(&o, 3);
        assert_near(last(&o, 0), tip, 1e-3);
        assert_near(last(&o, 3), pull, 0.05 * pull);
        if (i > 0) assert_true(o.totals.increments <= 8 + 30 + 2);
        if (i > 0) assert_true(o.totals.iterations < 30 * 20);
        snw_series_clear(&o.series);
    }
}

static void loops_are_refused(void **state) {
    (void)state;
    refuses("sinew: 1\n"
            "robot:\n"
            "  a: {on: world, joint: revolute, axis: y, body: {mass: 1, inertia: [1, 1, 1]}}\n"
            "  b: {on: world, pose: {xyz: [1, 0, 0]}, joint: revolute, axis: y, body: {mass: 1, "
            "inertia: [1, 1, 1]}}\n"
            "  c: {on: a, pose: {xyz: [0, 0, 1]}, joint: revolute, axis: y, body: {mass: 1, "
            "inertia: [1, 1, 1]}}\n"
            "sites: {p: {on: c, pose: {xyz: [1, 0, 0]}}, q: {on: b, pose: {xyz: [0, 0, 1]}}}\n"
            "loops: {pin: {join: [p, q], as: spherical}}\n"
            "study: [dynamic: {for: 1 s, step: 10 ms, scheme: gauss4}]\n",
            "does not support loops and given lengths or volumes; use generalized-alpha");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reversed_motion_returns_to_its_start),
        cmocka_unit_test(energy_does_not_drift),
        cmocka_unit_test(given_motion_keeps_the_order),
        cmocka_unit_test(a_corner_of_a_law_costs_no_halved_steps),
        cmocka_unit_test(loops_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
