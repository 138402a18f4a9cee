// SPDX-License-Identifier: MIT
//
// Strains prescribed as laws of x and t: the same motion as with coordinates driven to them,
// derivatives against differences, and the energy that the laws supply.
#include "random_rod.h"
#include "setting.h"
#ifndef SNW_NUMBERS
#include "study/probe.h"
#endif

#include <stdio.h>

#define LENGTH "0.6 m"

// An arm with prescribed bending and stretch and free twist, which carries another rod.
static const char robot_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "parameters: {a: 1.5*sin(3*t), b: 0.8*cos(2*t) - 0.3, c: 0.05*sin(4*t)}\n"
    "robot:\n"
    "  base: {on: world, joint: %s, body: {mass: 1, inertia: [0.1, 0.2, 0.3]}}\n"
    "  arm: {on: base, pose: {xyz: [0.1, 0, 0.1]}, rod: {length: " LENGTH ", section: {circle: "
    "{radius: 20 mm}}, material: rubber, magnus: %d, nodes: 9, strain: {twist: legendre 2, "
    "%s}}}\n"
    "  hand: {on: arm@70%%, pose: {xyz: [0, 0.05, 0]}, rod: {length: 0.3, section: {circle: "
    "{radius: 10 mm}}, material: rubber, strain: {bend_y: legendre 2}}}\n"
    "%s"
    "probes: {w: {wrench: arm@40%%}, s: {strain: arm@40%%}}\n";

#define GIVEN   "bend_z: a + b*x/L, stretch: c"
#define SPANNED "bend_z: monomial 2, stretch: monomial 1"
#define DRIVEN  "actuators: {shape: {rod: arm, position: [free, free, a, b, c]}}\n"

static void arm_open(setting *s, const char *joint, int magnus, bool driven) {
    char text[3000];
    (void)snprintf(text, sizeof text, robot_text, joint, magnus, driven ? SPANNED : GIVEN,
                   driven ? DRIVEN : "");
    setting_open(s, text);
}

#ifndef SNW_NUMBERS
// the configuration is projected, and the probes are evaluated
static void accelerate(rig *g, double t) {
    put_together(g, t);
    snw_residual(g->m, g->in, g->s, false, g->w);
    snw_observe(g->m, g->in, g->s, false, g->w);
}
#endif

static void given_strains_leave_exact_derivatives(void **state) {
    (void)state;
    dice d = {41};
    for (int k = 0; k < 6; k++) {
        setting s;
        arm_open(&s, k % 2 ? "free" : "revolute", 2 + 2 * (k / 2), false);
        state_random(s.g.m, &d, s.g.s);
        snw_inputs_at(s.g.m, s.g.s->t, s.g.in);
        assert_true(s.g.m->nfield > 0);
        rig_check(&s.g);
        setting_close(&s);
    }
}

#ifndef SNW_NUMBERS // studies

// The free coordinates move as if coordinates of the same shape were driven to the law, and the
// wrenches are the same; the drives also supply the stress power of the material of their
// coordinates.
static void given_strains_are_those_of_driven_coordinates(void **state) {
    (void)state;
    dice d = {42};
    // revolute, two of twist, three driven, two of the carried rod; prescribed strains have no
    // coordinates
    static const int same[5] = {0, 1, 2, 6, 7};
    for (int k = 0; k < 6; k++) {
        setting given, driven;
        arm_open(&given, "revolute", 2 + 2 * (k / 2), false);
        arm_open(&driven, "revolute", 2 + 2 * (k / 2), true);
        assert_int_equal(given.g.m->nv, 5);
        assert_int_equal(driven.g.m->nv, 8);
        for (int i = 0; i < 5; i++) {
            given.g.s->q[i] = driven.g.s->q[same[i]] = roll(&d, -1, 1);
            given.g.s->v[i] = roll(&d, -1, 1);
        }
        const double t = roll(&d, 0, 2);
        accelerate(&given.g, t);
        // the velocities of the free coordinates are kept, without the impact that a projection
        // would apply
        driven.g.s->t = t;
        snw_inputs_at(driven.g.m, t, driven.g.in);
        for (int i = 0; i < 5; i++) driven.g.s->v[same[i]] = given.g.s->v[i];
        for (int i = 0; i < 3; i++) {
            driven.g.s->q[3 + i] = driven.g.in->drive[i].v;
            driven.g.s->v[3 + i] = driven.g.in->drive[i].d;
        }
        accelerate(&driven.g, t);
        for (int i = 0; i < 5; i++) {
            const double a = given.g.s->a[i];
            assert_near(driven.g.s->a[same[i]], a, 1e-10 * (1 + fabs(a)));
        }
        double w[2][6], strain[2][6], power[2][2];
        const rig *rigs[2] = {&given.g, &driven.g};
        const snw_readings more = {0};
        for (int i = 0; i < 2; i++) {
            const rig *g = rigs[i];
            snw_probe_read(g->m, 0, g->in, g->s, g->w, &more, w[i]);
            snw_probe_read(g->m, 1, g->in, g->s, g->w, &more, strain[i]);
            snw_load_power(g->m, g->in, g->s, g->w, power[i]);
        }
        for (int i = 0; i < 6; i++) {
            assert_near(w[0][i], w[1][i], 1e-10 * (1 + fabs(w[1][i])));
            assert_near(strain[0][i], strain[1][i], 1e-13);
        }
        const snw_rod *rod = &driven.g.m->rod[0];
        double material = 0;
        for (int i = 2; i < 5; i++) {
            for (int j = 2; j < 5; j++) {
                material += driven.g.s->v[1 + i] * (rod->K[5 * i + j] * driven.g.s->q[1 + j] +
                                                    rod->D[5 * i + j] * driven.g.s->v[1 + j]);
            }
        }
        assert_near(power[0][1] + material, power[1][1], 1e-10 * (1 + fabs(power[1][1])));
        setting_close(&given);
        setting_close(&driven);
    }
}

// ---- studies ------------------------------------------------------------------------------------

// A free rod with a bending wave, without external forces: its momentum is constant, and the work
// of the wave is its energy.
static void a_wave_does_work_and_no_momentum(void **state) {
    (void)state;
    static const char *const schemes[] = {"scheme: adaptive, tolerance: 1e-10",
                                          "step: 2 ms, rho: 0.9"};
    static const double drift[] = {1e-9, 1e-4}; // tolerance; error in time
    for (int k = 0; k < 2; k++) {
        char text[1200];
        outcome o;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\n"
                       "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"
                       "robot: {eel: {on: world, joint: free, rod: {length: 1, section: {circle: "
                       "{radius: 20 mm}}, material: rubber, nodes: 20, strain: {bend_z: "
                       "\"3*sin(7*x - 5*t)*ramp(t, 0, 0.5)\"}}}}\n"
                       "study: [dynamic: {for: 1 s, %s}]\n"
                       "record: {every: 0.25 s}\n"
                       "probes: {m: momentum, e: energy, s: {strain: eel@50%%}}\n",
                       schemes[k]);
        execute_ok(text, &o);
        assert_true(last(&o, 6) > 1e-2); // kinetic
        for (int i = 0; i < 6; i++) assert_near(last(&o, i), 0, drift[k]);
        assert_near(last(&o, 12), 0, drift[k]); // balance
        assert_near(last(&o, 14 + SNW_BEND_Z), 3 * sin(3.5 - 5), 1e-12);
        snw_series_clear(&o.series);
    }
}

// A law that bends a rod against a tendon, with or without friction, and with a chamber also does
// work on them: the same motion by driven coordinates needs as much work, and the balance is zero.
static void laws_work_against_tendons_and_chambers(void **state) {
    (void)state;
    enum { ELASTIC = 1, WORK = 4, BALANCE = 6 };
    static const char text[] =
        "sinew: 1\n"
        "materials: {m: {young: 1 MPa, poisson: 0.45, density: 1070}}\n"
        "parameters: {a: 3*sin(5*t), b: 2*sin(4*t)}\n"
        "robot:\n"
        "  base: {on: world, joint: revolute, body: {mass: 0.2, inertia: [1e-3, 1e-3, 1e-3]}}\n"
        "  arm: {on: base, rod: {length: 0.3, section: {circle: {radius: 10 mm}}, material: m, "
        "strain: {bend_z: linear, %s}, nodes: 12}}\n"
        "actuators:\n"
        "  c: {tendon: {along: arm, at: [0, 3 mm, 8 mm], friction: %g}, effort: 2 + sin(7*t)}\n"
        "  p: {chamber: {along: arm, at: [0, -3 mm, -3 mm], area: 20 mm^2}, effort: 1e4 + "
        "1e4*sin(3*t)}\n%s"
        "probes: {e: energy}\n"
        "study: [dynamic: {for: 0.1 s, step: 1 ms, scheme: gauss6}]\n";
    for (int k = 0; k < 2; k++) {
        double work[2];
        for (int driven = 0; driven < 2; driven++) {
            char full[2000];
            outcome o;
            (void)snprintf(full, sizeof full, text,
                           driven ? "bend_y: monomial 2" : "bend_y: a + b*x/L", k * 0.4,
                           driven ? "  shape: {rod: arm, position: [a, b, free, free]}\n" : "");
            execute_ok(full, &o);
            // prescribed strains store no energy
            work[driven] = last(&o, WORK) - last(&o, ELASTIC);
            assert_near(last(&o, BALANCE), 0, 1e-9 * fabs(last(&o, WORK)));
            snw_series_clear(&o.series);
        }
        assert_near(work[0], work[1], 1e-9 * fabs(work[1]));
    }
}

// bent to a circle by a law, without any coordinate
static void a_given_circle_closes(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        "sinew: 1\ngravity: 0\n"
        "robot: {arm: {on: world, rod: {length: 2 m, section: {stiffness: {bend_z: 1}}, nodes: "
        "40, magnus: 6, strain: {bend_z: \"2*pi/L*t/(1 s)\"}}}}\n"
        "study: [static: {for: 1 s, step: 0.5 s}]\n"
        "probes: {tip: {position: arm.tip}}\n",
        &o);
    assert_near(shown(&o, 1, 0), 0, 1e-12);
    assert_near(shown(&o, 1, 1), 4 / M_PI, 1e-12); // half a circle
    for (int i = 0; i < 3; i++) assert_near(last(&o, i), 0, 1e-12);
    snw_series_clear(&o.series);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_strains_leave_exact_derivatives),
#ifndef SNW_NUMBERS
        cmocka_unit_test(given_strains_are_those_of_driven_coordinates),
        cmocka_unit_test(a_wave_does_work_and_no_momentum),
        cmocka_unit_test(laws_work_against_tendons_and_chambers),
        cmocka_unit_test(a_given_circle_closes),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
