// SPDX-License-Identifier: MIT
//
// Springs, cables, dampers and bushings between sites, and stops of joints: derivatives of their
// forces, momentum, energy, motions with closed forms in every scheme.
#include "dynamics/force_element.h"
#include "dynamics/stop.h"
#include "random_tree.h"
#include "robot_texts.h"
#include "setting.h"

#include <stdio.h>

// ---- derivatives --------------------------------------------------------------------------------

// Elements of every kind between links, along rods and to the world, at rest and moving there; the
// onsets of cables and stops are so wide that differences stay within.
static const char robot_text[] = SOFT_TREE
    "  elbow: {on: side.tip, joint: planar, limits: [[-2, 3], [-1, 5], [-90 deg, 60 deg]], "
    "stop: {stiffness: [30, 50, 4], damping: [0.1, 0.05, 0.2], smooth: [4.9, 5.9, 2.5]}, "
    "body: {mass: 0.5, com: [0.1, 0, 0.02]}}\n"
    "  slider: {on: lower.tip, joint: cylindrical, body: {mass: 0.3}}\n"
    "  hip: {on: base, pose: {rpy: [0.3, 0.2, 0]}, joint: spherical, limits: 60 deg, stop: "
    "{stiffness: 5, damping: 0.1, smooth: 59 deg}, body: {mass: 0.4, inertia: [0.01, 0.02, "
    "0.03]}}\n"
    "  wrist: {on: elbow, joint: spherical, stiffness: [1, 2, 4], damping: [0.1, 0.2, 0.05], rest: "
    "{rpy: [0.2, 0, 0.1]}, body: {mass: 0.2, inertia: [0.01, 0.02, 0.03]}}\n"
    "  loose: {on: base, joint: free, stiffness: [1, 2, 4, 30, 20, 10], damping: [0.1, 0, 0, 1, 2, "
    "3], rest: {xyz: [0.1, 0, 0.2], rpy: [0.2, 0, 0.1]}, body: {mass: 0.2, inertia: [0.01, 0.02, "
    "0.03]}}\n"
    "sites: {hook: {on: base, pose: {xyz: [0.1, 0.2, -0.1], rpy: [0.3, 0.2, 0.1]}}}\n"
    "springs:\n"
    "  inner: {spring: [upper@30%%, lower@70%%], rest: 0.2, stiffness: 40, damping: 3}\n"
    "  law: {spring: [hook, side.tip], rest: 0.3, force: 20 N*(x/L) + 7 N*(x/L)^3, damping: 1}\n"
    "  outer: {spring: [{xyz: [1, 2, 3]}, elbow], rest: 0.1, stiffness: 30}\n"
    "  driven: {spring: [{xyz: [sin(3*t), 1, 2*t], rpy: [t, 0, 0]}, lower.tip], rest: 0, "
    "stiffness: 11, damping: 2}\n"
    "  stay: {cable: [hook, lower.tip], rest: 0.5, stiffness: 60, damping: 0.05, smooth: 9}\n"
    "  taut: {cable: [world, side@50%%], rest: 0.01, stiffness: 60, damping: 0.07, smooth: 1 mm}\n"
    "  dash: {damper: [base, slider], damping: 4}\n"
    "  mount: {bushing: [hook, elbow], stiffness: [3, 5, 7, 30, 40, 50], damping: [0.2, 0.3, 0.4, "
    "3, 4, 5]}\n"
    "  ground: {bushing: [{xyz: [0.3*t, 0, 1], axis: z, angle: 0.5*t}, upper@80%%], stiffness: [1, "
    "2, 3, 40, 50, 60], damping: [0.1, 0, 0.3, 0, 2, 1]}\n"
    "  beam: {bushing: [hip, slider], stiffness: [[2, 0.1, 0, 0, 1, 2], [0.1, 3, 0.2, 0, 0, -4], "
    "[0, 0.2, 4, 0, 5, 0], [0, 0, 0, 40, 3, 0], [1, 0, 5, 3, 50, 0], [2, -4, 0, 0, 0, 60]]}\n";

static void robot_open(setting *s, dice *d) {
    char text[5000];
    (void)snprintf(text, sizeof text, robot_text);
    setting_random(s, text, d);
    snw_residual(s->g.m, s->g.in, s->g.s, false, s->g.w);
}

static void elements_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {61};
    int cones = 0; // spherical joints on the rim of their cone
    for (int k = 0; k < 4; k++) {
        setting s;
        robot_open(&s, &d);
        for (int i = 0; i < s.g.m->nforce_element; i++) assert_true(s.g.w->force_element[i].acts);
        for (int i = 0; i < s.g.m->nstop; i++)
            cones += s.g.w->stop[i].across > 0 && s.g.w->stop[i].force > 0;
        rig_check(&s.g);
        setting_close(&s);
    }
    assert_true(cones > 0);
}

static void stops_push(void **state) {
    (void)state;
    dice d = {62};
    setting s;
    robot_open(&s, &d);
    assert_int_equal(s.g.m->nstop, 4);
    int pushing = 0;
    for (int k = 0; k < 4; k++) pushing += s.g.w->stop[k].force > 0;
    assert_true(pushing > 0);
    setting_close(&s);
}

// Hard stops in equilibria: forces less a stiffness times the gap, with an onset so wide that they
// act, and given forces of the upper limits.
static void hard_stops_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {64};
    int pushing = 0;
    for (int k = 0; k < 4; k++) {
        setting s;
        setting_random(
            &s,
            "sinew: 1\nrobot:\n"
            "  base: {on: world, joint: free, body: {mass: 1, inertia: [0.1, 0.1, 0.1]}}\n"
            "  elbow: {on: base, joint: planar, limits: [[-2, 3], [-1, free], [-90 deg, 60 deg]], "
            "stop: {hard: true}, body: {mass: 0.5, com: [0.1, 0, 0.02], inertia: [0.01, 0.01, "
            "0.01]}}\n"
            "  hip: {on: elbow, pose: {rpy: [0.3, 0.2, 0]}, joint: spherical, limits: 60 deg, "
            "stop: "
            "{hard: true}, body: {mass: 0.4, inertia: [0.01, 0.02, 0.03]}}\n",
            &d);
        s.g.w->hard_stiffness = 40;
        s.g.w->hard_smooth = 9;
        for (int i = 0; i < s.g.m->nstop; i++) s.g.w->hard_stop[2 * i + 1] = i % 2 ? 3 : 0;
        snw_residual(s.g.m, s.g.in, s.g.s, true, s.g.w);
        for (int i = 0; i < s.g.m->nstop; i++) pushing += s.g.w->stop[i].elastic_force > 0;
        rig_check_stiffness(&s.g);
        setting_close(&s);
    }
    assert_true(pushing > 8);
}

static void statics_have_an_exact_symmetric_stiffness(void **state) {
    (void)state;
    dice d = {63};
    setting s;
    robot_open(&s, &d);
    rig *g = &s.g;
    rig_check_stiffness(g);
    rig_check_energy(g);
    setting_close(&s);
}

// a spring without rest length may have no length: force k w, stiffness k in all directions
static void a_spring_without_length_is_regular(void **state) {
    (void)state;
    setting s;
    setting_open(&s, "sinew: 1\nrobot: {bob: {on: world, joint: free, body: {mass: 1}}}\n"
                     "springs: {knot: {spring: [world, bob], rest: 0, stiffness: 5}}\n");
    double T[36];
    snw_inputs_at(s.g.m, 0, s.g.in);
    snw_residual(s.g.m, s.g.in, s.g.s, true, s.g.w);
    snw_tangent_pass(s.g.m, NULL, s.g.w);
    snw_tangent_assemble(s.g.m, s.g.in, 1, 0, 0, s.g.w, T);
    for (int i = 3; i < 6; i++) assert_near(T[7 * i], 5, 0);
    setting_close(&s);
}

#ifndef SNW_NUMBERS // tests without derivatives

// ---- momentum and energy ------------------------------------------------------------------------

// elements between links have no resultant on the robot: forces on its free base vanish
static void elements_within_the_robot_keep_its_momentum(void **state) {
    (void)state;
    dice d = {64};
    static const char text[] = SOFT_TREE
        "springs:\n"
        "  inner: {spring: [upper@30%%, lower@70%%], rest: 0.2, stiffness: 40, damping: 3}\n"
        "  stay: {cable: [base, lower.tip], rest: 0.01, stiffness: 60, damping: 0.05}\n"
        "  dash: {damper: [base, side.tip], damping: 4}\n"
        "  mount: {bushing: [lower@50%%, side.tip], stiffness: [3, 5, 7, 30, 40, 50], damping: "
        "[0.2, 0.3, 0.4, 3, 4, 5]}\n";
    char made[4000];
    (void)snprintf(made, sizeof made, text);
    for (int k = 0; k < 4; k++) {
        setting s;
        setting_random(&s, made, &d);
        const rig *g = &s.g;
        double with[6];
        snw_residual(g->m, g->in, g->s, false, g->w);
        for (int i = 0; i < 6; i++) with[i] = g->w->r[i];
        const double size = snw_norm(g->w->force_element[3].on[1].f);
        assert_true(size > 0.1);
        g->in->inertia_only = true;
        snw_residual(g->m, g->in, g->s, false, g->w);
        for (int i = 0; i < 6; i++) assert_near(g->w->r[i] - with[i], 0, 1e-11 * (size + 1));
        setting_close(&s);
    }
}

// work of the forces on moving links and ends = stored energy + heat, and the heat is never
// negative
static void power_is_stored_or_heat(void **state) {
    (void)state;
    dice d = {65};
    for (int k = 0; k < 6; k++) {
        setting s;
        robot_open(&s, &d);
        const rig *g = &s.g;
        double power = 0;
        for (int i = 0; i < g->m->nforce_element; i++) {
            const snw_force_element_work *at = &g->w->force_element[i];
            for (int e = 0; e < 2; e++)
                power += snw_power(at->on[e], g->w->V[g->m->force_element[i].end[e]]);
        }
        const double rate = snw_force_elements_energy_rate(g->m, g->w),
                     heat = snw_force_elements_heat(g->m, g->w);
        assert_near(power + rate + heat, 0, 1e-12 * (1 + fabs(rate) + heat));
        assert_true(heat >= 0 && snw_stops_heat(g->m, g->w) >= 0);
        setting_close(&s);
    }
}

// ---- motions ------------------------------------------------------------------------------------

// A mass of 2 kg on a rail between two springs of 100 and 60 N/m, with a damper of 3 N s/m.
static const char oscillator_text[] =
    "sinew: 1\ngravity: 0\nrobot: {car: {on: world, joint: prismatic, axis: x, body: {mass: 2}}}\n"
    "springs: {left: {spring: [{xyz: [-0.5, 0, 0]}, car], rest: 0.5, stiffness: 100},\n"
    "          right: {spring: [car, {xyz: [0.5, 0, 0]}], rest: 0.5, stiffness: 60},\n"
    "          dash: {damper: [{xyz: [-0.5, 0, 0]}, car], damping: 3}}\n"
    "initial: {car: 0.1}\nprobes: {x: {value: car}, e: energy}\n"
    "study: [dynamic: {for: 1 s, step: %s, scheme: %s}]\n";

// every scheme shows the damped oscillation to its order, and closes its energy account
static void every_scheme_moves_a_mass_between_springs(void **state) {
    (void)state;
    const double w0 = sqrt(160 / 2.), z = 3 / (2 * 2 * w0), wd = w0 * sqrt(1 - z * z);
    const double want = 0.1 * exp(-z * w0) * (cos(wd) + z / sqrt(1 - z * z) * sin(wd));
    for (int k = 0; k < SNW_SCHEME_COUNT; k++) {
        if (!(snw_scheme_table[k].works & SNW_SCHEME_ON_STRAIN)) continue;
        char text[2000];
        outcome o;
        const bool first = snw_scheme_table[k].order == 1;
        (void)snprintf(text, sizeof text, oscillator_text, first ? "0.02 ms" : "0.5 ms",
                       snw_scheme_table[k].name);
        execute_ok(text, &o);
        assert_near(last(&o, 0), want, first ? 5e-4 : 2e-6);
        // balance; steps by error have the tolerance of their integrator
        assert_near(last(&o, 1 + 6), 0, snw_scheme_table[k].chooses_steps ? 2e-5 : 1e-10);
        snw_series_clear(&o.series);
    }
}

// The conserving scheme keeps energy, momentum and moment of momentum of two bodies that a spring
// joins while they tumble.
static void the_conserving_scheme_keeps_what_a_spring_keeps(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\ngravity: 0\n"
               "robot:\n"
               "  a: {on: world, joint: free, body: {box: [0.1, 0.2, 0.3], mass: 1}}\n"
               "  b: {on: world, joint: free, pose: {xyz: [0.4, 0, 0]}, body: {box: [0.2, 0.1, "
               "0.1], mass: 2}}\n"
               "sites: {p: {on: a, pose: {xyz: [0.05, 0.1, 0]}}, q: {on: b, pose: {xyz: [-0.1, 0, "
               "0.05]}}}\n"
               "springs: {rope: {spring: [p, q], rest: 0.2, stiffness: 50}}\n"
               "initial: {a: {twist: [1, 2, 0.5, 0.3, 0, 0]}, b: {twist: [0, -1, 2, 0, 0.5, 0]}}\n"
               "probes: {e: energy, p: momentum}\n"
               "study: [dynamic: {for: 2 s, step: 10 ms, scheme: conserving}]\n",
               &o);
    const int end = o.series.nframe - 1;
    for (int c = 0; c < 6; c++) assert_near(shown(&o, end, 8 + c), shown(&o, 0, 8 + c), 1e-9);
    assert_near(shown(&o, end, 7), shown(&o, 0, 7), 2e-3 * shown(&o, 0, 7));
    snw_series_clear(&o.series);
}

// A pendulum bob held by a spring to the world: energy to rounding.
static void the_conserving_scheme_keeps_the_energy_of_a_held_body(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\n"
               "robot: {a: {on: world, joint: free, body: {box: [0.1, 0.2, 0.3], mass: 1}}}\n"
               "sites: {p: {on: a, pose: {xyz: [0.05, 0.1, 0]}}}\n"
               "springs: {rope: {spring: [{xyz: [0, 0, 1]}, p], rest: 0.9, stiffness: 500}}\n"
               "initial: {a: {twist: [1, 2, 0.5, 0.3, 0, 0]}}\n"
               "probes: {e: energy}\n"
               "study: [dynamic: {for: 2 s, step: 5 ms, scheme: conserving}]\n",
               &o);
    const int end = o.series.nframe - 1;
    assert_near(shown(&o, end, 7), shown(&o, 0, 7), 1e-8);
    snw_series_clear(&o.series);
}

// ---- impacts ------------------------------------------------------------------------------------

// A car runs into the stop of its rail at 1 m/s with the given ratio of speeds; steps longer than
// the contact never create energy, and the ratio is met.
static void a_stop_returns_the_ratio_of_speeds(void **state) {
    (void)state;
    const double ratio[] = {1, 0.8, 0.5, 0.2};
    const char *const schemes[] = {"generalized-alpha", "trapezoidal", "gauss4"};
    for (int k = 0; k < 4; k++) {
        for (int j = 0; j < 3; j++) {
            char text[2000];
            outcome o;
            (void)snprintf(
                text, sizeof text,
                "sinew: 1\ngravity: 0\nrobot: {car: {on: world, joint: prismatic, axis: x, body: "
                "{mass: 2}, limits: [-1, 0.1], stop: {stiffness: 2e5, restitution: {ratio: %g, "
                "speed: 1}, smooth: 1e-6}}}\n"
                "initial: {car: {rate: 1}}\nprobes: {v: {rate: car}, e: energy}\n"
                "study: [dynamic: {for: 0.3 s, step: %s, scheme: %s}]\n",
                ratio[k], j == 2 ? "0.05 ms" : "5 ms", schemes[j]);
            execute_ok(text, &o);
            assert_near(last(&o, 0), -ratio[k], 4e-3);
            for (int i = 0; i < o.series.nframe; i++)
                assert_true(shown(&o, i, 1 + 7) <= 1 * (1 + 6e-3));
            snw_series_clear(&o.series);
        }
    }
}

// the same for a cable that jerks a body back
static void a_cable_returns_the_ratio_of_speeds(void **state) {
    (void)state;
    const double ratio[] = {1, 0.7, 0.3};
    for (int k = 0; k < 3; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\nrobot: {car: {on: world, joint: prismatic, axis: x, "
                       "body: {mass: 2}}}\n"
                       "springs: {rope: {cable: [{xyz: [-1, 0, 0]}, car], rest: 1.1, stiffness: "
                       "2e5, restitution: {ratio: %g, speed: 1}, smooth: 1e-6}}\n"
                       "initial: {car: {rate: 1}}\nprobes: {v: {rate: car}, e: energy}\n"
                       "study: [dynamic: {for: 0.3 s, step: 5 ms}]\n",
                       ratio[k]);
        execute_ok(text, &o);
        assert_near(last(&o, 0), -ratio[k], 4e-3);
        for (int i = 0; i < o.series.nframe; i++)
            assert_true(shown(&o, i, 1 + 7) <= 1 * (1 + 6e-3));
        snw_series_clear(&o.series);
    }
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_have_exact_derivatives),
        cmocka_unit_test(stops_push),
        cmocka_unit_test(hard_stops_have_exact_derivatives),
        cmocka_unit_test(statics_have_an_exact_symmetric_stiffness),
        cmocka_unit_test(a_spring_without_length_is_regular),
#ifndef SNW_NUMBERS
        cmocka_unit_test(elements_within_the_robot_keep_its_momentum),
        cmocka_unit_test(power_is_stored_or_heat),
        cmocka_unit_test(every_scheme_moves_a_mass_between_springs),
        cmocka_unit_test(the_conserving_scheme_keeps_what_a_spring_keeps),
        cmocka_unit_test(the_conserving_scheme_keeps_the_energy_of_a_held_body),
        cmocka_unit_test(a_stop_returns_the_ratio_of_speeds),
        cmocka_unit_test(a_cable_returns_the_ratio_of_speeds),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
