// SPDX-License-Identifier: MIT
//
// Conditional loops, drives and bodies in studies and in live stepping: impacts against closed
// forms, repeated cycles, redundant rows, refused models. test_plastic_impacts.c has random trees.
#include "executed.h"
#include "twins.h"
// after near.h: it uses assertions
#include "heap_calls.h"

#include "sinew/sinew.h"

#include <stdio.h>

// ---- closed forms -------------------------------------------------------------------------------

typedef struct way {
    const char *keys;
    double within; // error of the scheme for uniform motion
} way;

static const way ways[] = {
    {"scheme: generalized-alpha, step: 10 ms", 1e-12},
    {"scheme: newmark, step: 10 ms", 1e-12},
    {"scheme: hht, step: 7 ms", 1e-12},
    {"scheme: wbz, step: 7 ms", 1e-12},
    {"scheme: euler, step: 10 ms", 1e-12},
    {"scheme: trapezoidal, step: 10 ms", 1e-12},
    {"scheme: bdf2, step: 10 ms", 1e-12},
    {"scheme: bdf-alpha, step: 7 ms", 1e-12},
    {"scheme: generalized-alpha, step: 50 ms, adapt: on", 1e-12},
    {"scheme: conserving, step: 10 ms", 1e-12},
    {"scheme: rk4, step: 10 ms", 1e-12},
    {"scheme: adaptive", 1e-12},
    {"scheme: stiff, tolerance: 1e-9", 1e-7},
};

// 2 kg at 1 m/s sticks to 3 kg at rest 0.25 m further, and is released: 0.4 m/s, and 3/5 of the
// energy is lost.
static void two_bodies_stick_together(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char text[1000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       HEAD "robot:\n"
                            "  a: {on: world, joint: prismatic, axis: x, body: {mass: 2 kg}}\n"
                            "  b: {on: world, pose: {xyz: [0.25, 0, 0]}, joint: prismatic, axis: x,"
                            " body: {mass: 3 kg}}\n"
                            "initial: {a: {rate: 1 m/s}}\n"
                            "loops: {hook: {join: [a, b], as: fixed, when: once(p.x >= 0.25 m) and "
                            "t < 0.75 s}}\n"
                            "probes: {p: {position: a}, va: {rate: a}, vb: {rate: b}, xb: {value: "
                            "b}, e: energy}\n"
                            "study: [dynamic: {for: 1 s, %s}]\n",
                       ways[i].keys);
        execute_ok(text, &o);
        const double tol = ways[i].within;
        const double got[] = {last(&o, 3), last(&o, 4), last(&o, 5), last(&o, 6), last(&o, 9)};
        const double want[] = {0.4, 0.4, 0.3, 0.4, 0.6};
        for (int k = 0; k < 5; k++) {
            // the time of the event is known to a billionth of a step; the state is moved back to
            // it
            const double slack = tol + 1e-10;
            if (!(fabs(got[k] - want[k]) <= slack))
                fail_msg("%s: value %d is %.15g", ways[i].keys, k, got[k]);
        }
        if (!(fabs(last(&o, 12)) < 1e-9)) fail_msg("%s: balance %g", ways[i].keys, last(&o, 12));
        assert_int_equal(o.warnings, 0);
        snw_series_clear(&o.series);
    }
}

// A bar of mass m and length L moves at v perpendicular to its axis and is caught at a point at
// distance a from its middle. The angular momentum about that point is conserved, m v a = (m L^2/12
// + m a^2) w, and the remaining energy is (m v a) w/2.
static void a_bar_is_caught(void **state) {
    (void)state;
    const double m = 1.3, L = 0.8, v = 2;
    const double beside[] = {0, 0.1, 0.25, 0.4}; // the middle, two points between, the end
    static const char *const schemes[] = {"step: 5 ms", "scheme: adaptive, tolerance: 1e-10",
                                          "step: 5 ms, scheme: conserving"};
    for (int k = 0; k < 12; k++) {
        const double a = beside[k / 3], I = m * L * L / 12;
        char text[1400];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            HEAD "robot:\n"
                 "  bar: {on: world, joint: planar, body: {mass: %.17g, inertia: [1, 1, %.17g]}}\n"
                 "initial: {bar: {rate: [0, %.17g, 0]}}\n"
                 "sites: {eye: {on: bar, pose: {xyz: [%.17g, 0, 0]}}}\n"
                 "loops: {pin: {join: [world, eye], as: revolute, pose: {xyz: [%.17g, 0.3, 0]}, "
                 "when: once(eye.y >= 0.3)}}\n"
                 "probes: {eye: {position: eye}, w: {rate: bar}, e: energy, h: momentum}\n"
                 "study: [dynamic: {for: 0.16 s, %s}]\n",
            m, I, v, a, a, schemes[k % 3]);
        execute_ok(text, &o);
        const double w = m * v * a / (I + m * a * a), before = 0.5 * m * v * v;
        const double after = 0.5 * m * v * a * w;
        // about the pin, in the plane at (a, 0.3)
        const int n = o.series.nframe - 1;
        const double px = shown(&o, n, 17), py = shown(&o, n, 18), lz = shown(&o, n, 16);
        // shortly after the impact
        assert_near(last(&o, 5), -w, 1e-6 * w + 1e-12);
        assert_near(lz - a * py + 0.3 * px, -m * v * a, 1e-6);
        assert_near(last(&o, 6), after, 1e-6);
        assert_near(last(&o, 9), before - after, 1e-9);
        assert_near(last(&o, 12), 0, 1e-8);
        assert_near(last(&o, 0), a, 1e-10);
        assert_near(last(&o, 1), 0.3, 1e-10);
        snw_series_clear(&o.series);
    }
}

// A rotating arm picks up a mass at rest and drops it later: I w = (I + m r^2) w', and I w'^2/2
// remains.
static void a_body_is_picked_up_and_dropped(void **state) {
    (void)state;
    static const char *const schemes[] = {"step: 10 ms", "step: 10 ms, scheme: conserving",
                                          "scheme: adaptive, tolerance: 1e-10",
                                          "step: 10 ms, scheme: bdf2"};
    const double I = 0.2, m = 0.5, r = 0.6, w = 3, z = 0.4, g = 9.81;
    const double v = I * w / (I + m * r * r);
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        char text[1400];
        outcome o;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\n"
                       "robot:\n"
                       "  arm: {on: world, pose: {xyz: [0, 0, 0.4]}, joint: revolute, body: {mass: "
                       "1, inertia: "
                       "[1, 1, 0.2]}}\n"
                       "  load: {on: arm, pose: {xyz: [0.6, 0, 0]}, body: {mass: 0.5}, when: t > "
                       "0.113 s and t "
                       "<= 0.4 s}\n"
                       "initial: {arm: {rate: 3 rad/s}}\n"
                       "probes: {w: {rate: arm}, e: energy, h: momentum, c: center_of_mass}\n"
                       "study: [dynamic: {for: 0.3 s, %s}, dynamic: {for: 0.3 s, %s}]\n",
                       schemes[k], schemes[k]);
        execute_ok(text, &o);
        int at = 0;
        while (o.series.t[at] < 0.299) at++;
        assert_near(shown(&o, at, 0), v, 1e-9);
        assert_near(shown(&o, at, 1), 0.5 * (I + m * r * r) * v * v, 1e-9);
        assert_near(shown(&o, at, 4), 0.5 * I * w * w - 0.5 * (I + m * r * r) * v * v, 1e-9);
        assert_near(shown(&o, at, 5), m * g * z, 1e-9); // its potential energy
        assert_near(shown(&o, at, 11), I * w, 1e-9);
        assert_near(last(&o, 0), v, 1e-9);
        assert_near(last(&o, 1), 0.5 * I * v * v, 1e-9);
        assert_near(last(&o, 5), -0.5 * m * r * r * v * v, 1e-9); // its kinetic energy
        assert_near(last(&o, 7), 0, 1e-9);
        assert_near(last(&o, 17), z, 1e-12);
        snw_series_clear(&o.series);
    }
}

// A wheel on a shaft, both free; a conditional drive prescribes the rate of the wheel, then
// releases it. The angular momentum about the axis is conserved: I1 w1 + I2 (w1 + w2). The effort
// of the drive is zero while it is active, since no other forces act.
static void a_clutch_engages(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        char text[1400];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            HEAD "robot:\n"
                 "  shaft: {on: world, joint: revolute, body: {mass: 1, inertia: [1, 1, 0.1]}}\n"
                 "  wheel: {on: shaft, joint: revolute, body: {mass: 1, inertia: [1, 1, 0.3]}}\n"
                 "actuators: {clutch: {joint: wheel, rate: 2 rad/s, when: t > 0.113 s and t < 0.3 "
                 "s}}\n"
                 "initial: {shaft: {rate: 3 rad/s}, wheel: {rate: -1 rad/s}}\n"
                 "probes: {w1: {rate: shaft}, w2: {rate: wheel}, a: {angle: wheel}, f: {effort: "
                 "clutch}, e: energy, h: momentum}\n"
                 "study: [dynamic: {for: 0.5 s, %s}]\n",
            k ? "scheme: adaptive" : "step: 10 ms");
        execute_ok(text, &o);
        const double H = 0.4 * 3 - 0.3 * 1, w1 = (H - 0.6) / 0.4;
        const double before = 0.5 * (0.1 * 9 + 0.3 * 4);
        const double after = 0.5 * (0.1 * w1 * w1 + 0.3 * (w1 + 2) * (w1 + 2));
        // impulse on the wheel, p = 0.3 (w1 + 2 - (3 - 1)); relative rate -1 before, 2 after
        const double p = 0.3 * (w1 + 2 - 2), heat = 0.5 * p * 3;
        assert_near(last(&o, 0), w1, 1e-10);
        assert_near(last(&o, 1), 2, 1e-10);
        assert_near(last(&o, 2), -0.113 + 2 * (0.5 - 0.113), 1e-10);
        assert_near(last(&o, 4), after, 1e-10);
        assert_near(last(&o, 7), heat, 1e-10);
        assert_near(last(&o, 8), after - before + heat, 1e-8);
        assert_near(last(&o, 8), 2 * p, 1e-8); // the drive turns at 2 while it exerts the impulse p
        assert_near(last(&o, 10), 0, 2e-8);
        assert_near(last(&o, 14), H, 1e-10);
        snw_series_clear(&o.series);
    }
}

// A mass at rest is attached to a point of a belt that moves at u: the belt exerts the impulse m u
// and does the work m u^2, half of which is lost.
static void a_belt_takes_a_mass_along(void **state) {
    (void)state;
    static const char *const schemes[] = {"step: 7 ms", "scheme: adaptive",
                                          "step: 7 ms, scheme: bdf2"};
    const double m = 1.5, u = 2;
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        char text[1000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       HEAD
                       "robot: {a: {on: world, joint: prismatic, axis: x, body: {mass: 1.5}}}\n"
                       "loops: {mark: {join: [world, a], as: fixed, pose: {xyz: [2 m/s*(t - "
                       "0.113 s), 0, 0]}, when: t >= 0.113 s and t < 0.3 s}}\n"
                       "probes: {x: {value: a}, v: {rate: a}, e: energy}\n"
                       "study: [dynamic: {for: 0.5 s, %s}]\n",
                       schemes[k]);
        execute_ok(text, &o);
        assert_near(last(&o, 0), u * (0.5 - 0.113), 1e-10);
        assert_near(last(&o, 1), u, 1e-10);
        assert_near(last(&o, 5), 0.5 * m * u * u, 1e-9);
        assert_near(last(&o, 6), m * u * u, 1e-9);
        assert_near(last(&o, 8), 0, 1e-9);
        snw_series_clear(&o.series);
    }
}

// ---- in studies ---------------------------------------------------------------------------------

// An inching worm: the two feet are fixed to the ground in turn, each where it is when its loop
// becomes active; a muscle contracts and relaxes.
#define WORM                                                                                       \
    HEAD "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000, damping: 5 ms}}\n"       \
         "robot:\n"                                                                                \
         "  body: {on: world, joint: prismatic, axis: x, rod: {length: 0.2 m, section: {circle: "  \
         "{radius: 10 mm}}, material: rubber, strain: {stretch: legendre 2}}}\n"                   \
         "actuators: {muscle: {stress: {along: body, stretch: \"20 N*sin(pi*t/T)^2\"}}}\n"         \
         "parameters: {T: 0.1 s}\n"                                                                \
         "loops:\n"                                                                                \
         "  rear: {join: [world, body.root], as: fixed, pose: at_closing, when: \"mod(t, T) >= "   \
         "T/2\"}\n"                                                                                \
         "  front: {join: [world, body.tip], as: fixed, pose: at_closing, when: \"mod(t, T) < "    \
         "T/2\"}\n"                                                                                \
         "probes: {a: {position: body.root}, b: {position: body.tip}, va: {velocity: body.root}, " \
         "vb: {velocity: body.tip}, e: energy}\n"

// After each half period the other foot is fixed. No foot slips, and the energy account closes over
// forty half periods.
static void a_worm_moves_for_many_cycles(void **state) {
    (void)state;
    outcome o;
    execute_ok(WORM "study: [dynamic: {for: 2 s, step: 1 ms}]\n", &o);
    double held = 0;
    for (int i = 1; i < o.series.nframe; i++) {
        const double t = o.series.t[i], before = o.series.t[i - 1];
        // the foot that was fixed during this step
        const bool rear = fmod(0.5 * (t + before), 0.1) >= 0.05;
        const int foot = rear ? 0 : 3;
        held = fmax(held, fabs(shown(&o, i, foot) - shown(&o, i - 1, foot)));
    }
    assert_true(held < 1e-10);
    // net motion: the contracting muscle pulls the rear foot forward, the relaxing one pushes the
    // front foot forward
    assert_true(last(&o, 0) > 0.05 && last(&o, 3) > 0.25);
    const double worked = fabs(last(&o, 16));
    assert_true(worked > 0.1);
    assert_near(last(&o, 18), 0, 2e-4 * worked);
    assert_int_equal(o.warnings, 0);
    snw_series_clear(&o.series);
}

// Events do not reduce the order of a scheme: a pendulum picks up a bob and drops it, within steps.
static void events_cost_no_order(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "robot:\n"
        "  arm: {on: world, joint: revolute, axis: y, body: {mass: 1, com: [0.3, 0, 0], inertia: "
        "[1, 0.05, 1]}}\n"
        "  bob: {on: arm, pose: {xyz: [0.6, 0, 0]}, joint: revolute, axis: y, body: {mass: 0.4, "
        "com: "
        "[0.1, 0, 0], inertia: [1, 0.01, 1]}}\n"
        "  load: {on: bob, body: {mass: 0.3}, when: t > 0.2137 s and t < 0.3519 s}\n"
        "loops: {latch: {join: [arm, bob], as: fixed, pose: at_closing, when: t > 0.1313 s and t < "
        "0.2817 "
        "s}}\n"
        "loads: {push: {on: arm, torque: [0, 3 N*m, 0], when: t > 0.0817 s and t <= 0.2313 s}}\n"
        "probes: {a: {angle: arm}, b: {angle: bob}}\n"
        "study: [dynamic: {for: 0.48 s, %s}]\n";
    static const struct {
        const char *scheme;
        double order;
    } cases[] = {
        {"generalized-alpha", 2}, {"hht", 2}, {"bdf2", 2}, {"euler", 1}, {"conserving", 2}};
    char out[2000];
    outcome o;
    (void)snprintf(out, sizeof out, text, "scheme: adaptive, tolerance: 1e-12");
    execute_ok(out, &o);
    const double a = last(&o, 0), b = last(&o, 1);
    snw_series_clear(&o.series);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double miss[3];
        for (int n = 0; n < 3; n++) {
            char keys[80];
            (void)snprintf(keys, sizeof keys, "scheme: %s, step: %g s", cases[k].scheme,
                           1e-3 / (1 << n));
            (void)snprintf(out, sizeof out, text, keys);
            execute_ok(out, &o);
            miss[n] = hypot(last(&o, 0) - a, last(&o, 1) - b);
            snw_series_clear(&o.series);
        }
        const double order = log2(miss[1] / miss[2]);
        if (!(fabs(order - cases[k].order) < 0.25)) {
            fail_msg("%s: order %g (misses %g %g %g)", cases[k].scheme, order, miss[0], miss[1],
                     miss[2]);
        }
    }
}

// A soft arm and a spherical joint with loops that become active and inactive repeatedly: between
// events the energy is constant, and the energy lost at events is in the energy account.
static void energy_is_conserved_between_events(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        "sinew: 1\n"
        "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3}}\n"
        "robot:\n"
        "  arm: {on: world, joint: spherical, rod: {length: 0.4 m, section: {circle: {radius: 10 "
        "mm}}, material: rubber, strain: {bend_y: legendre 3, bend_z: legendre 2}}}\n"
        "  hand: {on: arm.tip, joint: spherical, body: {mass: 0.1 kg, com: [0.05, 0.01, 0], "
        "inertia: [1e-4, 2e-4, 3e-4]}}\n"
        "initial: {hand: {rate: [3, 2, -4]}}\n"
        "loops:\n"
        "  stick: {join: [arm.tip, hand], as: revolute, pose: at_closing, when: \"mod(t, 70 ms) > "
        "41 "
        "ms\"}\n"
        "  hold: {join: [world, arm@50%], as: spherical, pose: at_closing, when: \"mod(t, 130 ms) "
        "> 101 "
        "ms\"}\n"
        "probes: {e: energy}\n"
        "study: [dynamic: {for: 0.4 s, step: 1 ms, scheme: conserving}]\n",
        &o);
    double lost = 0, jumps = 0;
    for (int n = 1; n < o.series.nframe; n++) {
        const double heat = shown(&o, n, 3), more = heat - lost;
        assert_true(more >= 0);
        if (more > 0) jumps++;
        // total energy, and the part that is not accounted for
        if (more == 0) assert_near(shown(&o, n, 7), shown(&o, n - 1, 7), 1e-9);
        assert_near(shown(&o, n, 6), 0, 1e-8);
        lost = heat;
    }
    assert_true(jumps >= 7 && lost > 1e-3);
    snw_series_clear(&o.series);
}

// Two redundant latches act as one latch; a warning reports each set of dropped rows once.
static void redundant_rows_are_dropped(void **state) {
    (void)state;
    outcome two, one;
    const char *text = HEAD
        "robot:\n"
        "  a: {on: world, joint: planar, body: {mass: 1, inertia: [1, 1, 1]}}\n"
        "  b: {on: world, pose: {xyz: [1, 0, 0]}, joint: planar, body: {mass: 2, inertia: [1, "
        "1, 2]}}\n"
        "initial: {a: {rate: [1, 0, 2]}, b: {rate: [0, 0.5, -1]}}\n"
        "loops:\n"
        "  first: {join: [a, b], as: fixed, pose: at_closing, when: \"mod(t, 0.2 s) > 0.1 s\"}\n"
        "  second: {join: [a, b], as: revolute, pose: at_closing, when: %s}\n"
        "probes: {p: {velocity: b}, w: {twist: b}, r: {reaction: second}, e: energy}\n"
        "study: [dynamic: {for: 1 s, step: 5 ms}]\n";
    char out[1500];
    (void)snprintf(out, sizeof out, text, "\"mod(t, 0.2 s) > 0.15 s\"");
    execute_ok(out, &two);
    (void)snprintf(out, sizeof out, text, "off");
    execute_ok(out, &one);
    assert_int_equal(two.warnings, 1);
    assert_int_equal(one.warnings, 0);
    for (int i = 0; i < 9; i++) assert_near(last(&two, i), last(&one, i), 1e-9);
    int unknown = 0;
    for (int k = 0; k < two.series.nframe; k++) unknown += isnan(shown(&two, k, 12));
    assert_in_range(unknown, 45, 55); // a quarter of all frames
    snw_series_clear(&two.series);
    snw_series_clear(&one.series);
}

// Many limbs, each with its latch and its load, move as a single one does; their matrices have
// sparse factors.
static void limbs_do_not_disturb_each_other(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "robot:\n"
        "  leg(k=1..%d): {on: world, pose: {xyz: [k, 0, 0]}, joint: spherical, body: {mass: 1, "
        "com: "
        "[0.3, 0, 0.1], inertia: [0.1, 0.1, 0.1]}}\n"
        "  shin(k=1..%d): {on: leg(k), pose: {xyz: [0.5, 0, 0]}, joint: revolute, axis: y, body: "
        "{mass: 0.5, com: [0.3, 0, 0], inertia: [0.1, 0.1, 0.1]}}\n"
        "  load(k=1..%d): {on: shin(k), pose: {xyz: [0.4, 0, 0]}, body: {mass: 0.3}, when: t > "
        "0.05 "
        "s}\n"
        "initial: {leg(k=1..%d): {rate: [0, 1, 0]}}\n"
        "loops:\n"
        "  foot(k=1..%d): {join: [world, shin(k)], as: spherical, pose: at_closing, when: t > "
        "0.113 s and "
        "t "
        "< 0.18 s}\n"
        "actuators: {knee(k=1..%d): {joint: shin(k), rate: 1 rad/s, when: t > 0.15 s}}\n"
        "probes: {p: {position: shin(1)}, v: {twist: shin(1)}, f: {reaction: foot(1)}}\n"
        "study: [dynamic: {for: 0.25 s, step: 2 ms%s}]\n";
    for (int n = 0; n < 2; n++) {
        outcome one, many;
        char out[2000];
        const char *scheme = n ? ", scheme: rk4" : "";
        (void)snprintf(out, sizeof out, text, 1, 1, 1, 1, 1, 1, scheme);
        execute_ok(out, &one);
        (void)snprintf(out, sizeof out, text, 14, 14, 14, 14, 14, 14, scheme);
        execute_ok(out, &many);
        assert_int_equal(one.series.nframe, many.series.nframe);
        for (int k = 0; k < one.series.nframe; k++) {
            assert_near(shown(&one, k, 0), shown(&many, k, 0), 1e-9);
            for (int i = 1; i < 9; i++) assert_near(shown(&one, k, i), shown(&many, k, i), 1e-7);
        }
        snw_series_clear(&one.series);
        snw_series_clear(&many.series);
    }
}

// Conditions are evaluated at the start of a static step: a loop that is active there carries the
// load.
static void a_static_step_begins_with_the_closed_loops(void **state) {
    (void)state;
    char text[1500];
    outcome o;
    static const char *const when[] = {"t >= 1 s", "t < 1 s", "off", "on", "w.x > 0.05 m"};
    const bool held[] = {false, true, false, true, true};
    for (int k = 0; k < 5; k++) {
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\n"
                       "robot: {a: {on: world, joint: prismatic, axis: x, stiffness: 100 N/m, "
                       "body: {mass: 1}}}\n"
                       "initial: {a: 0.1 m}\n"
                       "loops: {hold: {join: [world, a], as: fixed, pose: at_closing, when: %s}}\n"
                       "loads: {pull: {on: a, force: [20 N, 0, 0]}}\n"
                       "probes: {w: {position: a}, r: {reaction: hold}}\n"
                       "study: [static]\n",
                       when[k]);
        execute_ok(text, &o);
        assert_near(last(&o, 0), held[k] ? 0.1 : 0.2, 1e-10);
        assert_near(last(&o, 6), held[k] ? -10 : 0, 1e-9);
        snw_series_clear(&o.series);
    }
}

// The same for a modes step: two masses, each on its spring, joined or not.
static void modes_include_the_closed_loops(void **state) {
    (void)state;
    for (int joined = 0; joined < 2; joined++) {
        char text[1000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            HEAD "robot:\n"
                 "  a: {on: world, joint: prismatic, axis: x, stiffness: 100 N/m, body: "
                 "{mass: 1}}\n"
                 "  b: {on: world, joint: prismatic, axis: x, stiffness: 300 N/m, body: "
                 "{mass: 2}}\n"
                 "  c: {on: b, body: {mass: 1}, when: t >= 0 s}\n"
                 "  d: {on: b, body: {mass: 1}, when: t > 1 s}\n"
                 "loops: {hook: {join: [a, b], as: fixed, pose: at_closing, when: t %s 1 s}}\n"
                 "probes: {f: frequency}\n"
                 "study: [modes: {count: 2}]\n",
            joined ? "<" : ">");
        execute_ok(text, &o);
        if (joined) {
            assert_near(last(&o, 0), sqrt(400.0 / 4) / (2 * M_PI), 1e-10);
            assert_true(isnan(last(&o, 1)));
        } else {
            assert_near(last(&o, 0), sqrt(100.0 / 1) / (2 * M_PI), 1e-10);
            assert_near(last(&o, 1), sqrt(300.0 / 3) / (2 * M_PI), 1e-10);
        }
        snw_series_clear(&o.series);
    }
}

// A latch that carries at most 5 N opens under a force of 10 N/s after half a second.
static void a_loop_opens_at_its_strength(void **state) {
    (void)state;
    static const char *const schemes[] = {"step: 10 ms", "scheme: adaptive, tolerance: 1e-10",
                                          "step: 10 ms, scheme: conserving"};
    for (int k = 0; k < 3; k++) {
        char text[1000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       HEAD
                       "robot: {a: {on: world, joint: prismatic, axis: x, body: {mass: 1}}}\n"
                       "loops: {hold: {join: [world, a], as: fixed, when: not once(r.fx < -5 "
                       "N)}}\n"
                       "loads: {pull: {on: a, force: [10 N*t, 0, 0]}}\n"
                       "probes: {x: {value: a}, v: {rate: a}, r: {reaction: hold}, e: energy}\n"
                       "study: [dynamic: {for: 1 s, %s}]\n",
                       schemes[k]);
        execute_ok(text, &o);
        // v = 5 (t^2 - 1/4); steps of 10 ms have the error of order 2
        assert_near(last(&o, 0), 5.0 / 6, k == 1 ? 1e-8 : 1e-4);
        assert_near(last(&o, 1), 3.75, k == 1 ? 1e-8 : 1e-4);
        assert_near(last(&o, 11), 0, 1e-7);
        snw_series_clear(&o.series);
    }
}

// A condition that is changed and later restored finds its loop inactive; the loop stores the
// relative pose of its sites anew.
static void a_restored_condition_stores_the_pose_again(void **state) {
    (void)state;
    outcome o;
    execute_ok(HEAD "robot:\n"
                    "  a: {on: world, joint: prismatic, axis: x, body: {mass: 1}}\n"
                    "  b: {on: world, joint: prismatic, axis: x, body: {mass: 1}}\n"
                    "initial: {a: {rate: 1}}\n"
                    "loads: {push: {on: a, force: [2 N, 0, 0], when: t > 1 s and t < 2 s}}\n"
                    "loops: {hook: {join: [a, b], as: fixed, pose: at_closing, when: t >= 0 s}}\n"
                    "probes: {a: {value: a}, b: {value: b}, e: energy}\n"
                    "study:\n"
                    "  - dynamic: {for: 1 s, step: 10 ms}\n"
                    "  - change: {hook.when: t < 0 s}\n"
                    "  - dynamic: {for: 1 s, step: 10 ms}\n"
                    "  - change: {hook.when: t >= 0 s}\n"
                    "  - dynamic: {for: 1 s, step: 10 ms}\n",
               &o);
    // 1/2 each from the start, then a gains 2 m/s within the second, which is distributed over both
    assert_near(last(&o, 0), 0.5 + 1.5 + 1.5, 1e-9);
    assert_near(last(&o, 1), 0.5 + 0.5 + 1.5, 1e-9);
    assert_int_equal(o.warnings, 0);
    snw_series_clear(&o.series);
}

// Live stepping gives the results of a study, and continues from a saved state with the same bits.
static void the_live_robot_has_conditional_loops(void **state) {
    (void)state;
    static const char text[] = WORM;
    static const char *const schemes[] = {"generalized-alpha", "bdf2", "conserving"};
    for (int k = 0; k < 3; k++) {
        twins t;
        double tip[3], then[3];
        twins_open(&t, text, schemes[k]);
        twin_steps(t.a, 130);
        snw_robot_save(t.a, t.save); // the front foot is fixed where it was at 0.1 s
        (void)snw_robot_probe(t.a, "b", 3, tip);
        const long before = heap_calls;
        twin_steps(t.a, 15);
        (void)snw_robot_probe(t.a, "b", 3, then);
        assert_near(tip[0], then[0], 1e-11);
        twin_steps(t.a, 200);
        const long after = heap_calls;
        assert_int_equal(after - before, 0);
        twins_meet(&t, 215);
        twins_close(&t);
    }
}

// A step whose activation fails leaves the state unchanged.
static void a_failed_impact_changes_nothing(void **state) {
    (void)state;
    static const char text[] =
        HEAD "robot: {a: {on: world, joint: prismatic, axis: x, body: {mass: 1}}}\n"
             "initial: {a: {rate: 1}}\n"
             "loops: {stop: {join: [world, a], as: fixed, when: t > 0.145 s}}\n";
    static const char *const schemes[] = {"generalized-alpha", "adaptive"};
    for (int k = 0; k < 2; k++) {
        snw_robot *r = NULL;
        snw_error err = {0};
        snw_robot_steps how = snw_robot_steps_defaults(1e-2);
        how.scheme = schemes[k];
        assert_int_equal(snw_robot_parse("r", text, strlen(text), NULL, 0, NULL, &r, &err), SNW_OK);
        assert_int_equal(snw_robot_start(r, &how, &err), SNW_OK);
        for (int i = 0; i < 14; i++) assert_int_equal(snw_robot_step(r, 1e-2, &err), SNW_OK);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(snw_robot_step(r, 1e-2, &err), SNW_E_MODEL);
            assert_near(snw_robot_time(r), 0.14, 1e-15);
            assert_near(snw_robot_q(r)[0], 0.14, 1e-12);
        }
        assert_int_equal(snw_robot_step(r, 2e-3, &err), SNW_OK);
        assert_near(snw_robot_q(r)[0], 0.142, 1e-12);
        snw_robot_close(r);
    }
}

// ---- refused models -----------------------------------------------------------------------------

static void faults_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *says;
    } cases[] = {
        // activated with a violation
        {"robot: {a: {on: world, joint: prismatic, axis: x, body: {mass: 1}}}\n"
         "initial: {a: {rate: 1}}\n"
         "loops: {stop: {join: [world, a], as: fixed, when: t > 0.15 s}}\n"
         "study: [dynamic: {for: 1 s, step: 10 ms}]\n",
         5, "loop 'stop' becomes active at t = 0.15 s while it is open by 150 mm"},
        {"robot: {a: {on: world, joint: revolute, body: {mass: 1, inertia: [1, 1, 1]}}}\n"
         "initial: {a: {rate: 1}}\n"
         "actuators: {m: {joint: a, position: 1 rad, when: t > 0.15 s}}\n"
         "study: [dynamic: {for: 1 s, step: 10 ms}]\n",
         5, "actuator 'm' becomes active at t = 0.15 s while it is away from its law by 0.85"},
        // contradicting velocities of one body
        {"robot: {a: {on: world, joint: prismatic, axis: x, body: {mass: 1}}}\n"
         "loops:\n"
         "  belt: {join: [world, a], as: fixed, pose: {xyz: [t, 0, 0]}}\n"
         "  stop: {join: [world, a], as: fixed, pose: at_closing, when: t > 0.15 s}\n"
         "study: [dynamic: {for: 1 s, step: 10 ms}]\n",
         6, "contradicts the velocities"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[1000];
        outcome o;
        (void)snprintf(text, sizeof text, HEAD "%s", cases[k].text);
        execute(text, &o);
        if (o.status == SNW_OK || !strstr(o.err.text, cases[k].says) ||
            o.err.line != cases[k].line) {
            fail_msg("case %d: %d: %s", (int)k, o.err.line, o.err.text);
        }
        snw_series_clear(&o.series);
    }
}

int main(void) {
    count_heap_calls();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_bodies_stick_together),
        cmocka_unit_test(a_bar_is_caught),
        cmocka_unit_test(a_body_is_picked_up_and_dropped),
        cmocka_unit_test(a_clutch_engages),
        cmocka_unit_test(a_belt_takes_a_mass_along),
        cmocka_unit_test(a_worm_moves_for_many_cycles),
        cmocka_unit_test(events_cost_no_order),
        cmocka_unit_test(energy_is_conserved_between_events),
        cmocka_unit_test(redundant_rows_are_dropped),
        cmocka_unit_test(limbs_do_not_disturb_each_other),
        cmocka_unit_test(a_static_step_begins_with_the_closed_loops),
        cmocka_unit_test(modes_include_the_closed_loops),
        cmocka_unit_test(a_loop_opens_at_its_strength),
        cmocka_unit_test(a_restored_condition_stores_the_pose_again),
        cmocka_unit_test(the_live_robot_has_conditional_loops),
        cmocka_unit_test(a_failed_impact_changes_nothing),
        cmocka_unit_test(faults_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
