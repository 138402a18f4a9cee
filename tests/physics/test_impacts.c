// SPDX-License-Identifier: MIT
//
// Random drops and releases with the default scheme, at steps from a hundred times too long to well resolved: no energy is gained
// (theory.md 6.12, 6.13). SNW_IMPACTS says how many robots; a few unless given.
#include "executed.h"
#include "random_rod.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// columns of the energy
enum { KINETIC, ELASTIC, GRAVITY, HEAT, WORK, SCHEME, BALANCE, TOTAL };

static const char *const steps[] = {"20 ms", "10 ms", "5 ms", "2 ms", "0.5 ms"};
enum { STEPS = sizeof steps / sizeof steps[0] };

static int robots(int few) {
    const char *many = getenv("SNW_IMPACTS");
    return many ? atoi(many) : few;
}

// what falls: its links and what of them touches
static void write_body(dice *d, char *text, size_t size, bool *rod) {
    const double a = roll(d, 0.01, 0.05), b = roll(d, 0.01, 0.05), c = roll(d, 0.01, 0.05);
    const double mass = pow(10, roll(d, -2, 0.5));
    *rod = false;
    switch (pick_int(d, 0, 4)) {
    case 0:
        (void)snprintf(text, size,
                       "  body: {on: world, joint: free, body: {sphere: {radius: %g}, mass: %g}}\n",
                       a, mass);
        break;
    case 1:
        (void)snprintf(text, size,
                       "  body: {on: world, joint: free, body: {box: [%g, %g, %g], mass: %g}}\n",
                       2 * a, 2 * b, 2 * c, mass);
        break;
    case 2:
        (void)snprintf(text, size,
                       "  body: {on: world, joint: free, body: {cylinder: {radius: %g, length: %g, "
                       "axis: x}, mass: %g}}\n",
                       a, 2 * b, mass);
        break;
    case 3: // two links
        (void)snprintf(text, size,
                       "  arm: {on: world, joint: free, body: {box: [%g, 0.02, 0.02], mass: %g}}\n"
                       "  body: {on: arm, pose: {xyz: [%g, 0, 0]}, joint: spherical, body: "
                       "{sphere: {radius: %g}, mass: %g}}\n",
                       2 * a, mass, 2 * a, a, mass);
        break;
    default:
        *rod = true;
        (void)snprintf(text, size,
                       "  body: {on: world, joint: free, rod: {length: %g, section: {circle: "
                       "{radius: %g}}, material: stuff, "
                       "strain: {bend_y: legendre %d, bend_z: legendre 2, twist: legendre 1}, "
                       "nodes: 8}}\n",
                       roll(d, 0.1, 0.5), roll(d, 4e-3, 2e-2), pick_int(d, 1, 4));
    }
}

// Everything that falls is put above the ground. Losses and friction of half of the grounds each.
static void write_drop(dice *d, char *text, size_t size) {
    char body[600];
    bool rod;
    write_body(d, body, sizeof body, &rod);
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

// what is left to the round-off of forces and to the swing of energy within the scheme's own accuracy
static double gained(const outcome *o, double *moved) {
    double most = 0;
    *moved = 0;
    for (int i = 0; i < o->series.nframe; i++) {
        *moved =
            fmax(*moved, fmax(shown(o, i, KINETIC), fabs(shown(o, i, TOTAL) - shown(o, 0, TOTAL))));
        const double held = shown(o, 0, TOTAL) + shown(o, i, WORK);
        most = fmax(most, shown(o, i, TOTAL) - held);
    }
    return most;
}

// the same robot at all steps: the largest gain of each and what the scheme removes, shares of what moved; failures are counted
typedef struct tally {
    double gain[STEPS], removed[STEPS];
    int n, failed;
} tally;

static void try_all(const char *model, const char *duration, tally *t) {
    for (int k = 0; k < STEPS; k++) {
        char text[3400];
        outcome o;
        double moved;
        (void)snprintf(text, sizeof text, "%s  - dynamic: {for: %s, step: %s}\n", model, duration,
                       steps[k]);
        execute(text, &o);
        if (o.status != SNW_OK) printf("steps of %s: %s\n%s", steps[k], o.err.text, text);
        t->failed += o.status != SNW_OK;
        const double share = gained(&o, &moved) / moved;
        if (share > 0.01) printf("steps of %s: gains %g\n%s", steps[k], share, text);
        t->gain[k] = fmax(t->gain[k], share);
        t->removed[k] += last(&o, SCHEME) / moved;
        snw_series_clear(&o.series);
    }
    t->n++;
}

static void judge(const tally *t, const char *what) {
    for (int k = 0; k < STEPS; k++) {
        printf("%d %s, steps of %-6s: gain at most %.2g of the energy that moved, the scheme "
               "removes %.2g in the mean\n",
               t->n, what, steps[k], t->gain[k], t->removed[k] / t->n);
    }
    for (int k = 0; k < STEPS; k++) assert_true(t->gain[k] <= 0.01);
    assert_int_equal(t->failed, 0);
}

static void no_drop_gains_energy_at_any_step(void **state) {
    (void)state;
    dice d = {2026};
    tally t = {0};
    for (int r = 0; r < robots(16); r++) {
        char model[3000];
        write_drop(&d, model, sizeof model);
        try_all(model, "0.6 s", &t);
    }
    judge(&t, "drops");
}

// ---- releases ----------------------------------------------------------------------------------------

// A clamped rod that bends and twists under a torque and a force, which are let go.
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

static void no_release_gains_energy_at_any_step(void **state) {
    (void)state;
    dice d = {17};
    tally t = {0};
    for (int r = 0; r < robots(8); r++) {
        char model[3000];
        write_release(&d, model, sizeof model);
        try_all(model, "0.2 s", &t);
    }
    judge(&t, "releases");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_drop_gains_energy_at_any_step),
        cmocka_unit_test(no_release_gains_energy_at_any_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
