// SPDX-License-Identifier: MIT
//
// Wheels that slip: closed forms of a blade and of a driven wheel, and convergence to ideal wheels
// as resistance grows. theory.md 3.15
#include "executed.h"
#include "near.h"

#include <math.h>
#include <stdio.h>

enum { WZ = 2, VX = 3, VY = 4 }; // columns of a twist

// ---- a blade ------------------------------------------------------------------------------------

// Mass 2 at its blade, speed 1, angular velocity 0.7: vx' = w vy, vy' = -w vx - c/m vy, which the
// ideal blade keeps at (1, 0).
static const double mass = 2, turn = 0.7, end = 2;

static void blade_speed(double c, double v[2]) {
    const double b = c / mass, root = sqrt(b * b / 4 - turn * turn);
    const double s1 = -b / 2 + root, s2 = -b / 2 - root;
    // vx = p exp(s1 t) + q exp(s2 t) with vx(0) = 1, vx'(0) = 0; vy = vx'/w
    const double p = -s2 / (s1 - s2), q = 1 - p;
    v[0] = p * exp(s1 * end) + q * exp(s2 * end);
    v[1] = (p * s1 * exp(s1 * end) + q * s2 * exp(s2 * end)) / turn;
}

static void blade(const char *wheel, const char *study, outcome *o) {
    char text[1500];
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\ngravity: 0\n"
        "robot: {sledge: {on: world, joint: planar, body: {mass: 2, inertia: [1, 1, 0.3]}}}\n"
        "initial: {sledge: {rate: [1, 0, 0.7]}}\n"
        "contacts: {blade: {wheel: {on: sledge, axis: y%s}}}\n"
        "probes: {v: {twist: sledge, in: body}, p: {position: sledge}, f: {reaction: blade, in: "
        "body}, e: energy}\n"
        "study: [%s]\n",
        wheel, study);
    execute_ok(text, o);
}

static void a_blade_slips_as_in_closed_form(void **state) {
    (void)state;
    static const struct {
        const char *study;
        double within;
    } way[] = {{"dynamic: {for: 2 s, step: 2 ms, scheme: rk4}", 1e-9},
               {"dynamic: {for: 2 s, step: 1 ms, scheme: generalized-alpha, rho: 0.9}", 1e-6},
               {"dynamic: {for: 2 s, scheme: adaptive, tolerance: 1e-10}", 1e-8},
               {"kinematic: {for: 2 s, step: 2 ms}", 1e-9}};
    double v[2];
    blade_speed(40, v);
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        outcome o;
        blade(", lateral: 40", way[i].study, &o);
        assert_near(last(&o, WZ), turn, 1e-12);
        assert_near(last(&o, VX), v[0], way[i].within);
        assert_near(last(&o, VY), v[1], way[i].within);
        assert_near(last(&o, 9 + 4), -40 * v[1], 40 * way[i].within);
        const double lost = 0.5 * mass * (1 - v[0] * v[0] - v[1] * v[1]);
        assert_near(last(&o, 15 + 3), lost, mass * way[i].within);
        snw_series_clear(&o.series);
    }
}

// The ideal motion is a circle of radius 1/0.7; distance of the end from it, and of the force from
// m v w.
static void ideal_wheels_emerge_in_the_first_order(void **state) {
    (void)state;
    double away[4], force[4];
    for (int k = 0; k < 4; k++) {
        char wheel[40];
        outcome o;
        (void)snprintf(wheel, sizeof wheel, ", lateral: %g", 100.0 * (1 << k));
        blade(wheel, "dynamic: {for: 2 s, step: 1 ms, scheme: rk4}", &o);
        const double x = sin(turn * end) / turn, y = (1 - cos(turn * end)) / turn;
        away[k] = hypot(last(&o, 6) - x, last(&o, 7) - y);
        force[k] = fabs(last(&o, 13) - mass * turn);
        snw_series_clear(&o.series);
    }
    for (int k = 0; k < 3; k++) {
        // error of vx' = -(w^2 m/c) vx and higher orders
        if (!(fabs(away[k] / away[k + 1] - 2) < 0.1 / (1 << k))) {
            fail_msg("distances %g %g", away[k], away[k + 1]);
        }
        if (!(fabs(force[k] / force[k + 1] - 2) < 0.1 / (1 << k))) {
            fail_msg("forces %g %g", force[k], force[k + 1]);
        }
    }
    outcome o;
    blade("", "dynamic: {for: 2 s, step: 1 ms, scheme: rk4}", &o);
    assert_near(last(&o, 6), sin(turn * end) / turn, 1e-10);
    assert_near(last(&o, 13), mass * turn, 1e-10);
    snw_series_clear(&o.series);
}

// ---- a wheel that is driven ---------------------------------------------------------------------

#define CART                                                                                       \
    "sinew: 1\ngravity: 0\n"                                                                       \
    "robot:\n"                                                                                     \
    "  cart: {on: world, joint: planar, body: {mass: 3, inertia: [1, 1, 0.4]}}\n"                  \
    "  hub: {on: cart, joint: revolute, axis: y}\n"                                                \
    "actuators: {motor: {joint: hub, rate: 10}}\n"                                                 \
    "probes: {v: {twist: cart, in: body}, torque: {effort: motor}, e: energy, f: {reaction: "      \
    "tyre}}\n"

// m v' = c (R w - v) forwards, -c v across, independent of each other; the torque of the motor is R
// times the force.
static void a_driven_wheel_spins_until_it_rolls(void **state) {
    (void)state;
    static const char *const study[] = {"dynamic: {for: 1 s, step: 2 ms, scheme: rk4}",
                                        "kinematic: {for: 1 s, step: 2 ms}"};
    for (int i = 0; i < 2; i++) {
        char text[1500];
        outcome o;
        (void)snprintf(text, sizeof text,
                       CART "initial: {cart: {rate: [0, 0.5, 0]}}\n"
                            "contacts: {tyre: {wheel: {on: hub, axis: y, radius: 0.1, lateral: 4, "
                            "rolling: 6}}}\n"
                            "study: [%s]\n",
                       study[i]);
        execute_ok(text, &o);
        const double slip = exp(-6.0 / 3), side = 0.5 * exp(-4.0 / 3);
        assert_near(last(&o, VX), 1 - slip, 1e-9);
        assert_near(last(&o, VY), side, 1e-9);
        assert_near(last(&o, WZ), 0, 1e-12);
        assert_near(last(&o, 6), 0.1 * 6 * slip, 1e-9);
        assert_near(last(&o, 7 + 8 + 3), 6 * slip, 1e-9);
        assert_near(last(&o, 7 + 8 + 4), -4 * side, 1e-9);
        // heat: c times the integrals of the squared slip velocities
        const double heat = 0.5 * 3 * (1 - slip * slip) + 0.5 * 3 * (0.25 - side * side);
        assert_near(last(&o, 7 + 3), heat, 1e-8);
        snw_series_clear(&o.series);
    }
}

// A direction without a resistance is held: along the axle, or along the rolling direction.
static void wheels_may_slip_in_one_direction(void **state) {
    (void)state;
    outcome o;
    execute_ok(CART "initial: {cart: {rate: [1, 0.5, 0]}}\n"
                    "contacts: {tyre: {wheel: {on: hub, axis: y, radius: 0.1, lateral: 4}}}\n"
                    "study: [dynamic: {for: 1 s, step: 2 ms, scheme: rk4}]\n",
               &o);
    assert_near(last(&o, VX), 1, 1e-12);
    assert_near(last(&o, VY), 0.5 * exp(-4.0 / 3), 1e-9);
    assert_near(last(&o, 7 + 8 + 4), -4 * 0.5 * exp(-4.0 / 3), 1e-9);
    snw_series_clear(&o.series);
    execute_ok(CART "initial: {cart: {rate: [0, 0, 0.3]}}\n"
                    "contacts: {tyre: {wheel: {on: hub, axis: y, radius: 0.1, rolling: 6}}}\n"
                    "study: [dynamic: {for: 1 s, step: 2 ms, scheme: rk4}]\n",
               &o);
    assert_near(last(&o, VX), 1 - exp(-2), 1e-9);
    assert_near(last(&o, VY), 0, 1e-10);
    assert_near(last(&o, WZ), 0.3, 1e-10);
    assert_near(last(&o, 6), 0.1 * 6 * exp(-2), 1e-9);
    snw_series_clear(&o.series);
    // a blade with resistance along its direction that holds across it
    blade(", rolling: 1.5", "dynamic: {for: 2 s, step: 2 ms, scheme: rk4}", &o);
    assert_near(last(&o, VX), exp(-1.5), 1e-9);
    assert_near(last(&o, VY), 0, 1e-10);
    snw_series_clear(&o.series);
}

// A slipping wheel that becomes active causes no impact.
static void a_slipping_wheel_is_activated_smoothly(void **state) {
    (void)state;
    outcome o;
    execute_ok(CART "initial: {cart: {rate: [0, 0.5, 0]}}\n"
                    "contacts: {tyre: {wheel: {on: hub, axis: y, radius: 0.1, lateral: 4, rolling: "
                    "6}, when: t > 0.5 s}}\n"
                    "study: [dynamic: {for: 1 s, step: 2 ms, scheme: rk4}]\n",
               &o);
    assert_near(last(&o, VX), 1 - exp(-1), 1e-9);
    assert_near(last(&o, VY), 0.5 * exp(-2.0 / 3), 1e-9);
    snw_series_clear(&o.series);
}

static void wheels_that_cannot_slip_are_refused(void **state) {
    (void)state;
    refuses(CART "contacts: {tyre: {wheel: {on: hub, axis: y, lateral: -1}}}\n",
            "'lateral' must not be negative");
    // without its axis, which is then vertical, a wheel has no rolling direction
    static const char *const more[] = {"radius: 0.1", "radius: 0.1, lateral: 3", "rolling: 2"};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        char text[2000];
        (void)snprintf(text, sizeof text, CART "contacts: {tyre: {wheel: {on: hub, %s}}}\n",
                       more[i]);
        refuses(text, "wheel 'tyre' cannot roll: its axle is normal to the ground");
    }
    refuses(
        "sinew: 1\ngravity: 0\n"
        "materials: {m: {young: 1, poisson: 0, density: 1000}}\n"
        "robot: {worm: {on: world, joint: planar, rod: {length: 1 m, section: {circle: {radius: "
        "1 cm}}, material: m, strain: {bend_z: 3*sin(t)}}}}\n"
        "contacts: {foot: {wheel: {on: \"worm@(mod(t, 1))\", axis: y, lateral: 3}}}\n"
        "study: [kinematic: {for: 1 s, step: 10 ms}]\n",
        "slips at a station that moves");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_blade_slips_as_in_closed_form),
        cmocka_unit_test(ideal_wheels_emerge_in_the_first_order),
        cmocka_unit_test(a_driven_wheel_spins_until_it_rolls),
        cmocka_unit_test(wheels_may_slip_in_one_direction),
        cmocka_unit_test(a_slipping_wheel_is_activated_smoothly),
        cmocka_unit_test(wheels_that_cannot_slip_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
