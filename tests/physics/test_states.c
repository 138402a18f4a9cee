// SPDX-License-Identifier: MIT
//
// States with rates given by laws: derivatives of forces that read them, order and stability of the
// schemes, gas in a chamber that moves, and what is refused.
#include "dynamics/law_state.h"
#include "random_tree.h"
#include "robot_texts.h"
#include "setting.h"

#include <stdio.h>

// Two chambers on one supply, and a filter of a velocity; rates that read each other, volumes and
// velocities.
static const char robot_text[] = SOFT_TREE
    "actuators:\n"
    "  left: {chamber: {along: upper, at: [0, 10 mm, 5 mm], area: 100 mm^2}, pressure: 2 "
    "J/mol*n/V}\n"
    "  right: {chamber: {along: [upper, lower], at: [0, -5 mm, 2 mm], area: 50 mm^2}, pressure: "
    "\"3 J/mol*k*(1 + 0.1*lag)/W\"}\n"
    "loads: {push: {on: side.tip, force: [\"lag*2 N\", 0, \"lag^2*1 N\"]}}\n"
    "states:\n"
    "  n: {initial: 2 mol, rate: \"3 mol/s*(1 - n/1 mol)*sin(t) + 1 1/s*(k - n) + 200 "
    "mol/m^3/s*V\"}\n"
    "  k: {initial: 1 mol, rate: \"2 1/s*(n - k)*exp(-k/1 mol) - lag*0.1 mol/s*v.vx/1 m/s\"}\n"
    "  lag: {initial: 0.3, rate: \"5 1/s*(v.vz/1 m/s - lag)\"}\n"
    "probes: {V: {volume: left}, W: {volume: right}, v: {velocity: side.tip}}\n";

static void forces_of_states_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {171};
    for (int k = 0; k < 4; k++) {
        setting s;
        char text[5000];
        (void)snprintf(text, sizeof text, robot_text);
        setting_random(&s, text, &d);
        s.g.in->integral_step = k == 0 ? 0 : 0.03 * k;
        rig_check(&s.g);
        setting_close(&s);
    }
}

#ifndef SNW_NUMBERS // tests without derivatives

// ---- order and stability ------------------------------------------------------------------------

#define CAR                                                                                        \
    "sinew: 1\ngravity: 0\nrobot: {car: {on: world, joint: prismatic, axis: x, body: {mass: "      \
    "2}}}\n"

// p' = (u - p)/tau with u = sin(3 t), and a force that reads p
static double filtered(double h, const char *scheme, double tau) {
    char text[1000];
    outcome o;
    (void)snprintf(text, sizeof text,
                   CAR "states: {p: {initial: 0.5, rate: (sin(3*t) - p)/(%g s)}}\n"
                       "loads: {f: {on: car, force: [\"1 N*p\", 0, 0]}}\n"
                       "probes: {p: {law: p}, x: {value: car}}\n"
                       "study: [dynamic: {for: 1 s, step: %g, scheme: %s}]\n",
                   tau, h, scheme);
    // the probe may not have the name of the state
    char *name = strstr(text, "probes: {p:");
    name[9] = 'q';
    execute_ok(text, &o);
    const double p = last(&o, 0);
    snw_series_clear(&o.series);
    return p;
}

static double exact_filter(double tau) {
    const double w = 3, a = 1 / (1 + w * w * tau * tau);
    return a * (sin(w) - w * tau * cos(w)) + (0.5 + a * w * tau) * exp(-1 / tau);
}

static void schemes_integrate_states_with_second_order(void **state) {
    (void)state;
    static const char *const schemes[] = {"generalized-alpha", "trapezoidal", "newmark", "bdf2"};
    const double want = exact_filter(0.2);
    for (int k = 0; k < 4; k++) {
        const double a = filtered(0.02, schemes[k], 0.2) - want,
                     b = filtered(0.01, schemes[k], 0.2) - want;
        assert_true(fabs(a) < 2e-3 && fabs(a / b) > 3.6 && fabs(a / b) < 4.4);
    }
    assert_near(filtered(0.01, "adaptive", 0.2), want, 1e-6);
    assert_near(filtered(0.01, "conserving", 0.2), want, 2e-3);
}

// steps of many time constants stay stable
static void fast_states_are_stable(void **state) {
    (void)state;
    assert_near(filtered(0.01, "generalized-alpha", 1e-3), exact_filter(1e-3), 0.02);
    assert_near(filtered(0.02, "bdf2", 1e-2), exact_filter(1e-2), 0.02);
}

// ---- gas ----------------------------------------------------------------------------------------

// The mass of the gas in a sealed chamber is constant, and the chamber acts as the actuator `gas`
// with the same amount.
static void a_sealed_state_is_a_gas(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\ngravity: 0\nmaterials: {m: {young: 1 MPa, poisson: 0.5, density: 1000, damping: "
        "5 ms}}\nrobot: {arm: {on: world, rod: {length: 0.1, section: {circle: {radius: 8 mm}}, "
        "material: m, strain: {bend_z: legendre 3, stretch: legendre 2}}}}\n"
        "loads: {f: {on: arm.tip, force: [-3, 1, 0]}}\nprobes: {tip: {position: arm.tip}, e: "
        "energy, V: {volume: a}}\n%s"
        "study: [dynamic: {for: 0.2 s, step: 1 ms}]\n";
    char made[2000];
    outcome o[2];
    (void)snprintf(made, sizeof made, text,
                   "actuators: {a: {chamber: {along: arm, at: [0, 3 mm, 0], area: 60 mm^2}, gas: "
                   "{moles: 4e-4 mol}}}\n");
    execute_ok(made, &o[0]);
    (void)snprintf(made, sizeof made, text,
                   "actuators: {a: {chamber: {along: arm, at: [0, 3 mm, 0], area: 60 mm^2}, "
                   "pressure: 8.314462618 J/mol/K*293.15 K*n/V - 101325 Pa}}\n"
                   "states: {n: {initial: 4e-4 mol, rate: 0 mol/s}}\n");
    execute_ok(made, &o[1]);
    for (int c = 0; c < 3; c++) assert_near(last(&o[0], c), last(&o[1], c), 1e-10);
    // work and balance of the account: those of the gas
    for (int c = 4; c < 7; c++) assert_near(last(&o[1], 3 + c), last(&o[0], 3 + c), 1e-11);
    for (int k = 0; k < 2; k++) snw_series_clear(&o[k].series);
}

// ---- phases -------------------------------------------------------------------------------------

// A change of the study that adds a row of constraints leaves what was before it: strains of
// branches are part of the state, whatever the rows are.
static void a_later_change_of_rows_leaves_the_past(void **state) {
    (void)state;
    static const char changing[] =
        "sinew: 1\ngravity: [0, -9.81, 0]\n"
        "materials: {gel: {young: 0.4 MPa, poisson: 0.45, density: 1000, relaxation: {of: relaxed, "
        "ratios: [0.6, 0.3], times: [50 ms, 300 ms]}}}\n"
        "robot:\n"
        "  base: {on: world, joint: revolute, axis: z, stiffness: 5, body: {mass: 1, inertia: "
        "[0.01, 0.01, 0.01]}}\n"
        "  arm: {on: base, rod: {length: 0.2, material: gel, section: {circle: {radius: 8 mm}}, "
        "strain: {bend_z: legendre 2}}}\n"
        "actuators: {motor: {joint: base, effort: 0 N*m}}\n"
        "probes: {tip: {position: arm.tip}}\n"
        "study: [static: {relaxation: relaxed}, change: {gravity: [0, -3, 0]}, dynamic: {for: 0.1 "
        "s, step: 5 ms}%s]\n";
    outcome o[2];
    for (int k = 0; k < 2; k++) {
        char text[1200];
        (void)snprintf(text, sizeof text, changing,
                       k ? ", change: {motor: {joint: base, position: 0.1 rad}}, dynamic: {for: 10 "
                           "ms, step: 5 ms}"
                         : "");
        execute_ok(text, &o[k]);
    }
    for (int f = 0; f < o[0].series.nframe; f++)
        assert_near(shown(&o[1], f, 1), shown(&o[0], f, 1), 1e-12);
    for (int k = 0; k < 2; k++) snw_series_clear(&o[k].series);
}

// ---- refusals -----------------------------------------------------------------------------------

static void what_states_cannot_do_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } all[] = {
        {CAR "states: {p: {rate: 1}}\nstudy: [static:]\n", "needs 'initial'"},
        {CAR "states: {p: {initial: 1}}\nstudy: [static:]\n", "needs 'rate'"},
        {CAR "states: {p: {initial: 1 m, rate: 1 m}}\nstudy: [static:]\n", "speed (m/s)"},
        {CAR "states: {p: {initial: t, rate: 1}}\nstudy: [static:]\n", "must be constant"},
        {CAR "states: {p: {initial: 1, rate: integral(1)*1}}\nstudy: [static:]\n",
         "make that a state"},
        {CAR "states: {p: {initial: 1, rate: 1}}\nprobes: {p: {value: car}}\nstudy: [static:]\n",
         "name of a probe"},
        {CAR "states: {p: {initial: 1, rate: 1}}\n"
             "study: [dynamic: {for: 0.1 s, step: 1 ms, scheme: moreau}]\n",
         "does not support states ('p')"},
        {CAR "loads: {f: {on: car, force: [integral(u)*1, 0, 0]}}\nprobes: {u: {value: car}}\n"
             "study: [dynamic: {for: 0.1 s, step: 1 ms, scheme: moreau}]\n",
         "does not support integrals that laws read ('integral(u)')"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) refuses(all[i].text, all[i].why);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_of_states_have_exact_derivatives),
#ifndef SNW_NUMBERS
        cmocka_unit_test(schemes_integrate_states_with_second_order),
        cmocka_unit_test(fast_states_are_stable),
        cmocka_unit_test(a_sealed_state_is_a_gas),
        cmocka_unit_test(a_later_change_of_rows_leaves_the_past),
        cmocka_unit_test(what_states_cannot_do_is_refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
