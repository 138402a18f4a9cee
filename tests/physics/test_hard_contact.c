// SPDX-License-Identifier: MIT
//
// Hard contacts: random drops gain no energy and do not penetrate, at steps of milliseconds;
// momentum of colliding bodies; rest, impacts and rolling are in examples/contact. The environment
// variable SNW_IMPACTS sets the number of drops; the default is a few.
#include "executed.h"
#include "near.h"
#include "random_drop.h"

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
    // gains in steps with contact, in flight, and over the start of the run; m
    double gain = 0, flight = 0, above = 0, deepest = 0;
    int failed = 0, n = drops(12);
    for (int k = 0; k < n; k++) {
        char model[3000], text[3200];
        outcome o;
        write_drop(&d, model, sizeof model);
        (void)snprintf(text, sizeof text, "%s  - dynamic: {for: 0.6 s, step: %s}\n", model,
                       k % 2 ? "5 ms" : "2 ms");
        execute(text, &o);
        double moved = 0, worst = 0, deep = 0;
        for (int i = 1; i < o.series.nframe; i++) {
            moved = fmax(moved, shown(&o, i, KINETIC));
            const double rise = shown(&o, i, TOTAL) - shown(&o, i - 1, TOTAL);
            const bool touches = shown(&o, i, TOUCHING) + shown(&o, i - 1, TOUCHING) > 0;
            if (touches) worst = fmax(worst, rise);
            if (!touches) flight = fmax(flight, rise / moved);
            deep = fmax(deep, -shown(&o, i, GAP));
        }
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
           "start %.2g, in flight %.2g, deepest penetration %.2g m\n",
           n, failed, gain, above, flight, deepest);
    assert_int_equal(failed, 0);
    // the middle rule lets the energy of links and rods that tumble vary from step to step
    assert_true(gain <= 1e-3);
    assert_true(above <= 1e-6);
    assert_true(deepest <= 1e-8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_gain_no_energy_and_do_not_penetrate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
