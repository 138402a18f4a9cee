// SPDX-License-Identifier: MIT
//
// Robots with several equilibria, and loop closures with a large violation in the initial
// configuration, against closed forms and independent integration: a static step ends at a stable
// equilibrium, reports when it had to leave the branch it followed, and stays on that branch when
// it is asked to.
#include "executed.h"
#include "oracle/closed.h"
#include "random_rod.h"
#include "sanitized.h"

#include <stdio.h>
#include <string.h>

static void say_no_nan(const outcome *o) {
    assert_null(strstr(o->err.text, "nan"));
    assert_null(strstr(o->said, "nan"));
}

// A planar robot of three slender limbs whose motors stand at 20 degrees and q. In the initial
// configuration of the file no limb reaches the plate. Closing the loops from there, and moving the
// motors along a path from 20 degrees on, lead to the same equilibrium.
static void limbs_far_from_their_plate_reach_the_equilibrium_of_a_path(void **state) {
    (void)state;
    static const double q[2][3] = {{-30, -30, 0}, {-30, -20, 0}};
    for (int k = 0; k < 2; k++) {
        outcome o[2];
        for (int path = 0; path < 2; path++) {
            char text[2500];
            (void)snprintf(
                text, sizeof text,
                "sinew: 1\ngravity: 0\n"
                "parameters: {Rb: 0.4 m, Rp: 0.05 m, q: [%g deg, %g deg, %g deg], go: %s}\n"
                "materials: {steel: {young: 210 GPa, poisson: 0.3, density: 7800}}\n"
                "robot:\n"
                "  leg(k=1..3): {on: world, pose: {xyz: [Rb*cos(120 deg*k), Rb*sin(120 deg*k), "
                "0], axis: z, angle: 120 deg*k + 180 deg}, joint: revolute, rod: {length: 0.5 m, "
                "section: {circle: {radius: 0.5 mm}}, material: steel, strain: {bend_z: legendre "
                "6}}}\n"
                "  plate: {on: leg(1).tip, joint: revolute, body: {mass: 50 g, cylinder: {radius: "
                "Rp, length: 5 mm}, com: [Rp, 0, 0]}}\n"
                "sites:\n"
                "  c: {on: plate, pose: {xyz: [Rp, 0, 0]}}\n"
                "  p(k=2..3): {on: c, pose: {xyz: [-Rp*cos(120 deg*(k-1)), -Rp*sin(120 "
                "deg*(k-1)), 0]}}\n"
                "  tip(k=2..3): {on: leg(k).tip}\n"
                "loops: {pin(k=2..3): {join: [p(k), tip(k)], as: revolute}}\n"
                "actuators: {motor(k=1..3): {joint: leg(k), position: 20 deg + q(k)*go}}\n"
                "study: [static: %s]\n"
                "probes: {c: {position: c}, s: stability, p(k=2..3): {position: p(k)}, "
                "tip(k=2..3): "
                "{position: tip(k)}}\n",
                q[k][0], q[k][1], q[k][2], path ? "t/(1 s)" : "1",
                path ? "{for: 1 s, step: 50 ms}" : "");
            execute_ok(text, &o[path]);
            say_no_nan(&o[path]);
            assert_true(o[path].totals.worst_residual <= 1e-12);
            assert_true(last(&o[path], 3) > 0);
            for (int c = 0; c < 6; c++)
                assert_near(last(&o[path], 4 + c), last(&o[path], 10 + c), 1e-12);
        }
        for (int c = 0; c < 2; c++) assert_near(last(&o[0], c), last(&o[1], c), 1e-9);
        for (int i = 0; i < 2; i++) snw_series_clear(&o[i].series);
    }
}

// A straight rod whose far clamp stands beside and behind its root, turned by nearly half a turn:
// the closure is reached in increments.
static void a_clamp_far_from_the_tip_is_reached(void **state) {
    (void)state;
    static const double x[3] = {0.2, -0.3, 0.1};
    for (int k = 0; k < 3; k++) {
        char text[1000];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\n"
                       "robot: {rod: {on: world, rod: {length: 1, section: {stiffness: {twist: 1, "
                       "bend_y: 1, bend_z: 1}}, strain: kirchhoff legendre 6, nodes: 24}}}\n"
                       "loops: {clamp: {join: [world, rod.tip], as: fixed, pose: {xyz: [%g, 0.3, "
                       "-0.2], axis: [1, 2, 0.5], angle: %d deg}}}\n"
                       "study: [static:]\nprobes: {tip: {position: rod.tip}, s: stability}\n",
                       x[k], 150 - 110 * k);
        outcome o;
        execute_ok(text, &o);
        assert_near(last(&o, 0), x[k], 1e-11);
        assert_near(last(&o, 1), 0.3, 1e-11);
        assert_near(last(&o, 2), -0.2, 1e-11);
        assert_true(last(&o, 3) > 0);
        snw_series_clear(&o.series);
    }
}

// A rod twisted by one turn between clamps that are pushed past each other, with few basis
// functions: the branch of spatial equilibria ends in planar ones between two increments, and
// continuation proceeds from there.
static void a_path_goes_on_beyond_the_end_of_a_branch(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\ngravity: 0\n"
               "materials: {steel: {young: 210 GPa, poisson: 0.3, density: 0}}\n"
               "robot: {rod: {on: world, rod: {length: 20 m, section: {circle: {radius: 17.6 "
               "mm}}, material: steel, nodes: 48, strain: {twist: chebyshev 3, bend_y: chebyshev "
               "5, bend_z: chebyshev 5, stretch: chebyshev 2}}}}\n"
               "loops: {clamp: {join: [world, rod.tip], as: fixed, pose: {xyz: [\"20 m - 2 "
               "m/s*max(t - 18 s, 0 s)\", 0, 0], axis: x, angle: \"2*pi*min(t/(18 s), 1)\"}}}\n"
               "loads: {weight: {along: rod, force: [0, 0, 9.81 N/m], frame: world}}\n"
               "study: [static: {for: 33 s, step: 1 s}]\n"
               "probes: {middle: {position: rod@50%}, s: stability, tip: {position: rod.tip}}\n",
               &o);
    say_no_nan(&o);
    assert_int_equal(o.series.nframe, 34);
    assert_true(last(&o, 3) > 0);
    // the middle lies in the plane of symmetry, between the clamps
    assert_near(last(&o, 0), -5, 1e-6);
    assert_near(last(&o, 1), 0, 1e-9);
    assert_near(last(&o, 4), -10, 1e-11);
    snw_series_clear(&o.series);
}

// Two tubes of different curvature, one inside the other, joined at four stations: where their
// shapes coincide most constraint rows are redundant. Unturned they take the mean of their
// curvatures, weighted by stiffness; turned by 90 degrees at the base the tip agrees with the
// equations of concentric tubes (two angles along s, GJ theta'' = +-A sin(difference), integrated
// separately), up to the error of four stations and four functions.
static void coaxial_tubes_reach_equilibrium_with_nearly_redundant_loops(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\ngravity: 0\n"
               "materials: {nitinol: {young: 60 GPa, poisson: 0.3, density: 6450}}\n"
               "robot:\n"
               "  outer: {on: world, rod: {length: 0.2 m, section: {tube: {diameter: 2 mm, inner: "
               "1.6 mm}}, material: nitinol, rest: {bend_z: 5 1/m}, strain: kirchhoff legendre "
               "4}}\n"
               "  inner: {on: world, joint: revolute, axis: x, rod: {length: 0.2 m, section: "
               "{tube: {diameter: 1.4 mm, inner: 1 mm}}, material: nitinol, rest: {bend_z: 12 "
               "1/m}, strain: kirchhoff legendre 4}}\n"
               "loops: {c(k=1..4): {join: [outer@(k*25)%, inner@(k*25)%], as: cylindrical, axis: "
               "x}}\n"
               "actuators: {turn: {joint: inner, position: 90 deg*t/(1 s)}}\n"
               "study: [static: {for: 1 s, step: 1 s}]\n"
               "probes: {tip: {position: outer.tip}, torque: {effort: turn}}\n",
               &o);
    say_no_nan(&o);
    const double a = pow(2, 4) - pow(1.6, 4), b = pow(1.4, 4) - 1;
    const double k = (5 * a + 12 * b) / (a + b), want[3] = {0.1584313, 0.0869463, 0.0522763};
    assert_near(shown(&o, 0, 0), sin(0.2 * k) / k, 1e-7);
    assert_near(shown(&o, 0, 1), (1 - cos(0.2 * k)) / k, 1e-7);
    for (int c = 0; c < 3; c++) assert_true(fabs(last(&o, c) - want[c]) <= 1e-3 * 0.2);
    assert_true(fabs(last(&o, 3) - 0.0567970) <= 2e-3 * 0.0568);
    assert_non_null(strstr(o.said, "nearly contradict"));
    snw_series_clear(&o.series);
}

// The elastica: a column clamped below whose tip leans by `lean` carries K(sin(lean/2))^2 EI/l^2.
static void a_column_buckles_as_the_elastica_unless_the_branch_is_followed(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        const double lean = 0.3 + 0.5 * k, root = oracle_elliptic_K(sin(0.5 * lean));
        for (int follow = 0; follow < 2; follow++) {
            char text[1000];
            (void)snprintf(text, sizeof text,
                           "sinew: 1\ngravity: 0\n"
                           "robot: {arm: {on: world, rod: {length: 1, section: {stiffness: "
                           "{bend_y: 1, bend_z: 1}}, strain: {bend_y: legendre 10, bend_z: "
                           "legendre 10}, nodes: 40, magnus: 6}}}\n"
                           "loads: {push: {on: arm.tip, force: [%.17g, 0, 0]}}\n"
                           "study: [static: {branch: %s}]\n"
                           "probes: {turn: {pose: arm.tip}, s: stability}\n",
                           -root * root, follow ? "follow" : "stable");
            outcome o;
            execute_ok(text, &o);
            const double got = 2 * acos(fabs(last(&o, 3))); // from the quaternion
            assert_near(got, follow ? 0 : lean, follow ? 1e-7 : 1e-6);
            assert_true((shown(&o, 0, o.series.ncolumn - 1) < -1e-6) == follow);
            if (!follow) {
                assert_non_null(strstr(o.said, "was left for a stable one"));
                double at = NAN; // fraction of the load at Euler's load
                const char *where = strstr(o.said, "from ");
                assert_non_null(where);
                assert_int_equal(sscanf(where, "from %lf", &at), 1);
                assert_true(fabs(at - oracle_euler_load() / (root * root)) <= 0.01);
            }
            snw_series_clear(&o.series);
        }
    }
}

// Von Mises' truss: a strut of natural length 1.02 between a pivot and a mass that slides
// vertically at distance 1. At height h it carries k h (1.02/sqrt(1 + h^2) - 1), at most 0.1531 N;
// then it snaps through, and is in tension below.
static void a_truss_snaps_through_unless_the_branch_is_followed(void **state) {
    (void)state;
    const double k = 100, rest = 1.02, top = sqrt(pow(rest, 2.0 / 3) - 1);
    const double most = k * top * (rest / sqrt(1 + top * top) - 1);
    for (int follow = 0; follow < 2; follow++) {
        char text[1200];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\n"
                       "robot:\n"
                       "  strut: {on: world, joint: revolute}\n"
                       "  foot: {on: strut, pose: {xyz: [1.02, 0, 0]}, joint: prismatic, axis: x, "
                       "stiffness: 100 N/m}\n"
                       "  mass: {on: world, pose: {xyz: [1, 0, 0]}, joint: prismatic, axis: y, "
                       "body: {mass: 1}}\n"
                       "initial: {strut: %.17g, mass: %.17g}\n"
                       "loops: {pin: {join: [mass, foot], as: revolute}}\n"
                       "loads: {push: {on: mass, force: [0, \"-0.3 N*t/(1 s)\", 0]}}\n"
                       "study: [static: {for: 1 s, step: 0.1 s%s}]\n"
                       "probes: {at: {position: mass}}\n",
                       acos(1 / rest), sqrt(rest * rest - 1), follow ? ", branch: follow" : "");
        outcome o;
        execute(text, &o);
        const double t = o.series.t[o.series.nframe - 1], h = last(&o, 1);
        assert_near(k * h * (rest / sqrt(1 + h * h) - 1), 0.3 * t, 1e-9);
        assert_int_equal(o.status, follow ? SNW_E_DIVERGED : SNW_OK);
        assert_true((h > top) == follow);
        say_no_nan(&o);
        double at = NAN; // fraction of the increment from 0.5 s to 0.6 s
        static const char words[] = "ends at ";
        const char *where = strstr(follow ? o.err.text : o.said, words);
        assert_non_null(where);
        assert_int_equal(sscanf(where + strlen(words), "%lf", &at), 1);
        assert_near(0.15 + 0.03 * at, most, 1e-4);
        snw_series_clear(&o.series);
    }
}

// Two spherical joints carry a plate whose weight and load pass through the line between them.
// Rotation about that line has no stiffness; the load is nevertheless applied in full, in
// increments limited only by the bending of the legs.
static void a_plate_free_to_turn_between_two_balls_is_loaded_at_once(void **state) {
    (void)state;
    static const char *strain[] = {"{bend_y: cubic, bend_z: cubic}, elements: 4",
                                   "kirchhoff legendre 5"};
    for (int k = 0; k < 2; k++) {
        char text[2500];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "materials: {m: {young: 15.4 MPa, poisson: 0.48, density: 1100}}\n"
            "robot:\n"
            "  plate: {on: world, pose: {xyz: [0, 0, 0.117]}, joint: free, body: {mass: 11 g, box: "
            "[0.0583, 0.0583, 5.83 mm]}}\n"
            "  leg1: {on: world, pose: {xyz: [0.04429, -0.0008592, 0], x: [-0.01646, 0.009468, "
            "0.117]}, rod: {length: 0.11853090155735761, section: {circle: {radius: 8.73 mm}}, "
            "material: m, strain: %s}}\n"
            "  leg2: {on: world, pose: {xyz: [-0.01714, -0.009063, 0], x: [-0.01069, 0.000454, "
            "0.117]}, rod: {length: 0.1174882216054018, section: {circle: {radius: 8.73 mm}}, "
            "material: m, strain: %s}}\n"
            "sites:\n"
            "  seat1: {on: plate, pose: {xyz: [0.02783, 0.008609, 0.0]}}\n"
            "  seat2: {on: plate, pose: {xyz: [-0.02783, -0.008609, 0.0]}}\n"
            "loops: {joint1: {join: [seat1, leg1.tip], as: spherical}, joint2: {join: [seat2, "
            "leg2.tip], as: spherical}}\n"
            "loads: {push: {on: plate, force: [-0.755, -1.09, -2.9]}}\n"
            "study: [static]\n"
            "probes: {plate: {position: plate}}\n",
            strain[k], strain[k]);
        execute_ok(text, &o);
        if (o.warnings > 0) fail_msg("%s", o.said);
        assert_true(o.totals.increments <= 200);
        assert_true(o.totals.worst_residual <= 1e-12);
        snw_series_clear(&o.series);
    }
}

// A guided clamped column beyond its Euler load has two mirrored stable equilibria: it ends on the
// side of its initial shape, whatever that is, and the two are mirror images. So does one in a
// tube, where a small side load takes the part of the initial shape. Without either, the
// two-fold choice is told.
static void a_column_buckles_to_the_side_of_its_start(void **state) {
    (void)state;
    static const char *tube =
        "contacts: {tube: {obstacle: {links: col, shape: cylinder, radius: 0.2, axis: x, inside: "
        "true, stiffness: 1e4 N/m^2, ends: 0}}}\n";
    dice d = {21};
    for (int k = 0; k < AMONG(4, 12); k++) {
        const bool confined = k % 3 == 2, pushed = k % 4 == 3;
        const double load = 39.5 * roll(&d, 1.02, 1.6), size = roll(&d, 0.5, 6);
        const double lean = roll(&d, -0.5, 0.5);
        double z[2];
        for (int side = 0; side < 2; side++) {
            const double sign = side ? -1 : 1;
            char text[1500], initial[200], push[100];
            (void)snprintf(initial, sizeof initial,
                           "initial: {col: {strain: {bend_y: \"%.9g*(cos(2*pi*x/(1 m)) + "
                           "%.9g*sin(2*pi*x/(1 m)))\"}}}\n",
                           -sign * size, lean);
            (void)snprintf(push, sizeof push, ", side: {on: col@50%%, force: [0, 0, %g]}",
                           sign * 1e-3);
            (void)snprintf(
                text, sizeof text,
                "sinew: 1\ngravity: 0\n"
                "robot: {col: {on: world, rod: {length: 1, section: {stiffness: {bend_y: "
                "1}}, strain: {bend_y: legendre 8}}}}\n"
                "loops: {guide: {join: [world, col.tip], as: prismatic, axis: x}}\n"
                "loads: {p: {on: col.tip, force: [-%.9g, 0, 0]}%s}\n%s%s"
                "study: [static]\nprobes: {mid: {position: col@50%%}, s: stability}\n",
                load, pushed ? push : "", pushed ? "" : initial, confined ? tube : "");
            outcome o;
            execute_ok(text, &o);
            z[side] = last(&o, 2);
            if (!(last(&o, 3) > 0) || !(sign * z[side] > 0.02))
                fail_msg("column %d, side %g: z = %g, stability %g", k, sign, z[side], last(&o, 3));
            snw_series_clear(&o.series);
        }
        assert_near(z[0], -z[1], 1e-8);
    }
}

// The end of a rod is turned by 10 rad: in steps of half of it whole turns are lost, and the run
// says so.
static void lost_turns_of_a_loop_are_reported(void **state) {
    (void)state;
    static const char *const step[] = {"0.5 s", "0.1 s"};
    for (int k = 0; k < 2; k++) {
        char text[600];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\n"
            "robot: {rod: {on: world, rod: {length: 1, section: {stiffness: {twist: 1}}, "
            "strain: {twist: legendre 2}}}}\n"
            "loops: {end: {join: [world, rod.tip], as: prismatic, axis: x, pose: {axis: "
            "x, angle: \"10*t/(1 s)\"}}}\n"
            "study: [static: {for: 1 s, step: %s}]\n"
            "probes: {s: {strain: rod@50%%}}\n",
            step[k]);
        execute_ok(text, &o);
        const bool said = strstr(o.said, "is turned by 0.796 turns between the equilibria") != NULL;
        assert_int_equal(said, k == 0);
        assert_near(last(&o, 0), k ? 10 : 10 - 4 * M_PI, 1e-9);
        snw_series_clear(&o.series);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_buckles_to_the_side_of_its_start),
        cmocka_unit_test(limbs_far_from_their_plate_reach_the_equilibrium_of_a_path),
        cmocka_unit_test(a_clamp_far_from_the_tip_is_reached),
        cmocka_unit_test(a_path_goes_on_beyond_the_end_of_a_branch),
        cmocka_unit_test(coaxial_tubes_reach_equilibrium_with_nearly_redundant_loops),
        cmocka_unit_test(a_column_buckles_as_the_elastica_unless_the_branch_is_followed),
        cmocka_unit_test(a_truss_snaps_through_unless_the_branch_is_followed),
        cmocka_unit_test(a_plate_free_to_turn_between_two_balls_is_loaded_at_once),
        cmocka_unit_test(lost_turns_of_a_loop_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
