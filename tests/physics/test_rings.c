// SPDX-License-Identifier: MIT
//
// Rings along a rod, a body that slides along its own centre line, against the motion of an arc on
// its circle. theory.md 3.15; gaits in examples/locomotion/snake2d.yaml, snake3d.yaml
#include "executed.h"
#include "near.h"

#include <math.h>
#include <stdio.h>

#define SNAKE(strain)                                                                              \
    "sinew: 1\ngravity: 0\n"                                                                       \
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"                           \
    "robot: {snake: {on: world, joint: planar, rod: {length: 1 m, section: {circle: {radius: 1 "   \
    "cm}}, material: rubber, " strain "}}}\n"

#define ARC                                                                                        \
    SNAKE("rest: {bend_z: 2}, strain: {bend_z: legendre 3}")                                       \
    "initial: {snake: {rate: [0.5, 0, 1]}}\n"                                                      \
    "probes: {p: {pose: snake.root}, slip(k=1..4): {velocity: \"snake@((k - 0.5)*0.25 m)\", in: "  \
    "body}, n: {reaction: groove}, e: energy}\n"

enum { TURN = 9, SLIP = 19, FORCE = 31 + 3, BALANCE = 37 + 6 }; // columns

// With as many rings as leave one motion, an arc moves along its circle of 1/2 m indefinitely,
// because polynomials contain their own derivatives. The rings carry m V^2 times the difference of
// the tangents at the ends.
static void an_arc_slides_along_itself(void **state) {
    (void)state;
    static const char *const scheme[] = {"rk4", "generalized-alpha, rho: 0.9", "bdf2"};
    static const double within[] = {1e-10, 2e-6, 1e-5}; // (w h)^2/12 of the radius of the second
    for (int i = 0; i < 3; i++) {
        char text[1500];
        outcome o;
        (void)snprintf(text, sizeof text,
                       ARC "contacts: {groove: {ring: {along: snake, stations: 5}}}\n"
                           "study: [dynamic: {for: 1 s, step: 5 ms, scheme: %s}]\n",
                       scheme[i]);
        execute_ok(text, &o);
        assert_near(last(&o, 0), 0.5 * sin(1), within[i]);
        assert_near(last(&o, 1), 0.5 * (1 - cos(1)), within[i]);
        assert_near(last(&o, TURN), 1, within[i]);
        const double mv2 = 1000 * 3.14159265358979324e-4 * 0.25;
        assert_near(last(&o, FORCE), mv2 * (cos(3) - cos(1)), 10 * mv2 * within[i]);
        assert_near(last(&o, FORCE + 1), mv2 * (sin(3) - sin(1)), 10 * mv2 * within[i]);
        snw_series_clear(&o.series);
    }
}

// By default two motions are left, and no constrained section slips.
static void a_soft_body_slides_and_bends(void **state) {
    (void)state;
    outcome o;
    execute_ok(ARC "contacts: {groove: {ring: {along: snake}}}\n"
                   "study: [dynamic: {for: 1 s, step: 2 ms, scheme: rk4}]\n",
               &o);
    for (int f = 0; f < o.series.nframe; f++) {
        for (int k = 0; k < 4; k++) assert_near(shown(&o, f, SLIP + 3 * k + 1), 0, 1e-10);
        assert_near(shown(&o, f, BALANCE), 0, 1e-9);
    }
    // it stays near the circle, and bends where its ends are free
    assert_near(last(&o, TURN), 1, 0.01);
    assert_true(fabs(last(&o, TURN) - 1) > 1e-6);
    snw_series_clear(&o.series);
}

// With a law that is no wave along the body some section must slip: the error names it, with its
// speed.
static void gaits_that_violate_the_rings_are_named(void **state) {
    (void)state;
    static const char *const law[] = {"4*sin(t)", "2 + 3*cos(6*x)*cos(t)"};
    for (int i = 0; i < 2; i++) {
        char text[1500];
        outcome o;
        (void)snprintf(text, sizeof text,
                       SNAKE("strain: {bend_z: %s}") "contacts: {groove: {ring: {along: snake}}}\n"
                                                     "probes: {p: {pose: snake.root}}\n"
                                                     "study: [kinematic: {for: 1 s, step: 5 ms}]\n",
                       law[i]);
        execute(text, &o);
        assert_int_equal(o.status, SNW_E_MODEL);
        if (!strstr(o.err.text, "contact 'groove(") || !strstr(o.err.text, "contradicts")) {
            fail_msg("%s", o.err.text);
        }
        snw_series_clear(&o.series);
    }
}

static void invalid_rings_are_refused(void **state) {
    (void)state;
    const char *const robot = SNAKE("strain: {bend_z: 2}") "sites: {s: {on: snake.tip}}\n";
    static const struct {
        const char *ring, *why;
    } wrong[] = {
        {"{}", "needs one of 'on'"},
        {"{on: s, along: snake}", "needs one of 'on'"},
        {"{on: s, stations: 3}", "'stations' are for a ring 'along' a rod"},
        {"{along: snake, stations: 0}", "stations"},
        {"{along: snail}", "snail"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[1500];
        (void)snprintf(text, sizeof text, "%scontacts: {r: {ring: %s}}\n", robot, wrong[i].ring);
        refuses(text, wrong[i].why);
    }
    refuses(
        "sinew: 1\nrobot: {box: {on: world, joint: free, body: {mass: 1, inertia: [1, 1, 1]}}}\n"
        "contacts: {r: {ring: {along: box}}}\n",
        "which has no rod");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arc_slides_along_itself),
        cmocka_unit_test(a_soft_body_slides_and_bends),
        cmocka_unit_test(gaits_that_violate_the_rings_are_named),
        cmocka_unit_test(invalid_rings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
