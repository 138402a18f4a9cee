// SPDX-License-Identifier: MIT
//
// Conditions that hold for a part of one step only, against closed forms: an oscillator passes a
// threshold and returns within a step, with every scheme; a threshold just out of reach is never
// passed.
#include "executed.h"

#include "near.h"
#include "random_rod.h"

#include <stdio.h>

// x = A cos(w t - phase), w = 1/s. Columns: x y z, vx vy vz.
enum { X = 0 };
#define OSCILLATOR                                                                                 \
    "sinew: 1\n"                                                                                   \
    "robot: {a: {on: world, joint: prismatic, axis: x, stiffness: 1 N/m, body: {mass: 1}}}\n"      \
    "initial: {a: {position: %.17g m, rate: %.17g m/s}}\n"                                         \
    "probes: {p: {position: a}, v: {velocity: a}, w: {acceleration: a}, e: energy}\n"

static double end_time(const outcome *o) { return o->series.t[o->series.nframe - 1]; }

// ---- one step over a peak -----------------------------------------------------------------------

static const char *const schemes[] = {"generalized-alpha",
                                      "generalized-alpha, rho: 0",
                                      "generalized-alpha, rho: 1",
                                      "newmark",
                                      "hht",
                                      "wbz",
                                      "trapezoidal",
                                      "bdf2",
                                      "bdf-alpha",
                                      "euler",
                                      "conserving",
                                      "gauss4",
                                      "gauss6",
                                      "gauss8"};

static const double quarter = 1.5707963267948966;

// Position after one step of length h from x = cos(phase), x' = sin(phase).
static double one_step(const char *scheme, double phase, double h) {
    char text[1000];
    outcome o;
    (void)snprintf(text, sizeof text,
                   OSCILLATOR "study: [dynamic: {for: %.17g, step: %.17g, scheme: %s}]\n",
                   cos(phase), sin(phase), h, h, scheme);
    execute_ok(text, &o);
    const double x = last(&o, X);
    snw_series_clear(&o.series);
    return x;
}

// Largest position that one step of any length up to h reaches; the largest of a fine search.
static double highest(const char *scheme, double phase, double h) {
    double best = 0, low = 0, high = h;
    for (int pass = 0; pass < 3; pass++) {
        const double a = low, b = high, part = (b - a) / 20;
        for (int k = 1; k <= 20; k++) {
            const double x = one_step(scheme, phase, a + k * part);
            if (x <= best) continue;
            best = x;
            low = fmax(a + (k - 1) * part, 1e-6), high = fmin(a + (k + 1) * part, h);
        }
    }
    return best;
}

static double ends_with(const char *keys, double phase, double h, double threshold) {
    char text[1000];
    outcome o;
    (void)snprintf(text, sizeof text,
                   OSCILLATOR "study: [dynamic: {for: %.17g, %s, until: p.x > %.17g}]\n",
                   cos(phase), sin(phase), h, keys, threshold);
    execute_ok(text, &o);
    const double t = end_time(&o), x = last(&o, X);
    if (t < h) assert_near(x, threshold, 1e-8); // 1e-9 of the step, at a speed of at most 1
    snw_series_clear(&o.series);
    return t;
}

// The peak of the discrete motion lies 1e-3 above the threshold, or 1e-3 below it.
static void a_peak_within_a_step_is_seen(void **state) {
    (void)state;
    static const double phases[] = {0.785, 0.3, 1.3};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        for (size_t k = 0; k < sizeof phases / sizeof *phases; k++) {
            char keys[200];
            const double peak = highest(schemes[i], phases[k], quarter);
            // a scheme with damping may rise, or fall, through all of such a step
            if (!(peak - fmax(one_step(schemes[i], phases[k], quarter), cos(phases[k])) > 3e-3))
                continue;
            (void)snprintf(keys, sizeof keys, "step: %.17g, scheme: %s", quarter, schemes[i]);
            if (!(ends_with(keys, phases[k], quarter, peak - 1e-3) < quarter))
                fail_msg("%s, phase %g: the peak %g is missed", schemes[i], phases[k], peak);
            if (ends_with(keys, phases[k], quarter, peak + 1e-3) < quarter)
                fail_msg("%s, phase %g: the peak %g is passed", schemes[i], phases[k], peak);
        }
    }
}

// The same for schemes that take several steps between two instants; the peak is that of the
// motion.
static void a_peak_between_instants_is_seen(void **state) {
    (void)state;
    static const char *const ways[] = {"scheme: adaptive",
                                       "scheme: adaptive, tolerance: 1e-11",
                                       "scheme: stiff, tolerance: 1e-8",
                                       "scheme: rk4, step: 0.2",
                                       "adapt: on",
                                       "scheme: gauss6, adapt: on"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        for (double h = quarter; h < 60; h *= 2.3) {
            char text[1000];
            for (int sign = -1; sign <= 1; sign += 2) {
                outcome o;
                // generalized-alpha damps the motion by a few times its tolerance
                (void)snprintf(text, sizeof text,
                               OSCILLATOR
                               "record: {every: %.17g}\n"
                               "study: [dynamic: {for: %.17g, %s, until: p.x > %.17g}]\n",
                               cos(0.8), sin(0.8), h, h, ways[i], 1 + sign * 1e-3);
                execute_ok(text, &o);
                const double t = end_time(&o), want = 0.8 - acos(1 - 1e-3);
                snw_series_clear(&o.series);
                if (sign < 0 ? fabs(t - want) > 0.03 : t < h)
                    fail_msg("%s, %g s: ends at %g, want %g", ways[i], h, t, sign < 0 ? want : h);
            }
        }
    }
}

// ---- random thresholds --------------------------------------------------------------------------

// First time after zero at which cos(t - phase) > threshold; INFINITY: never.
static double first_crossing(double phase, double threshold) {
    if (cos(phase) > threshold) return 0;
    if (threshold >= 1) return INFINITY;
    const double t = phase - acos(threshold);
    return t > 0 ? t : t + 4 * quarter;
}

// A thousand thresholds close to the peak, with steps up to a quarter of a period.
static void random_thresholds_are_passed_in_time(void **state) {
    (void)state;
    dice d = {20261};
    for (int i = 0; i < 1000; i++) {
        const double phase = roll(&d, 0.1, 4 * quarter), h = roll(&d, 0.3, quarter);
        const double apart = pow(10, roll(&d, -4, -0.5));
        const double threshold = roll(&d, 0, 1) < 0.7 ? 1 - apart : 1 + apart;
        // the error of gauss8 in ten steps of a quarter period is below 1e-5
        const double duration = 10 * h, want = first_crossing(phase, threshold);
        if (want == 0 || fabs(want - duration) < 1e-3) continue;
        char keys[100];
        (void)snprintf(keys, sizeof keys, "step: %.17g, scheme: gauss8", h);
        const double t = ends_with(keys, phase, duration, threshold);
        if (fabs(t - fmin(want, duration)) > 1e-3)
            fail_msg("%d: phase %.6g, step %.6g, threshold %.8g: ends at %.6g, want %.6g", i, phase,
                     h, threshold, t, want);
    }
}

// ---- other conditions ---------------------------------------------------------------------------

typedef struct condition {
    const char *text;
    double phase, t; // x = cos(t - phase); the time at which it begins to hold
} condition;

// Each holds for a part of the first step only, which is a quarter of a period long.
static void conditions_of_all_kinds_are_seen(void **state) {
    (void)state;
    static const condition cases[] = {
        {"v.vx < -0.999", -0.8, 1.5707963267948966 - 0.8 - 0.04472508716873445},
        {"w.ax < -0.999", 0.8, 0.8 - 0.04472508716873445},
        {"abs(v.vx) < 0.01", 0.8, 0.8 - 0.010000166674167114},
        {"max(p.x, 0.5) > 0.999", 0.8, 0.8 - 0.04472508716873445},
        {"not (p.x < 0.999)", 0.8, 0.8 - 0.04472508716873445},
        {"e.kinetic < 0.5e-6", 0.8, 0.8 - 0.0010000001666667417},
        // each side changes once, and both hold for a while
        {"v.vx < 0.1 and v.vx > -0.1", 0.8, 0.8 - 0.10016742116155979},
        {"p.x > 0.8 and v.vx > 0.55", 1.3, 1.3 - 0.6435011087932844},
        {"once(p.x > 0.999)", 0.8, 0.8 - 0.04472508716873445},
        {"integral(v.vx) > 1 - cos(0.8) - 1e-3", 0.8, 0.8 - 0.04472508716873445},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const condition *c = &cases[i];
        char text[1000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       OSCILLATOR "study: [dynamic: {for: %.17g, step: %.17g, scheme: gauss8, "
                                  "until: \"%s\"}]\n",
                       cos(c->phase), sin(c->phase), quarter, quarter, c->text);
        execute_ok(text, &o);
        const double t = end_time(&o);
        snw_series_clear(&o.series);
        // integrals are those of the trapezoidal rule, which is not exact in so long a step
        const double within = strstr(c->text, "integral") ? 0.3 : 1e-3;
        if (!(fabs(t - c->t) < within)) fail_msg("%s: ends at %.6g, want %.6g", c->text, t, c->t);
    }
}

// A load acts while the mass is beyond the threshold: both of its switching times lie in one step.
static void a_short_push_acts(void **state) {
    (void)state;
    static const char *const ways[] = {"step: 0.01, scheme: gauss8",
                                       "step: 1.5707963267948966, scheme: gauss8",
                                       "scheme: adaptive, tolerance: 1e-10"};
    double end[3];
    for (int i = 0; i < 3; i++) {
        char text[1000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       OSCILLATOR "loads: {push: {on: a, force: [-2, 0, 0], when: p.x > 0.99}}\n"
                                  "record: {every: 1.5707963267948966}\n"
                                  "study: [dynamic: {for: 6.283185307179586, %s}]\n",
                       cos(0.8), sin(0.8), ways[i]);
        execute_ok(text, &o);
        end[i] = last(&o, X);
        snw_series_clear(&o.series);
    }
    if (fabs(end[0] - cos(4 * quarter - 0.8)) < 0.01) fail_msg("the push does nothing");
    for (int i = 1; i < 3; i++) {
        if (fabs(end[i] - end[0]) > 1e-4) fail_msg("%s: %g, want %g", ways[i], end[i], end[0]);
    }
}

// A body that rotates, whose path is on a Lie group: a point of it passes the top within a step.
static void a_turning_arm_is_seen_at_its_top(void **state) {
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        char text[1000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "robot: {a: {on: world, joint: free, body: {mass: 1, inertia: [1, 1, 1]}}, b: "
            "{on: a, pose: {xyz: [1, 0, 0]}}}\n"
            "initial: {a: {pose: {axis: z, angle: 0.8 rad}, twist: [0, 0, 1, 0, 0, 0]}}\n"
            "probes: {p: {position: b}}\n"
            "study: [dynamic: {for: 1.5, step: 1.5, until: p.y > %.17g}]\n",
            1 + sign * 1e-3);
        execute_ok(text, &o);
        const double t = end_time(&o), want = quarter - 0.8 - acos(1 - 1e-3);
        snw_series_clear(&o.series);
        if (sign < 0 ? fabs(t - want) > 1e-6 : t < 1.5)
            fail_msg("ends at %g, want %g", t, sign < 0 ? want : 1.5);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peak_within_a_step_is_seen),
        cmocka_unit_test(a_peak_between_instants_is_seen),
        cmocka_unit_test(random_thresholds_are_passed_in_time),
        cmocka_unit_test(conditions_of_all_kinds_are_seen),
        cmocka_unit_test(a_short_push_acts),
        cmocka_unit_test(a_turning_arm_is_seen_at_its_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
