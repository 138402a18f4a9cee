// SPDX-License-Identifier: MIT
//
// Nonholonomic contacts in statics and modes, theory.md 5 and 7: in statics they hold the motions
// they forbid, in modes they exclude them from small motions. Against loops and joints with the
// same effect, closed forms, and the path on which wheels roll as loads change, integrated
// separately.
#include "executed.h"

#include <math.h>
#include <stdio.h>

// Two texts with the same probes must give the same numbers.
static void are_the_same(const char *one, const char *two, double within) {
    outcome a, b;
    execute_ok(one, &a);
    execute_ok(two, &b);
    assert_int_equal(a.series.ncolumn, b.series.ncolumn);
    int seen = 0;
    for (int c = 0; c < a.series.ncolumn; c++) {
        const double x = last(&a, c), y = last(&b, c);
        assert_int_equal(isnan(x), isnan(y));
        if (isnan(x)) continue;
        if (!(fabs(x - y) <= within * fmax(1, fabs(x))))
            fail_msg("column %d: %.15g %.15g", c, x, y);
        seen += fabs(x) > 1e-6;
    }
    assert_true(seen > 3);
    snw_series_clear(&a.series);
    snw_series_clear(&b.series);
}

// A heavy rod whose tip is anchored where it is: shape, reaction and modes are those of a rod
// clamped there.
static void an_anchor_is_a_clamp(void **state) {
    (void)state;
#define CLAMPED                                                                                    \
    "sinew: 1\nmaterials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1100}}\n"                 \
    "robot: {arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 2 cm}}, material: "    \
    "rubber, strain: {bend_y: legendre 4, bend_z: legendre 4, twist: legendre 2, stretch: "        \
    "legendre 2}}}}\nloads: {side: {on: arm@30%, force: [1, 2, 0]}}\n"                             \
    "study: [static, modes]\n"                                                                     \
    "probes: {mid: {position: arm@50%}, tip: {position: arm.tip}, r: {reaction: hold, in: body}, " \
    "f: frequency}\n"
    are_the_same(CLAMPED "contacts: {hold: {anchor: {on: arm.tip}}}\n",
                 CLAMPED
                 "loops: {hold: {join: [world, arm.tip], as: fixed, pose: {xyz: [1, 0, 0]}}}\n",
                 1e-8);
}

// A body on springs that only translates: an oblique wheel is a guide.
static void a_wheel_that_does_not_turn_is_a_guide(void **state) {
    (void)state;
#define TABLE                                                                                      \
    "sinew: 1\ngravity: [1, -3, 0]\nrobot:\n"                                                      \
    "  x: {on: world, joint: prismatic, axis: x, stiffness: 30, body: {mass: 1}}\n"                \
    "  y: {on: x, joint: prismatic, axis: y, stiffness: 50, body: {mass: 2}}\n"                    \
    "  arm: {on: y, joint: revolute, stiffness: 4, body: {mass: 0.5, com: [0.3, 0, 0], inertia: "  \
    "[0.1, 0.1, 0.1]}}\n"                                                                          \
    "study: [static, modes]\nprobes: {p: {position: y}, a: {value: arm}, f: frequency}\n"
    are_the_same(TABLE "contacts: {hold: {wheel: {on: y, axis: [3, 4, 0]}}}\n",
                 TABLE "loops: {hold: {join: [world, y], as: prismatic, axis: [4, -3, 0]}}\n",
                 1e-9);
}

// A wheel that rolls straight couples its rotation and its displacement: it adds a spring and a
// mass.
static void a_wheel_that_rolls_is_a_gear(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\ngravity: 0\nrobot:\n"
               "  car: {on: world, joint: prismatic, axis: x, stiffness: 30, body: {mass: 2}}\n"
               "  disc: {on: car, joint: revolute, axis: y, stiffness: 0.5, body: {mass: 1, "
               "inertia: [0.02, 0.03, 0.02]}}\n"
               "contacts: {tyre: {wheel: {on: disc, axis: y, radius: 0.2}}}\n"
               "loads: {pull: {on: car, force: [7, 0, 0]}}\n"
               "study: [static, modes]\n"
               "probes: {x: {value: car}, turn: {value: disc}, r: {reaction: tyre}, f: "
               "frequency}\n",
               &o);
    const double k = 30 + 0.5 / 0.04, m = 3 + 0.03 / 0.04, x = 7 / k;
    assert_near(last(&o, 0), x, 1e-11);
    assert_near(last(&o, 1), x / 0.2, 1e-10);
    assert_near(last(&o, 5), -0.5 * x / 0.04, 1e-10); // force of the ground along x
    assert_near(last(&o, 8), sqrt(k / m) / (2 * 3.14159265358979324), 1e-10);
    snw_series_clear(&o.series);
}

// A blade beside the centre of a plate on springs that presses against it: with y = -e a and its
// reaction l (-a, 1, e), m x" + k_x x + l a = 0 and (I + m e^2) a" + (k_a + k_y e^2) a = 0. A guide
// that turned with the plate would couple l back and change both.
static void the_reaction_of_a_blade_adds_no_stiffness(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\ngravity: [0, -9, 0]\n"
               "robot: {plate: {on: world, joint: planar, stiffness: [30, 50, 4], body: {mass: 2, "
               "inertia: [1, 1, 0.3]}}}\n"
               "sites: {s: {on: plate, pose: {xyz: [0.4, 0, 0]}}}\n"
               "contacts: {blade: {wheel: {on: s, axis: y}}}\n"
               "loads: {keep: {on: plate, torque: [0, 0, -18*0.4]}}\n"
               "study: [static, modes]\n"
               "probes: {p: {value: plate}, r: {reaction: blade, in: body}, f: frequency}\n",
               &o);
    for (int i = 0; i < 3; i++) assert_near(last(&o, i), 0, 1e-12);
    assert_near(last(&o, 7), 18, 1e-10);
    const double turn = sqrt((4 + 50 * 0.16) / (0.3 + 2 * 0.16)) / (2 * 3.14159265358979324);
    assert_near(last(&o, 9), sqrt(30 / 2.0) / (2 * 3.14159265358979324), 1e-9);
    assert_near(last(&o, 10), turn, 1e-9);
    snw_series_clear(&o.series);
}

// ---- the path -----------------------------------------------------------------------------------

// A plate on springs with a blade under it, under the forces F(t), M(t). As they change the blade
// moves in its own direction, K q' = F' + (C'l)', C q' = 0, C = (-sin, cos, 0): four equations for
// the rates of (x, y, angle, l).
static void path_rate(double t, const double *z, double *dz) {
    const double K[3] = {30, 50, 4}, c = cos(z[2]), s = sin(z[2]);
    const double dF[3] = {5 * cos(t), 0, 2 * cos(2 * t)};
    // Unknown dx, dy, da, dl: C'l = l (-s, c, 0) changes by da l (-c, -s, 0).
    double A[4][5] = {{K[0], 0, z[3] * c, s, dF[0]},
                      {0, K[1], z[3] * s, -c, dF[1]},
                      {0, 0, K[2], 0, dF[2]},
                      {-s, c, 0, 0, 0}};
    for (int k = 0; k < 4; k++) {
        int p = k;
        for (int i = k + 1; i < 4; i++) p = fabs(A[i][k]) > fabs(A[p][k]) ? i : p;
        for (int j = 0; j < 5; j++) {
            const double x = A[k][j];
            A[k][j] = A[p][j], A[p][j] = x;
        }
        for (int i = 0; i < 4; i++) {
            if (i == k) continue;
            const double f = A[i][k] / A[k][k];
            for (int j = k; j < 5; j++) A[i][j] -= f * A[k][j];
        }
    }
    for (int k = 0; k < 4; k++) dz[k] = A[k][4] / A[k][k];
}

static void path_to(double end, double *z) {
    const int n = 4000;
    const double h = end / n;
    for (int i = 0; i < 4; i++) z[i] = 0;
    for (int i = 0; i < n; i++) {
        double k[4][4], y[4];
        for (int s = 0; s < 4; s++) {
            static const double at[4] = {0, 0.5, 0.5, 1};
            for (int j = 0; j < 4; j++) y[j] = z[j] + (s ? h * at[s] * k[s - 1][j] : 0);
            path_rate((i + at[s]) * h, y, k[s]);
        }
        for (int j = 0; j < 4; j++) z[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    }
}

static double path_error(double step, double *slip) {
    char text[2000];
    outcome o;
    double z[4];
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\ngravity: 0\nrobot: {plate: {on: world, joint: planar, stiffness: [30, "
        "50, 4], body: {mass: 1, inertia: [1, 1, 1]}}}\n"
        "contacts: {blade: {wheel: {on: plate, axis: y}}}\n"
        "loads: {push: {on: plate, force: [5*sin(t), 0, 0], torque: [0, 0, sin(2*t)]}}\n"
        "study: [static: {for: 2 s, step: %g}]\n"
        "probes: {p: {value: plate}, r: {reaction: blade, in: body}}\n",
        step);
    execute_ok(text, &o);
    path_to(2, z);
    double error = 0;
    for (int i = 0; i < 3; i++) error = fmax(error, fabs(last(&o, i) - z[i]));
    *slip = fabs(last(&o, 7) - z[3]);
    snw_series_clear(&o.series);
    return error;
}

static void a_blade_goes_where_it_points(void **state) {
    (void)state;
    double r[2];
    const double coarse = path_error(0.1, &r[0]), fine = path_error(0.05, &r[1]);
    assert_true(coarse > 1e-6 && coarse < 1e-2);
    assert_near(log2(coarse / fine), 2, 0.2);
    assert_near(log2(r[0] / r[1]), 2, 0.2);
}

// ---- redundant contacts and missing ones --------------------------------------------------------

// Two anchors on a plate carry half of the reaction of one each; a car pushed sideways on four
// wheels.
static void redundant_contacts_have_minimum_norm_reactions_in_statics(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\ngravity: 0\n"
               "robot: {plate: {on: world, joint: planar, body: {mass: 1, inertia: [1, 1, 1]}}}\n"
               "sites: {l: {on: plate, pose: {xyz: [0, 0.3, 0]}}, r: {on: plate, pose: {xyz: [0, "
               "-0.3, 0]}}}\n"
               "contacts: {a: {anchor: {on: l}}, b: {anchor: {on: r}}}\n"
               "loads: {f: {on: plate, force: [3, 4, 0]}}\nstudy: [static]\n"
               "probes: {p: {position: plate}, a: {reaction: a, in: body}, b: {reaction: b, in: "
               "body}}\n",
               &o);
    for (int i = 0; i < 3; i++) assert_near(last(&o, i), 0, 1e-14);
    for (int k = 0; k < 2; k++) {
        assert_near(last(&o, 6 + 6 * k), -1.5, 1e-12);
        assert_near(last(&o, 7 + 6 * k), -2, 1e-12);
        assert_near(last(&o, 5 + 6 * k), 0, 1e-12);
    }
    snw_series_clear(&o.series);
    execute_ok("sinew: 1\ngravity: 0\n"
               "robot: {car: {on: world, joint: planar, stiffness: [10, 0, 0], body: {mass: 1, "
               "inertia: [1, 1, 1]}}}\n"
               "sites: {w(k=1..4): {on: car, pose: {xyz: [0.4*floor((k - 1)/2), 0.2*(-1)^k, 0]}}}\n"
               "contacts: {g(k=1..4): {wheel: {on: w(k), axis: y}}}\n"
               "loads: {f: {on: car, force: [3, 4, 0]}}\nstudy: [static]\n"
               "probes: {p: {value: car}, g(k=1..4): {reaction: g(k), in: body}}\n",
               &o);
    assert_near(last(&o, 0), 0.3, 1e-12);
    for (int k = 0; k < 4; k++) assert_near(last(&o, 7 + 6 * k), k < 2 ? -2 : 0, 1e-12);
    snw_series_clear(&o.series);
}

// Nothing holds the car along its wheels; two anchors hold what a drive is to move apart; a sliding
// station.
static void unsupported_contacts_are_reported_in_statics(void **state) {
    (void)state;
    static const struct {
        const char *text, *said;
    } fault[] = {
        {"sinew: 1\ngravity: 0\nrobot: {car: {on: world, joint: planar, body: {mass: 1, inertia: "
         "[1, 1, 1]}}}\ncontacts: {g: {wheel: {on: car, axis: y}}}\n"
         "loads: {f: {on: car, force: [3, 4, 0]}}\nstudy: [static]\n",
         "no equilibrium"},
        {"sinew: 1\ngravity: 0\nrobot:\n  a: {on: world, joint: planar, body: {mass: 1, inertia: "
         "[1, 1, 1]}}\n  b: {on: a, joint: prismatic, axis: x, body: {mass: 1, inertia: [1, 1, "
         "1]}}\nactuators: {m: {joint: b, position: 0.1*t}}\n"
         "contacts: {g: {anchor: {on: a}}, h: {anchor: {on: b}}}\nstudy: [static: {for: 1 s, step: "
         "0.5 s}]\n",
         "contradicts"},
        {"sinew: 1\ngravity: 0\nmaterials: {m: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"
         "robot: {worm: {on: world, joint: planar, stiffness: [1, 1, 1], rod: {length: 1, section: "
         "{circle: "
         "{radius: 1 cm}}, material: m, strain: {bend_z: sin(t)}}}}\n"
         "contacts: {g: {ring: {on: \"worm@(0.5 + 0.1*t)\"}}}\nstudy: [static]\n",
         "moves along a rod"},
    };
    for (size_t i = 0; i < sizeof fault / sizeof fault[0]; i++) {
        snw_document *doc;
        snw_desc *desc;
        snw_run *run = NULL;
        outcome o = {0};
        snw_status s = describe(fault[i].text, &doc, &desc, &o.err);
        if (s != SNW_OK) fail_msg("%s", o.err.text);
        s = snw_run_create(desc, "main", &run, &o.err);
        snw_run_destroy(run);
        release(doc, desc);
        if (s == SNW_OK) {
            execute(fault[i].text, &o);
            s = o.status;
            snw_series_clear(&o.series);
        }
        if (s == SNW_OK || !strstr(o.err.text, fault[i].said)) {
            fail_msg("%zu: %s", i, s == SNW_OK ? "found" : o.err.text);
        }
    }
}

// A force pulls a ball off the ground, which touches it at first or not; nothing else holds the
// ball. The solver must not take the place where the contact opens for an equilibrium, though no
// step is left to make there. On a spring the ball has one, at z = F/k.
static void a_body_pulled_off_the_ground_is_in_no_equilibrium(void **state) {
    (void)state;
    static const char *const joint[] = {"free", "prismatic, axis: z", "cylindrical, axis: z"};
    static const double force[] = {5, 1e-3, 1e-6}, depth[] = {0, 1e-3, 1e-6, -1e-2};
    static const char *const form =
        "sinew: 1\ngravity: 0\n"
        "robot: {ball: {on: world, joint: %s, body: {mass: 1, sphere: {radius: 0.05}}}}\n"
        "loads: {f: {on: ball, force: [0, 0, %g]}}\n"
        "contacts: {floor: {ground: {on: ball, normal: z, stiffness: 1e4 N/m, at: [0, 0, %g]}}}\n"
        "study: [static:]\nprobes: {p: {position: ball}}\n";
    char text[600], amount[40];
    outcome o;
    for (int i = 0; i < 36; i++) {
        const double F = force[i / 3 % 3], floor = depth[i / 9] - 0.05;
        (void)snprintf(text, sizeof text, form, joint[i % 3], F, floor);
        (void)snprintf(amount, sizeof amount, "%.3g N", F);
        execute(text, &o);
        if (o.status == SNW_OK) fail_msg("%s accepted at z = %g", text, last(&o, 2));
        if (!strstr(o.err.text, "'ball'") || !strstr(o.err.text, amount))
            fail_msg("'%s' does not name the joint and %s", o.err.text, amount);
        snw_series_clear(&o.series);
    }
    (void)snprintf(text, sizeof text, form, "prismatic, axis: z, stiffness: 40", 5.0, -0.05);
    execute_ok(text, &o);
    assert_near(last(&o, 2), 5.0 / 40, 1e-12);
    snw_series_clear(&o.series);
}

// A wheel under a body that cannot slip has no constraint row at all. Statics once looked for it.
static void a_contact_that_holds_identically_needs_no_rows_in_statics(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\n"
               "robot: {box: {on: world, joint: prismatic, axis: z, stiffness: 100, body: {mass: "
               "1}}}\ncontacts: {w: {wheel: {on: box, axis: y, radius: 0.1}}}\nstudy: [static:]\n"
               "probes: {p: {position: box}}\n",
               &o);
    assert_near(last(&o, 2), -9.81 / 100, 1e-12);
    snw_series_clear(&o.series);
}

// A closed belt around two pulleys that move apart. Newton's method takes it off them, since it is
// free to slide where it hardly touches; steps through an obstacle are shortened. Half height of
// the spans and force on an axle by elliptic integrals; the contact is soft and gives way a little.
static void a_belt_stays_on_its_pulleys(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\n"
               "gravity: 0\n"
               "parameters: {EI: 1e-3 N*m^2, l: 0.93 m, R: 50 mm, r: 1 mm, k: 1e5 N/m^2, a: "
               "l/(2*pi) - R + 0.1 mm, half: a + (0.15 m - a)*t/(1 s)}\n"
               "materials: {rubber: {young: 4*EI/(pi*r^4), density: 1000}}\n"
               "robot:\n"
               "  carriage: {on: world, joint: prismatic, axis: z, body: {mass: 1 g}}\n"
               "  belt: {on: carriage, rod: {length: l, section: {circle: {radius: r}}, material: "
               "rubber, strain: {bend_y: cubic}, elements: 24, nodes: 192}}\n"
               "loops:\n"
               "  splice: {join: [carriage, belt.tip], as: fixed}\n"
               "contacts:\n"
               "  left: {obstacle: {links: belt, shape: cylinder, radius: R - r, axis: y, at: "
               "[-half, 0, 0], stiffness: k, ends: 0, smooth: 0.1 um}}\n"
               "  right: {obstacle: {links: belt, shape: cylinder, radius: R - r, axis: y, at: "
               "[half, 0, 0], stiffness: k, ends: 0, smooth: 0.1 um}}\n"
               "initial:\n"
               "  carriage: l/(2*pi)\n"
               "  belt: {strain: {bend_y: 2*pi/l}}\n"
               "study:\n"
               "  - static: {for: 1 s, step: 0.1 s}\n"
               "probes:\n"
               "  top: {position: belt.root}\n"
               "  axle: {contact: right}\n"
               "  stability: stability\n",
               &o);
    assert_null(strstr(o.said, "passed through"));
    assert_near(last(&o, 2), 0.0722422978, 1e-3);
    assert_near(last(&o, 3), 0.8428030828, 0.03);
    snw_series_clear(&o.series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_anchor_is_a_clamp),
        cmocka_unit_test(a_wheel_that_does_not_turn_is_a_guide),
        cmocka_unit_test(a_wheel_that_rolls_is_a_gear),
        cmocka_unit_test(the_reaction_of_a_blade_adds_no_stiffness),
        cmocka_unit_test(a_blade_goes_where_it_points),
        cmocka_unit_test(redundant_contacts_have_minimum_norm_reactions_in_statics),
        cmocka_unit_test(unsupported_contacts_are_reported_in_statics),
        cmocka_unit_test(a_body_pulled_off_the_ground_is_in_no_equilibrium),
        cmocka_unit_test(a_belt_stays_on_its_pulleys),
        cmocka_unit_test(a_contact_that_holds_identically_needs_no_rows_in_statics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
