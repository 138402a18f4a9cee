// SPDX-License-Identifier: MIT
//
// Noise in the forces of loops: the RFRFR robot of Gotelli 2024, section 5.13, for a minute. With
// Newmark's rule alone it grows; with generalized-alpha, or with Newmark's rule and velocities that
// satisfy the loop closures, it does not. Compared with values of an independent program. theory.md
// 6.6
#include "executed.h"

#include <stdio.h>

static const char robot[] =
    "sinew: 1\n"
    "gravity: 0\n"
    "parameters:\n"
    "  rise: 0.5 N*m*poly5(t, 1 s, 2 s)\n"
    "  shake: \"if(t > 4 s and t <= 7 s, 0.04 N*m*(1 - cos(2*pi*(t - 4 s)/(1 s))), 0 N*m)\"\n"
    "materials: {steel: {young: 210 GPa, shear: 80 GPa, density: 7800 kg/m^3}}\n"
    "robot: {limb(k=1..2): {on: world, pose: {xyz: [0.4 m*(k - 1.5), 0, 0]}, joint: revolute, rod: "
    "{length: 1 m, section: {circle: {radius: 1 mm}}, material: steel, strain: {bend_z: legendre "
    "3}, nodes: 16, magnus: 6}}}\n"
    "initial: {limb(k=1..2): 90 deg}\n"
    "loops: {tip: {join: [limb(1).tip, limb(2).tip], as: revolute}}\n"
    "actuators:\n"
    "  motor(1): {joint: limb(1), effort: shake - rise}\n"
    "  motor(2): {joint: limb(2), effort: rise}\n"
    "probes: {hinge: {reaction: tip}, e: energy}\n"
    "study: [static: {}, dynamic: {for: %g s, step: %g s, %s}]\n"
    "record: {every: %g s}\n";

enum { FX = 3, ENERGY = 6 + 7 }; // columns: mx my mz fx fy fz, energies

static void shake(const char *scheme, double time, double step, outcome *o) {
    char text[4000];
    (void)snprintf(text, sizeof text, robot, time, step, scheme, step);
    execute(text, o);
}

// n(t) = max |l_+ - 2 l + l_-| of both components over an interval of time.
static double noise(const outcome *o, double from, double to) {
    double largest = 0;
    for (int i = 1; i + 1 < o->series.nframe; i++) {
        if (!(o->series.t[i - 1] >= from && o->series.t[i + 1] <= to)) continue;
        for (int c = FX; c < FX + 2; c++) {
            const double d = shown(o, i + 1, c) - 2 * shown(o, i, c) + shown(o, i - 1, c);
            if (!(fabs(d) <= largest)) largest = fabs(d);
        }
    }
    return largest;
}

// the laws are smooth from 7 s on
static const double windows[][2] = {{8, 10}, {15, 20}, {25, 30}, {35, 40}};
enum { WINDOWS = 4 };

static void newmark_lets_noise_grow(void **state) {
    (void)state;
    outcome o;
    shake("scheme: newmark, loop_velocities: scheme", 40, 0.01, &o);
    if (o.status != SNW_OK) fail_msg("%s", o.err.text);
    double n[WINDOWS];
    for (int i = 0; i < WINDOWS; i++) n[i] = noise(&o, windows[i][0], windows[i][1]);
    printf("newmark: %.1e %.1e %.1e %.1e N\n", n[0], n[1], n[2], n[3]);
    for (int i = 1; i < WINDOWS; i++) assert_true(n[i] > n[i - 1]);
    assert_true(n[3] >= 10 * n[0]);
    snw_series_clear(&o.series);
}

// A looser Newton tolerance increases the noise: a step with a position error e has a force error
// of 4 m e/h^2.
static void newmarks_noise_grows_with_the_tolerance(void **state) {
    (void)state;
    outcome o;
    shake("scheme: newmark, loop_velocities: scheme, tolerance: 1e-5", 20, 0.01, &o);
    if (o.status != SNW_OK) fail_msg("%s", o.err.text);
    const double n = noise(&o, 8, 10), late = noise(&o, 15, 20);
    printf("newmark, tolerance 1e-5: %.1e %.1e N\n", n, late);
    assert_true(late >= 10 * n && late > 1); // compared with 0.6 N that the hinge carries
    snw_series_clear(&o.series);
}

static void generalized_alpha_keeps_it_as_it_is(void **state) {
    (void)state;
    static const char *const schemes[] = {"rho: 0.5", "rho: 0.5, tolerance: 1e-5"};
    for (int k = 0; k < 2; k++) {
        outcome o;
        shake(schemes[k], 60, 0.01, &o);
        if (o.status != SNW_OK) fail_msg("%s", o.err.text);
        // an independent program has 2.2e-4 to 2.5e-4 N throughout: the curvature of the motion
        // itself
        for (int i = 0; i < WINDOWS; i++) {
            const double n = noise(&o, windows[i][0], windows[i][1]);
            printf("%s: %.2e N\n", schemes[k], n);
            assert_true(n > 2.1e-4 && n < 2.6e-4);
        }
        assert_true(noise(&o, 50, 60) < 2.6e-4);
        snw_series_clear(&o.series);
    }
}

// Newmark's rule with velocities that satisfy the loop closures has constant noise at any
// tolerance; it does not damp the motion.
static void newmarks_rule_with_projection_keeps_it_as_it_is(void **state) {
    (void)state;
    static const char *const schemes[] = {"scheme: newmark", "scheme: newmark, tolerance: 1e-5"};
    for (int k = 0; k < 2; k++) {
        outcome o;
        shake(schemes[k], 40, 0.01, &o);
        if (o.status != SNW_OK) fail_msg("%s", o.err.text);
        double n[WINDOWS];
        for (int i = 0; i < WINDOWS; i++) n[i] = noise(&o, windows[i][0], windows[i][1]);
        printf("%s: %.2e %.2e %.2e %.2e N\n", schemes[k], n[0], n[1], n[2], n[3]);
        // the fastest bending mode persists; its phase at the sampled instants is arbitrary
        for (int i = 1; i < WINDOWS; i++) assert_true(n[i] < 1.2 * n[0] && n[0] < 1.2 * n[i]);
        snw_series_clear(&o.series);
    }
}

// Steps from far below to twice the periods of the limbs (the bent robot has 1.53 and 2.84 Hz).
static void generalized_alpha_stays_stable_at_any_step(void **state) {
    (void)state;
    static const struct { double step, time; } runs[] = {{0.001, 10}, {0.05, 60}, {0.1, 60}};
    for (int k = 0; k < 3; k++) {
        outcome o;
        shake("rho: 0.5", runs[k].time, runs[k].step, &o);
        if (o.status != SNW_OK) fail_msg("%g s: %s", runs[k].step, o.err.text);
        const double end = o.series.t[o.series.nframe - 1];
        assert_near(end, runs[k].time, 1e-9);
        int i = 0;
        while (o.series.t[i] < 20 - 1e-9 && i + 1 < o.series.nframe) i++;
        printf("%g s: %.6f J at %g s, %.6f J at the end\n", runs[k].step, shown(&o, i, ENERGY),
               o.series.t[i], last(&o, ENERGY));
        if (runs[k].step == 0.1) {
            // all but a fiftieth of the 5 mJ of vibration has decayed by 20 s; then the
            // equilibrium, with the digits of an independent program
            assert_near(shown(&o, i, ENERGY), 0.60584, 1e-4);
            assert_near(last(&o, ENERGY), 0.60584, 5e-6);
        }
        snw_series_clear(&o.series);
    }
}

// A run warns about schemes without damping on loops; a driven coordinate takes rates and
// accelerations from its law.
static void growing_noise_is_reported_before_the_run(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        int warnings; // with a loop
    } said[] = {{"scheme: newmark, loop_velocities: scheme", 1},
                {"scheme: trapezoidal, loop_velocities: scheme", 1},
                {"rho: 1, loop_velocities: scheme", 1},
                {"scheme: bdf-alpha, alpha: -0.5, loop_velocities: scheme", 1},
                {"scheme: bdf-alpha, loop_velocities: scheme", 0},
                {"scheme: newmark", 0},
                {"scheme: bdf-alpha, alpha: -0.5", 0},
                {"scheme: wbz, rho: 0.9", 0},
                {"scheme: adaptive", 0}};
    for (size_t k = 0; k < sizeof said / sizeof said[0]; k++) {
        for (int n = 0; n < 2; n++) {
            char text[1000];
            outcome o;
            (void)snprintf(text, sizeof text,
                           "sinew: 1\n"
                           "robot: {block: {on: world, joint: prismatic, axis: x, body: {mass: "
                           "1}}}\n%s\n"
                           "study: [dynamic: {for: 0.1 s, step: 0.01 s, %s}]\n"
                           "probes: {x: {position: block}}\n",
                           n ? "actuators: {motor: {joint: block, position: 0.1*t^2}}"
                             : "loops: {lead: {join: [world, block], as: spherical, pose: {xyz: "
                               "[0.1*t^2, 0, 0]}}}",
                           said[k].scheme);
            execute(text, &o);
            if (o.status != SNW_OK) fail_msg("%s: %s", said[k].scheme, o.err.text);
            if (o.warnings != (n ? 0 : said[k].warnings)) {
                fail_msg("%s: %d warnings", said[k].scheme, o.warnings);
            }
            assert_near(last(&o, 0), 1e-3, 1e-12);
            snw_series_clear(&o.series);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newmark_lets_noise_grow),
        cmocka_unit_test(newmarks_noise_grows_with_the_tolerance),
        cmocka_unit_test(generalized_alpha_keeps_it_as_it_is),
        cmocka_unit_test(newmarks_rule_with_projection_keeps_it_as_it_is),
        cmocka_unit_test(generalized_alpha_stays_stable_at_any_step),
        cmocka_unit_test(growing_noise_is_reported_before_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
