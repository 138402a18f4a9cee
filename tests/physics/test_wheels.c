// SPDX-License-Identifier: MIT
//
// Robots on wheels in time: every scheme has its order with nonholonomic constraint rows and does
// not slip, redundant rows are dropped, wheels that become active cause plastic impacts. theory.md
// 3.15
#include "executed.h"

#include <math.h>
#include <stdio.h>

// Snakeboard of Ali 2011, 4.2, drive gait; xi(t) = -vx/(2 l cos^2 phi)
#define BOARD                                                                                      \
    "sinew: 1\ngravity: 0\n"                                                                       \
    "parameters: {l: 0.2 m, w: 2 rad/s, phi: 0.5*sin(w*t)}\n"                                      \
    "robot:\n"                                                                                     \
    "  board: {on: world, joint: planar, body: {mass: 4.6, inertia: [0.1, 0.1, 0.1494]}}\n"        \
    "  rotor: {on: board, joint: revolute, body: {mass: 1, inertia: [0.1, 0.1, 0.072]}}\n"         \
    "  axle(k=1..2): {on: board, pose: {xyz: [-(-1)^k*l, 0, 0]}, joint: revolute, body: {mass: "   \
    "0.2, inertia: [1e-3, 1e-3, 1.3e-3]}}\n"                                                       \
    "actuators:\n"                                                                                 \
    "  spin: {joint: rotor, position: sin(w*t)}\n"                                                 \
    "  steer(k=1..2): {joint: axle(k), position: (-1)^k*phi}\n"                                    \
    "contacts: {tyre(k=1..2): {wheel: {on: axle(k), axis: y}}}\n"                                  \
    "probes: {board: {twist: board, in: body}, slip(k=1..2): {velocity: axle(k), in: body}, p: "   \
    "{position: board}, e: energy}\n"                                                              \
    "record: {every: 0.1 s}\n"

// Error of the speed at 1 s, and the largest slip.
static double board_error(const char *scheme, double step, double *slip) {
    char text[2000];
    outcome o;
    (void)snprintf(text, sizeof text, BOARD "study: [dynamic: {for: pi s, step: %g, scheme: %s}]\n",
                   step, scheme);
    execute(text, &o);
    if (o.status != SNW_OK) fail_msg("%s: %s", scheme, o.err.text);
    *slip = 0;
    for (int i = 0; i < o.series.nframe; i++) {
        *slip = fmax(*slip, fmax(fabs(shown(&o, i, 7)), fabs(shown(&o, i, 10))));
    }
    // xi(T) = 2 pi kappa w J1(1/2), kappa = 0.15, where phi = 0
    const double want = -2 * 0.2 * 2 * 3.14159265358979324 * 0.15 * 2 * j1(0.5);
    const double error = fabs(last(&o, 3) - want);
    snw_series_clear(&o.series);
    return error;
}

static void schemes_have_their_order(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double order, step;
    } scheme[] = {{"generalized-alpha, rho: 0.8", 2, 0.02},
                  {"radau3, tolerance: 1e-13", 3, 0.04},
                  {"radau5, tolerance: 1e-13", 5, 0.08},
                  {"hht, rho: 0.8", 2, 0.02},
                  {"wbz, rho: 0.8", 2, 0.02},
                  {"newmark", 2, 0.02},
                  {"trapezoidal", 2, 0.02},
                  {"bdf2", 2, 0.01},
                  {"euler", 1, 0.005},
                  {"rk4", 4, 0.1}};
    for (size_t i = 0; i < sizeof scheme / sizeof scheme[0]; i++) {
        double slip;
        const double coarse = board_error(scheme[i].name, scheme[i].step, &slip);
        assert_true(slip < 1e-10);
        const double fine = board_error(scheme[i].name, 0.5 * scheme[i].step, &slip);
        assert_true(slip < 1e-10);
        const double order = log2(coarse / fine);
        if (!(fabs(order - scheme[i].order) < 0.25)) {
            fail_msg("%s: order %g, errors %g %g", scheme[i].name, order, coarse, fine);
        }
    }
}

// Collocation, with rows satisfied at its stages and velocities projected at the ends of steps:
// position and energy balance of order 2 s, against the same with steps so short that their error
// is negligible.
static void collocation_has_twice_its_stages(void **state) {
    (void)state;
    double want[2] = {0};
    for (int s = 4; s >= 2; s--) {
        double error[2], balance[2];
        for (int n = s == 4 ? -1 : 0; n < 2; n++) {
            char text[2500];
            outcome o;
            (void)snprintf(text, sizeof text,
                           BOARD "study: [dynamic: {for: pi s, step: %g, scheme: gauss%d, "
                                 "tolerance: 1e-13}]\n",
                           3.14159265358979324 / (n < 0 ? 80
                                                  : n   ? 20
                                                        : 10),
                           2 * s);
            execute_ok(text, &o);
            for (int k = 0; k < 2 && n < 0; k++) want[k] = last(&o, 12 + k);
            if (n >= 0) error[n] = hypot(last(&o, 12) - want[0], last(&o, 13) - want[1]);
            if (n >= 0) balance[n] = fabs(last(&o, 21));
            for (int f = 0; f < o.series.nframe; f++) assert_near(shown(&o, f, 7), 0, 1e-12);
            snw_series_clear(&o.series);
        }
        const double order = log2(error[0] / error[1]),
                     energy_order = log2(balance[0] / balance[1]);
        if (!(order > 2 * s - 0.5) || !(energy_order > 2 * s - 0.5)) {
            fail_msg("%d stages: order %g, errors %g %g; of the balance %g, %g %g", s, order,
                     error[0], error[1], energy_order, balance[0], balance[1]);
        }
    }
}

// Two wheels on one axle forbid one motion; both roll.
static void wheels_of_one_axle_are_redundant(void **state) {
    (void)state;
    outcome o;
    execute("sinew: 1\ngravity: 0\n"
            "robot:\n"
            "  car: {on: world, joint: planar, body: {mass: 10, inertia: [1, 1, 1]}}\n"
            "  right: {on: car, pose: {xyz: [0, -0.2, 0]}, joint: revolute, axis: y}\n"
            "  left: {on: car, pose: {xyz: [0, 0.2, 0]}, joint: revolute, axis: y}\n"
            "actuators: {drive: {joint: right, rate: 5*(1 - exp(-t))}}\n"
            "contacts: {a: {wheel: {on: right, axis: y, radius: 0.1}}, b: {wheel: {on: left, axis: "
            "y, radius: 0.1}}}\n"
            "probes: {car: {twist: car, in: body}, free: {rate: left}, torque: {effort: drive}}\n"
            "study: [dynamic: {for: 1 s, step: 5 ms, scheme: rk4}]\n",
            &o);
    assert_int_equal(o.status, SNW_OK);
    assert_int_equal(o.warnings, 0); // they share the reaction
    const double u = 0.5 * (1 - exp(-1));
    assert_near(last(&o, 2), 10.0 / 7 * u, 1e-10);
    assert_near(last(&o, 3), 5.0 / 7 * u, 1e-10);
    assert_near(last(&o, 6), 30.0 / 7 * u, 1e-9);
    assert_near(last(&o, 7), 5.0 / 7 * 0.5 * exp(-1), 1e-10);
    snw_series_clear(&o.series);
}

// A blade on a sliding rod becomes active: M (v+ - v-) = C' p, and the energy lost is the work of
// p, to the last digit.
static void activated_wheels_cause_an_impact(void **state) {
    (void)state;
    static const char *const scheme[] = {"rk4", "generalized-alpha", "adaptive"};
    for (int i = 0; i < 3; i++) {
        char text[1500];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\n"
            "robot: {sledge: {on: world, joint: planar, body: {mass: 2, inertia: [1, 1, 0.3]}}}\n"
            "sites: {heel: {on: sledge, pose: {xyz: [-0.5, 0, 0]}}}\n"
            "initial: {sledge: {rate: [1, 2, 0]}}\n"
            "contacts: {blade: {wheel: {on: heel, axis: y}, when: t > 0.5 s}}\n"
            "probes: {v: {twist: sledge, in: body}, e: energy}\n"
            "study: [dynamic: {for: 0.5001 s, step: 0.1 ms, scheme: %s}]\n",
            scheme[i]);
        execute(text, &o);
        assert_int_equal(o.status, SNW_OK);
        // the point of the blade has no velocity across: 2 + p/m - 0.5 w = 0, I w = -0.5 p
        const double p = -2 / (1 / 2.0 + 0.25 / 0.3), w = -0.5 * p / 0.3, vy = 2 + p / 2;
        assert_near(last(&o, 2), w, 5e-4); // it continues to turn for 0.1 ms
        assert_near(last(&o, 3), 1 + 1e-4 * w * vy, 1e-3);
        assert_near(last(&o, 4), vy, 2e-3);
        snw_series_clear(&o.series);
    }
}

// With three axles and all joints driven one row is left that cannot hold: an error before anything
// moves.
static void contradictions_are_found_when_compiled(void **state) {
    (void)state;
    snw_document *doc;
    snw_desc *desc;
    snw_error err;
    snw_run *run = NULL;
    const snw_status s = describe(
        "sinew: 1\ngravity: 0\n"
        "robot:\n"
        "  a: {on: world, joint: planar, body: {mass: 1, inertia: [1, 1, 1]}}\n"
        "  b: {on: a, pose: {xyz: [0.2, 0, 0]}, joint: revolute, body: {mass: 1, inertia: [1, 1, "
        "1]}}\n"
        "sites: {c: {on: b, pose: {xyz: [0.2, 0, 0]}}, d: {on: a, pose: {xyz: [-0.2, 0, 0]}}}\n"
        "actuators: {m: {joint: b, position: 0.3 + 0.2*sin(t)}}\n"
        "contacts: {x: {wheel: {on: a, axis: y}}, y: {wheel: {on: d, axis: y}}, z: {wheel: {on: c, "
        "axis: y}}, w: {wheel: {on: b, axis: y}}}\n"
        "study: [dynamic: {for: 1 s, step: 5 ms, scheme: rk4}]\n",
        &doc, &desc, &err);
    if (s != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_run_create(desc, "main", &run, &err), SNW_E_MODEL);
    assert_non_null(strstr(err.text, "contradicts"));
    assert_non_null(strstr(err.text, "slip"));
    release(doc, desc);
}

// A point that no coordinate moves cannot be held where a law moves it; where it is at rest the
// contact has no effect.
static void contacts_must_reach(void **state) {
    (void)state;
    snw_document *doc;
    snw_desc *desc;
    snw_error err;
    snw_run *run = NULL;
    const snw_status s = describe(
        "sinew: 1\ngravity: 0\nmaterials: {m: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"
        "robot: {arm: {on: world, rod: {length: 1, section: {circle: {radius: 1 cm}}, material: m, "
        "strain: "
        "{bend_z: sin(t)}}}}\n"
        "contacts: {far: {ring: {on: arm.tip}}}\nstudy: [kinematic: {for: 1 s, step: 10 ms}]\n",
        &doc, &desc, &err);
    if (s != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_run_create(desc, "main", &run, &err), SNW_E_MODEL);
    assert_non_null(strstr(err.text, "'far' can never hold"));
    release(doc, desc);
    outcome o;
    execute(
        "sinew: 1\ngravity: 0\n"
        "robot: {a: {on: world, body: {mass: 1}}, b: {on: world, joint: revolute, body: {mass: 1, "
        "inertia: [1, 1, 1]}}}\n"
        "contacts: {near: {anchor: {on: a}}}\nstudy: [dynamic: {for: 10 ms, step: 10 ms}]\n",
        &o);
    assert_int_equal(o.status, SNW_OK);
    assert_int_equal(o.warnings, 1);
    snw_series_clear(&o.series);
}

// A four-bar linkage swings on a sledge: rows of index 2 beside rows of index 3, implicit against
// explicit steps.
static void closures_and_blades_go_together(void **state) {
    (void)state;
#define SLEDGE                                                                                     \
    "sinew: 1\ngravity: 0\nparameters: {a: 0.2, b: 0.5, c: 0.4, d: 0.5}\n"                         \
    "robot:\n"                                                                                     \
    "  frame: {on: world, joint: planar, body: {mass: 2, inertia: [1, 1, 0.1]}}\n"                 \
    "  crank: {on: frame, joint: revolute, body: {mass: 0.4, com: [a/2, 0, 0], inertia: [1, 1, "   \
    "0.002]}}\n"                                                                                   \
    "  coupler: {on: crank, pose: {xyz: [a, 0, 0]}, joint: revolute, body: {mass: 1, com: [b/2, "  \
    "0, 0], inertia: [1, 1, 0.02]}}\n"                                                             \
    "  rocker: {on: frame, pose: {xyz: [d, 0, 0]}, joint: revolute, body: {mass: 0.8, com: [c/2, " \
    "0, 0], inertia: [1, 1, 0.01]}}\n"                                                             \
    "sites: {pin: {on: coupler, pose: {xyz: [b, 0, 0]}}, tip: {on: rocker, pose: {xyz: [c, 0, "    \
    "0]}}, heel: {on: frame, pose: {xyz: [-0.3, 0, 0]}}}\n"                                        \
    "loops: {ring: {join: [pin, tip], as: revolute}}\n"                                            \
    "actuators: {motor: {joint: crank, position: 2*t}}\n"                                          \
    "contacts: {blade: {wheel: {on: heel, axis: [0.1, 1, 0]}}}\n"                                  \
    "initial: {coupler: acos(0.6), rocker: pi/2, frame: {rate: [0.3, 0, 0]}}\n"                    \
    "probes: {p: {position: frame}, q: {value: rocker}, t: {effort: motor}, s: {velocity: heel, "  \
    "in: body}, k: {reaction: blade, in: body}}\n"
    static const char *const study[4] = {
        "study: [dynamic: {for: 1 s, scheme: adaptive, tolerance: 1e-11}]\n",
        "study: [kinematic: {for: 1 s, step: 2 ms}]\n",
        "study: [dynamic: {for: 1 s, scheme: generalized-alpha, rho: 0.7, step: 1 ms}]\n",
        "study: [dynamic: {for: 1 s, scheme: bdf2, step: 0.5 ms}]\n"};
    outcome o[4];
    for (int i = 0; i < 4; i++) {
        char text[3000];
        (void)snprintf(text, sizeof text, "%s%s", SLEDGE, study[i]);
        execute(text, &o[i]);
        if (o[i].status != SNW_OK) fail_msg("%d: %s", i, o[i].err.text);
        // no velocity along the axle
        assert_near(0.1 * last(&o[i], 5) + last(&o[i], 6), 0, 1e-10);
    }
    for (int c = 0; c < o[0].series.ncolumn; c++) {
        if (isnan(last(&o[0], c))) continue;
        assert_near(last(&o[1], c), last(&o[0], c), 2e-8);
        assert_near(last(&o[2], c), last(&o[0], c), 2e-4);
        assert_near(last(&o[3], c), last(&o[0], c), 2e-4);
    }
    for (int i = 0; i < 4; i++) snw_series_clear(&o[i].series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemes_have_their_order),
        cmocka_unit_test(collocation_has_twice_its_stages),
        cmocka_unit_test(wheels_of_one_axle_are_redundant),
        cmocka_unit_test(activated_wheels_cause_an_impact),
        cmocka_unit_test(contradictions_are_found_when_compiled),
        cmocka_unit_test(contacts_must_reach),
        cmocka_unit_test(closures_and_blades_go_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
