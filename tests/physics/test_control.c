// SPDX-License-Identifier: MIT
//
// Studies whose laws read probes, against closed forms: controllers in continuous and in sampled
// time, springs in statics and dynamics, integrals and samples that persist over stages.
#include "executed.h"

#include <stdio.h>

// A body that moves along x, 2 kg. Columns: x y z, vx vy vz, energies.
enum { X, VX = 3, KINETIC = 6, WORK = 10, BALANCE = 11 };
static const double mass = 2;

#define BODY                                                                                       \
    "sinew: 1\n"                                                                                   \
    "gravity: 0\n"                                                                                 \
    "robot: {cart: {on: world, joint: free, body: {mass: 2, inertia: [1, 1, 1]}}}\n"               \
    "probes: {p: {position: cart}, v: {velocity: cart}, e: energy}\n"

typedef struct scheme {
    const char *keys;
    double order; // of fixed steps; 0: error control
} scheme;

static const scheme schemes[] = {
    {"scheme: generalized-alpha, step: %g", 2},
    {"scheme: newmark, step: %g", 2},
    {"scheme: hht, step: %g", 2},
    {"scheme: wbz, step: %g", 2},
    {"scheme: trapezoidal, step: %g", 2},
    {"scheme: bdf2, step: %g", 2},
    {"scheme: bdf-alpha, step: %g", 2},
    {"scheme: conserving, step: %g", 2},
    {"scheme: gauss4, step: %g, tolerance: 1e-13", 4},
    {"scheme: radau3, step: %g, tolerance: 1e-13", 3},
    {"scheme: euler, step: %g", 1},
    {"scheme: rk4, step: 5 ms", 0},
    {"scheme: adaptive, tolerance: 1e-9", 0},
    {"scheme: stiff, tolerance: 1e-9", 0},
};
enum { NSCHEME = sizeof schemes / sizeof *schemes };

// run a text with one %s, for the keys of its dynamic step
static void execute_by(const char *text, const scheme *s, double h, outcome *o) {
    char keys[100], whole[4000];
    if (s->order > 0) {
        (void)snprintf(keys, sizeof keys, s->keys, h);
    } else {
        (void)snprintf(keys, sizeof keys, "%s", s->keys);
    }
    const int n = snprintf(whole, sizeof whole, text, keys);
    assert_true(n > 0 && (size_t)n < sizeof whole);
    execute(whole, o);
    if (o->status != SNW_OK) fail_msg("%s: %s", keys, o->err.text);
}

// ---- continuous time ----------------------------------------------------------------------------

// m v' = -P (v - r) - I (integral of v - r), from rest: e = v - r obeys m e'' + P e' + I e = 0
static void pi_exact(double t, double *x, double *v) {
    const double P = 3, I = 5, r = 0.7, d = P / (2 * mass), w = sqrt(I / mass - d * d);
    const double e0 = -r, de0 = P * r / mass;
    const double c = e0, s = (de0 + d * e0) / w, fade = exp(-d * t);
    const double e = fade * (c * cos(w * t) + s * sin(w * t));
    const double de = -d * e + fade * w * (-c * sin(w * t) + s * cos(w * t));
    *v = r + e;
    *x = r * t - (mass * de + P * e) / I;
}

static void a_speed_held_by_pi_follows_its_closed_form(void **state) {
    (void)state;
    static const char text[] =
        BODY "parameters: {r: 0.7}\n"
             "loads: {drive: {on: cart, force: [-3*(v.vx - r) - 5*integral(v.vx - r), 0, 0]}}\n"
             "study: [dynamic: {for: 2, %s}]\n";
    double x, v;
    pi_exact(2, &x, &v);
    for (int i = 0; i < NSCHEME; i++) {
        const scheme *s = &schemes[i];
        double error[2];
        for (int k = 0; k < 2; k++) {
            outcome o;
            execute_by(text, s, k ? 0.02 : 0.04, &o);
            error[k] = fmax(fabs(last(&o, X) - x), fabs(last(&o, VX) - v));
            snw_series_clear(&o.series);
        }
        if (s->order > 0) {
            const double order = log2(error[0] / error[1]);
            if (!(order > s->order - 0.15)) fail_msg("%s: order %g", s->keys, order);
        }
        assert_true(error[1] < (s->order == 0 ? 1e-6 : s->order == 1 ? 2e-2 : 1e-3));
    }
}

// A force opposite to the velocity is viscous damping; its work is the dissipated energy.
static void a_force_against_the_velocity_brakes_like_a_fluid(void **state) {
    (void)state;
    static const char text[] = BODY "initial: {cart: {twist: [0, 0, 0, 1.5, 0, 0]}}\n"
                                    "loads: {drag: {on: cart, force: [-0.8 kg/s*v.vx, 0, 0]}}\n"
                                    "study: [dynamic: {for: 3, %s}]\n";
    const double rate = 0.8 / mass, v = 1.5 * exp(-3 * rate), v0 = 1.5;
    for (int i = 0; i < NSCHEME; i++) {
        const scheme *s = &schemes[i];
        double error[2], balance[2];
        for (int k = 0; k < 2; k++) {
            outcome o;
            execute_by(text, s, k ? 0.05 : 0.1, &o);
            error[k] = fabs(last(&o, VX) - v);
            balance[k] = fabs(last(&o, BALANCE));
            if (s->order == 0) {
                assert_near(last(&o, WORK), 0.5 * mass * (v * v - v0 * v0), 1e-7);
                assert_near(balance[k], 0, 1e-7);
            }
            snw_series_clear(&o.series);
        }
        if (s->order == 0) {
            assert_true(error[1] < 1e-7);
        } else if (!(log2(error[0] / error[1]) > s->order - 0.15)) {
            fail_msg("%s: errors %g %g", s->keys, error[0], error[1]);
        }
        // the work is computed along a path through the ends of the step; for a scheme whose own
        // forces give that work the balance is zero
        const double less = balance[0] / (s->order > 1 ? 3 : 1.7);
        if (s->order > 0 && !(balance[1] < fmax(less, 1e-13))) {
            fail_msg("%s: balance %g %g", s->keys, balance[0], balance[1]);
        }
    }
}

// A spring as a law: its stored energy is the work done on it.
static void a_spring_by_law_swings_and_is_in_the_balance(void **state) {
    (void)state;
    static const char text[] = BODY "initial: {cart: {twist: [0, 0, 0, 1, 0, 0]}}\n"
                                    "loads: {spring: {on: cart, force: [-50 N/m*p.x, 0, 0]}}\n"
                                    "study: [dynamic: {for: 3, %s}]\n";
    const double w = 5, x = sin(3 * w) / w;
    for (int i = 0; i < NSCHEME; i++) {
        const scheme *s = &schemes[i];
        if (s->order == 1) continue; // backward Euler damps the oscillation
        outcome o;
        execute_by(text, s, 1e-3, &o);
        assert_near(last(&o, X), x, s->order == 2 ? 1e-4 : 1e-6);
        const double stored = 0.5 * 50 * last(&o, X) * last(&o, X);
        assert_near(last(&o, WORK), -stored, s->order == 2 ? 1e-4 : 1e-6);
        assert_near(last(&o, BALANCE), 0, s->order == 2 ? 1e-4 : 1e-6);
        snw_series_clear(&o.series);
    }
}

// A rod on a spherical joint, under laws that read poses, velocities, joint rates and integrals, as
// forces, torques and stress; with the work of the laws the energy account of the conserving scheme
// is closed.
static void rods_on_balls_under_feedback_move_at_order_two(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3}}\n"
        "robot:\n"
        "  hub: {on: world, joint: spherical, body: {mass: 1, com: [0.1, 0, 0], inertia: [0.02, "
        "0.03, 0.04]}}\n"
        "  slide: {on: hub, joint: prismatic, axis: x, stiffness: 200 N/m, body: {mass: 0.3, "
        "inertia: [0.01, 0.01, 0.01]}}\n"
        "  arm: {on: slide, rod: {length: 0.4, section: {circle: {radius: 10 mm}}, material: "
        "rubber, "
        "strain: {bend_y: legendre 2, twist: legendre 1}}}\n"
        "loads:\n"
        "  hold: {on: arm.tip, force: [-3*speed.vx, -2*tip.y - 4*integral(tip.y), "
        "5*tip.z*speed.vz]}\n"
        "  brake: {on: hub, torque: [-0.2*spin.wx, 0, -0.5*turn.rz]}\n"
        "  drag: {on: slide, force: [-2*pace, 0, 0], frame: body}\n"
        "actuators: {muscle: {stress: {along: arm, bend_y: 0.05*turn.ry - 0.02*spin.wy}}}\n"
        "probes:\n"
        "  tip: {position: arm.tip}\n"
        "  e: energy\n"
        "  speed: {velocity: arm.tip}\n"
        "  turn: {rotation: hub}\n"
        "  spin: {twist: hub, in: body}\n"
        "  pace: {rate: slide}\n"
        "initial: {hub: {rate: [1, 2, 3]}}\n"
        "study: [dynamic: {for: 0.5, %s}]\n";
    enum { KINETIC_OF_ALL = 3, BALANCE_OF_ALL = 8 };
    outcome o;
    execute_by(text, &(scheme){"scheme: adaptive, tolerance: 1e-11", 0}, 0, &o);
    double want[3], error[2] = {0}, swing = 0;
    for (int i = 0; i < 3; i++) want[i] = last(&o, i);
    for (int f = 0; f < o.series.nframe; f++) swing = fmax(swing, shown(&o, f, KINETIC_OF_ALL));
    snw_series_clear(&o.series);
    for (int k = 0; k < 2; k++) {
        execute_by(text, &(scheme){"scheme: conserving, step: %g", 2}, k ? 1e-3 : 2e-3, &o);
        for (int i = 0; i < 3; i++) error[k] = fmax(error[k], fabs(last(&o, i) - want[i]));
        for (int f = 0; f < o.series.nframe; f++) {
            assert_near(shown(&o, f, BALANCE_OF_ALL) / swing, 0, 1e-11);
        }
        snw_series_clear(&o.series);
    }
    printf("feedback: errors %.1e, %.1e\n", error[0], error[1]);
    assert_true(fabs(log2(error[0] / error[1]) - 2) < 0.1);
}

// Dry friction: -F v/|v| is undefined at rest, and is never evaluated there while the body moves.
static void a_law_without_a_value_at_rest_brakes_what_moves(void **state) {
    (void)state;
    static const char text[] = BODY "initial: {cart: {twist: [0, 0, 0, 3, 0, 0]}}\n"
                                    "loads: {rub: {on: cart, force: [-4 N*v.vx/abs(v.vx), 0, 0]}}\n"
                                    "study: [dynamic: {for: 1, %s}]\n";
    for (int i = 0; i < NSCHEME; i++) {
        outcome o;
        execute_by(text, &schemes[i], 0.05, &o);
        assert_near(last(&o, VX), 3 - 4 / mass, 1e-8);
        snw_series_clear(&o.series);
    }
}

// ---- statics ------------------------------------------------------------------------------------

// Springs at the tip stiffen the rod: u = F/(EA/L + k), turn = C/(EI/L + c)
static void springs_by_law_stiffen_a_rod(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        "sinew: 1\n"
        "gravity: 0\n"
        "parameters: {L0: 0.5 m}\n"
        "robot: {arm: {on: world, rod: {length: 0.5, section: {stiffness: {stretch: 40, "
        "bend_z: 0.3}}, strain: {stretch: legendre 2}}},\n"
        "  bow: {on: world, rod: {length: 0.5, section: {stiffness: {bend_z: 0.3}}, "
        "strain: {bend_z: legendre 2}}}}\n"
        "loads:\n"
        "  pull: {on: arm.tip, force: [7, 0, 0]}\n"
        "  spring: {on: arm.tip, force: [-60 N/m*(tip.x - L0), 0, 0]}\n"
        "  roll: {on: bow.tip, torque: [0, 0, 2]}\n"
        "  coil: {on: bow.tip, torque: [0, 0, -1.1 N*m*turn.rz - 3 N*m*s*spin.wz]}\n"
        "probes: {tip: {position: arm.tip}, turn: {rotation: bow.tip}, spin: {twist: bow.tip}}\n"
        "study: [static]\n",
        &o);
    assert_near(last(&o, 0), 0.5 + 7 / (40 / 0.5 + 60), 1e-12);
    assert_near(last(&o, 3 + 6), 2 / (0.3 / 0.5 + 1.1), 1e-12);
    snw_series_clear(&o.series);
}

// In statics a condition is evaluated at the start of the step, and holds for all of it.
static void statics_takes_conditions_where_it_begins(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\n"
               "gravity: 0\n"
               "robot: {arm: {on: world, rod: {length: 1, section: {stiffness: {stretch: 10}}, "
               "strain: {stretch: legendre 1}}}}\n"
               "loads:\n"
               "  pull: {on: arm.tip, force: [1, 0, 0]}\n"
               "  more: {on: arm.tip, force: [2, 0, 0], when: tip.x > 1.05}\n"
               "  kept: {on: arm.tip, force: [\"3 N/m*(sampled(tip.x, 1 s) - 1)\", 0, 0]}\n"
               "probes: {tip: {position: arm.tip}}\n"
               "study: [static, static, static]\n",
               &o);
    assert_int_equal(o.series.nframe, 3);
    assert_near(shown(&o, 0, 0), 1.1, 1e-12);
    assert_near(shown(&o, 1, 0), 1 + (1 + 2 + 0.3) / 10, 1e-12);
    assert_near(shown(&o, 2, 0), 1 + (1 + 2 + 0.99) / 10, 1e-12);
    snw_series_clear(&o.series);
}

// ---- sampled time -------------------------------------------------------------------------------

// x'' = -(P x(kept) + D v(kept))/m, x sampled at multiples of A, v at multiples of B; exact between
// samples
static void sampled_exact(double P, double D, double A, double B, double end, double *x,
                          double *v) {
    double t = 0, kept_x = 0, kept_v = 0;
    for (int i = 0, j = 0; t < end;) {
        if (t >= i * A - 1e-12) kept_x = *x, i++;
        if (t >= j * B - 1e-12) kept_v = *v, j++;
        const double to = fmin(fmin(i * A, j * B), end), h = to - t;
        const double a = -(P * kept_x + D * kept_v) / mass;
        *x += h * *v + 0.5 * h * h * a;
        *v += h * a;
        t = to;
    }
}

// The schemes are exact for forces that are constant between samples, with any step.
static void sampled_controllers_match_the_exact_recursion(void **state) {
    (void)state;
    static const struct {
        const char *A, *B, *keys;
        double a, b;
    } cases[] = {
        {"10 ms", "10 ms", "scheme: newmark, step: 10 ms", 0.01, 0.01},
        {"10 ms", "10 ms", "scheme: newmark, step: 3 ms", 0.01, 0.01},
        {"10 ms", "15 ms", "step: 4 ms", 0.01, 0.015},
        {"7 ms", "11 ms", "scheme: trapezoidal, step: 40 ms", 0.007, 0.011},
        {"7 ms", "11 ms", "scheme: conserving, step: 4 ms", 0.007, 0.011},
        {"20 ms", "50 ms", "scheme: wbz, step: 10 ms, adapt: on, tolerance: 1e-3", 0.02, 0.05},
        {"20 ms", "30 ms", "scheme: rk4, step: 10 ms", 0.02, 0.03},
        {"20 ms", "30 ms", "scheme: adaptive", 0.02, 0.03},
        {"0.1 s", "0.1 s", "scheme: stiff, tolerance: 1e-10", 0.1, 0.1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       BODY "initial: {cart: {twist: [0, 0, 0, 1, 0, 0]}}\n"
                            "loads: {pd: {on: cart, force: [\"-30 N/m*sampled(p.x, %s) - 6 "
                            "kg/s*sampled(v.vx, %s)\", 0, 0]}}\n"
                            "study: [dynamic: {for: 1.234, %s}]\n",
                       cases[i].A, cases[i].B, cases[i].keys);
        execute_ok(text, &o);
        double x = 0, v = 1;
        sampled_exact(30, 6, cases[i].a, cases[i].b, 1.234, &x, &v);
        const double within = strstr(cases[i].keys, "stiff") ? 1e-6 : 1e-11;
        assert_near(last(&o, X), x, within);
        assert_near(last(&o, VX), v, within);
        snw_series_clear(&o.series);
    }
}

// Samples are counted from t = 0 and not from the start of a stage.
static void samples_keep_their_period_over_stages(void **state) {
    (void)state;
    outcome o;
    execute(BODY "initial: {cart: {twist: [0, 0, 0, 1, 0, 0]}}\n"
                 "loads: {pd: {on: cart, force: [\"-30 N/m*sampled(p.x, 50 ms) - 6 "
                 "kg/s*sampled(v.vx, 0.1 s)\", 0, 0]}}\n"
                 "study: [dynamic: {for: 0.337, scheme: newmark, step: 10 ms}, dynamic: {for: "
                 "0.4, scheme: newmark, step: 10 ms}]\n",
            &o);
    double x = 0, v = 1;
    sampled_exact(30, 6, 0.05, 0.1, 0.737, &x, &v);
    assert_near(last(&o, X), x, 1e-12);
    assert_near(last(&o, VX), v, 1e-12);
    snw_series_clear(&o.series);
}

// A body braked by a sampled law whose period changes in the course of the study.
static void a_change_may_alter_the_period(void **state) {
    (void)state;
    outcome o;
    execute(BODY "parameters: {T: 0.1 s}\n"
                 "initial: {cart: {twist: [0, 0, 0, 1, 0, 0]}}\n"
                 "loads: {kick: {on: cart, force: [\"-20 kg/s*sampled(v.vx, T)\", 0, 0]}}\n"
                 "study:\n"
                 "  - dynamic: {for: 0.2, scheme: newmark, step: 10 ms}\n"
                 "  - change: {T: 50 ms}\n"
                 "  - dynamic: {for: 0.2, scheme: newmark, step: 10 ms}\n",
            &o);
    // v <- v (1 - 20 T/m): the velocity is zero after the first period of 0.1 s
    assert_near(last(&o, VX), 0, 1e-12);
    assert_near(last(&o, X), 0.05, 1e-12);
    snw_series_clear(&o.series);
    execute(BODY "parameters: {T: 0.04 s}\n"
                 "initial: {cart: {twist: [0, 0, 0, 1, 0, 0]}}\n"
                 "loads: {kick: {on: cart, force: [\"-20 kg/s*sampled(v.vx, T)\", 0, 0]}}\n"
                 "study:\n"
                 "  - dynamic: {for: 0.2, scheme: newmark, step: 10 ms}\n"
                 "  - change: {T: 50 ms}\n"
                 "  - dynamic: {for: 0.2, scheme: newmark, step: 10 ms}\n",
            &o);
    assert_near(last(&o, VX), pow(0.6, 5) * pow(0.5, 4), 1e-12);
    snw_series_clear(&o.series);
}

// ---- memory -------------------------------------------------------------------------------------

// Integrals continue over stages and changes, with the integrands valid then; `from` restores their
// values at that stage.
static void integrals_continue_through_changes(void **state) {
    (void)state;
    outcome o;
    execute_ok(BODY "parameters: {r: 1}\n"
                    "loads: {push: {on: cart, force: [\"3 N/s*integral(r)\", 0, 0]}}\n"
                    "study:\n"
                    "  - dynamic: {name: rising, for: 1, scheme: newmark, step: 10 ms}\n"
                    "  - change: {r: 0}\n"
                    "  - dynamic: {name: held, for: 1, scheme: newmark, step: 10 ms}\n"
                    "  - change: {name: down, r: -1}\n"
                    "  - dynamic: {name: falling, for: 1, scheme: newmark, step: 10 ms}\n"
                    "  - dynamic: {name: again, from: rising, for: 0.5, scheme: newmark, step: 10 "
                    "ms}\n",
               &o);
    const double v1 = 0.75, v2 = v1 + 1.5, v3 = v2 + 0.75;
    assert_near(shown(&o, snw_series_last(&o.series, 0), VX), v1, 1e-12);
    assert_near(shown(&o, snw_series_last(&o.series, 2), VX), v2, 1e-12);
    assert_near(shown(&o, snw_series_last(&o.series, 4), VX), v3, 1e-12);
    // from rising on, with r = -1: F = 3 (1 - t)
    assert_near(last(&o, VX), v1 + 1.5 * (0.5 - 0.125), 1e-12);
    snw_series_clear(&o.series);
}

// Nested integrals, samples and latches, and two integrals of one text.
static void functions_with_memory_nest(void **state) {
    (void)state;
    static const struct {
        const char *until;
        double t;
    } cases[] = {
        // x = t: a staircase of 0.1 k, each for 0.1 s; 0.01 (1 + .. + 6) = 0.21, then 0.7 (t - 0.7)
        {"integral(sampled(p.x, 0.1 s)) > 0.245", 0.75},
        // 0.5 t^2 sampled at multiples of 0.2 s
        {"sampled(integral(p.x), 0.2 s) > 0.2", 0.8},
        {"integral(integral(p.x)) > 0.036", 0.6},
        {"integral(v.vx) + integral(v.vx) > 1.1", 0.55},
        {"once(integral(p.x) > 0.08) and p.x > 0.3", 0.4},
        {"integral(if(once(p.x > 0.3), 1, 0)) > 0.25", 0.55},
        {"sampled(if(once(p.x > 0.3), 1, 0), 0.25 s) > 0.5", 0.5},
        {"once(sampled(p.x, 0.1 s) > 0.35)", 0.4},
    };
    static const char *const ways[] = {"scheme: adaptive, tolerance: 1e-12", "step: 1 ms",
                                       "scheme: conserving, step: 1 ms"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            char text[1000];
            outcome o;
            (void)snprintf(text, sizeof text,
                           BODY "initial: {cart: {twist: [0, 0, 0, 1, 0, 0]}}\n"
                                "study: [dynamic: {for: 1, %s, until: \"%s\"}]\n",
                           ways[k], cases[i].until);
            execute_ok(text, &o);
            const double t = o.series.t[o.series.nframe - 1];
            // the double integral by the trapezoidal or the midpoint rule is of second order
            const bool twice = strstr(cases[i].until, "integral(integral") && k > 0;
            if (!(fabs(t - cases[i].t) < (twice ? 1e-6 : 1e-9))) {
                fail_msg("%s: %.12g, want %g", cases[i].until, t, cases[i].t);
            }
            snw_series_clear(&o.series);
        }
    }
}

// The condition of a load that a change switches off is no longer monitored.
static void conditions_of_disabled_loads_are_not_monitored(void **state) {
    (void)state;
    outcome o;
    execute_ok(BODY "initial: {cart: {twist: [0, 0, 0, 1, 0, 0]}}\n"
                    "loads: {wall: {on: cart, force: [-1, 0, 0], when: p.x > 0.155}}\n"
                    "study: [change: {wall: off}, dynamic: {for: 0.3, step: 10 ms}]\n",
               &o);
    assert_int_equal(o.series.nframe, 31);
    assert_near(last(&o, X), 0.3, 1e-14);
    snw_series_clear(&o.series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_speed_held_by_pi_follows_its_closed_form),
        cmocka_unit_test(a_force_against_the_velocity_brakes_like_a_fluid),
        cmocka_unit_test(a_spring_by_law_swings_and_is_in_the_balance),
        cmocka_unit_test(rods_on_balls_under_feedback_move_at_order_two),
        cmocka_unit_test(a_law_without_a_value_at_rest_brakes_what_moves),
        cmocka_unit_test(springs_by_law_stiffen_a_rod),
        cmocka_unit_test(statics_takes_conditions_where_it_begins),
        cmocka_unit_test(sampled_controllers_match_the_exact_recursion),
        cmocka_unit_test(samples_keep_their_period_over_stages),
        cmocka_unit_test(a_change_may_alter_the_period),
        cmocka_unit_test(integrals_continue_through_changes),
        cmocka_unit_test(functions_with_memory_nest),
        cmocka_unit_test(conditions_of_disabled_loads_are_not_monitored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
