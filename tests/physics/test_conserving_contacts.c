// SPDX-License-Identifier: MIT
//
// Nonholonomic contacts in the conserving scheme, theory.md 6.3: energy is kept to rounding over
// any number of steps, no contact slips, order 2 against closed forms and against integration with
// error control; impacts and redundant contacts as with other schemes.
#include "executed.h"
#include "random_rod.h"
#include "sanitized.h"

#include <math.h>
#include <stdio.h>

// ---- Chaplygin's sleigh -------------------------------------------------------------------------

// The blade a behind the centre of mass: v' = a w^2, w' = -m a v w/J, J = I + m a^2. So v = V
// tanh(x), w = W/cosh(x) with 2 E = m V^2 = J W^2 and x' = a W^2/V
typedef struct sleigh {
    double energy, slip, error;
} sleigh;

static sleigh glide(const char *joint, const char *rate, double step) {
    char text[1500];
    outcome o;
    (void)snprintf(text, sizeof text,
                   "sinew: 1\ngravity: 0\n"
                   "robot: {s: {on: world, joint: %s, body: {mass: 2, com: [0.3, 0, 0], inertia: "
                   "[1, 1, 0.25]}}}\n"
                   "contacts: {blade: {wheel: {on: s, axis: y}}}\ninitial: {s: {%s}}\n"
                   "study: [dynamic: {for: 2 s, step: %g, scheme: conserving}]\n"
                   "probes: {t: {twist: s, in: body}, e: energy}\n",
                   joint, rate, step);
    execute_ok(text, &o);
    const double v0 = -0.4, w0 = 1.5, J = 0.25 + 2 * 0.09, E = v0 * v0 + 0.5 * J * w0 * w0;
    const double V = sqrt(E), W = sqrt(2 * E / J), x = atanh(v0 / V) + 0.3 * W * W / V * 2;
    sleigh s = {.error = hypot(last(&o, 3) - V * tanh(x), last(&o, 2) - W / cosh(x))};
    for (int f = 0; f < o.series.nframe; f++) {
        s.energy = fmax(s.energy, fabs(shown(&o, f, 6) - E) / E);
        s.slip = fmax(s.slip, fabs(shown(&o, f, 4)));
    }
    snw_series_clear(&o.series);
    return s;
}

static void a_sleigh_keeps_its_energy(void **state) {
    (void)state;
    static const char *const joint[] = {"planar", "free"};
    static const char *const rate[] = {"rate: [-0.4, 0, 1.5]", "twist: [0, 0, 1.5, -0.4, 0, 0]"};
    for (int i = 0; i < 2; i++) {
        const sleigh coarse = glide(joint[i], rate[i], 0.02), fine = glide(joint[i], rate[i], 0.01);
        assert_true(coarse.energy < 1e-13 && fine.energy < 1e-13);
        assert_true(coarse.slip < 1e-12 && fine.slip < 1e-12);
        assert_near(log2(coarse.error / fine.error), 2, 0.05);
    }
}

// ---- a disc -------------------------------------------------------------------------------------

// A wheel rolls upright on a fork: with r w = v forwards and a constant rate of turn W about the
// vertical it moves on a circle, for thousands of steps. The energy is kept to rounding and no
// contact slips; the scheme changes its distribution between v and W in proportion to h^2.
static void a_disc_rolls_round(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\ngravity: 0\n"
               "robot:\n  fork: {on: world, joint: planar, body: {mass: 0.2, inertia: [0.01, 0.01, "
               "0.02]}}\n"
               "  disc: {on: fork, joint: revolute, axis: y, body: {mass: 1, inertia: [0.01, 0.02, "
               "0.01]}}\n"
               "contacts: {tyre: {wheel: {on: disc, axis: y, radius: 0.2}}}\n"
               "initial: {fork: {rate: [0.6, 0, 0.8]}, disc: {rate: 3}}\n"
               "study: [dynamic: {for: 100 s, step: 50 ms, scheme: conserving}]\n"
               "probes: {t: {twist: fork, in: body}, r: {rate: disc}, e: energy}\n"
               "record: {every: 1 s}\n",
               &o);
    for (int f = 0; f < o.series.nframe; f++) {
        assert_near(shown(&o, f, 2), 0.8, 1e-4);
        assert_near(shown(&o, f, 3), 0.6, 1e-4);
        assert_near(shown(&o, f, 4), 0, 1e-12);
        assert_near(0.2 * shown(&o, f, 6), shown(&o, f, 3), 1e-12);
        assert_near(shown(&o, f, 7), shown(&o, 0, 7), 1e-12);
    }
    snw_series_clear(&o.series);
}

// ---- random trees -------------------------------------------------------------------------------

// bodies on revolute, spherical and prismatic joints with springs, a rod at the end; wheels, a
// ring, and redundant wheels
static void random_tree(dice *d, bool free, bool many, char *out, size_t size) {
    static const char *const kind[] = {"revolute", "spherical", "prismatic"};
    size_t at = 0;
    const int n = pick_int(d, 2, 4);
#define SAY(...) at += (size_t)snprintf(out + at, size - at, __VA_ARGS__)
    SAY("sinew: 1\ngravity: [0.3, -0.5, 0]\nmaterials: {m: {young: 1 MPa, poisson: 0.4, density: "
        "1000}}\nrobot:\n");
    for (int i = 0; i < n; i++) {
        const double I = roll(d, 0.02, 0.06);
        if (i == 0) {
            SAY("  b0: {on: world, joint: %s", free ? "free" : "planar");
        } else {
            const int k = pick_int(d, 0, 2);
            SAY("  b%d: {on: b%d, pose: {xyz: [%g, %g, %g]}, joint: %s, stiffness: %g", i,
                pick_int(d, 0, i - 1), roll(d, -0.3, 0.3), roll(d, -0.3, 0.3), roll(d, -0.3, 0.3),
                kind[k], roll(d, 1, 4));
            if (k != 1) SAY(", axis: [%g, %g, 1]", roll(d, -1, 1), roll(d, -1, 1));
        }
        SAY(", body: {mass: %g, com: [%g, %g, 0], inertia: [%g, %g, %g]}}\n", roll(d, 0.5, 2),
            roll(d, -0.1, 0.1), roll(d, -0.1, 0.1), I, 1.2 * I, 1.5 * I);
    }
    SAY("  tail: {on: b%d, pose: {xyz: [0.1, 0.1, 0]}, rod: {length: 0.3, section: {circle: "
        "{radius: 1 cm}}, material: m, strain: {bend_y: legendre 2, bend_z: legendre 2}}}\n",
        n - 1);
    SAY("sites: {s(k=1..4): {on: b1, pose: {xyz: [0.1*k, 0.03*k, -0.05*k]}}}\n");
    SAY("contacts:\n  w: {wheel: {on: b0, axis: [%g, 1, %g]}}\n", roll(d, -0.5, 0.5),
        roll(d, -0.5, 0.5));
    SAY("  v(k=1..%d): {wheel: {on: s(k), axis: [%g, 1, 0.3]}}\n", many ? 4 : 1, roll(d, -1, 1));
    SAY("initial:\n  b0: {%s: [%g, %g, %g%s]}\n", free ? "twist" : "rate", roll(d, -1, 1),
        roll(d, -1, 1), roll(d, -1, 1), free ? ", 0.4, -0.3, 0.5" : "");
    SAY("probes: {e: energy, s0: {velocity: b0, in: body}, p: {position: b%d}, c: "
        "center_of_mass}\nrecord: {every: 0.1 s}\n",
        n - 1);
#undef SAY
}

static void random_trees_keep_their_energy(void **state) {
    (void)state;
    dice d = {17};
    for (int k = 0; k < AMONG(2, 8); k++) {
        char tree[3500], text[4000];
        double error[2];
        outcome want;
        random_tree(&d, k % 2 == 0, k % 3 == 0, tree, sizeof tree);
        (void)snprintf(text, sizeof text,
                       "%sstudy: [dynamic: {for: 0.4 s, scheme: adaptive, tolerance: 1e-11}]\n",
                       tree);
        execute(text, &want);
        if (want.status != SNW_OK) fail_msg("%d: %s\n%s", k, want.err.text, text);
        for (int n = 0; n < 2; n++) {
            outcome o;
            (void)snprintf(text, sizeof text,
                           "%sstudy: [dynamic: {for: 0.4 s, step: %g, scheme: conserving}]\n", tree,
                           n ? 1e-3 : 2e-3);
            execute(text, &o);
            if (o.status != SNW_OK) fail_msg("%d: %s\n%s", k, o.err.text, text);
            double size = 0;
            for (int f = 0; f < o.series.nframe; f++) {
                size = fmax(size, fabs(shown(&o, f, 0)));
                if (!(fabs(shown(&o, f, 6)) < 1e-11 * fmax(1, size))) {
                    fail_msg("%d: balance %g", k, shown(&o, f, 6));
                }
            }
            error[n] = 0;
            for (int c = o.series.ncolumn - 6; c < o.series.ncolumn; c++) {
                error[n] = fmax(error[n], fabs(last(&o, c) - last(&want, c)));
            }
            snw_series_clear(&o.series);
        }
        if (!(fabs(log2(error[0] / error[1]) - 2) < 0.3)) {
            fail_msg("robot %d: errors %g %g\n%s", k, error[0], error[1], text);
        }
        snw_series_clear(&want.series);
    }
}

// ---- conditional contacts -----------------------------------------------------------------------

// A blade on a spinning sledge becomes active and inactive: the loss is that of the impact, between
// events the energy is kept; without the blade the momentum is constant to rounding.
static void blades_are_activated_and_deactivated(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        "sinew: 1\ngravity: 0\n"
        "robot: {s: {on: world, joint: free, body: {mass: 2, inertia: [1, 1, 0.3]}}}\n"
        "sites: {heel(k=1..2): {on: s, pose: {xyz: [-0.5, 0.1*k, 0]}}}\n"
        "initial: {s: {twist: [0, 0, 0, 1, 2, 0]}}\n"
        "contacts: {blade(k=1..2): {wheel: {on: heel(k), axis: y}, when: t > 0.5 s and t < 1 "
        "s}}\n"
        "probes: {e: energy, h: momentum}\nrecord: {every: 0.1 s}\n"
        "study: [dynamic: {for: 2 s, step: 10 ms, scheme: conserving}]\n",
        &o);
    const double p = -2 / (1 / 2.0 + 0.25 / 0.3), lost = 0.5 * p * p * (1 / 2.0 + 0.25 / 0.3);
    assert_near(last(&o, 3), lost, 1e-12);
    assert_near(last(&o, 0), 5 - lost, 1e-12);
    const int n = o.series.nframe;
    for (int f = n - 9; f < n; f++) {
        for (int c = 0; c < 6; c++) {
            const int at = o.series.ncolumn - 6 + c;
            assert_near(shown(&o, f, at), last(&o, at), 1e-12);
        }
    }
    snw_series_clear(&o.series);
}

static void unsupported_contacts_are_reported(void **state) {
    (void)state;
    refuses("sinew: 1\ngravity: 0\n"
            "robot: {s: {on: world, joint: planar, body: {mass: 2, inertia: [1, 1, 0.3]}}}\n"
            "actuators: {m: {joint: s, position: [t, free, free]}}\n"
            "contacts: {blade: {wheel: {on: s, axis: y}}}\n"
            "study: [dynamic: {for: 2 s, step: 10 ms, scheme: conserving}]\n",
            "does not support given positions and rates ('m')");
}

// A ball at rest on a soft floor stays there: its momenta at the start have no part of the force of
// the contact.
static void a_ball_at_rest_stays(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\n"
               "robot: {ball: {on: world, joint: prismatic, axis: z, body: {sphere: {radius: 30 "
               "mm}, mass: 0.2}}}\n"
               "initial: {ball: 29.9 mm}\n"
               "contacts: {floor: {ground: {on: ball, stiffness: 30 kN/m}}}\n"
               "study: [static, dynamic: {for: 10 ms, step: 1 ms, scheme: conserving}]\n"
               "probes: {p: {value: ball}, v: {rate: ball}}\n",
               &o);
    assert_near(last(&o, 0), 30e-3 - 0.2 * 9.81 / 30e3, 1e-9);
    assert_near(last(&o, 1), 0, 1e-12);
    snw_series_clear(&o.series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_at_rest_stays),
        cmocka_unit_test(a_sleigh_keeps_its_energy),
        cmocka_unit_test(a_disc_rolls_round),
        cmocka_unit_test(random_trees_keep_their_energy),
        cmocka_unit_test(blades_are_activated_and_deactivated),
        cmocka_unit_test(unsupported_contacts_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
