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

// T + U never grows: neither from frame to frame nor over the least of all earlier ones.
static void drops_gain_no_energy_and_do_not_penetrate(void **state) {
    (void)state;
    dice d = {2026};
    // of T + U at the start: growth, heat taken back, error of the scheme; m
    double gain = 0, cooled = 0, error = 0, deepest = 0;
    int failed = 0, n = drops(12);
    for (int k = 0; k < n; k++) {
        char model[3000], text[3200];
        outcome o;
        write_drop(&d, model, sizeof model);
        (void)snprintf(text, sizeof text, "%s  - dynamic: {for: 0.6 s, step: %s}\n", model,
                       k % 2 ? "5 ms" : "2 ms");
        execute(text, &o);
        const double start = shown(&o, 0, TOTAL);
        double least = start, grown = 0, deep = 0, fell = 0, lost = 0;
        for (int i = 1; i < o.series.nframe; i++) {
            grown = fmax(grown, shown(&o, i, TOTAL) - least);
            least = fmin(least, shown(&o, i, TOTAL));
            deep = fmax(deep, -shown(&o, i, GAP));
            fell = fmax(fell, shown(&o, i - 1, HEAT) - shown(&o, i, HEAT));
            lost = fmax(lost, fabs(shown(&o, i, SCHEME)));
        }
        if (o.status != SNW_OK) printf("%s\n%s", o.err.text, text);
        if (grown > 1e-9 * start || deep > 1e-8)
            printf("growth %g, penetration %g m\n%s", grown / start, deep, text);
        failed += o.status != SNW_OK;
        gain = fmax(gain, grown / start);
        cooled = fmax(cooled, fell / start);
        error = fmax(error, lost / start);
        deepest = fmax(deepest, deep);
        snw_series_clear(&o.series);
    }
    printf("%d drops: %d failed, T + U grows by at most %.2g of it, heat taken back %.2g, error of "
           "the scheme %.2g, deepest penetration %.2g m\n",
           n, failed, gain, cooled, error, deepest);
    assert_int_equal(failed, 0);
    assert_true(gain <= 1e-9);
    assert_true(cooled <= 1e-9);
    assert_true(deepest <= 1e-8);
}

// Two links joined by a ball tumble beside a hard floor that they do not reach: the velocities that
// conserve the energy keep order 2, also of the momentum.
static void flights_keep_energy_and_order(void **state) {
    (void)state;
    static const char links[] =
        "sinew: 1\ngravity: 0\n"
        "robot:\n"
        "  arm: {on: world, joint: free, body: {box: [0.08, 0.02, 0.02], mass: 0.3}}\n"
        "  body: {on: arm, pose: {xyz: [0.08, 0, 0]}, joint: spherical, body: {box: [0.03, 0.05, "
        "0.04], mass: 0.5, com: [0.03, 0, 0.01]}}\n"
        "contacts: {floor: {ground: {on: body, at: [0, 0, -9], hard: true}}}\n"
        "initial: {arm: {twist: [3, -2, 4, 0.5, 0.3, -0.2]}, body: {rate: [-4, 5, 2]}}\n"
        "probes: {at: {position: body}, e: energy, p: momentum}\nstudy:\n";
    enum { ENERGY = 3, MOMENTUM = ENERGY + FORCE };
    double place[3][3], change[2], momentum[3] = {0};
    for (int k = 0; k < 3; k++) { // steps of 4 and 2 ms, and a reference
        static const char *const step[] = {"4 ms", "2 ms", "0.25 ms"};
        char text[1200];
        outcome o;
        (void)snprintf(text, sizeof text, "%s  - dynamic: {for: 0.4 s, step: %s, scheme: moreau}\n",
                       links, step[k]);
        execute_ok(text, &o);
        const int last = o.series.nframe - 1;
        const double energy = shown(&o, 0, ENERGY + TOTAL);
        for (int i = 0; i <= last; i++) {
            assert_near(shown(&o, i, ENERGY + TOTAL), energy, 1e-13 * energy);
            for (int j = MOMENTUM; j < MOMENTUM + 6; j++)
                momentum[k] = fmax(momentum[k], fabs(shown(&o, i, j) - shown(&o, 0, j)));
        }
        for (int j = 0; j < 3; j++) place[k][j] = shown(&o, last, j);
        snw_series_clear(&o.series);
    }
    for (int k = 0; k < 2; k++) {
        double sum = 0;
        for (int j = 0; j < 3; j++) sum += pow(place[k][j] - place[2][j], 2);
        change[k] = sqrt(sum);
    }
    printf("error %.2g m with 4 ms, %.2g m with 2 ms; of momenta %.2g, %.2g\n", change[0],
           change[1], momentum[0], momentum[1]);
    assert_true(change[0] > 3.5 * change[1] && change[0] < 5 * change[1]);
    assert_true(momentum[0] > 3.5 * momentum[1] && momentum[0] < 5 * momentum[1]);
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
        cmocka_unit_test(flights_keep_energy_and_order),
        cmocka_unit_test(a_peg_pushes_alike_wherever_it_is),
        cmocka_unit_test(hard_forces_do_not_depend_on_nodes),
        cmocka_unit_test(wrenches_contain_hard_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
