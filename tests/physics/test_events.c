// SPDX-License-Identifier: MIT
//
// Conditions that read probes, against closed forms: they switch loads, and end steps, at the time
// at which they become true, with every scheme and any step.
#include "executed.h"

#include <stdio.h>

// A body that falls along z, 0.5 kg. Columns: x y z, vx vy vz, energies.
enum { Z = 2, VZ = 5, BALANCE = 11 };
static const double mass = 0.5, g = 9.81;

#define BALL                                                                                       \
    "sinew: 1\n"                                                                                   \
    "robot: {ball: {on: world, joint: free, body: {mass: 0.5, inertia: [1, 1, 1]}}}\n"             \
    "probes: {p: {position: ball}, v: {velocity: ball}, e: energy}\n"

static double end_time(const outcome *o) { return o->series.t[o->series.nframe - 1]; }

// ---- times --------------------------------------------------------------------------------------

typedef struct way {
    const char *keys;
    double interval; // between instants, s
    double within;   // error of the scheme for the time of a parabola, s
} way;

static const way ways[] = {
    {"scheme: generalized-alpha, step: 50 ms", 0.05, 0},
    {"scheme: generalized-alpha, step: 1 ms", 1e-3, 2e-12}, // Newton's tolerance, 250 times
    {"scheme: newmark, step: 50 ms", 0.05, 0},
    {"scheme: newmark, step: 1 ms", 1e-3, 2e-12},
    {"scheme: hht, step: 30 ms", 0.03, 0},
    {"scheme: wbz, step: 30 ms", 0.03, 0},
    {"scheme: trapezoidal, step: 30 ms", 0.03, 0},
    {"scheme: bdf2, step: 30 ms", 0.03, 0},
    {"scheme: bdf-alpha, step: 30 ms", 0.03, 0},
    {"scheme: conserving, step: 30 ms", 0.03, 0},
    {"scheme: gauss4, step: 50 ms", 0.05, 0},
    {"scheme: gauss6, step: 30 ms", 0.03, 0},
    {"scheme: gauss6, step: 50 ms, adapt: on", 0.05, 0},
    {"scheme: radau3, step: 50 ms", 0.05, 0},
    {"scheme: radau5, step: 50 ms, adapt: on", 0.05, 0},
    {"scheme: generalized-alpha, step: 50 ms, adapt: on", 0.05, 0},
    {"scheme: bdf2, step: 50 ms, adapt: on", 0.05, 0},
    {"scheme: rk4, step: 2 ms", 0.01, 0},
    {"scheme: adaptive", 0.01, 0},
    {"scheme: adaptive, tolerance: 1e-10", 0.01, 0},
    {"scheme: stiff, tolerance: 1e-10", 0.01, 2e-8},
    {"scheme: euler, step: 20 us", 2e-5, 1e-5}, // half a step
};

// a fall by h takes sqrt(2 h/g)
static void a_fall_ends_at_its_time(void **state) {
    (void)state;
    const double t = sqrt(2 * 0.3 / g);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char text[1000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       BALL "study: [dynamic: {for: 1, %s, until: p.z < -0.3}]\n", ways[i].keys);
        execute_ok(text, &o);
        const double late = end_time(&o) - t, most = 1e-9 * ways[i].interval + 1e-15;
        if (!(late > -ways[i].within - 1e-14 && late <= ways[i].within + most)) {
            fail_msg("%s: %.3g s late, want below %.3g", ways[i].keys, late, most);
        }
        assert_true(last(&o, Z) < -0.3);
        snw_series_clear(&o.series);
    }
}

// all quantities that a condition may read, including those that laws may not
static void conditions_read_every_probe(void **state) {
    (void)state;
    const struct {
        const char *until;
        double t;
    } cases[] = {
        {"e.kinetic > 2 J", sqrt(2 * 2 / (mass * g * g))},
        {"e.gravity < -2 J", sqrt(2 * 2 / (mass * g * g))},
        {"m.pz < -1.5", 1.5 / (mass * g)},
        {"com.z < -0.2", sqrt(2 * 0.2 / g)},
        {"tw.vz < -2", 2 / g},
        {"v.vz < -2 or p.z < -0.1", sqrt(2 * 0.1 / g)},
        {"a.az < -5 and t > 0.2", 0.2},
        {"p.z < -0.1 and not p.z < -0.11", sqrt(2 * 0.1 / g)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\n"
                       "robot: {ball: {on: world, joint: free, body: {mass: 0.5, inertia: [1, 1, "
                       "1]}}}\n"
                       "probes: {p: {position: ball}, v: {velocity: ball}, e: energy, m: momentum, "
                       "com: center_of_mass, tw: {twist: ball, in: body}, a: {acceleration: "
                       "ball}}\n"
                       "study: [dynamic: {for: 1, step: 2 ms, until: %s}]\n",
                       cases[i].until);
        execute_ok(text, &o);
        if (!(fabs(end_time(&o) - cases[i].t) < 1e-11)) {
            fail_msg("%s: %.12g, want %.12g", cases[i].until, end_time(&o), cases[i].t);
        }
        snw_series_clear(&o.series);
    }
}

// drag reduces the kinetic energy as exp(-2 c t/m)
static void a_step_ends_when_the_energy_is_gone(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\n"
               "gravity: 0\n"
               "robot: {ball: {on: world, joint: free, body: {mass: 0.5, inertia: [1, 1, 1]}}}\n"
               "probes: {v: {velocity: ball}, e: energy}\n"
               "initial: {ball: {twist: [0, 0, 0, 2, 0, 0]}}\n"
               "loads: {drag: {on: ball, force: [-0.4 kg/s*v.vx, 0, 0]}}\n"
               "study: [dynamic: {for: 9, scheme: adaptive, tolerance: 1e-11, until: e.kinetic < "
               "0.1 J}]\n",
               &o);
    assert_near(end_time(&o), mass / 0.8 * log(10), 1e-9);
    snw_series_clear(&o.series);
}

static void a_step_whose_condition_already_holds_ends_at_once(void **state) {
    (void)state;
    outcome o;
    execute_ok(BALL "study: [dynamic: {name: none, for: 1, step: 10 ms, until: p.z < 1}, dynamic: "
                    "{name: late, for: 1, step: 10 ms, until: t >= 0 s}, dynamic: {for: 0.1, step: "
                    "10 ms}]\n",
               &o);
    assert_int_equal(o.warnings, 2);
    assert_int_equal(o.series.nframe, 1 + 1 + 11);
    assert_near(end_time(&o), 0.1, 1e-15);
    assert_near(last(&o, Z), -0.5 * g * 0.01, 1e-14);
    snw_series_clear(&o.series);
}

// the event coincides with the end of a step
static void an_event_may_fall_on_the_grid(void **state) {
    (void)state;
    static const char *const edge[] = {"<", "<="};
    for (int i = 0; i < 2; i++) {
        char text[1000];
        outcome o;
        // fall by 0.5 g t^2 at t = 0.25; all numbers are exact in few bits
        (void)snprintf(text, sizeof text,
                       BALL "gravity: [0, 0, -8]\n"
                            "study: [dynamic: {for: 1, step: (1/16) s, until: p.z %s -0.25}]\n",
                       edge[i]);
        execute_ok(text, &o);
        assert_true(fabs(end_time(&o) - 0.25) <= 1e-9 / 16);
        snw_series_clear(&o.series);
    }
}

// ---- loads switched by conditions ---------------------------------------------------------------

// accelerations are constant between events: all schemes of order 2 are exact
static const char *const exact[] = {
    "step: 30 ms",      "scheme: newmark, step: 7 ms",     "scheme: trapezoidal, step: 0.1 s",
    "scheme: adaptive", "scheme: conserving, step: 20 ms", "scheme: rk4, step: 10 ms"};
enum { NEXACT = sizeof exact / sizeof *exact };

// Thrown up, the body gets a push down when it passes 0.5 m; with `once` the push remains active on
// the way down.
static void once_latches_and_a_plain_condition_does_not(void **state) {
    (void)state;
    const double v0 = 4, up = 0.5, a = g + 6 / mass;
    const double v1 = sqrt(v0 * v0 - 2 * g * up), t1 = (v0 - v1) / g;
    for (int once = 0; once < 2; once++) {
        // back at 0.5 m with the same speed; then without the push, or still with it
        const double t2 = t1 + 2 * v1 / a, rest = 1 - t2, then = once ? a : g;
        const double z = up - v1 * rest - 0.5 * then * rest * rest;
        for (int i = 0; i < NEXACT; i++) {
            char text[1000];
            outcome o;
            (void)snprintf(text, sizeof text,
                           BALL "initial: {ball: {twist: [0, 0, 0, 0, 0, 4]}}\n"
                                "loads: {push: {on: ball, force: [0, 0, -6], when: %s}}\n"
                                "study: [dynamic: {for: 1, %s}]\n",
                           once ? "once(p.z > 0.5)" : "p.z > 0.5", exact[i]);
            execute_ok(text, &o);
            assert_near(last(&o, Z), z, 1e-8);
            snw_series_clear(&o.series);
        }
    }
}

// two thresholds within one step, written in either order
static void the_earliest_of_several_comes_first(void **state) {
    (void)state;
    const double a1 = g - 2 / mass, a2 = a1 - 1 / mass;
    const double t1 = sqrt(2 * 0.1 / g), v1 = g * t1;
    const double v2 = sqrt(v1 * v1 + 2 * a1 * 0.1), t2 = t1 + (v2 - v1) / a1, rest = 0.4 - t2;
    const double z = -0.2 - v2 * rest - 0.5 * a2 * rest * rest;
    static const char *const loads[] = {
        "first: {on: ball, force: [0, 0, 2], when: once(p.z < -0.1)}, second: {on: ball, force: "
        "[0, 0, 1], when: once(p.z < -0.2)}",
        "second: {on: ball, force: [0, 0, 1], when: once(p.z < -0.2)}, first: {on: ball, force: "
        "[0, 0, 2], when: once(p.z < -0.1)}",
    };
    for (int k = 0; k < 2; k++) {
        char text[1000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       BALL "loads: {%s}\n"
                            "study: [dynamic: {for: 0.4, scheme: newmark, step: 0.4}]\n",
                       loads[k]);
        execute_ok(text, &o);
        assert_int_equal(o.series.nframe, 4);
        assert_near(o.series.t[1], t1, 1e-9);
        assert_near(o.series.t[2], t2, 2e-9);
        assert_near(last(&o, Z), z, 1e-8);
        snw_series_clear(&o.series);
    }
}

// a condition that holds at the start is active from the start
static void a_condition_may_hold_at_the_start(void **state) {
    (void)state;
    for (int i = 0; i < NEXACT; i++) {
        char text[1000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       BALL "loads: {lift: {on: ball, force: [0, 0, 10], when: p.z < 0.1}}\n"
                            "study: [dynamic: {for: 0.1, %s}]\n",
                       exact[i]);
        execute_ok(text, &o);
        assert_near(last(&o, Z), 0.5 * (10 / mass - g) * 0.01, 1e-12);
        snw_series_clear(&o.series);
    }
}

// ---- a one-sided spring -------------------------------------------------------------------------

// a ball dropped from h onto a spring that only pushes: parabolas and harmonic motions in turn
static double bounce(double h, double k, double t, double *v) {
    const double w = sqrt(k / mass), sink = g / (w * w), v0 = sqrt(2 * g * h);
    const double R = hypot(sink, v0 / w), phi = atan2(v0 / w, sink);
    const double fall = v0 / g, touch = 2 * (acos(-1) - phi) / w;
    if (t < fall) {
        *v = -g * t;
        return h - 0.5 * g * t * t;
    }
    t = fmod(t - fall, touch + 2 * fall);
    if (t < touch) {
        *v = -R * w * sin(w * t + phi);
        return R * cos(w * t + phi) - sink;
    }
    t -= touch;
    *v = v0 - g * t;
    return v0 * t - 0.5 * g * t * t;
}

#define FLOOR                                                                                      \
    BALL "initial: {ball: {pose: {xyz: [0, 0, 0.2]}}}\n"                                           \
         "loads: {floor: {on: ball, force: [0, 0, -100 N/m*p.z], when: p.z < 0}}\n"

static void a_ball_bounces_many_times(void **state) {
    (void)state;
    static const struct {
        const char *keys;
        double order, within;
    } cases[] = {{"scheme: newmark, step: %g", 2, 5e-2},
                 {"step: %g", 2, 5e-2},
                 {"scheme: trapezoidal, step: %g", 2, 5e-2},
                 {"scheme: conserving, step: %g", 2, 5e-2},
                 {"scheme: bdf2, step: %g", 1.5, 5e-1}, // restarts after each event
                 {"scheme: adaptive, tolerance: 1e-10", 0, 1e-7},
                 {"scheme: stiff, tolerance: 1e-10", 0, 1e-4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double error[2] = {0};
        for (int k = 0; k < 2; k++) {
            char keys[100], text[1000];
            outcome o;
            if (cases[i].order > 0) {
                (void)snprintf(keys, sizeof keys, cases[i].keys, k ? 2e-3 : 4e-3);
            } else {
                (void)snprintf(keys, sizeof keys, "%s", cases[i].keys);
            }
            (void)snprintf(text, sizeof text,
                           FLOOR "study: [dynamic: {for: 4, %s}]\nrecord: {every: 20 ms}\n", keys);
            execute_ok(text, &o);
            for (int f = 0; f < o.series.nframe; f++) {
                double v;
                const double z = bounce(0.2, 100, o.series.t[f], &v);
                error[k] = fmax(error[k], fabs(shown(&o, f, Z) - z));
            }
            snw_series_clear(&o.series);
        }
        if (!(error[1] < cases[i].within)) fail_msg("%s: error %g", cases[i].keys, error[1]);
        if (cases[i].order > 0 && !(log2(error[0] / error[1]) > cases[i].order - 0.2)) {
            fail_msg("%s: errors %g %g", cases[i].keys, error[0], error[1]);
        }
    }
}

// the spring returns the energy it stores
static void bounces_close_the_balance(void **state) {
    (void)state;
    outcome o;
    execute_ok(FLOOR "study: [dynamic: {for: 4, scheme: adaptive, tolerance: 1e-10}]\n", &o);
    for (int f = 0; f < o.series.nframe; f++) assert_near(shown(&o, f, BALANCE), 0, 1e-7);
    snw_series_clear(&o.series);
}

// ---- repeated switching -------------------------------------------------------------------------

// Thrust while the body sinks: it hovers, and the condition switches without end.
static void a_chattering_condition_is_reported(void **state) {
    (void)state;
    static const char *const keys[] = {"step: 10 ms", "scheme: bdf2, step: 10 ms",
                                       "scheme: conserving, step: 10 ms", "scheme: adaptive"};
    for (int i = 0; i < 4; i++) {
        char text[1000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       BALL "initial: {ball: {twist: [0, 0, 0, 0, 0, 1]}}\n"
                            "loads: {jet: {on: ball, force: [0, 0, 8], when: v.vz < -0.1}}\n"
                            "study: [dynamic: {for: 1, %s}]\n",
                       keys[i]);
        execute(text, &o);
        assert_int_equal(o.status, SNW_E_DIVERGED);
        assert_non_null(strstr(o.err.text, "'v.vz < -0.1' changed"));
        assert_non_null(strstr(o.err.text, "the results so far are kept"));
        assert_true(o.series.nframe > 10);
        assert_near(end_time(&o), 1.1 / g, 1e-3);
        assert_near(last(&o, VZ), -0.1, 1e-6);
        snw_series_clear(&o.series);
    }
}

// With a sampled condition the motion continues.
static void hysteresis_prevents_chattering(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        BALL "loads: {jet: {on: ball, force: [0, 0, \"if(sampled(v.vz, 10 ms) < -0.1, 8, 0)\"]}}\n"
             "study: [dynamic: {for: 2, step: 10 ms}]\n",
        &o);
    for (int f = 10; f < o.series.nframe; f++) {
        // a sample late in either direction
        assert_true(shown(&o, f, VZ) > -0.1 - 0.01 * g - 1e-9);
        assert_true(shown(&o, f, VZ) < -0.1 + 0.01 * (8 / mass - g) + 1e-9);
    }
    snw_series_clear(&o.series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fall_ends_at_its_time),
        cmocka_unit_test(conditions_read_every_probe),
        cmocka_unit_test(a_step_ends_when_the_energy_is_gone),
        cmocka_unit_test(a_step_whose_condition_already_holds_ends_at_once),
        cmocka_unit_test(an_event_may_fall_on_the_grid),
        cmocka_unit_test(once_latches_and_a_plain_condition_does_not),
        cmocka_unit_test(the_earliest_of_several_comes_first),
        cmocka_unit_test(a_condition_may_hold_at_the_start),
        cmocka_unit_test(a_ball_bounces_many_times),
        cmocka_unit_test(bounces_close_the_balance),
        cmocka_unit_test(a_chattering_condition_is_reported),
        cmocka_unit_test(hysteresis_prevents_chattering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
