// SPDX-License-Identifier: MIT
//
// Energy of random drops and releases with the default scheme, at steps from a hundred times too
// long to well resolved: no energy is gained (theory.md 6.15, 6.16). Paths of released rods against
// Gauss collocation, and estimated errors against closed forms. The environment variable
// SNW_IMPACTS sets the number of robots; the default is a few.
#include "executed.h"
#include "near.h"
#include "random_drop.h"
#include "sanitized.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// columns of the energy probe
enum { KINETIC, ELASTIC, GRAVITY, HEAT, WORK, SCHEME, BALANCE, TOTAL, TIP };

static const char *const steps[] = {"20 ms", "10 ms", "5 ms", "2 ms", "0.5 ms"};
enum { STEPS = sizeof steps / sizeof steps[0] };

static int robots(int few) {
    const char *many = getenv("SNW_IMPACTS");
    return many ? atoi(many) : few;
}

// All falling parts start above the ground. Half of the grounds have losses, half have friction.
static void write_drop(dice *d, char *text, size_t size) {
    char body[600];
    bool rod;
    write_falling_body(d, 0.01, body, sizeof body, &rod);
    const double k = pow(10, roll(d, 3, 6.5)) * (rod ? 0.3 : 1);
    const double damping = pick_int(d, 0, 1) ? roll(d, 0, 2) : 0;
    const double friction = pick_int(d, 0, 1) ? roll(d, 0, 1) : 0;
    (void)snprintf(text, size,
                   "sinew: 1\ngravity: [0, 0, -9.81]\n"
                   "materials: {stuff: {young: %g, poisson: 0.4, density: 1100, damping: %g}}\n"
                   "robot:\n%s"
                   "contacts: {floor: {ground: {on: body, stiffness: %g, damping: %g, friction: "
                   "%g}}}\n"
                   "initial: {%s: {pose: {xyz: [0, 0, %g], rpy: [%g, %g, %g]}, twist: [%g, %g, %g, "
                   "%g, %g, %g]}}\n"
                   "probes: {e: energy}\nstudy:\n",
                   pow(10, roll(d, 5.3, 8)), pick_int(d, 0, 2) ? pow(10, roll(d, -4, -1.5)) : 0,
                   body, k, damping, friction, strstr(body, "arm:") ? "arm" : "body",
                   roll(d, 0.2, 0.5), roll(d, -1, 1), roll(d, -0.3, 0.3), roll(d, -1, 1),
                   roll(d, -4, 4), roll(d, -4, 4), roll(d, -4, 4), roll(d, -1, 1), roll(d, -1, 1),
                   roll(d, -1, 1));
}

// Largest increase of the energy, less the work done, above its value at the start and above its
// value at any earlier time.
typedef struct rise {
    double start, before, moved;
} rise;

static rise rise_of(const outcome *o) {
    rise r = {0};
    double least = INFINITY;
    for (int i = 0; i < o->series.nframe; i++) {
        const double change = shown(o, i, TOTAL) - shown(o, 0, TOTAL);
        const double free = change - shown(o, i, WORK);
        r.moved = fmax(r.moved, fmax(shown(o, i, KINETIC), fabs(change)));
        least = fmin(least, free);
        r.start = fmax(r.start, free);
        r.before = fmax(r.before, free - least);
    }
    return r;
}

// Results of a robot at all step lengths: the largest gains above the start and above any earlier
// time, as fractions of the energy moved; the mean energy removed by the scheme; the number of
// failed runs, and of runs in which the energy rises by more than a hundredth without a warning.
typedef struct tally {
    double gain[STEPS], again[STEPS], removed[STEPS];
    int n, failed, silent;
} tally;

static void try_all(const char *model, const char *duration, tally *t) {
    for (int k = 0; k < STEPS; k++) {
        char text[3400];
        outcome o;
        (void)snprintf(text, sizeof text, "%s  - dynamic: {for: %s, step: %s}\n", model, duration,
                       steps[k]);
        execute(text, &o);
        if (o.status != SNW_OK) printf("steps of %s: %s\n%s", steps[k], o.err.text, text);
        t->failed += o.status != SNW_OK;
        const rise r = rise_of(&o);
        const bool silent = r.before > 0.01 * o.totals.exchanged && o.warnings == 0;
        if (silent || r.start > 0.01 * r.moved) {
            printf("steps of %s: gains %g, %g\n%s", steps[k], r.start / r.moved, r.before / r.moved,
                   text);
        }
        t->silent += silent;
        t->gain[k] = fmax(t->gain[k], r.start / r.moved);
        t->again[k] = fmax(t->again[k], r.before / r.moved);
        t->removed[k] += last(&o, SCHEME) / r.moved;
        snw_series_clear(&o.series);
    }
    t->n++;
}

static void judge(const tally *t, const char *what) {
    for (int k = 0; k < STEPS; k++) {
        printf("%d %s, steps of %-6s: gain at most %.2g of the energy that moved (%.2g above any "
               "time before), the scheme removes %.2g in the mean\n",
               t->n, what, steps[k], t->gain[k], t->again[k], t->removed[k] / t->n);
    }
    for (int k = 0; k < STEPS; k++) assert_true(t->gain[k] <= 0.01);
    assert_int_equal(t->failed, 0);
    assert_int_equal(t->silent, 0);
}

static void no_drop_gains_energy_at_any_step(void **state) {
    (void)state;
    dice d = {2026};
    tally t = {0};
    for (int r = 0; r < robots(AMONG(4, 16)); r++) {
        char model[3000];
        write_drop(&d, model, sizeof model);
        try_all(model, "0.6 s", &t);
    }
    judge(&t, "drops");
    for (int k = 0; k < STEPS; k++) assert_true(t.again[k] <= 0.01);
}

// ---- releases -----------------------------------------------------------------------------------

// A clamped rod that is bent and twisted by a torque and a force, which are then released.
static void write_release(dice *d, char *text, size_t size) {
    const double length = 0.4, radius = roll(d, 2e-3, 1e-2), young = pow(10, roll(d, 5.5, 8.7));
    const double stiff = young * M_PI_4 * pow(radius, 4), torque = stiff / length,
                 force = torque / length;
    (void)snprintf(text, size,
                   "sinew: 1\ngravity: 0\n"
                   "materials: {rubber: {young: %g, poisson: 0.45, density: 1100, damping: %g}}\n"
                   "robot: {arm: {on: world, rod: {length: %g, section: {circle: {radius: %g}}, "
                   "material: rubber, strain: {twist: legendre 3, bend_y: legendre 4, bend_z: "
                   "legendre 4}}}}\n"
                   "loads: {tip: {on: arm.tip, force: [%g, %g, %g], torque: [%g, %g, %g]}}\n"
                   "probes: {e: energy, tip: {position: arm.tip}}\n"
                   "study:\n  - static:\n  - change: {tip: off}\n",
                   young, pow(10, roll(d, -3.5, -1)), length, radius, force * roll(d, -2, 2),
                   force * roll(d, -2, 2), force * roll(d, -2, 2), torque * roll(d, -2, 2),
                   torque * roll(d, -2, 2), torque * roll(d, -2, 2));
}

// Soft rods with large displacements within too long a step may exchange energy with the scheme; a
// warning reports it.
static void no_release_gains_energy_at_any_step(void **state) {
    (void)state;
    dice d = {17};
    tally t = {0};
    for (int r = 0; r < robots(AMONG(3, 8)); r++) {
        char model[3000];
        write_release(&d, model, sizeof model);
        try_all(model, "0.2 s", &t);
    }
    judge(&t, "releases");
}

// Stiff damping of twist and of bending ends the accelerations of a release within microseconds.
// The default scheme then agrees with Gauss collocation, a different formulation, with steps five
// times shorter; before, it was off by 13 % of the length with steps of 2 ms.
static void a_released_rod_moves_as_by_collocation(void **state) {
    (void)state;
    static const char model[] =
        "sinew: 1\ngravity: 0\n"
        "materials: {rubber: {young: 327.718 MPa, poisson: 0.45, density: 1100, damping: 30 ms}}\n"
        "robot: {arm: {on: world, rod: {length: 0.4, section: {circle: {radius: 4 mm}}, material: "
        "rubber, strain: {twist: legendre 3, bend_y: legendre 4, bend_z: legendre 4}}}}\n"
        "loads: {tip: {on: arm.tip, force: [-0.435, -0.784, -0.288], torque: [0.258, 0.017, "
        "0.04]}}\n"
        "probes: {tip: {position: arm.tip}}\nrecord: {every: 20 ms}\n"
        "study:\n  - static:\n  - change: {tip: off}\n  - dynamic: {for: 0.2 s, %s}\n";
    static const struct {
        const char *steps;
        double within; // fraction of the length
    } ways[] = {{"step: 4 ms", 2e-3},
                {"step: 2 ms", 1e-3},
                {"step: 1 ms", 5e-4},
                {"step: 1 ms, scheme: bdf2", 1e-3},
                {"step: 1 ms, rho: 0", 1e-3}};
    char text[2000];
    outcome exact;
    (void)snprintf(text, sizeof text, model, "step: 0.2 ms, scheme: gauss4");
    execute_ok(text, &exact);
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        outcome o;
        double off = 0;
        (void)snprintf(text, sizeof text, model, ways[k].steps);
        execute_ok(text, &o);
        assert_int_equal(o.series.nframe, exact.series.nframe);
        for (int i = 0; i < o.series.nframe; i++) {
            for (int c = 0; c < 3; c++)
                off = fmax(off, fabs(shown(&o, i, c) - shown(&exact, i, c)));
        }
        printf("%-26s tip off by %.2g of the length\n", ways[k].steps, off / 0.4);
        if (!(off <= 0.4 * ways[k].within)) fail_msg("%s: %g m", ways[k].steps, off);
        snw_series_clear(&o.series);
    }
    snw_series_clear(&exact.series);
}

// ---- estimated error of steps -------------------------------------------------------------------

// A mass on a spring, q = cos(w t): generalized-alpha has a phase lag of w^3 h^2 t/12 and a small
// additional one from its damping. The estimate agrees with the closed form for every scheme of the
// family.
static void the_error_of_an_oscillator_is_estimated(void **state) {
    (void)state;
    static const char *const schemes[] = {"rho: 0.9",        "rho: 0.5",    "rho: 0",
                                          "scheme: newmark", "scheme: hht", "scheme: wbz"};
    for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
        char text[1000];
        outcome o;
        double off = 0;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\n"
                       "robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: 400, body: "
                       "{mass: 1, com: [1, 0, 0]}}}\n"
                       "initial: {cart: 1}\nprobes: {p: {position: cart}}\n"
                       "study: [dynamic: {for: 2 s, step: 2 ms, %s}]\n",
                       schemes[k]);
        execute_ok(text, &o);
        for (int i = 0; i < o.series.nframe; i++) {
            off = fmax(off, fabs(shown(&o, i, 0) - cos(20 * o.series.t[i])));
        }
        printf("%-16s off by %.3g m, by the estimate %.3g of the length\n", schemes[k], off,
               o.totals.time_error);
        assert_true(o.totals.time_error > 0.9 * off && o.totals.time_error < 1.1 * off);
        assert_int_equal(o.warnings, o.totals.time_error > 0.01 ? 1 : 0);
        snw_series_clear(&o.series);
    }
}

// The same with constraint rows, against closed forms. A loop: half of the mass is another body,
// joined to the first. A drive: the spring hangs on a cart with the law s = 0.3 sin(13 t), so that
// q" = -400 q - s". A jump of its velocity by 4 m/s at 0.3 s: q = -0.2 sin(20 (t - 0.3)) from
// there.
static void the_error_of_steps_is_estimated_with_constraint_rows(void **state) {
    (void)state;
    static const char *const schemes[] = {"rho: 0.9", "rho: 0.5", "scheme: newmark"};
    static const char *const robots[] = {
        "robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: 400, body: {mass: 0.4, "
        "com: [1, 0, 0]}}, mate: {on: world, joint: free, body: {mass: 0.6, inertia: [0.1, 0.1, "
        "0.1]}}}\nloops: {weld: {join: [cart, mate], as: fixed}}\n"
        "initial: {cart: 1, mate: {pose: {xyz: [1, 0, 0]}}}\n",
        "robot: {base: {on: world, joint: prismatic, axis: x, body: {mass: 1}}, cart: {on: base, "
        "joint: prismatic, axis: x, stiffness: 400, body: {mass: 1, com: [1, 0, 0]}}}\n"
        "actuators: {motor: {joint: base, position: 0.3*sin(13*t)}}\n",
        "robot: {base: {on: world, joint: prismatic, axis: x, body: {mass: 1}}, cart: {on: base, "
        "joint: prismatic, axis: x, stiffness: 400, body: {mass: 1, com: [1, 0, 0]}}}\n"
        "actuators: {motor: {joint: base, position: \"if(t < 0.3, 0, 4*(t - 0.3))\"}}\n"};
    for (size_t k = 0; k < 9; k++) {
        char text[1200];
        outcome o;
        double off = 0;
        const size_t which = k / 3;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\n%sprobes: {q: {value: cart}}\n"
                       "study: [dynamic: {for: 2 s, step: 2 ms, %s}]\n",
                       robots[which], schemes[k % 3]);
        execute_ok(text, &o);
        for (int i = 0; i < o.series.nframe; i++) {
            const double t = o.series.t[i], b = 0.3 * 169 / (400 - 169);
            const double exact[] = {cos(20 * t), b * (sin(13 * t) - 13.0 / 20 * sin(20 * t)),
                                    t > 0.3 ? -0.2 * sin(20 * (t - 0.3)) : 0};
            off = fmax(off, fabs(shown(&o, i, 0) - exact[which]));
        }
        printf("%zu %-16s off by %.3g m, by the estimate %.3g of the length\n", which,
               schemes[k % 3], off, o.totals.time_error);
        assert_true(o.totals.time_error > 0.9 * off && o.totals.time_error < 1.1 * off);
        snw_series_clear(&o.series);
    }
}

// A pendulum on a base that is driven at 10 to 30 Hz, at ten steps in a period and less: rates of
// the base are those of its law, also in the energy account. Those of the scheme oscillate, the
// account took them for energy that the scheme creates, and steps of 5 ms were cut to 0.05 ms
// (13684 steps instead of 200, and 4e5 J created of 166 J exchanged).
static void fast_drives_do_not_shorten_the_steps(void **state) {
    (void)state;
    static const double frequency[] = {5, 10, 20, 30};
    static const double most[] = {200, 250, 500, 600}; // steps, 200 without shortening
    for (int k = 0; k < 4; k++) {
        char text[800];
        outcome o;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\nrobot:\n"
                       "  base: {on: world, joint: prismatic, axis: x, body: {mass: 1}}\n"
                       "  bob: {on: base, joint: revolute, axis: y, body: {mass: 1, com: [0, 0, "
                       "-0.5], inertia: [0.01, 0.01, 0.01]}}\n"
                       "actuators: {motor: {joint: base, position: 0.05*sin(2*pi*%g*t)}}\n"
                       "study: [dynamic: {for: 1 s, step: 5 ms}]\nprobes: {a: {angle: bob}}\n",
                       frequency[k]);
        execute_ok(text, &o);
        printf("%g Hz: %d steps, balance %.2g of %.3g J exchanged\n", frequency[k],
               o.totals.increments, o.totals.balance, o.totals.exchanged);
        assert_true(o.totals.increments <= most[k]);
        assert_true(fabs(o.totals.balance) < 2e-4 * o.totals.exchanged);
        snw_series_clear(&o.series);
    }
}

// A four-bar linkage that falls, and a rod pulled by a tendon of given length: the estimate against
// steps sixteen times as short, at the points it compares.
static void the_error_of_linkages_is_estimated(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double length;
    } of[] = {
        {"gravity: [0, 0, -9.81]\nrobot:\n"
         "  crank: {on: world, pose: {axis: x, angle: 90 deg}, joint: revolute, body: {mass: 1, "
         "com: "
         "[0.1, 0, 0], inertia: [0, 0.00333, 0.00333]}}\n"
         "  rod: {on: crank, pose: {xyz: [0.2, 0, 0]}, joint: revolute, body: {mass: 1, com: "
         "[0.25, "
         "0, 0], inertia: [0, 0.0208, 0.0208]}}\n"
         "  rocker: {on: world, pose: {xyz: [0.5, 0, 0], axis: x, angle: 90 deg}, joint: revolute, "
         "body: {mass: 1, com: [0.2, 0, 0], inertia: [0, 0.0133, 0.0133]}}\n"
         "sites: {end: {on: rod, pose: {xyz: [0.5, 0, 0]}}, top: {on: rocker, pose: {xyz: [0.4, 0, "
         "0]}}, s(1): {on: crank, pose: {xyz: [0.1155, 0, 0]}}, s(2): {on: rod, pose: {xyz: "
         "[0.2887, "
         "0, 0]}}, s(3): {on: rod, pose: {xyz: [0, 0.2887, 0]}}, s(4): {on: rocker, pose: {xyz: "
         "[0.2309, "
         "0, 0]}}}\n"
         "loops: {pin: {join: [end, top], as: revolute}}\n"
         "initial: {crank: 1.0, rod: -0.65, rocker: 1.35}\nprobes: {p(k=1..4): {position: s(k)}}\n",
         0.2 + 0.1 + 0.25 + 0.2},
        {"materials: {m: {young: 1 MPa, poisson: 0.4, density: 1100, damping: 0.002}}\n"
         "robot: {a: {on: world, rod: {length: 0.3, section: {circle: {radius: 0.008}}, material: "
         "m, strain: cosserat legendre 3}}, tip: {on: a.tip, body: {mass: 0.01}}}\n"
         "actuators: {pull: {tendon: {along: a, at: [0, 0, 5 mm]}, shortening: 0.002*(1 - "
         "cos(12*t))}}\nprobes: {p: {position: a.tip}}\n",
         0.3}};
    for (size_t k = 0; k < 2; k++) {
        char text[2400];
        outcome o, fine;
        double off = 0;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\n%sstudy: [dynamic: {for: 0.6 s, step: 5 ms}]\nrecord: {every: 5 "
                       "ms}\n",
                       of[k].text);
        execute_ok(text, &o);
        (void)snprintf(text, sizeof text,
                       "sinew: 1\n%sstudy: [dynamic: {for: 0.6 s, step: 0.3125 ms}]\nrecord: "
                       "{every: 5 ms}\n",
                       of[k].text);
        execute_ok(text, &fine);
        assert_int_equal(o.series.nframe, fine.series.nframe);
        for (int i = 0; i < o.series.nframe; i++) {
            for (int p = 0; p < o.series.ncolumn; p += 3) {
                double apart[3];
                for (int c = 0; c < 3; c++) apart[c] = shown(&o, i, p + c) - shown(&fine, i, p + c);
                off = fmax(off, hypot(hypot(apart[0], apart[1]), apart[2]) / of[k].length);
            }
        }
        printf("%zu off by %.3g of the length, by the estimate %.3g\n", k, off,
               o.totals.time_error);
        assert_true(o.totals.time_error > 0.85 * off && o.totals.time_error < 1.15 * off);
        snw_series_clear(&o.series);
        snw_series_clear(&fine.series);
    }
}

// A rod that was bent is let go, at steps that hardly resolve its motion: the
// second solution of the estimate is lost before the end, and the run says when.
static void an_estimate_that_ends_is_reported(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\n"
               "gravity: [-5.9, 7.19, -3.12]\n"
               "materials: {m: {young: 1.93e9, poisson: 0.4, density: 1150, damping: 0.000705}}\n"
               "robot: {arm: {on: world, pose: {rpy: [1.38, 0.264, 0.526]}, rod: {length: 1.49, "
               "section: {rectangle: {y: 0.01473, z: 0.0278}}, material: m, strain: kirchhoff "
               "monomial 6}}}\n"
               "loads: {a: {on: arm.tip, torque: [0.524, -3.09, -7.83], frame: body}, b: {on: "
               "arm@32%, force: [2.84, -4.78, -1.77], frame: body}}\n"
               "study: [static: {}, change: {a: off, b: off}, dynamic: {for: 0.704, step: 44 ms}]\n"
               "probes: {tip: {position: arm.tip}}\n",
               &o);
    // beside the energy that such steps may lose, which is told as well
    assert_in_range(o.warnings, 1, 2);
    if (!strstr(o.said, "not known beyond t = ")) fail_msg("%s", o.said);
    snw_series_clear(&o.series);
}

// Random released rods, at steps that do and do not resolve them, against collocation with far
// shorter steps. Of the runs with an error of more than a hundredth of the length, at most one in
// fifty has an error of more than two hundredths without a warning; of all runs, at most one in
// thirty is estimated above a hundredth where its error is less than a thousandth (1000 rods: 2 of
// 230, 48 of 2000).
static void a_release_with_a_large_error_is_reported(void **state) {
    (void)state;
    static const char *const lengths[] = {"5 ms", "1 ms"};
    dice d = {4};
    int runs = 0, off_runs = 0, told = 0, missed = 0, false_alarms = 0;
    for (int r = 0; r < robots(AMONG(3, 6)); r++) {
        char model[3000], text[3400];
        outcome exact;
        write_release(&d, model, sizeof model);
        (void)snprintf(text, sizeof text,
                       "%s  - dynamic: {for: 0.1 s, step: 0.2 ms, scheme: gauss4}\nrecord: {every: "
                       "5 ms}\n",
                       model);
        execute_ok(text, &exact);
        for (int k = 0; k < 2; k++) {
            outcome o;
            double off = 0;
            (void)snprintf(text, sizeof text,
                           "%s  - dynamic: {for: 0.1 s, step: %s}\nrecord: {every: 5 ms}\n", model,
                           lengths[k]);
            execute_ok(text, &o);
            assert_int_equal(o.series.nframe, exact.series.nframe);
            for (int i = 0; i < o.series.nframe; i++) {
                double apart[3];
                for (int c = 0; c < 3; c++)
                    apart[c] = shown(&o, i, TIP + c) - shown(&exact, i, TIP + c);
                off = fmax(off, hypot(hypot(apart[0], apart[1]), apart[2]) / 0.4);
            }
            printf("steps of %s: off by %.2g of the length, by the estimate %.2g, %d warnings\n",
                   lengths[k], off, o.totals.time_error, o.warnings);
            runs++;
            off_runs += off > 0.01;
            told += off > 0.01 && o.warnings > 0;
            missed += off > 0.02 && o.warnings == 0;
            false_alarms += off < 0.001 && o.totals.time_error > 0.01;
            snw_series_clear(&o.series);
        }
        snw_series_clear(&exact.series);
    }
    assert_true(told > 0);
    assert_true(50 * missed <= off_runs);
    assert_true(30 * false_alarms <= runs);
}

// ---- warnings -----------------------------------------------------------------------------------

// The change of energy by the scheme itself is reported: backward Euler damps the swing of a
// pendulum, and none of the energy removed is counted as heat.
static void a_scheme_that_changes_the_energy_is_reported(void **state) {
    (void)state;
    static const char model[] =
        "sinew: 1\ngravity: [0, 0, -9.81]\n"
        "robot: {arm: {on: world, joint: revolute, axis: y, body: {mass: 1, "
        "com: [0, 0, -0.3], inertia: [0.01, 0.01, 0.01]}}}\n"
        "initial: {arm: 1 rad}\nprobes: {e: energy}\n"
        "study: [dynamic: {for: 1 s, %s}]\n";
    char text[1000];
    outcome o;
    (void)snprintf(text, sizeof text, model, "step: 10 ms, scheme: euler");
    execute_ok(text, &o);
    assert_int_equal(o.warnings, 1);
    assert_true(o.totals.removed > 0.1 * o.totals.exchanged);
    assert_near(o.totals.removed, last(&o, SCHEME), 1e-3 * o.totals.removed);
    snw_series_clear(&o.series);
    (void)snprintf(text, sizeof text, model, "step: 10 ms");
    execute_ok(text, &o);
    assert_int_equal(o.warnings, 0);
    snw_series_clear(&o.series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_drop_gains_energy_at_any_step),
        cmocka_unit_test(no_release_gains_energy_at_any_step),
        cmocka_unit_test(a_released_rod_moves_as_by_collocation),
        cmocka_unit_test(the_error_of_an_oscillator_is_estimated),
        cmocka_unit_test(the_error_of_steps_is_estimated_with_constraint_rows),
        cmocka_unit_test(the_error_of_linkages_is_estimated),
        cmocka_unit_test(fast_drives_do_not_shorten_the_steps),
        cmocka_unit_test(an_estimate_that_ends_is_reported),
        cmocka_unit_test(a_release_with_a_large_error_is_reported),
        cmocka_unit_test(a_scheme_that_changes_the_energy_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
