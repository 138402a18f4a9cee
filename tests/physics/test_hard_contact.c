// SPDX-License-Identifier: MIT
//
// Hard contacts: random drops gain no energy and do not penetrate, at steps of milliseconds;
// pieces of rods touch alike wherever their nodes are. Equilibria, modes, rest, impacts and rolling
// are in examples/contact. The environment
// variable SNW_IMPACTS sets the number of drops; the default is a few.
#include "dynamics/contact.h"
#include "executed.h"
#include "near.h"
#include "random_drop.h"
#include "setting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// columns of the energy probe, then the smallest gap
enum {
    KINETIC,
    ELASTIC,
    GRAVITY,
    HEAT,
    WORK,
    SCHEME,
    BALANCE,
    TOTAL,
    FORCE,
    GAP = FORCE + 3,
    TOUCHING
};

static int drops(int few) {
    const char *many = getenv("SNW_IMPACTS");
    return many ? atoi(many) : few;
}

// On a plane, a sphere or in a bowl; faces and edges touch planes only
static void write_obstacle(dice *d, bool flat, char *text, size_t size) {
    const double e = pick_int(d, 0, 1) ? roll(d, 0, 1) : 0;
    const double friction = pick_int(d, 0, 2) ? roll(d, 0, 1) : 0;
    switch (flat ? 2 : pick_int(d, 0, 2)) {
    case 0:
        (void)snprintf(text, size,
                       "{obstacle: {links: body, shape: sphere, radius: 0.5, at: [0, 0, -0.5], "
                       "hard: true, restitution: %g, friction: %g}}",
                       e, friction);
        break;
    case 1:
        (void)snprintf(text, size,
                       "{obstacle: {links: body, shape: sphere, radius: 1, at: [0, 0, 1], inside: "
                       "true, hard: true, restitution: %g, friction: %g}}",
                       e, friction);
        break;
    default:
        (void)snprintf(text, size,
                       "{ground: {on: body, hard: true, restitution: %g, friction: %g}}", e,
                       friction);
    }
}

static void write_drop(dice *d, char *text, size_t size) {
    char body[600], obstacle[300];
    bool rod;
    write_falling_body(d, 0.02, body, sizeof body, &rod);
    const bool faces = strstr(body, "body: {box") || strstr(body, "cylinder");
    write_obstacle(d, faces && !strstr(body, "arm:"), obstacle, sizeof obstacle);
    (void)snprintf(text, size,
                   "sinew: 1\ngravity: [0, 0, -9.81]\n"
                   "materials: {stuff: {young: %g, poisson: 0.4, density: 1100, damping: %g}}\n"
                   "robot:\n%s"
                   "contacts: {floor: %s}\n"
                   "initial: {%s: {pose: {xyz: [0, 0, %g], rpy: [%g, %g, %g]}, twist: [%g, %g, %g, "
                   "%g, %g, %g]}}\n"
                   "probes: {e: energy, c: {contact: floor}}\nstudy:\n",
                   pow(10, roll(d, 5.3, 8)), pow(10, roll(d, -4, -1.5)), body, obstacle,
                   strstr(body, "arm:") ? "arm" : "body", roll(d, 0.25, 0.5), roll(d, -1, 1),
                   roll(d, -0.3, 0.3), roll(d, -1, 1), roll(d, -4, 4), roll(d, -4, 4),
                   roll(d, -4, 4), roll(d, -1, 1), roll(d, -1, 1), roll(d, -1, 1));
}

static void drops_gain_no_energy_and_do_not_penetrate(void **state) {
    (void)state;
    dice d = {2026};
    // gains in steps with contact, in flight, and over the start of the run; heat taken back; m
    double gain = 0, flight = 0, above = 0, cooled = 0, deepest = 0;
    int failed = 0, n = drops(12);
    for (int k = 0; k < n; k++) {
        char model[3000], text[3200];
        outcome o;
        write_drop(&d, model, sizeof model);
        (void)snprintf(text, sizeof text, "%s  - dynamic: {for: 0.6 s, step: %s}\n", model,
                       k % 2 ? "5 ms" : "2 ms");
        execute(text, &o);
        double moved = 0, worst = 0, deep = 0, fell = 0;
        for (int i = 1; i < o.series.nframe; i++) {
            moved = fmax(moved, shown(&o, i, KINETIC));
            const double rise = shown(&o, i, TOTAL) - shown(&o, i - 1, TOTAL);
            const bool touches = shown(&o, i, TOUCHING) + shown(&o, i - 1, TOUCHING) > 0;
            if (touches) worst = fmax(worst, rise);
            if (!touches) flight = fmax(flight, rise / moved);
            deep = fmax(deep, -shown(&o, i, GAP));
            fell = fmax(fell, shown(&o, i - 1, HEAT) - shown(&o, i, HEAT));
        }
        cooled = fmax(cooled, fell / moved);
        if (o.status != SNW_OK) printf("%s\n%s", o.err.text, text);
        if (worst > 1e-3 * moved || deep > 1e-8)
            printf("gain %g, penetration %g m\n%s", worst / moved, deep, text);
        failed += o.status != SNW_OK;
        gain = fmax(gain, worst / moved);
        deepest = fmax(deepest, deep);
        for (int i = 1; i < o.series.nframe; i++)
            above = fmax(above, (shown(&o, i, TOTAL) - shown(&o, 0, TOTAL)) / moved);
        snw_series_clear(&o.series);
    }
    printf("%d drops: %d failed, gain in a step with contact at most %.2g of the energy that "
           "moved, above the "
           "start %.2g, in flight %.2g, heat taken back %.2g, deepest penetration %.2g m\n",
           n, failed, gain, above, flight, cooled, deepest);
    assert_int_equal(failed, 0);
    // the middle rule lets the energy of links and rods that tumble vary from step to step
    assert_true(gain <= 1e-3);
    assert_true(above <= (n > 100 ? 1e-4 : 1e-6));
    // contacts take energy; the impulse at the end of a step gives back what it corrects
    assert_true(cooled <= (n > 100 ? 2e-4 : 1e-5));
    assert_true(deepest <= 1e-8);
}

// ---- pieces of rods -----------------------------------------------------------------------------

// A peg smaller than the spacing of the nodes is pushed along a straight rod: one contact with the
// same force everywhere, at nodes and at both ends, and none beside the rod.
static void a_peg_pushes_alike_wherever_it_is(void **state) {
    (void)state;
    setting s;
    setting_open(&s,
                 "sinew: 1\n"
                 "materials: {rubber: {young: 1 MPa, density: 1000}}\n"
                 "robot: {rod: {on: world, rod: {length: 1, section: {circle: {radius: 10 mm}}, "
                 "material: rubber, strain: {bend_y: legendre 2}, nodes: 12}}}\n"
                 "contacts: {peg: {obstacle: {links: rod, shape: cylinder, radius: 5 mm, axis: y, "
                 "at: [t, 0, -14 mm], nearest: true, stiffness: 1 kN/m, smooth: 1 um}}}\n");
    const snw_model *m = s.g.m;
    dice d = {31};
    for (int k = 0; k < 2000; k++) {
        // nodes themselves, then anywhere
        const double t = k < m->nseg ? m->seg_x[k] : roll(&d, 0, 1);
        s.g.s->t = t;
        memset(s.g.s->q, 0, (size_t)m->nq * sizeof(double));
        snw_inputs_at(m, t, s.g.in);
        snw_kinematics(m, s.g.in, s.g.s, true, s.g.w);
        const snw_contact_summary c = snw_contact_summarise(m, s.g.w, 0);
        assert_int_equal(c.touching, 1);
        assert_near(c.force, 1, 1e-9);
        assert_near(c.place.x, t, 1e-9);
    }
    setting_close(&s);
}

// The force of a rod on the end of another does not depend on where its nodes are; source as in
// examples/contact/hard_cantilevers.yaml.
static void hard_forces_do_not_depend_on_nodes(void **state) {
    (void)state;
    for (int nodes = 24; nodes < 28; nodes++) {
        char text[1500];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\n"
            "materials: {wire: {young: 4/(pi*1e-8), density: 1000}, thick: {young: 8/(pi*1e-8), "
            "density: 1000}}\n"
            "robot:\n"
            "  upper: {on: world, pose: {xyz: [0, 0, 0.05]}, rod: {length: 1, section: {circle: "
            "{radius: 0.01}}, material: wire, strain: {bend_y: legendre 12}, nodes: %d}}\n"
            "  lower: {on: world, rod: {length: 0.6, section: {circle: {radius: 0.01}}, material: "
            "thick, strain: {bend_y: legendre 6}}}\n"
            "contacts: {touch: {obstacle: {links: upper, on: lower.tip, shape: sphere, radius: "
            "0.01, hard: true}}}\n"
            "loads: {weight: {on: upper.tip, force: [0, 0, -t*(1 N)/(1 s)]}}\n"
            "probes: {F: {contact: touch}}\n"
            "study:\n  - static: {for: 1 s, step: 200 ms}\n",
            nodes);
        execute_ok(text, &o);
        const int last = o.series.nframe - 1;
        assert_near(hypot(shown(&o, last, 0), shown(&o, last, 2)), 1.0272123835, 2e-4);
        assert_int_equal(o.warnings, 0);
        snw_series_clear(&o.series);
    }
}

// ---- forces along the robot ---------------------------------------------------------------------

// A cantilever rests on a hard floor with its tip: in a motion from rest the wrench at its clamp is
// that of the equilibrium, with the contact force.
static void wrenches_contain_hard_contacts(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\n"
               "materials: {rubber: {young: 1 MPa, density: 1000, damping: 20 ms}}\n"
               "robot: {rod: {on: world, rod: {length: 0.3, section: {circle: {radius: 8 mm}}, "
               "material: rubber, strain: {bend_y: legendre 6}, nodes: 20}}}\n"
               "contacts: {floor: {ground: {on: rod, at: [0, 0, -20 mm], hard: true}}}\n"
               "probes: {clamp: {wrench: rod.root}, floor: {contact: floor}}\n"
               "study:\n  - static:\n  - dynamic: {for: 50 ms, step: 5 ms}\n",
               &o);
    enum { MY = 1, FZ = 8 };
    assert_true(shown(&o, 0, FZ) > 0.05); // N; the rod weighs 0.6 N
    // the first frame of the motion is that before its first step, whose forces are not known
    for (int i = 2; i < o.series.nframe; i++) {
        assert_near(shown(&o, i, MY) / shown(&o, 0, MY), 1, 1e-6);
        assert_near(shown(&o, i, FZ) / shown(&o, 0, FZ), 1, 1e-6);
    }
    snw_series_clear(&o.series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_gain_no_energy_and_do_not_penetrate),
        cmocka_unit_test(a_peg_pushes_alike_wherever_it_is),
        cmocka_unit_test(hard_forces_do_not_depend_on_nodes),
        cmocka_unit_test(wrenches_contain_hard_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
