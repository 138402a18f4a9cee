// SPDX-License-Identifier: MIT
//
// Motors that hold the value of a probe, and wheels with a common effort, against closed forms and
// against the same motion with driven coordinates. theory.md 6.8; equal torques of a steered car in
// examples/locomotion/mobile_manipulator.yaml
#include "executed.h"
#include "near.h"

#include <math.h>
#include <stdio.h>

#define CART                                                                                       \
    "sinew: 1\ngravity: 0\n"                                                                       \
    "robot:\n"                                                                                     \
    "  cart: {on: world, joint: planar, body: {mass: 3, inertia: [1, 1, 0.4]}}\n"                  \
    "  hub(k=1..2): {on: cart, pose: {xyz: [0.1, 0.2*(-1)^k, 0]}, joint: revolute, axis: y, "      \
    "body: {mass: 0.5, inertia: [0.01, 0.02, 0.01]}}\n"                                            \
    "  arm: {on: cart, pose: {xyz: [0.2, 0, 0]}, joint: revolute, stiffness: 2, body: {mass: 1, "  \
    "com: [0, 0.3, 0], inertia: [0.1, 0.1, 0.1]}}\n"                                               \
    "contacts:\n"                                                                                  \
    "  tyre(k=1..2): {wheel: {on: hub(k), axis: y, radius: 0.1}}\n"                                \
    "  keel: {wheel: {on: heel, axis: y}}\n"                                                       \
    "sites: {heel: {on: cart, pose: {xyz: [-0.3, 0, 0]}}, nose: {on: cart, pose: {xyz: [0.4, 0, "  \
    "0]}}}\n"                                                                                      \
    "probes: {v: {twist: cart, in: body}, nose: {velocity: nose}, turn: {rate: hub(1)}, swing: "   \
    "{angle: arm}, torque: {effort: motor}, e: energy, power: {power: motor}}\n"

#define KINEMATIC "study: [kinematic: {for: 1 s, step: 2 ms}]\n"
enum {
    VX = 3,
    NOSE = 6,
    RATE = 9,
    SWING = 10,
    TORQUE = 11,
    WORK = 12 + 4,
    BALANCE = 12 + 6,
    POWER = 20
};

// The cart moves straight with v = 0.5 (1 - cos 2t), which determines the rates of its wheels,
// while an undriven arm swings. Wheels that hold this speed, by any of several probes, and wheels
// that are driven directly need the same torque; two wheels with a common effort need half of it
// each.
static void a_held_coordinate_moves_as_a_driven_one(void **state) {
    (void)state;
    static const char *const given[] = {
        "{joint: hub(1), rate: 5*(1 - cos(2*t))}",
        "{joint: hub(1), hold: {v.vx: 0.5*(1 - cos(2*t))}}",
        "{joint: hub(1), hold: {nose.vx: 0.5*(1 - cos(2*t))}}",
        "{joint: hub(1), hold: {turn: 5*(1 - cos(2*t))}}",
        "{wheels: [hub(1), hub(2)], hold: {v.vx: 0.5*(1 - cos(2*t))}}",
    };
    double torque = 0, swing = 0, work = 0;
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        char text[2500];
        outcome o;
        (void)snprintf(text, sizeof text, CART KINEMATIC "actuators: {motor: %s}\n", given[i]);
        execute_ok(text, &o);
        const double v = 0.5 * (1 - cos(2));
        assert_near(last(&o, VX), v, 1e-12);
        assert_near(last(&o, NOSE), v, 1e-12);
        assert_near(last(&o, RATE), v / 0.1, 1e-11);
        assert_near(last(&o, BALANCE), 0, 1e-8);
        if (i == 0) torque = last(&o, TORQUE), swing = last(&o, SWING), work = last(&o, WORK);
        assert_true(fabs(swing) > 0.01 && fabs(torque) > 0.01);
        assert_near(last(&o, TORQUE), i == 4 ? torque / 2 : torque, 1e-9);
        assert_near(last(&o, SWING), swing, 1e-11);
        assert_near(last(&o, WORK), work, 1e-9);
        snw_series_clear(&o.series);
    }
}

// One effort on two wheels: (3 + 1 + 1 + 2 (0.02/R^2)) v' = 2 tau/R with the arm locked. The power
// is the sum over both wheels.
static void wheels_have_one_effort(void **state) {
    (void)state;
    static const char *const study[] = {"dynamic: {for: 1 s, step: 2 ms, scheme: rk4}",
                                        "kinematic: {for: 1 s, step: 2 ms}"};
    for (int i = 0; i < 2; i++) {
        char text[2500];
        outcome o;
        (void)snprintf(text, sizeof text,
                       CART "actuators: {motor: {wheels: [hub(1), hub(2)], effort: 0.3*t}, lock: "
                            "{joint: arm, position: 0}}\n"
                            "study: [%s]\n",
                       study[i]);
        execute_ok(text, &o);
        const double mass = 3 + 1 + 1 + 2 * 0.02 / 0.01, v = 2 * 0.3 * 0.5 / 0.1 / mass;
        assert_near(last(&o, VX), v, 1e-9);
        assert_near(last(&o, TORQUE), 0.3, 1e-12);
        assert_near(last(&o, WORK), 0.5 * mass * v * v, 1e-8);
        assert_near(last(&o, POWER), 2 * 0.3 * v / 0.1, 1e-8);
        snw_series_clear(&o.series);
    }
}

// ---- held quantity different from the driven one ------------------------------------------------

// The unicycle of Ali 2011, class W2: its motor holds the speed of the frame. While the frame
// turns, the wheel has a different speed. Closed form of examples/locomotion/unicycle.yaml
static void a_motor_holds_what_it_does_not_drive(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\ngravity: 0\n"
               "robot:\n"
               "  frame: {on: world, joint: planar, body: {mass: 10, inertia: [1, 1, 1]}}\n"
               "  right: {on: frame, pose: {xyz: [0, -0.2, 0]}, joint: revolute, axis: y}\n"
               "  left: {on: frame, pose: {xyz: [0, 0.2, 0]}, joint: revolute, axis: y}\n"
               "actuators: {motor: {joint: right, hold: {v.vx: 5/7*0.5*(1 - exp(-t))}}}\n"
               "contacts: {a: {wheel: {on: right, axis: y, radius: 0.1}}, b: {wheel: {on: left, "
               "axis: y, radius: 0.1}}}\n"
               "probes: {v: {twist: frame, in: body}, torque: {effort: motor}, free: {rate: "
               "left}}\n" KINEMATIC,
               &o);
    const double u = 0.5 * (1 - exp(-1));
    assert_near(last(&o, 2), 10.0 / 7 * u, 1e-9);
    assert_near(last(&o, VX), 5.0 / 7 * u, 1e-12);
    assert_near(last(&o, 6), 5.0 / 7 * 0.5 * exp(-1), 1e-9);
    assert_near(last(&o, 7), 30.0 / 7 * u, 1e-9);
    snw_series_clear(&o.series);
}

// A motor balances an inclined pole on a wheel: (M + m) a = tau/R and m g l sin q - m a l cos q =
// tau, so that the wheel has a constant acceleration.
static void a_wheel_keeps_a_pole_from_falling(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\ngravity: [0, 0, -9.81]\n"
               "robot:\n"
               "  axle: {on: world, joint: prismatic, axis: x, body: {mass: 2}}\n"
               "  pole: {on: axle, joint: revolute, axis: y, body: {mass: 3, com: [0, 0, 0.8], "
               "inertia: [0.1, 0.1, 0.1]}}\n"
               "  wheel: {on: pole, joint: revolute, axis: y}\n"
               "initial: {pole: 0.1}\n"
               "actuators: {motor: {joint: wheel, hold: {tilt: 0}}}\n"
               "contacts: {tyre: {wheel: {on: wheel, axis: y, radius: 0.15}}}\n"
               "probes: {x: {velocity: axle}, tilt: {rate: pole}, angle: {angle: pole}, torque: "
               "{effort: motor}}\n" KINEMATIC,
               &o);
    const double a = 3 * 9.81 * 0.8 * sin(0.1) / (3 * 0.8 * cos(0.1) + 5 * 0.15);
    assert_near(last(&o, 0), a, 1e-10);
    assert_near(last(&o, 3), 0, 1e-12);
    assert_near(last(&o, 4), 0.1, 1e-12);
    assert_near(last(&o, 5), 5 * a * 0.15, 1e-10);
    snw_series_clear(&o.series);
}

// A car with small wheels that keeps its heading pulls a trailer into line, tan(psi/2) =
// tan(psi_0/2) exp(-v t/d). The prescribed shape is constant, so that the speed of the car alone
// determines the other rates. Without a motor that holds the speed the car coasts with constant
// energy.
static void a_trailer_follows_a_car_of_any_wheels(void **state) {
    (void)state;
    static const char *const motor[] = {"{wheels: [hub(1), hub(2)], hold: {v.vx: 0.5}}",
                                        "{wheels: [hub(1), hub(2)], effort: 0}"};
    for (int i = 0; i < 2; i++) {
        char text[2500];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\nparameters: {R: 0.005, d: 0.3, psi: 0.5}\n"
            "robot:\n"
            "  car: {on: world, joint: planar, body: {mass: 5, inertia: [1, 1, 1]}}\n"
            "  hub(k=1..2): {on: car, pose: {xyz: [0, (-1)^k*0.12, 0]}, joint: revolute, axis: y}\n"
            "  fork: {on: car, pose: {xyz: [0.3, 0, 0]}, joint: revolute, body: {mass: 0.1, "
            "inertia: "
            "[1e-3, 1e-3, 1e-3]}}\n"
            "  trailer: {on: car, joint: revolute, body: {mass: 2, com: [-d, 0, 0], inertia: "
            "[0.02, "
            "0.02, 0.02]}}\n"
            "sites: {axle: {on: trailer, pose: {xyz: [-d, 0, 0]}}}\n"
            "initial: {car: {rate: [0.5, 0, 0]}, hub(k=1..2): {rate: 0.5/R}, trailer: {position: "
            "psi, rate: -0.5/d*sin(psi)}}\n"
            "actuators: {steer: {joint: fork, position: 0}, motor: %s}\n"
            "contacts: {tyre(k=1..2): {wheel: {on: hub(k), axis: y, radius: R}}, front: {wheel: "
            "{on: "
            "fork, axis: y}}, back: {wheel: {on: axle, axis: y}}}\n"
            "probes: {v: {twist: car, in: body}, bend: {angle: trailer}, e: energy}\n" KINEMATIC,
            motor[i]);
        execute_ok(text, &o);
        const double begun = 0.5 * 5.1 * 0.25 + 0.5 * 2 * 0.25 * cos(0.5) * cos(0.5) +
                             0.5 * 0.02 * pow(0.5 / 0.3 * sin(0.5), 2);
        if (i == 0) {
            assert_near(last(&o, 6), 2 * atan(tan(0.25) * exp(-0.5 / 0.3)), 1e-8);
            assert_near(last(&o, VX), 0.5, 1e-12);
        } else {
            assert_near(last(&o, 7), begun, 1e-9);
        }
        snw_series_clear(&o.series);
    }
}

static void stops(const char *text, const char *why) {
    outcome o;
    execute(text, &o);
    assert_int_not_equal(o.status, SNW_OK);
    if (!strstr(o.err.text, why)) fail_msg("%s", o.err.text);
    snw_series_clear(&o.series);
}

static void impossible_holds_are_reported(void **state) {
    (void)state;
    static const struct {
        const char *motor, *why;
    } wrong[] = {
        {"{joint: hub(1), hold: {swing: 0.1}}", "which is not a 'velocity'"},
        {"{joint: hub(1), hold: {v.ax: 0.1}}", "names one component of 'v'"},
        {"{joint: hub(1), hold: {v: 0.1}}", "names one component of 'v'"},
        {"{joint: hub(1), hold: {w.vx: 0.1}}", "'w'"},
        {"{joint: hub(1), hold: {v.vx: 0.1, v.vy: 0}}", "names one component of a probe"},
        {"{joint: hub(1), hold: {v.vx: 1 m}}", "a speed (m/s) is wanted"},
        {"{joint: hub(1), hold: {v.vx: 1}, rate: 3}", "one follows from the other"},
        {"{joint: hub(1), hold: {v.vx: 1}, when: t > 1}", "is always active"},
        {"{wheels: [hub(1), hub(2)], rate: 3}", "'wheels' have one effort"},
        {"{wheels: hub(1), effort: 3}", "is a list of links"},
        {"{wheels: [hub(1), cart], effort: 3}", "'wheels' need revolute joints"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[2500];
        (void)snprintf(text, sizeof text, CART KINEMATIC "actuators: {motor: %s}\n",
                       wrong[i].motor);
        refuses(text, wrong[i].why);
    }
    stops(CART "actuators: {motor: {joint: hub(1), hold: {v.vx: 1}}}\n"
               "study: [dynamic: {for: 1 s, step: 2 ms}]\n",
          "which only a kinematic step supports");
    // The motor has no influence on the sideways motion of the cart.
    stops(CART KINEMATIC "actuators: {motor: {joint: hub(1), hold: {v.vy: 0.1}}}\n", "contradicts");
    // No torque on a flywheel propels the cart.
    stops("sinew: 1\ngravity: 0\n"
          "robot:\n"
          "  cart: {on: world, joint: planar, body: {mass: 3, inertia: [1, 1, 0.4]}}\n"
          "  disc: {on: cart, joint: revolute, body: {mass: 1, inertia: [1, 1, 0.2]}}\n"
          "actuators: {motor: {joint: disc, hold: {v.vx: 0.1*t}}}\n"
          "probes: {v: {twist: cart, in: body}}\n" KINEMATIC,
          "keeps it on its law");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_held_coordinate_moves_as_a_driven_one),
        cmocka_unit_test(wheels_have_one_effort),
        cmocka_unit_test(a_motor_holds_what_it_does_not_drive),
        cmocka_unit_test(a_wheel_keeps_a_pole_from_falling),
        cmocka_unit_test(a_trailer_follows_a_car_of_any_wheels),
        cmocka_unit_test(impossible_holds_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
