// SPDX-License-Identifier: MIT
//
// Motions of robots whose files give only a rough configuration and velocities that violate the
// loops: they are closed and consistent before the first step, with every scheme.
#include "executed.h"
#include "robot_texts.h"

#include <stdio.h>

#define PROBES                                                                                     \
    "probes: {a: {position: a}, b: {position: b}, va: {velocity: a}, vb: {velocity: b}, aa: "      \
    "{acceleration: a}, ab: {acceleration: b}, e: energy}\n"

// Each robot has sites a and b that a loop makes coincide.
static const char *const robots[] = {
    // a four-bar, all rates given
    "sinew: 1\ngravity: [0, -9.81, 0]\n" FOUR_BAR
    "initial: {crank: {position: 0.9, rate: 3}, coupler: {position: -0.2, rate: 2}, rocker: "
    "{position: 1.2, rate: -1}}\n" PROBES,
    // two rods that bend towards a free platform with another velocity
    "sinew: 1\ngravity: [0, 0, -9.81]\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 1 ms}}\n"
    "robot:\n"
    "  top: {on: world, pose: {xyz: [0.05, 0.03, -0.35]}, joint: free, body: {mass: 0.5, com: "
    "[0.02, 0, 0.01], inertia: [2e-3, 3e-3, 4e-3]}}\n"
    "  limb(k=1..2): {on: world, pose: {xyz: [0.2*(2*k - 3), 0, 0], x: -z}, joint: universal, rod: "
    "{length: 0.4, section: {circle: {radius: 12 mm}}, material: rubber, nodes: 6, strain: "
    "{bend_y: legendre 2, bend_z: legendre 2, stretch: legendre 1}}}\n"
    "sites: {seat(k=1..2): {on: top, pose: {xyz: [0.2*(2*k - 3), 0, 0]}}, a: {on: limb(1).tip}, b: "
    "{on: top, pose: {xyz: [-0.2, 0, 0]}}}\n"
    "loops: {ball(k=1..2): {join: [limb(k).tip, seat(k)], as: spherical}}\n"
    "initial: {top: {twist: [1, 2, 3, 0.3, 0.2, 0.1]}, limb(1): {rate: [1, -2]}}\n" PROBES,
    // driven by a law that moves from the start
    "sinew: 1\n"
    "robot:\n"
    "  upper: {on: world, joint: revolute, axis: y, body: {mass: 1, inertia: [0.01, 0.01, 0.01]}}\n"
    "  lower: {on: upper, pose: {xyz: [0.4, 0, 0]}, joint: revolute, axis: y, body: {mass: 1, "
    "inertia: [0.01, 0.01, 0.01]}}\n"
    "  hand: {on: world, pose: {xyz: [0.4 + 0.1*sin(3*t), 0, -0.3 + 0.05*sin(2*t)]}}\n"
    "sites: {a: {on: lower, pose: {xyz: [0.3, 0, 0]}}, b: {on: hand}}\n"
    "loops: {leash: {join: [b, a], as: spherical}}\n"
    "initial: {lower: 1 rad}\n" PROBES,
};
enum { ROBOTS = sizeof robots / sizeof robots[0] };

static const char *const schemes[] = {
    "step: 2 ms",
    "step: 2 ms, rho: 0.5, base: split",
    "step: 2 ms, scheme: hht, rho: 0.8",
    "step: 2 ms, scheme: wbz, rho: 0.8",
    "step: 2 ms, scheme: euler",
    "step: 2 ms, scheme: bdf2",
    "step: 2 ms, scheme: bdf-alpha",
    "step: 2 ms, scheme: newmark",
    "step: 2 ms, scheme: trapezoidal",
    "step: 2 ms, scheme: conserving",
    "scheme: adaptive, tolerance: 1e-9",
    "scheme: stiff, tolerance: 1e-9",
};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

// Columns.
enum { PLACE = 0, SPEED = 6, PUSH = 12, KINETIC = 24 };

// Largest difference between three numbers from `column` on and those `beyond` columns further.
static double apart(const outcome *o, int frame, int column, int beyond) {
    double d = 0;
    for (int k = 0; k < 3; k++) {
        d = fmax(d, fabs(shown(o, frame, column + k) - shown(o, frame, column + beyond + k)));
    }
    return d;
}

static void open_robots_are_closed_before_they_move(void **state) {
    (void)state;
    for (int r = 0; r < ROBOTS; r++) {
        outcome first = {0};
        for (int k = 0; k < SCHEMES; k++) {
            char text[4000];
            outcome o;
            (void)snprintf(text, sizeof text,
                           "%sstudy: [dynamic: {for: 0.04 s, %s}]\nrecord: {every: 10 ms}\n",
                           robots[r], schemes[k]);
            execute(text, &o);
            if (o.status != SNW_OK) fail_msg("%d, %s: %s", r, schemes[k], o.err.text);
            assert_true(o.warnings >= 1); // the configuration was changed
            assert_int_equal(o.series.nframe, 5);
            assert_true(o.series.t[0] == 0);
            // Closed, with equal velocities and accelerations from the beginning; the accelerations
            // satisfy the equations of motion.
            const double place = apart(&o, 0, PLACE, 3), speed = apart(&o, 0, SPEED, 3),
                         push = apart(&o, 0, PUSH, 6);
            if (!(place <= 1e-12 && speed <= 1e-11 && push <= 1e-8)) {
                fail_msg("%d, %s: %g %g %g", r, schemes[k], place, speed, push);
            }
            // Closed at all times; velocities agree to the order of the scheme.
            for (int i = 1; i < o.series.nframe; i++) {
                const double gap = apart(&o, i, PLACE, 3);
                if (!(gap <= 1e-10)) fail_msg("%d, %s: open by %g", r, schemes[k], gap);
            }
            // All schemes have the same start.
            for (int c = 0; k > 0 && c < KINETIC + 1; c++) {
                assert_near(shown(&o, 0, c), shown(&first, 0, c), 1e-9);
            }
            if (k == 0) {
                first = o;
            } else {
                snw_series_clear(&o.series);
            }
        }
        assert_true(shown(&first, 0, KINETIC) > 1e-3);
        snw_series_clear(&first.series);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_robots_are_closed_before_they_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
