// SPDX-License-Identifier: MIT
//
// Loops whose rows imply each other everywhere, with a dependent subset that changes, against the
// closed form of Bricard's threefold-symmetric chain of six hinges, each link of length a turned by
// 90 degrees in alternating directions. Angles alternate, and
//
//     cos p + cos q + cos p cos q = 0
//
// so that it moves with one degree of freedom where counting gives none (Baker 1980; Chen, You and
// Tarnai 2005). As it turns inside out, through q = 0 at p = 120 degrees, rows that were
// independent at the start lose their rank.
#include "executed.h"

#include "near.h"
#include "sinew/sinew.h"

#include <math.h>
#include <stdio.h>

#define LINK(name, on, pose, joint)                                                                \
    "  " name ": {on: " on ", " pose "joint: revolute, axis: z" joint                              \
    ", body: {mass: 1, com: [0.05, 0, 0], inertia: [2e-4, 1e-3, 1e-3]}}\n"
#define TURNED(angle) "pose: {xyz: [0.1, 0, 0], rpy: [" angle " deg, 0, 0]}, "
// `spring`: additional keys of the first joint, `rate`: its initial rate.
#define CHAIN(spring, rate)                                                                        \
    "sinew: 1\n"                                                                                   \
    "gravity: [0, 0, 0]\n"                                                                         \
    "robot:\n" LINK("l1", "world", "", spring) LINK("l2", "l1", TURNED("90"), "")                  \
        LINK("l3", "l2", TURNED("-90"), "") LINK("l4", "l3", TURNED("90"), "")                     \
            LINK("l5", "l4", TURNED("-90"),                                                        \
                 "") "sites:\n"                                                                    \
                     "  e: {on: l5, pose: {xyz: [0.1, 0, 0], rpy: [90 deg, 0, 0]}}\n"              \
                     "  g: {on: world, pose: {xyz: [-0.1, 0, 0], rpy: [90 deg, 0, 0]}}\n"          \
                     "loops: {ring: {join: [e, g], as: revolute}}\n"                               \
                     "initial: {l1: {position: 60 deg" rate                                        \
                     "}, l2: acos(-1/3), l3: 60 deg, l4: acos(-1/3), "                             \
                     "l5: 60 deg}\n"

static void turn(const char *dynamic, outcome *o) {
    char text[2000];
    (void)snprintf(text, sizeof text,
                   CHAIN("", ", rate: 3") "study: [dynamic: {for: 8 s, %s}]\n"
                                          "record: {every: 20 ms}\n"
                                          "probes: {p: {angle: l1}, q: {angle: l2}, third: "
                                          "{angle: l3}, e: energy}\n",
                   dynamic);
    execute_ok(text, o);
}

// Zero where the ring is closed.
static double closure(double p, double q) { return cos(p) + cos(q) + cos(p) * cos(q); }

// More than a whole turn, by every family of schemes; `within`: errors of angles.
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
            assert_near(closure(p, q), 0, 1e-9);
            assert_near(shown(&o, n, 2), p, 1e-9);
            most = fmax(most, p), least = fmin(least, p);
        }
        // forward and back through both ends of its range, at 120 degrees
        assert_true(most > 2.09 && least < -2.09);
        if (i == 0) end[0] = last(&o, 0), end[1] = last(&o, 1);
        assert_near(last(&o, 0), end[0], ways[i].within);
        assert_near(last(&o, 1), end[1], ways[i].within);
        assert_near(o.totals.balance, 0, 1e-4 * o.totals.exchanged);
        snw_series_clear(&o.series);
    }
}

static snw_robot *open_chain(const char *scheme, double tolerance, double step) {
    static const char text[] =
        CHAIN("", ", rate: 3") "probes: {p: {angle: l1}, q: {angle: l2}, third: {angle: l3}}\n";
    snw_robot *r = NULL;
    snw_error err = {0};
    snw_robot_steps how = snw_robot_steps_defaults(step);
    how.scheme = scheme;
    how.tolerance = tolerance;
    if (snw_robot_parse("chain", text, strlen(text), NULL, 0, NULL, &r, &err) != SNW_OK ||
        snw_robot_start(r, &how, &err) != SNW_OK) {
        fail_msg("%s", err.text);
    }
    return r;
}

static double angle(snw_robot *r, const char *probe) {
    double x;
    assert_int_equal(snw_robot_probe(r, probe, 1, &x), 1);
    return x;
}

// The same by the steps of the library, in which the ring might open or stop; its end agrees with
// that of the run.
static void steps_of_the_library_turn_it_too(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double tolerance, step, within;
    } ways[] = {{"adaptive", 1e-10, 20e-3, 1e-8},
                {"stiff", 1e-9, 20e-3, 1e-4},
                {"generalized-alpha", 0, 2e-3, 1e-3},
                {"bdf2", 0, 1e-3, 1e-2}};
    outcome o;
    turn("scheme: adaptive, tolerance: 1e-10", &o);
    const double end = last(&o, 0);
    snw_series_clear(&o.series);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        snw_error err = {0};
        snw_robot *r = open_chain(ways[i].scheme, ways[i].tolerance, ways[i].step);
        double most = 0, least = 0;
        const int n = (int)lround(8 / ways[i].step);
        for (int k = 0; k < n; k++) {
            if (snw_robot_step(r, ways[i].step, &err) != SNW_OK) fail_msg("%s", err.text);
            const double p = angle(r, "p");
            assert_near(closure(p, angle(r, "q")), 0, 1e-8);
            assert_near(angle(r, "third"), p, 1e-8);
            most = fmax(most, p), least = fmin(least, p);
        }
        assert_true(most > 2.09 && least < -2.09);
        assert_near(angle(r, "p"), end, ways[i].within);
        snw_robot_close(r);
    }
}

// A state that was saved with other rows kept resumes with the same bits.
static void saved_states_contain_the_dropped_rows(void **state) {
    (void)state;
    snw_error err = {0};
    snw_robot *a = open_chain("generalized-alpha", 0, 5e-3);
    snw_robot *b = open_chain("generalized-alpha", 0, 5e-3);
    double row[2000];
    assert_true(snw_robot_saves(a) <= sizeof row / sizeof row[0]);
    for (int n = 0; n < 400; n++) {
        if (n % 20 == 0) {
            assert_int_equal(snw_robot_save(a, row), SNW_OK);
            assert_int_equal(snw_robot_restore(b, row), SNW_OK);
        }
        assert_int_equal(snw_robot_step(a, 5e-3, &err), SNW_OK);
        assert_int_equal(snw_robot_step(b, 5e-3, &err), SNW_OK);
        assert_memory_equal(snw_robot_q(a), snw_robot_q(b), 5 * sizeof(double));
    }
    snw_robot_close(a);
    snw_robot_close(b);
}

// Driven by its second joint through q = 0, with a spring k on the first: p by the closed form, and
// the effort is the derivative of the spring's energy, tau = k p dp/dq with dp/dq = -sin q (1 + cos
// p)/(sin p (1 + cos q)).
static void equilibria_turn_it_through_its_end(void **state) {
    (void)state;
    static const char *const ways[] = {"0.02", "0.25", "1"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char text[2000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       CHAIN(", stiffness: 1", "") "actuators: {m: {joint: l2, position: "
                                                   "acos(-1/3)*(1 - 2*t)}}\n"
                                                   "study: [static: {for: 1 s, step: %s s}]\n"
                                                   "probes: {p: {angle: l1}, q: {angle: l2}, "
                                                   "third: {angle: l3}, tau: {effort: m}}\n",
                       ways[i]);
        execute_ok(text, &o);
        for (int n = 0; n < o.series.nframe; n++) {
            const double p = shown(&o, n, 0), q = shown(&o, n, 1);
            assert_near(p, acos(-cos(q) / (1 + cos(q))), 1e-9);
            assert_near(shown(&o, n, 2), p, 1e-9);
            const double slope = -sin(q) * (1 + cos(p)) / (sin(p) * (1 + cos(q)));
            assert_near(shown(&o, n, 3), p * slope, 1e-9);
        }
        assert_near(last(&o, 1), -acos(-1.0 / 3), 1e-12);
        snw_series_clear(&o.series);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bricard_chain_turns_inside_out),
        cmocka_unit_test(steps_of_the_library_turn_it_too),
        cmocka_unit_test(saved_states_contain_the_dropped_rows),
        cmocka_unit_test(equilibria_turn_it_through_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
