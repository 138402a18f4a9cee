// SPDX-License-Identifier: MIT
//
// Rods on one Chebyshev grid (theory.md (3.1d) to (3.1f)): the tangent is the derivative of the
// residual; poses, forces and tangents tend to those of slices, exponentially in the number of
// points; closed forms; what needs slices is refused by name.
#include "random_rod.h"
#include "setting.h"
#ifndef SNW_NUMBERS
#include "described.h"
#include "oracle/linear.h"
#include "oracle/trial.h"
#include "study/run.h"
#endif

#include <stdio.h>

enum { ROBOTS = 10 };

static void tangent_is_the_derivative_on_random_rods(void **state) {
    (void)state;
    dice d = {91};
    for (int i = 0; i < ROBOTS; i++) {
        robot r;
        rig g;
        random_grid_points = 5 + i % 5;
        robot_random(&r, &d, i % 2 ? SNW_JOINT_FREE : SNW_JOINT_FIXED, i % 3 == 0);
        random_grid_points = 0;
        if (i % 4 == 3) { // beside a rod of slices
            r.link[r.desc.nlink - 1].rod.integrator = SNW_RULE_MAGNUS;
            r.link[r.desc.nlink - 1].rod.nodes = 4;
        }
        rig_open(&g, &r.desc);
        state_random(g.m, &d, g.s);
        snw_inputs_at(g.m, g.s->t, g.in);
        rig_check(&g);
        rig_close(&g);
        robot_free(&r);
    }
}

// A tree with everything that may be attached to such a rod: rods, a given strain, a tendon with a
// straight segment, loads, a fluid, ground, a loop.
static const char tree_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  base: {on: world, joint: free, body: {box: [0.1, 0.2, 0.3], mass: 4}}\n"
    "  arm: {on: base, rod: {length: 0.6, section: {circle: {radius: 20 mm}}, material: rubber, "
    "rest: {bend_z: 0.8*x/L}, strain: {bend_y: legendre 3, bend_z: legendre 2, stretch: legendre "
    "1, twist: 0.3*sin(3*t)*x}, integrator: chebyshev 9}}\n"
    "  side: {on: arm@40%, pose: {rpy: [10 deg, 20 deg, 30 deg]}, joint: spherical, rod: {length: "
    "0.3, section: {circle: {radius: 10 mm}}, material: rubber, strain: cosserat legendre 1, "
    "integrator: chebyshev 7}}\n"
    "  more: {on: side, rod: {length: 0.2, section: {circle: {radius: 10 mm}}, material: rubber, "
    "strain: kirchhoff legendre 1, nodes: 3}}\n"
    "sites: {eye: {on: base, pose: {xyz: [0.02, 0.05, 0]}}}\n"
    "actuators:\n"
    "  pull: {tendon: {path: [eye, arm], at: [0, 0, 10 mm]}, effort: 3 + sin(2*t)}\n"
    "loads:\n"
    "  push: {on: arm@70%, force: [1, 2, -1], frame: body}\n"
    "  weight: {along: side, force: [0, 1, 0.5*x/L], frame: world}\n"
    "fluid: {water: {on: [arm, side], density: 300, added: auto, drag: {normal: 1.1, tangent: "
    "0.02}}}\n"
    "contacts: {floor: {ground: {on: [arm, side], normal: [0.3, -0.2, 0.9], at: [0, 0.1, 0], "
    "stiffness: 3 kPa, ends: 40, damping: 0.3, friction: {along: 0.2, across: 0.9}, creep: 0.7, "
    "smooth: 0.2}}}\n"
    "loops: {pin: {join: [more.tip, arm.tip], as: revolute}}\n"
    "probes: {w: {wrench: arm@30%}}\n";

static void tangent_is_the_derivative_with_what_is_attached(void **state) {
    (void)state;
    dice d = {92};
    for (int k = 0; k < 3; k++) {
        setting s;
        setting_open(&s, tree_text);
        assert_int_equal(s.g.m->ngrid, 2);
        assert_true(s.g.m->nfield > 0 && s.g.m->ntendon == 1);
        state_random(s.g.m, &d, s.g.s);
        snw_inputs_at(s.g.m, s.g.s->t, s.g.in);
        rig_check(&s.g);
        setting_close(&s);
    }
}

#ifndef SNW_NUMBERS
// Poses at the tips, forces and the three parts of the tangent of one random robot in one random
// state, each kind relative to its largest number.
static double *numbers_of(int points, uint64_t seed, size_t *count) {
    dice d = {seed};
    robot r;
    trial t;
    random_grid_points = 5; // bases on whole rods
    robot_random(&r, &d, seed % 2 ? SNW_JOINT_FREE : SNW_JOINT_FIXED, seed % 3 == 0);
    random_grid_points = 0;
    for (int l = 0; l < r.desc.nlink; l++) {
        snw_rod_desc *rod = &r.link[l].rod;
        rod->points = points;
        rod->nodes = points ? points - 2 : 120;
        rod->magnus = 6;
        if (!points) rod->integrator = SNW_RULE_MAGNUS;
    }
    trial_open(&t, &r.desc);
    state_random(t.m, &d, t.s);
    trial_at(&t, t.s->t);
    const size_t n = (size_t)t.m->nv, links = (size_t)r.desc.nlink;
    *count = 12 * links + n + 3 * n * n;
    double *x = oracle_alloc(*count, sizeof *x), *at = x;
    for (size_t l = 0; l < links; l++) {
        const snw_se3 g = trial_end(&t, (int)l);
        memcpy(at, &g, sizeof g), at += 12;
    }
    snw_residual(t.m, t.in, t.s, false, t.w);
    memcpy(at, t.w->r, n * sizeof *at), at += n;
    for (int k = 0; k < 3; k++, at += n * n) {
        double *T = trial_tangent(&t, false, k == 0, k == 1, k == 2);
        memcpy(at, T, n * n * sizeof *at);
        free(T);
    }
    const size_t part[5] = {12 * links, n, n * n, n * n, n * n};
    at = x;
    for (int k = 0; k < 5; at += part[k], k++) {
        const double size = oracle_size(part[k], at);
        for (size_t i = 0; i < part[k]; i++) at[i] /= size;
    }
    trial_close(&t);
    robot_free(&r);
    return x;
}

// Two points more reduce the error by a factor of ten and more, down to that of the reference,
// slices of order 6 on 120 nodes.
static void errors_fall_exponentially(void **state) {
    (void)state;
    static const int points[] = {7, 9, 11, 13, 15, 25};
    static const double most[] = {2e-2, 2e-3, 2e-4, 2e-5, 2e-6, 1e-11};
    for (uint64_t seed = 31; seed <= 36; seed++) {
        size_t n = 0;
        double *want = numbers_of(0, seed, &n);
        for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
            size_t same = 0;
            double *got = numbers_of(points[k], seed, &same), worst = 0;
            assert_int_equal(same, n);
            for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(got[i] - want[i]));
            print_message("seed %d, %d points: %.1e\n", (int)seed, points[k], worst);
            assert_true(worst <= most[k]);
            free(got);
        }
        free(want);
    }
}

static void faults_are_named(void **state) {
    (void)state;
    static const struct {
        const char *rod, *rest, *says;
    } cases[] = {
        {"strain: {bend_y: linear}, elements: 3, integrator: chebyshev 11", "",
         "elements or breaks"},
        {"strain: {bend_y: legendre 2}, integrator: chebyshev 11, nodes: 9", "",
         "leave 'nodes' out"},
        {"strain: {bend_y: legendre 2}, integrator: chebyshev 4", "", "chebyshev 5 to 41"},
        {"strain: {bend_y: legendre 2}, integrator: chebyshev 42", "", "chebyshev 5 to 41"},
        {"strain: {bend_y: legendre 2}, integrator: chebyshev", "", "chebyshev 5 to 41"},
        {"strain: {bend_y: legendre 2}, integrator: chebyshev 11, tolerance: 1e-6", "", "rk45"},
        {"strain: {bend_y: legendre 2}, integrator: chebyshev 11",
         "actuators: {out: {feed: arm, position: 0.6 m}}\n", "variable length"},
        {"strain: cosserat legendre 2, integrator: chebyshev 11",
         "study: [static: {engine: shooting}]\n", "one grid"},
        {"strain: {bend_z: 1.2}, integrator: chebyshev 11",
         "contacts: {r: {ring: {on: arm@(0.1 + 0.03*t)}}}\n", "one grid"},
        {"strain: {bend_z: 1.2}, integrator: chebyshev 11",
         "contacts: {r: {ring: {on: arm@50%}}}\nstudy: [kinematic: {for: 10 ms, step: 5 ms, "
         "reactions: {form: projective}}]\n",
         "one grid"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[2000];
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\nmaterials: {rubber: {young: 1 MPa, poisson: 0.4, density: "
            "1000}}\nrobot: {arm: {on: world, joint: %s, rod: {length: 0.5, section: {circle: "
            "{radius: 1 cm}}, material: rubber, %s}}}\n%s%s",
            strstr(cases[k].rest, "kinematic") ? "planar" : "fixed", cases[k].rod, cases[k].rest,
            strstr(cases[k].rest, "study") ? "" : "study: [static: ]\n");
        snw_document *doc;
        snw_desc *desc;
        snw_run *run = NULL;
        snw_error err = {0};
        snw_status s = describe(text, &doc, &desc, &err);
        if (s == SNW_OK) {
            s = snw_run_create(desc, "main", &run, &err);
            if (s == SNW_OK) s = snw_run_execute(run, 0, NULL, NULL, NULL, &err);
            snw_run_destroy(run);
        }
        release(doc, desc);
        assert_int_not_equal(s, SNW_OK);
        if (!strstr(err.text, cases[k].says)) fail_msg("case %d: %s", (int)k, err.text);
        assert_true(err.line > 0);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangent_is_the_derivative_on_random_rods),
        cmocka_unit_test(tangent_is_the_derivative_with_what_is_attached),
#ifndef SNW_NUMBERS
        cmocka_unit_test(errors_fall_exponentially),
        cmocka_unit_test(faults_are_named),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
