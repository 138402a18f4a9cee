// SPDX-License-Identifier: MIT
//
// Loops whose rows imply each other everywhere, though not the same ones: Bricard's threefold-symmetric chain of six hinges, each link of
// length a turned by 90 degrees, one way and the other. Angles alternate, and
//
//     cos p + cos q + cos p cos q = 0
//
// so that it moves with one degree of freedom where counting gives none (Baker 1980; Chen, You and Tarnai 2005). As it turns inside out,
// through q = 0 at p = 120 degrees, rows that were independent where it began lose their rank.
#include "executed.h"

#include "near.h"

#include <math.h>
#include <stdio.h>

static void turn(const char *dynamic, outcome *o) {
    char text[2000];
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\n"
        "gravity: [0, 0, 0]\n"
        "robot:\n"
        "  l1: {on: world, joint: revolute, axis: z, body: {mass: 1, com: [0.05, 0, 0], inertia: "
        "[2e-4, 1e-3, 1e-3]}}\n"
        "  l2: {on: l1, pose: {xyz: [0.1, 0, 0], rpy: [90 deg, 0, 0]}, joint: revolute, axis: z, "
        "body: {mass: 1, com: [0.05, 0, 0], inertia: [2e-4, 1e-3, 1e-3]}}\n"
        "  l3: {on: l2, pose: {xyz: [0.1, 0, 0], rpy: [-90 deg, 0, 0]}, joint: revolute, axis: z, "
        "body: {mass: 1, com: [0.05, 0, 0], inertia: [2e-4, 1e-3, 1e-3]}}\n"
        "  l4: {on: l3, pose: {xyz: [0.1, 0, 0], rpy: [90 deg, 0, 0]}, joint: revolute, axis: z, "
        "body: {mass: 1, com: [0.05, 0, 0], inertia: [2e-4, 1e-3, 1e-3]}}\n"
        "  l5: {on: l4, pose: {xyz: [0.1, 0, 0], rpy: [-90 deg, 0, 0]}, joint: revolute, axis: z, "
        "body: {mass: 1, com: [0.05, 0, 0], inertia: [2e-4, 1e-3, 1e-3]}}\n"
        "sites:\n"
        "  e: {on: l5, pose: {xyz: [0.1, 0, 0], rpy: [90 deg, 0, 0]}}\n"
        "  g: {on: world, pose: {xyz: [-0.1, 0, 0], rpy: [90 deg, 0, 0]}}\n"
        "loops: {ring: {join: [e, g], as: revolute}}\n"
        "initial: {l1: {position: 60 deg, rate: 3}, l2: acos(-1/3), l3: 60 deg, l4: acos(-1/3), "
        "l5: "
        "60 deg}\n"
        "study: [dynamic: {for: 8 s, %s}]\n"
        "record: {every: 20 ms}\n"
        "probes: {p: {angle: l1}, q: {angle: l2}, third: {angle: l3}, e: energy}\n",
        dynamic);
    execute_ok(text, o);
}

// over more than a whole turn, by every family of schemes; `within`: errors of angles
static void a_bricard_chain_turns_inside_out(void **state) {
    (void)state;
    static const struct {
        const char *dynamic;
        double within;
    } ways[] = {{"scheme: adaptive, tolerance: 1e-10", 1e-9},
                {"scheme: adaptive, tolerance: 1e-7", 1e-5},
                {"scheme: stiff, tolerance: 1e-9", 1e-4},
                {"scheme: generalized-alpha, step: 2 ms", 1e-4},
                {"scheme: bdf2, step: 1 ms", 1e-2}};
    double end[2] = {0};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        outcome o;
        double most = 0, least = 0;
        turn(ways[i].dynamic, &o);
        for (int n = 0; n < o.series.nframe; n++) {
            const double p = shown(&o, n, 0), q = shown(&o, n, 1);
            assert_near(cos(p) + cos(q) + cos(p) * cos(q), 0, 1e-9);
            assert_near(shown(&o, n, 2), p, 1e-9);
            most = fmax(most, p), least = fmin(least, p);
        }
        // there and back through both ends of its range, at 120 degrees
        assert_true(most > 2.09 && least < -2.09);
        if (i == 0) end[0] = last(&o, 0), end[1] = last(&o, 1);
        assert_near(last(&o, 0), end[0], ways[i].within);
        assert_near(last(&o, 1), end[1], ways[i].within);
        assert_near(o.totals.balance, 0, 1e-4 * o.totals.exchanged);
        snw_series_clear(&o.series);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bricard_chain_turns_inside_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
