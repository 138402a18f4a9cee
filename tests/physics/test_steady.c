// SPDX-License-Identifier: MIT
//
// Relative equilibria in steady motion, theory.md 7.1: equilibria and small motions in rotating
// frames, against closed forms, and a blade's frequencies against its differential equation,
// integrated separately.
#include "executed.h"

#include <math.h>
#include <stdio.h>

static const double pi = 3.14159265358979324;

// The values of the last frame of a text.
static void values_of(const char *text, int n, const int *column, double *out) {
    outcome o;
    execute_ok(text, &o);
    for (int i = 0; i < n; i++) out[i] = last(&o, column[i]);
    snw_series_clear(&o.series);
}

// A pendulum on a shaft that turns with W leans by cos q = g/(l W^2) and oscillates about that
// angle with W sin q; a motor on the shaft and a law for it give the same.
static void a_governor_leans_and_swings(void **state) {
    (void)state;
    static const char *const shaft[] = {
        "robot:\n  shaft: {on: world, joint: revolute, axis: z}\n", // driven below
        "robot:\n  shaft: {on: world, pose: {axis: z, angle: 8*t}}\n"};
    static const char *const motor[] = {"actuators: {motor: {joint: shaft, rate: 8}}\n", ""};
    for (int k = 0; k < 2; k++) {
        char text[900];
        double got[4];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\n%s  arm: {on: shaft, joint: revolute, axis: y, body: {mass: 0.5, "
                       "com: [0, 0, -0.3]}}\n%sinitial: {arm: -0.3}\n"
                       "study: [static: {steady: on}, modes: {steady: on}]\n"
                       "sites: {bob: {on: arm, pose: {xyz: [0, 0, -0.3]}}}\n"
                       "probes: {q: {angle: arm}, v: {velocity: bob}, f: frequency, hinge: "
                       "{reaction: arm}}\n",
                       shaft[k], motor[k]);
        values_of(text, 4, (const int[]){0, 2, 4, 25}, got);
        const double q = acos(9.81 / (0.3 * 64));
        assert_near(got[1], 8 * 0.3 * sin(q), 1e-12);         // velocity of the bob along y
        assert_near(got[3], -0.5 * 64 * 0.3 * sin(q), 1e-11); // centripetal force, inwards
        assert_near(got[0], -q, 1e-12);
        assert_near(got[2], 8 * sin(q) / (2 * pi), 1e-12);
    }
}

// In the frame of the static step velocities and forces are those of the motion: a rubber rod that
// rotates about its end, E A u'' + rho A W^2 (x + u) = 0.
static void a_whirled_rod_stretches(void **state) {
    (void)state;
    double got[3];
    values_of(
        "sinew: 1\ngravity: 0\n"
        "materials: {rubber: {young: 1 MPa, density: 1000}}\n"
        "robot:\n  hub: {on: world, joint: revolute}\n"
        "  rod: {on: hub, rod: {length: 0.5, section: {circle: {radius: 1 cm}}, material: "
        "rubber, strain: {stretch: legendre 8}}}\n"
        "actuators: {m: {joint: hub, rate: 20}}\nstudy: [static: {steady: on}]\n"
        "probes: {tip: {position: rod.tip}, root: {wrench: rod.root}, v: {velocity: rod.tip}}\n",
        3, (const int[]){0, 6, 10}, got);
    const double k = 20 * sqrt(1e-3), l = tan(k * 0.5) / k;
    assert_near(got[0], l, 1e-9);
    assert_near(got[1], 1e6 * pi * 1e-4 * (1 / cos(k * 0.5) - 1), 1e-7);
    assert_near(got[2], 20 * l, 1e-8);
}

// A mass on two different springs, a^2 and b^2 per mass, in a frame that turns with W:
//   s^4 + (a^2 + b^2 + 2 W^2) s^2 + (a^2 - W^2)(b^2 - W^2) = 0,
// so it is unstable for W between a and b and nowhere else.
static void a_mass_in_a_turning_frame_whirls(void **state) {
    (void)state;
    static const double speed[] = {0.5, 5, 10, 14.9, 15.1, 40};
    const double a = 8, b = 15;
    for (size_t k = 0; k < sizeof speed / sizeof *speed; k++) {
        const double W = speed[k], S = a * a + b * b + 2 * W * W,
                     P = (a * a - W * W) * (b * b - W * W), root = sqrt(S * S - 4 * P);
        char text[600];
        double got[3];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\nrobot:\n"
                       "  frame: {on: world, pose: {axis: z, angle: %g*t}}\n"
                       "  x: {on: frame, joint: prismatic, axis: x, stiffness: 64}\n"
                       "  y: {on: x, joint: prismatic, axis: y, stiffness: 225, body: {mass: 1}}\n"
                       "study: [modes: {steady: on}]\nprobes: {f: frequency}\n",
                       W);
        values_of(text, 3, (const int[]){0, 1, 2}, got);
        if (P < 0) { // one mode grows, one decays at the same rate, one oscillates
            assert_near(got[0], -sqrt(0.5 * (root - S)) / (2 * pi), 1e-11);
            assert_near(got[1], -got[0], 1e-11);
            assert_near(got[2], sqrt(0.5 * (root + S)) / (2 * pi), 1e-11);
        } else {
            assert_near(got[0], sqrt(0.5 * (S - root)) / (2 * pi), 1e-11);
            assert_near(got[1], sqrt(0.5 * (S + root)) / (2 * pi), 1e-11);
        }
    }
}

// A sleeping top: A l^2 - C n l + m g h = 0 for l in space, l - n in its own axes; complex below n
// = 2 sqrt(A m g h)/C.
static void a_top_sleeps_when_it_is_fast(void **state) {
    (void)state;
    const double A = 6.5e-4, C = 3e-4, mgh = 0.2 * 9.81 * 0.05;
    for (int fast = 0; fast < 2; fast++) {
        const double n = (fast ? 1.02 : 0.98) * 2 * sqrt(mgh * A) / C;
        char text[500];
        double got[3];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\nrobot: {top: {on: world, joint: spherical, body: {mass: 0.2, "
                       "com: [0, 0, 0.05], inertia: [1.5e-4, 1.5e-4, 3e-4]}}}\n"
                       "initial: {top: {rate: [0, 0, %.17g]}}\n"
                       "study: [modes: {steady: on}]\nprobes: {f: frequency}\n",
                       n);
        values_of(text, 3, (const int[]){0, 1, 2}, got);
        const double d = C * n * C * n - 4 * A * mgh, mean = 0.5 * C * n / A - n;
        assert_near(got[0], 0, 0); // its spin
        if (d > 0) {
            assert_near(got[1], -(mean + 0.5 * sqrt(d) / A) / (2 * pi), 1e-10);
            assert_near(got[2], -(mean - 0.5 * sqrt(d) / A) / (2 * pi), 1e-10);
        } else {
            assert_near(got[1], hypot(mean, 0.5 * sqrt(-d) / A) / (2 * pi), 1e-10);
            assert_near(got[2], got[1], 1e-12);
        }
    }
}

// A free body that spins about its middle axis tumbles with w sqrt((B - A)(C - B)/(A C)); about the
// others it nutates.
static void a_free_body_tumbles_about_its_middle_axis(void **state) {
    (void)state;
    static const char *const twist[] = {"3, 0, 0", "0, 3, 0", "0, 0, 3"};
    const double I[] = {0.1, 0.2, 0.29};
    for (int k = 0; k < 3; k++) {
        const double a = I[(k + 1) % 3], b = I[(k + 2) % 3], c = I[k];
        const double square = 9 * (c - a) * (c - b) / (a * b);
        char text[400];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\nrobot: {sat: {on: world, joint: free, body: {mass: 2, "
            "inertia: [0.1, 0.2, 0.29]}}}\ninitial: {sat: {twist: [%s, 0, 0, 0]}}\n"
            "study: [modes: {steady: on, count: 8}]\nprobes: {f: frequency}\n",
            twist[k]);
        execute_ok(text, &o);
        const double want = (square < 0 ? -1 : 1) * sqrt(fabs(square)) / (2 * pi);
        int seen = 0;
        for (int i = 0; i < 8; i++) {
            const double f = last(&o, i);
            seen += fabs(f - want) < 1e-9;
            // All other modes are zero, or a position at rest in space, seen from the body.
            if (isfinite(f) && fabs(f) > 1e-9 && fabs(fabs(f) - fabs(want)) > 1e-9)
                assert_near(f, 3 / (2 * pi), 1e-7);
        }
        assert_int_equal(seen, 1);
        snw_series_clear(&o.series);
    }
}

// ---- a blade ------------------------------------------------------------------------------------

// w'''' = (T w')' + l^2 w over the unit length with T = h^2 (1 - x^2)/2, clamped at 0: bending
// moment and shear at 1 of the solution with w''(0) = c, w'''(0) = d.
static void blade_end(double h, double l, double c, double d, double *moment, double *shear) {
    enum { N = 400 };
    double z[4] = {0, 0, c, d};
    for (int k = 0; k < N; k++) {
        double x = k / (double)N, sum[4] = {0}, y[4], dz[4] = {0};
        static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < 4; i++) y[i] = z[i] + at[s] / N * dz[i];
            const double u = x + at[s] / N;
            dz[0] = y[1], dz[1] = y[2], dz[2] = y[3];
            dz[3] = h * h * (0.5 * (1 - u * u) * y[2] - u * y[1]) + l * l * y[0];
            for (int i = 0; i < 4; i++) sum[i] += weight[s] / (6 * N) * dz[i];
        }
        for (int i = 0; i < 4; i++) z[i] += sum[i];
    }
    *moment = z[2], *shear = z[3];
}

static double blade_determinant(double h, double l) {
    double m[2], q[2];
    blade_end(h, l, 1, 0, &m[0], &q[0]);
    blade_end(h, l, 0, 1, &m[1], &q[1]);
    return m[0] * q[1] - m[1] * q[0];
}

// Flapping of a blade on a rotating hub: centrifugal forces stiffen it.
static void a_blade_is_stiffened_by_its_turning(void **state) {
    (void)state;
    // speed and frequency in units of sqrt(EI/(rho A))/L^2, which is 1 rad/s here
    for (int h = 0; h <= 8; h += 4) {
        double lo = 3.4, hi = 3.4;
        while (blade_determinant(h, hi) * blade_determinant(h, lo) > 0) hi += 0.1;
        for (int i = 0; i < 60; i++) {
            const double mid = 0.5 * (lo + hi);
            *(blade_determinant(h, mid) * blade_determinant(h, lo) > 0 ? &lo : &hi) = mid;
        }
        char text[700];
        double got[1];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\nrobot:\n  hub: {on: world, joint: revolute}\n"
                       "  blade: {on: hub, rod: {length: 1, section: {stiffness: {bend_y: 1}, "
                       "inertia: [0, 0, 0, 1, 1, 1]}, strain: {bend_y: legendre 8}, magnus: 6, "
                       "nodes: 60}}\n"
                       "actuators: {motor: {joint: hub, rate: %d}}\n"
                       "study: [static: {steady: on}, modes: {steady: on}]\nprobes: {f: "
                       "frequency}\n",
                       h);
        values_of(text, 1, (const int[]){0}, got);
        assert_near(got[0] * 2 * pi, lo, 1e-6 * lo);
    }
}

// ---- motions that are not steady ----------------------------------------------------------------

static void unsteady_motions_are_reported(void **state) {
    (void)state;
    outcome o;
    // a slider-crank: the rate of the crank also moves the connecting rod
    execute(
        "sinew: 1\ngravity: 0\nrobot:\n"
        "  crank: {on: world, joint: revolute, body: {mass: 1, com: [0.1, 0, 0], inertia: [1, "
        "1, 1]}}\n"
        "  rod: {on: crank, pose: {xyz: [0.1, 0, 0]}, joint: revolute, body: {mass: 1, inertia: "
        "[1, 1, 1]}}\n  block: {on: world, joint: prismatic, axis: x, body: {mass: 1}}\nsites: "
        "{end: {on: rod, pose: {xyz: [0.3, 0, 0]}}}\n"
        "initial: {crank: 1, rod: -1.3, block: 0.34}\nactuators: {m: {joint: crank, rate: 2}}\n"
        "loops: {pin: {join: [block, end], as: revolute}}\n"
        "study: [static: {steady: on}]\n",
        &o);
    assert_int_equal(o.status, SNW_E_MODEL);
    assert_non_null(strstr(o.err.text, "loop 'pin' would open"));
    snw_series_clear(&o.series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_governor_leans_and_swings),
        cmocka_unit_test(a_whirled_rod_stretches),
        cmocka_unit_test(a_mass_in_a_turning_frame_whirls),
        cmocka_unit_test(a_top_sleeps_when_it_is_fast),
        cmocka_unit_test(a_free_body_tumbles_about_its_middle_axis),
        cmocka_unit_test(a_blade_is_stiffened_by_its_turning),
        cmocka_unit_test(unsteady_motions_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
