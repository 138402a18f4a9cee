// SPDX-License-Identifier: MIT
//
// Joints that mimic others and rotors in joints: derivatives, constraint rows, mass matrices and
// forward dynamics, and motions in closed form.
#include "dynamics/constraint.h"
#include "random_rod.h"
#include "row_rig.h"
#include "sanitized.h"
#include "setting.h"

#include <stdio.h>

// Rotors in joints of all spaces, a chain of gears with a slide and a screw, a differential.
static const char geared_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  base: {on: world, joint: planar, armature: [0.2, 0.3, 0.1], body: {mass: 1, inertia: [0.1, "
    "0.2, 0.3]}}\n"
    "  hip: {on: base, joint: revolute, axis: [1, 2, 2], armature: {inertia: 1e-3, gear: -20}, "
    "body: {mass: 0.5, com: [0.1, 0, 0.05], inertia: [0.01, 0.01, 0.01]}}\n"
    "  knee: {on: hip, pose: {xyz: [0.3, 0, 0]}, joint: revolute, axis: y, mimic: {joint: hip, "
    "ratio: -1.5, offset: 0.2}, rod: {length: 0.3, section: {circle: {radius: 20 mm}}, material: "
    "rubber, strain: {bend_y: legendre 2}}}\n"
    "  rack: {on: hip, joint: prismatic, axis: x, armature: {inertia: 1e-4, gear: 200 1/m}, mimic: "
    "{joint: knee, ratio: 4 cm}, body: {mass: 0.3}}\n"
    "  nut: {on: rack, joint: screw, pitch: 10 cm, mimic: {joint: rack, ratio: -7 1/m}, body: "
    "{mass: 0.2, com: [0, 0.1, 0], inertia: [1e-3, 1e-3, 1e-3]}}\n"
    "  sum: {on: base, joint: revolute, mimic: {joint: [hip, nut], ratio: [0.5, 2]}, body: {mass: "
    "0.2, com: [0, 0.1, 0], inertia: [1e-3, 1e-3, 1e-3]}}\n"
    "  ball: {on: knee.tip, joint: spherical, armature: 0.02, stiffness: 0.3 N*m, body: {mass: "
    "0.2, com: [0.02, 0.01, 0], inertia: [1e-3, 2e-3, 3e-3]}}\n";

static void gears_and_rotors_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {61};
    for (int k = 0; k < 4; k++) {
        setting s;
        setting_random(&s, geared_text, &d);
        assert_int_equal(s.g.m->nconstraint, 4);
        for (int i = 0; i < 4; i++) s.g.s->lambda[i] = roll(&d, -3, 3);
        rig_check(&s.g);
        rows_check(&s.g);
        setting_close(&s);
    }
}

#ifndef SNW_NUMBERS

// A motor on a shaft without mass that mimics two joints acts on both, by its ratios: at rest their
// springs bear 2 T and T.
static void a_shaft_on_two_joints_is_a_transmission(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\n"
               "gravity: 0\n"
               "robot:\n"
               "  a: {on: world, joint: revolute, stiffness: 0.5, body: {mass: 0.1}}\n"
               "  b: {on: a, pose: {xyz: [6 cm, 0, 0]}, joint: revolute, stiffness: 0.3, body: "
               "{mass: 0.1}}\n"
               "  shaft: {on: world, joint: revolute, mimic: {joint: [a, b], ratio: [2, 1]}}\n"
               "actuators: {motor: {joint: shaft, effort: 0.03 N*m}}\n"
               "study: [static: ]\n"
               "probes: {a: {angle: a}, b: {angle: b}, turned: {value: motor}}\n",
               &o);
    assert_near(last(&o, 0), 2 * 0.03 / 0.5, 1e-12);
    assert_near(last(&o, 1), 0.03 / 0.3, 1e-12);
    assert_near(last(&o, 2), 2 * 0.12 + 0.1, 1e-12);
    snw_series_clear(&o.series);
}

// An effort beyond its limit is the limit; J q'' = 1 N m then, and the run tells when.
static void efforts_stay_within_their_limits(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "gravity: 0\n"
        "robot: {a: {on: world, joint: revolute, body: {mass: 1, inertia: [0.1, 0.1, 0.1]}}}\n"
        "actuators: {m: {joint: a, %s}}\n"
        "study: [dynamic: {for: 0.2 s, step: 10 ms}]\n"
        "probes: {a: {angle: a}, m: {effort: m}}\n";
    static const struct {
        const char *key, *said;
        double angle, effort;
    } all[] = {
        {"effort: 5 N*m, effort_limit: 1 N*m", "at its limit of effort", 0.2, 1},
        {"effort: -5 N*m, effort_limit: 1", "at its limit of effort", -0.2, -1},
        {"effort: 1 N*m, effort_limit: 2 N*m, rate_limit: 3 rad/s", "", 0.2, 1},
        {"effort: 1 N*m, rate_limit: 1 rad/s", "faster than its limit of rate", 0.2, 1},
        {"position: 5*t^2/(1 s^2), effort_limit: 0.9", "more than its limit of effort", 0.2, 1}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        char model[800];
        outcome o;
        (void)snprintf(model, sizeof model, text, all[k].key);
        execute_ok(model, &o);
        assert_near(last(&o, 0), all[k].angle, 1e-9);
        assert_near(last(&o, 1), all[k].effort, 1e-9);
        assert_int_equal(o.warnings, all[k].said[0] != 0);
        if (!strstr(o.said, all[k].said)) fail_msg("%s", o.said);
        snw_series_clear(&o.series);
    }
    refuses("sinew: 1\nrobot: {a: {on: world, joint: revolute, body: {mass: 1}}}\n"
            "actuators: {m: {joint: a, effort: 1, effort_limit: -1}}\n",
            "must be positive");
}

static void impossible_gears_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *mimic, *why;
    } all[] = {{"{ratio: 2}", "needs the 'joint'"},
               {"{joint: b}", "cannot mimic itself"},
               {"{joint: [a, a], ratio: [1, 1]}", "given twice"},
               {"{joint: a, ratio: 0}", "must not be zero"},
               {"{joint: c}", "needs its 'ratio'"},
               {"{joint: d}", "joints with one coordinate"},
               {"{joint: e}", "'e'"}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        char text[800];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\nrobot:\n"
                       "  a: {on: world, joint: revolute, body: {mass: 1}}\n"
                       "  b: {on: world, joint: revolute, mimic: %s, body: {mass: 1}}\n"
                       "  c: {on: world, joint: prismatic, body: {mass: 1}}\n"
                       "  d: {on: world, joint: spherical, body: {mass: 1}}\n",
                       all[k].mimic);
        refuses(text, all[k].why);
    }
    refuses("sinew: 1\nrobot: {a: {on: world, joint: free, armature: 1, body: {mass: 1}}}\n",
            "'armature' is for joints");
}

// A tree without loops or rods, so that composite and articulated bodies serve it.
static const char tree_text[] =
    "sinew: 1\n"
    "robot:\n"
    "  a: {on: world, joint: universal, %s body: {mass: 1, com: [0.1, 0, 0.2], inertia: [0.1, "
    "0.2, 0.2]}}\n"
    "  b: {on: a, pose: {xyz: [0.3, 0, 0]}, joint: spherical, %s body: {mass: 0.5, com: [0.1, 0, "
    "0.05], inertia: [0.01, 0.02, 0.02]}}\n"
    "  c: {on: b, pose: {xyz: [0, 0.2, 0]}, joint: screw, pitch: 20 cm, %s body: {mass: 0.4, com: "
    "[0.1, 0, 0], inertia: [0.01, 0.01, 0.01]}}\n"
    "  d: {on: a, joint: prismatic, axis: x, %s body: {mass: 0.3}}\n";

// The mass matrix is that without rotors plus their inertias on its diagonal, by composite bodies
// and by products of Jacobians; articulated bodies solve with the same matrix.
static void rotors_are_on_the_diagonal_of_the_mass_matrix(void **state) {
    (void)state;
    enum { N = 7 };
    static const double rotor[N] = {0.3, 0.5, 0.2, 0.2, 0.2, 0.7, 0.9};
    double M[2][N * N];
    for (int k = 0; k < 2; k++) {
        char text[1500];
        (void)snprintf(text, sizeof text, tree_text, k ? "armature: [0.3, 0.5]," : "",
                       k ? "armature: 0.2," : "", k ? "armature: {inertia: 0.007, gear: 10}," : "",
                       k ? "armature: {inertia: 0.01, gear: sqrt(90) 1/m}," : "");
        dice d = {62};
        setting s;
        setting_random(&s, text, &d);
        const snw_model *m = s.g.m;
        assert_int_equal(m->nv, N);
        assert_non_null(m->subtree);
        for (int way = 0; way < 2; way++) {
            snw_model other = *m;
            other.composite = way == 1;
            snw_mass_matrix(&other, s.g.in, s.g.s, s.g.w, M[k]);
            for (int i = 0; k && i < N; i++) {
                for (int j = 0; j < N; j++)
                    assert_near(M[1][i * N + j], M[0][i * N + j] + (i == j ? rotor[i] : 0), 1e-14);
            }
        }
        double x[N], f[N];
        for (int i = 0; i < N; i++) x[i] = f[i] = roll(&d, -1, 1);
        snw_kinematics(m, s.g.in, s.g.s, true, s.g.w);
        assert_int_equal(snw_articulated_solve(m, s.g.w, x), -1);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) f[i] -= M[k][i * N + j] * x[j];
            assert_near(f[i], 0, 1e-13);
        }
        // twice the kinetic energy is v M v
        double sum = 0;
        snw_kinematics(m, s.g.in, s.g.s, false, s.g.w);
        for (int i = 0; i < N * N; i++) sum += s.g.s->v[i / N] * M[k][i] * s.g.s->v[i % N];
        assert_near(2 * snw_kinetic_energy(m, s.g.w), sum, 1e-13 * sum);
        setting_close(&s);
    }
}

// A pair of gears is one pendulum of the inertia J_a + n^2 J_b with the torque of both weights.
static void geared_pendulums_are_one(void **state) {
    (void)state;
    enum { BALANCE = 3 + 6 };
    static const char *const step[] = {"step: 0.2 ms", "scheme: adaptive, tolerance: 1e-11",
                                       "scheme: conserving, step: 0.2 ms",
                                       "scheme: moreau, step: 0.2 ms"};
    for (int k = 0; k < AMONG(2, 4); k++) {
        char text[1500];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "gravity: [0, -9.81, 0]\n"
            "robot:\n"
            "  a: {on: world, joint: revolute, body: {mass: 2, com: [0.3, 0, 0]}}\n"
            "  b: {on: world, joint: revolute, armature: {inertia: 1e-4, gear: 30}, mimic: "
            "{joint: a, ratio: -2}, body: {mass: 0.5, com: [0, 0.2, 0]}}\n"
            "  one: {on: world, joint: revolute, body: {mass: 0, inertia: [0.31, 0.31, 0.62]}}\n"
            "initial: {a: 20 deg}\n"
            "actuators: {weight: {joint: one, effort: "
            "\"-2*9.81*0.3*cos(20 deg + turned) + 2*0.5*9.81*0.2*sin(2*(20 deg + turned))\"}}\n"
            "study: [dynamic: {for: 0.4 s, %s}]\n"
            "probes: {a: {angle: a}, b: {angle: b}, turned: {angle: one}, e: energy}\n",
            step[k]);
        execute_ok(text, &o);
        assert_int_equal(o.warnings, 0);
        const double a = last(&o, 0);
        assert_near(last(&o, 1), -2 * a, 1e-12);
        assert_near(a, 20 * M_PI / 180 + last(&o, 2), 1e-7); // both of order two in the step
        assert_near(last(&o, BALANCE), 0, 1e-9);
        snw_series_clear(&o.series);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gears_and_rotors_have_exact_derivatives),
#ifndef SNW_NUMBERS
        cmocka_unit_test(rotors_are_on_the_diagonal_of_the_mass_matrix),
        cmocka_unit_test(geared_pendulums_are_one),
        cmocka_unit_test(a_shaft_on_two_joints_is_a_transmission),
        cmocka_unit_test(efforts_stay_within_their_limits),
        cmocka_unit_test(impossible_gears_are_refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
