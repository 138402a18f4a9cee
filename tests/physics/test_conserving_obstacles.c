// SPDX-License-Identifier: MIT
//
// Compliant contacts in the conserving scheme (theory.md 6.3): random drops close the energy
// account in any step, bodies and rods that collide in flight keep their momenta, an impact has the
// loss of a reference solution. The environment variable SNW_IMPACTS sets the number of drops; the
// default is a few.
#include "executed.h"
#include "near.h"
#include "random_drop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// columns of the energy probe
enum { KINETIC, ELASTIC, GRAVITY, HEAT, WORK, SCHEME, BALANCE, TOTAL, NEXT };

static int drops(int few) {
    const char *many = getenv("SNW_IMPACTS");
    return many ? atoi(many) : few;
}

static void write_drop(dice *d, char *text, size_t size) {
    char body[600], law[200], shape[200];
    bool rod;
    write_falling_body(d, 0.02, body, sizeof body, &rod);
    const bool two = strstr(body, "arm:"), faces = strstr(body, "box") || strstr(body, "cylinder");
    (void)snprintf(law, sizeof law, "stiffness: %g, damping: %g, friction: %g",
                   pow(10, roll(d, 3, 5)), pick_int(d, 0, 1) ? roll(d, 0, 1) : 0,
                   pick_int(d, 0, 1) ? roll(d, 0, 1) : 0);
    switch (faces && !two ? 2 : pick_int(d, 0, 3)) {
    case 0:
        (void)snprintf(shape, sizeof shape,
                       "obstacle: {links: body, shape: sphere, radius: 0.5, "
                       "at: [0, 0, -0.5], ");
        break;
    case 1:
        (void)snprintf(shape, sizeof shape,
                       "obstacle: {links: body, shape: sphere, radius: 1, "
                       "at: [0, 0, 1], inside: true, ");
        break;
    case 3:
        (void)snprintf(shape, sizeof shape,
                       "obstacle: {links: body, shape: sphere, radius: 0.5, "
                       "at: [0, 0, -0.5], nearest: %s, ",
                       rod ? "true" : "false");
        break;
    default:
        (void)snprintf(shape, sizeof shape, "ground: {on: body, ");
    }
    (void)snprintf(text, size,
                   "sinew: 1\ngravity: [0, 0, -9.81]\n"
                   "materials: {stuff: {young: %g, poisson: 0.4, density: 1100, damping: %g}}\n"
                   "robot:\n%scontacts: {floor: {%s%s}}}\n"
                   "initial: {%s: {pose: {xyz: [0, 0, %g], rpy: [%g, %g, %g]}, twist: [%g, %g, %g, "
                   "%g, %g, %g]}}\n"
                   "probes: {e: energy}\nstudy:\n",
                   pow(10, roll(d, 5.3, 7)), pick_int(d, 0, 1) ? pow(10, roll(d, -4, -2)) : 0, body,
                   shape, law, two ? "arm" : "body", roll(d, 0.25, 0.4), roll(d, -1, 1),
                   roll(d, -0.3, 0.3), roll(d, -1, 1), roll(d, -4, 4), roll(d, -4, 4),
                   roll(d, -4, 4), roll(d, -1, 1), roll(d, -1, 1), roll(d, -1, 1));
}

// T + U + heat stays the same to the tolerance of the steps, and T + U never grows.
static void drops_close_the_energy_account(void **state) {
    (void)state;
    dice d = {11};
    double balance = 0, gain = 0;
    int failed = 0, n = drops(10);
    for (int k = 0; k < n; k++) {
        char model[3000], text[3200];
        outcome o;
        write_drop(&d, model, sizeof model);
        (void)snprintf(text, sizeof text,
                       "%s  - dynamic: {for: 0.5 s, step: %s, scheme: conserving}\n", model,
                       k % 2 ? "5 ms" : "2 ms");
        execute(text, &o);
        const double start = shown(&o, 0, TOTAL);
        double open = 0, grown = 0, least = start;
        for (int i = 1; i < o.series.nframe; i++) {
            open = fmax(open, fabs(shown(&o, i, BALANCE)) / start);
            grown = fmax(grown, (shown(&o, i, TOTAL) - least) / start);
            least = fmin(least, shown(&o, i, TOTAL));
        }
        if (o.status != SNW_OK || open > 1e-10) printf("%g %s\n%s", open, o.err.text, text);
        failed += o.status != SNW_OK;
        balance = fmax(balance, open);
        gain = fmax(gain, grown);
        snw_series_clear(&o.series);
    }
    printf("%d drops: %d failed, account open by %.2g of the energy, T + U grows by %.2g\n", n,
           failed, balance, gain);
    assert_int_equal(failed, 0);
    assert_true(balance <= 1e-10);
    assert_true(gain <= 1e-10);
}

// Two robots collide in flight, without gravity: momenta are kept to rounding, energy to the
// tolerance, while friction and damping take some of it.
static void collisions_keep_momenta(void **state) {
    (void)state;
#define FLYING(name)                                                                               \
    "  " name ": {on: world, joint: free, rod: {length: 0.3, section: {circle: {radius: 10 mm}}, " \
    "material: stuff, strain: {bend_y: legendre 3, bend_z: legendre 2, twist: legendre 1}, "       \
    "nodes: 8}}\n"
    static const char *const text[] = {
        "robot:\n"
        "  a: {on: world, joint: free, body: {sphere: {radius: 50 mm}, mass: 1}}\n"
        "  b: {on: world, joint: free, body: {sphere: {radius: 30 mm}, mass: 0.4, com: [0.01, 0, "
        "0], inertia: [1e-4, 2e-4, 3e-4]}}\n"
        "contacts: {hit: {obstacle: {links: a, on: b, shape: sphere, radius: 30 mm, stiffness: "
        "1e5, damping: 0.1, friction: 0.3}}}\n"
        "initial: {a: {twist: [2, 3, 1, 1, 0, 0]}, b: {pose: {xyz: [0.12, 0.03, 0.01]}, twist: [0, "
        "5, 0, 0, 0, 0]}}\n",
        "materials: {stuff: {young: 1 MPa, poisson: 0.4, density: 1100}}\n"
        "robot:\n" FLYING("a")
            FLYING("b") "contacts: {hit: {rods: {between: [a, b], stiffness: 1e5, "
                        "damping: 0.1, friction: 0.3}}}\n"
                        "initial: {a: {twist: [0, 0, 0, 0, 0, 1]}, b: {pose: {xyz: [0.15, -0.15, "
                        "0.05], rpy: [0, "
                        "0, 80 deg]}, twist: [1, 0, 0, 0.1, 0, -0.5]}}\n",
    };
    for (int k = 0; k < 2; k++) {
        char model[2000];
        outcome o;
        (void)snprintf(model, sizeof model,
                       "sinew: 1\ngravity: 0\n%sprobes: {e: energy, p: momentum}\n"
                       "study:\n  - dynamic: {for: 60 ms, step: 1 ms, scheme: conserving}\n",
                       text[k]);
        execute_ok(model, &o);
        const double start = shown(&o, 0, TOTAL);
        double momentum = 0, open = 0;
        for (int i = 1; i < o.series.nframe; i++) {
            for (int j = 0; j < 6; j++)
                momentum = fmax(momentum, fabs(shown(&o, i, NEXT + j) - shown(&o, 0, NEXT + j)));
            open = fmax(open, fabs(shown(&o, i, BALANCE)) / start);
        }
        printf("collision %d: lost %.3g of the energy, account open by %.2g, momenta by %.2g\n", k,
               last(&o, HEAT) / start, open, momentum);
        assert_true(last(&o, HEAT) > 0.01 * start);
        assert_true(open <= 1e-11);
        assert_true(momentum <= 1e-11);
        snw_series_clear(&o.series);
    }
#undef FLYING
}

// 1 kg falls 0.5 m on k = 1e5 N/m: without loss in steps ten times too long; with d = 0.2 s/m it
// rises to 0.242765055 m (own Runge-Kutta solution of the reference problem), to order 2.
static void a_ball_bounces(void **state) {
    (void)state;
    static const char model[] =
        "sinew: 1\ngravity: [0, 0, -9.81]\n"
        "robot: {ball: {on: world, joint: free, body: {sphere: {radius: 50 mm}, mass: 1}}}\n"
        "contacts: {floor: {ground: {on: ball, stiffness: 1e5, damping: %g, smooth: 1 um}}}\n"
        "initial: {ball: {pose: {xyz: [0, 0, 0.55]}}}\nprobes: {e: energy}\n"
        "study:\n  - dynamic: {for: %s, step: %s, scheme: conserving}\n";
    char text[800];
    outcome o;
    (void)snprintf(text, sizeof text, model, 0.0, "2 s", "10 ms");
    execute_ok(text, &o);
    for (int i = 0; i < o.series.nframe; i++) assert_near(shown(&o, i, TOTAL), 9.81 * 0.55, 1e-10);
    snw_series_clear(&o.series);
    double error[2];
    for (int k = 0; k < 2; k++) {
        (void)snprintf(text, sizeof text, model, 0.2, "0.5 s", k ? "0.125 ms" : "0.5 ms");
        execute_ok(text, &o);
        error[k] = last(&o, TOTAL) / 9.81 - 0.05 - 0.242765055;
        snw_series_clear(&o.series);
    }
    printf("height after an impact: error %.2g m with 0.5 ms, %.2g m with 0.125 ms\n", error[0],
           error[1]);
    assert_near(error[0], 0, 1e-3);
    assert_true(fabs(error[1]) < fabs(error[0]) / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_close_the_energy_account),
        cmocka_unit_test(collisions_keep_momenta),
        cmocka_unit_test(a_ball_bounces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
