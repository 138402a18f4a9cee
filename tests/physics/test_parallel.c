// SPDX-License-Identifier: MIT
//
// Soft robots with loops: equilibria and their stability, against the same robot cut elsewhere and
// against Greenhill's closed form.
#include "executed.h"

#include <stdio.h>

// Limbs on the ground closed at the platform, or limbs on the platform closed at the ground: the
// same equilibrium.
static void the_platform_may_be_the_base(void **state) {
    (void)state;
#define SOFT                                                                                       \
    "sinew: 1\ngravity: [0, 0, -9.81]\n"                                                           \
    "materials: {spring: {young: 60 GPa, poisson: 0.3, density: 7000}}\n"                          \
    "parameters: {r: 0.1}\n"
#define LIMB                                                                                       \
    "rod: {length: 0.4, section: {circle: {radius: 1 mm}}, material: spring, strain: kirchhoff "   \
    "legendre 5}"
    static const char *const text[2] = {
        SOFT
        "robot:\n"
        "  limb(k=1..3): {on: world, pose: {xyz: [r*cos(2*k), r*sin(2*k), 0], x: z}, " LIMB "}\n"
        "  top: {on: world, pose: {xyz: [0, 0, 0.4]}, joint: free, body: {mass: 0.1, inertia: "
        "[1e-4, 1e-4, 2e-4]}}\n"
        "loops: {clamp(k=1..3): {join: [top, limb(k).tip], as: fixed, pose: {xyz: [r*cos(2*k), "
        "r*sin(2*k), 0], x: z}}}\n"
        "loads: {push: {on: top, force: [0.5, 0.2, -1]}}\n"
        "study: [static:]\nprobes: {top: {position: top}, s: stability}\n",
        SOFT
        "robot:\n"
        "  top: {on: world, pose: {xyz: [0, 0, 0.4]}, joint: free, body: {mass: 0.1, inertia: "
        "[1e-4, 1e-4, 2e-4]}}\n"
        "  limb(k=1..3): {on: top, pose: {xyz: [r*cos(2*k), r*sin(2*k), 0], x: -z}, " LIMB "}\n"
        "loops: {clamp(k=1..3): {join: [world, limb(k).tip], as: fixed, pose: {xyz: [r*cos(2*k), "
        "r*sin(2*k), 0], x: -z}}}\n"
        "loads: {push: {on: top, force: [0.5, 0.2, -1]}}\n"
        "study: [static:]\nprobes: {top: {position: top}, s: stability}\n"};
    outcome o[2];
    for (int i = 0; i < 2; i++) {
        execute(text[i], &o[i]);
        if (o[i].status != SNW_OK) fail_msg("%d: %s", i, o[i].err.text);
    }
    // the strain functions span the same space from either end
    for (int c = 0; c < 3; c++) assert_near(last(&o[1], c), last(&o[0], c), 1e-7);
    assert_true(fabs(last(&o[0], 0)) > 1e-3);
    for (int i = 0; i < 2; i++) {
        assert_true(last(&o[i], 3) > 0); // determined although the platform is free
        snw_series_clear(&o[i].series);
    }
}

// Greenhill: a clamped rod under torsion buckles when the torque is 8.98681891 EI/L, the first root
// of tan x = x with x = torque L/(2 EI). Here the twist is prescribed and the end may slide.
static void a_twisted_clamped_rod_buckles_at_greenhills_torque(void **state) {
    (void)state;
    double x = 4.5;
    for (int i = 0; i < 50; i++) x = M_PI + atan(x);
    const double stiff = 10; // GJ / EI
    double low = 0.7 * 2 * x / stiff, high = 1.3 * 2 * x / stiff;
    for (int i = 0; i < 40; i++) {
        const double angle = 0.5 * (low + high);
        char text[1500];
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\n"
            "robot: {rod: {on: world, rod: {length: 1, section: {stiffness: {twist: 10, "
            "bend_y: 1, bend_z: 1}}, nodes: 40, magnus: 6, strain: {twist: legendre 2, bend_y: "
            "legendre 12, "
            "bend_z: legendre 12}}}}\n"
            "loops: {clamp: {join: [world, rod.tip], as: prismatic, axis: x, pose: {xyz: "
            "[1, 0, 0], axis: x, angle: %.17g}}}\n"
            "study: [static: {branch: follow}]\nprobes: {s: stability}\n",
            angle);
        outcome o;
        execute_ok(text, &o);
        if (last(&o, 0) > 0) {
            low = angle;
        } else {
            high = angle;
        }
        snw_series_clear(&o.series);
    }
    assert_near(low * stiff, 2 * x, 1e-7);
    assert_near(2 * x, 8.9868189158, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_platform_may_be_the_base),
        cmocka_unit_test(a_twisted_clamped_rod_buckles_at_greenhills_torque),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
