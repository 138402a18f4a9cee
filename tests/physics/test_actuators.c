// SPDX-License-Identifier: MIT
//
// Actuators of all kinds: energy is conserved while constraints hold volumes and coordinates; a
// cylinder of air is compared with Boyle's law; models whose actuators contradict each other, or
// cannot be satisfied, are refused with the expected message.
#include "executed.h"

#include <math.h>

#define RUBBER "sinew: 1\nmaterials: {rubber: {young: 0.5 MPa, poisson: 0.5, density: 1000}}\n"
#define ARM(strain)                                                                                \
    RUBBER "robot: {arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 12 mm}}, "      \
           "material: rubber, strain: " strain "}}}\n"

// Reads, compiles and runs a document that must fail; err <- the error, from whichever stage.
static void end_of(const char *text, snw_error *err) {
    snw_document *doc;
    snw_desc *desc;
    snw_run *run = NULL;
    snw_status s = describe(text, &doc, &desc, err);
    if (s == SNW_OK) s = snw_run_create(desc, "main", &run, err);
    if (s == SNW_OK) {
        const snw_run_hooks hooks = {0};
        snw_run_totals totals;
        s = snw_run_execute(run, 0, NULL, &hooks, &totals, err);
    }
    assert_true(s != SNW_OK);
    snw_run_destroy(run);
    release(doc, desc);
}

static void invalid_actuators_are_reported(void **state) {
    (void)state;
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {ARM("cosserat legendre 2") "actuators: {c: {chamber: {along: arm, area: 1e-5 m^2*(1 - "
                                    "2*x/L)}, effort: 1 kPa}}\nstudy: [static:]\n",
         "chamber 'c': its area must be positive"},
        {ARM("{twist: legendre 2}") "actuators: {c: {chamber: {along: arm, at: [0, 5 mm, 0], area: "
                                    "1e-5 m^2}, volume: 3 cm^3}}\nstudy: [static:]\n",
         "no coordinate of its rods changes it"},
        {ARM("cosserat legendre 2") "actuators: {c: {chamber: {along: arm, area: 1e-5 m^2}, "
                                    "volume: -1 cm^3}}\nstudy: [static:]\n",
         "a volume that is not positive at t = 0 s"},
        {ARM("cosserat legendre 2") "actuators: {c: {tendon: {along: arm, compliance: 1e-3 1/N}, "
                                    "shortening: 0.4 m}}\nstudy: [static:]\n",
         "more than its whole length at t = 0 s"},
        {ARM("cosserat legendre 2") "actuators: {c: {tendon: {along: arm, compliance: 1e-3 1/N}, "
                                    "shortening: 0.6 m*t/(20 ms)}}\n"
                                    "study: [dynamic: {for: 20 ms, step: 1 ms}]\n",
         "'c' is given no finite value, or more than its whole length"},
        {ARM("cosserat legendre 2") "actuators: {c: {chamber: {along: arm, area: 1e-5 m^2}, gas: "
                                    "{moles: 1e-4 mol - 1e-2 mol*t/(1 s)}}}\n"
                                    "study: [dynamic: {for: 20 ms, step: 1 ms}]\n",
         "'c' is given no finite value, or a negative one"},
        // two laws for one volume, and for a volume and the coordinate that determines it
        {ARM("cosserat legendre 2") "actuators: {c: {chamber: {along: arm, area: 1e-5 m^2}, "
                                    "volume: 3.1 cm^3}, d: {chamber: "
                                    "{along: arm, area: 1e-5 m^2}, volume: 3.2 cm^3}}\nstudy: "
                                    "[static:]\n",
         "cannot be followed"},
        {ARM("{stretch: legendre 1}") "actuators: {c: {chamber: {along: arm, area: 1e-5 m^2}, "
                                      "volume: 3.1 cm^3}, d: {rod: arm, "
                                      "position: 0.1}}\nstudy: [static:]\n",
         "cannot be followed"},
        {ARM("{stretch: legendre 1}") "actuators: {c: {rod: arm, position: 0.1}, d: {rod: arm, "
                                      "position: 0.2}}\nstudy: [static:]\n",
         "'c' and 'd' both drive coordinate 1 of rod 'arm'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snw_error err = {0};
        end_of(cases[i].text, &err);
        if (!strstr(err.text, cases[i].wanted)) {
            fail_msg("%zu: wanted '%s', got '%s'", i, cases[i].wanted, err.text);
        }
    }
}

// A weight on a cylinder of air, with almost no other support: Boyle's law, p A = m g above ambient
// pressure, with p V conserved. The first iterate of a solver has a negative volume, where the gas
// law has another, unphysical, branch.
static void air_carries_a_weight(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        "sinew: 1\ngravity: [0, 0, -9.81]\n"
        "parameters: {around: 101325 Pa, area: 2e-4 m^2, high: 0.1 m}\n"
        "robot:\n"
        "  piston: {on: world, pose: {x: z}, rod: {length: high, section: {stiffness: {stretch: "
        "1e-6 N}, inertia: [0, 0, 0, 1e-6, 1e-6, 1e-6]}, strain: {stretch: legendre 1}}}\n"
        "  weight: {on: piston, body: {mass: 0.3}}\n"
        "actuators: {air: {chamber: {along: piston, area: area}, gas: {moles: "
        "around*area*high/((8.314462618 J/K/mol)*(293.15 K)), ambient: around}}}\n"
        "study: [static:]\n"
        "probes: {p: {pressure: air}, V: {volume: air}}\n",
        &o);
    const double p = 0.3 * 9.81 / 2e-4;
    assert_near(shown(&o, o.series.nframe - 1, 0), p, 1e-5 * p);
    assert_near(shown(&o, o.series.nframe - 1, 1), 2e-5 * 101325 / (101325 + p), 1e-10);
    snw_series_clear(&o.series);
}

// A closed loop of a rod and a link, a prescribed constant volume and a prescribed constant
// coordinate: all of them exert forces, none does work. Kinetic plus elastic energy is constant to
// the tolerance of the integrator.
static void constraint_forces_do_no_work(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        RUBBER
        "robot:\n"
        "  arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 12 mm}}, material: "
        "rubber, strain: {bend_y: legendre 2, stretch: legendre 2}}}\n"
        "  link: {on: world, pose: {xyz: [0, 0, -0.2]}, joint: revolute, axis: y, body: {mass: "
        "0.1, com: [0.15, 0, 0], inertia: [1e-3, 1e-3, 1e-3]}}\n"
        "  flap: {on: link, pose: {xyz: [0.3, 0, 0]}, joint: revolute, axis: y, body: {mass: "
        "0.05, com: [0.05, 0, 0], inertia: [1e-4, 1e-4, 1e-4]}}\n"
        "sites: {end: {on: link, pose: {xyz: [0.3, 0, 0.2]}}}\n"
        "loops: {pin: {join: [arm.tip, end], as: spherical}}\n"
        "actuators:\n"
        "  water: {chamber: {along: arm, at: [0, 0, 6 mm], area: 30e-6 m^2}, volume: 9e-6 m^3}\n"
        "  lock: {joint: flap, position: 0.3}\n"
        "study: [dynamic: {for: 0.2 s, scheme: adaptive, tolerance: 1e-10}]\n"
        "record: {every: 5 ms}\n"
        "probes: {e: energy, p: {power: water}, q: {power: lock}, P: {pressure: water}, F: "
        "{reaction: pin}, M: {effort: lock}}\n",
        &o);
    double pressure = 0, pin = 0, moment = 0, moved = 0;
    for (int i = 0; i < o.series.nframe; i++) {
        const double kinetic = shown(&o, i, 0);
        moved = fmax(moved, kinetic);
        pressure = fmax(pressure, fabs(shown(&o, i, 10)));
        for (int k = 0; k < 3; k++) pin = fmax(pin, fabs(shown(&o, i, 14 + k)));
        moment = fmax(moment, fabs(shown(&o, i, 17)));
        assert_near(shown(&o, i, 8), 0, 1e-9);
        assert_near(shown(&o, i, 9), 0, 1e-9);
        const double total = kinetic + shown(&o, i, 1) + shown(&o, i, 2);
        const double begin = shown(&o, 0, 0) + shown(&o, 0, 1) + shown(&o, 0, 2);
        assert_near(total, begin, 1e-8);
    }
    assert_true(moved > 1e-3 && pressure > 100 && pin > 0.1 && moment > 0.01);
    snw_series_clear(&o.series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_actuators_are_reported),
        cmocka_unit_test(air_carries_a_weight),
        cmocka_unit_test(constraint_forces_do_no_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
