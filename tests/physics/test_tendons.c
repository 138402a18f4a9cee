// SPDX-License-Identifier: MIT
//
// Tendons and chambers: their coordinates, their forces, and the energy they store.
#include "dynamics/tendon.h"
#include "row_rig.h"
#include "sanitized.h"
#include "setting.h"

#include <stdio.h>

// Two rods in a row on a moving base. Tendons along one rod, along both and along a part, chambers
// beside; efforts by laws of time, of probes, by a winch and by a gas; McKibben muscles along both
// rods and through the air; one strain is given.
static const char robot_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  base: {on: world, joint: free, body: {mass: 1, inertia: [0.1, 0.2, 0.3]}}\n"
    "  upper: {on: base, rod: {length: 0.5, section: {circle: {radius: 20 mm}}, material: rubber, "
    "strain: cosserat legendre 3, rest: {bend_y: 0.5*x/L}}}\n"
    "  lower: {on: upper.tip, rod: {length: 0.4, section: {circle: {radius: 15 mm}}, material: "
    "rubber, strain: {bend_y: linear, bend_z: linear, twist: 1.5*sin(3*t)*x}, elements: 3}}\n"
    "  side: {on: upper@60%, rod: {length: 0.3, section: {circle: {radius: 15 mm}}, material: "
    "rubber, strain: kirchhoff legendre 2}}\n"
    "actuators:\n"
    "  long: {tendon: {along: [upper, lower], at: [0, 10 mm*cos(5*x), 8 mm], from: 0.1 m, to: "
    "L/2}, effort: 5 N*cos(t)^2}\n"
    "  winch: {tendon: {along: upper, at: [0, -8 mm, 6 mm*(1 - x/L)], extra: 50 mm, compliance: "
    "2e-3 1/N}, shortening: 0.2 m + 10 mm*sin(t)}\n"
    "  follows: {tendon: {along: side, at: [0, 9 mm, 0]}, effort: \"3 N + 1 N/m*tip.x*1 + 0.1 "
    "N*s/m*speed.vy\"}\n"
    "  blown: {chamber: {along: upper, at: [0, 5 mm, -7 mm], area: 1e-4 m^2*(1 + x/L)}, effort: 20 "
    "kPa*sin(2*t)}\n"
    "  sealed: {chamber: {along: [side], at: [0, 0, 6 mm], area: 5e-5 m^2, to: 0.2 m}, gas: "
    "{moles: 5e-4 mol*(1 + 0.1*t/(1 s)), temperature: 300 K}}\n"
    "  braid: {mckibben: {along: [upper, lower], at: [0, -4 mm, 6 mm], radius: 1 mm, angle: 20 "
    "deg}, pressure: \"200 kPa + 20 kPa/m*tip.x + 5 kPa*s/m*speed.vy\"}\n"
    "  strut: {mckibben: {path: [base, side.tip, lower.tip], length: 0.2 m, radius: 1 mm, angle: "
    "15 deg}, pressure: 100 kPa*(1 + t^2)}\n"
    "probes: {tip: {position: side.tip}, speed: {velocity: lower.tip}}\n";

enum { LONG, WINCH, FOLLOWS, BLOWN, SEALED, BRAID, STRUT, MEASURES };

static void efforts_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {71};
    for (int k = 0; k < 6; k++) {
        setting s;
        setting_random(&s, robot_text, &d);
        rig_check(&s.g);
        for (int i = 0; i < MEASURES; i++) assert_true(s.g.w->tendon[i].effort != 0);
        setting_close(&s);
    }
}

// The generalised force is the effort times the derivative of the coordinate.
static void efforts_work_along_their_coordinates(void **state) {
    (void)state;
    dice d = {73};
    for (int k = 0; k < 4; k++) {
        setting s;
        setting_random(&s, robot_text, &d);
        rig *g = &s.g;
        const int n = g->m->nv;
        double *r = calloc((size_t)n, sizeof *r), *dx = calloc((size_t)n, sizeof *dx);
        snw_residual(g->m, g->in, g->s, false, g->w);
        double effort[MEASURES];
        for (int i = 0; i < MEASURES; i++) effort[i] = g->w->tendon[i].effort;
        memcpy(r, g->w->r, (size_t)n * sizeof *r);
        // The same without tendons: fraction zero for dependent efforts, zero for given ones.
        *g->in->signal_fraction = 0;
        g->in->tendon[LONG].v = g->in->tendon[BLOWN].v = g->in->tendon[STRUT].v = 0;
        snw_residual(g->m, g->in, g->s, false, g->w);
        for (int j = 0; j < n; j++) r[j] = g->w->r[j] - r[j];
        snw_state_copy(g->m, g->s, g->moved);
        for (int l = 0; l < g->m->nv; l++) {
            double work = 0, want = 0;
            rig_direction(g, l, dx);
            for (int way = 0; way < BESIDE; way++) {
                snw_move(g->m, g->s->q, beside(way), dx, g->moved->q);
                snw_residual(g->m, g->in, g->moved, true, g->w);
                for (int i = 0; i < MEASURES; i++) {
                    want += effort[i] * slope_of(way, g->w->tendon[i].value);
                }
            }
            for (int j = 0; j < n; j++) work += r[j] * dx[j];
            assert_near(work, want, LEFT);
        }
        free(r);
        free(dx);
        setting_close(&s);
    }
}

// A given length and a given volume on a floating robot: constraint rows are their derivatives, so
// are the rates, and tension and pressure act along them.
static void given_lengths_and_volumes_are_rows(void **state) {
    (void)state;
    dice d = {74};
    for (int k = 0; k < 4; k++) {
        setting s;
        setting_open(
            &s,
            "sinew: 1\n"
            "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
            "robot:\n"
            "  base: {on: world, joint: free, body: {mass: 1, inertia: [0.1, 0.2, 0.3]}}\n"
            "  arm: {on: base, rod: {length: 0.5, section: {circle: {radius: 20 mm}}, material: "
            "rubber, strain: cosserat legendre 3, rest: {bend_y: 0.5*x/L}}}\n"
            "  tail: {on: arm.tip, rod: {length: 0.3, section: {circle: {radius: 15 mm}}, "
            "material: "
            "rubber, strain: {bend_y: linear, twist: 1.5*sin(3*t)*x}}}\n"
            "actuators:\n"
            "  cord: {tendon: {along: [arm, tail], at: [0, 10 mm*cos(5*x), 8 mm], to: L/2}, "
            "shortening: 10 mm*sin(3*t)}\n"
            "  water: {chamber: {along: [arm, tail], at: [0, 5 mm, -7 mm], area: 1e-4 m^2*(1 + "
            "x/L)}, volume: 1e-4 m^3*(1 + 0.1*t^2)}\n");
        rig *g = &s.g;
        state_random(g->m, &d, g->s);
        snw_inputs_at(g->m, g->s->t, g->in);
        assert_int_equal(g->m->nconstraint, 2);
        g->s->lambda[0] = roll(&d, 1, 5), g->s->lambda[1] = roll(&d, 1e4, 5e4);
        rig_check(g);
        rows_check(g);
        setting_close(&s);
    }
}

// Chambers whose area depends on stretch and pressure: pressure by laws of time and of probes, a
// gas, a volume of walls that yield, a gas and a volume whose area follows the stretch alone.
static const char yielding_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "parameters: {pc: 100 kPa}\n"
    "robot:\n"
    "  base: {on: world, joint: free, body: {mass: 1, inertia: [0.1, 0.2, 0.3]}}\n"
    "  arm: {on: base, rod: {length: 0.5, section: {circle: {radius: 20 mm}}, material: rubber, "
    "strain: cosserat legendre 3, rest: {bend_y: 0.5*x/L}}}\n"
    "  tail: {on: arm.tip, rod: {length: 0.3, section: {circle: {radius: 15 mm}}, material: "
    "rubber, "
    "strain: {bend_y: linear, stretch: linear, twist: 1.5*sin(3*t)*x}}}\n"
    "actuators:\n"
    "  timed: {chamber: {along: [arm, tail], at: [0, 5 mm*cos(4*x), -7 mm], area: \"1e-4 m^2*(1 + "
    "x/L)*(1 + pressure/pc)/stretch^0.3\"}, pressure: 20 kPa*(1 + t)}\n"
    "  follows: {chamber: {along: arm, at: [0, -6 mm, 0], area: \"5e-5 m^2*(1 + tanh(pressure/pc)/2"
    ")\"}, pressure: \"15 kPa + 5 kPa/m*tip.x + 1 kPa*s/m*speed.vy\"}\n"
    "  air: {chamber: {along: tail, at: [0, 0, 6 mm], area: \"5e-5 m^2*exp(pressure/(2*pc))*"
    "stretch^0.2\"}, gas: {moles: 7e-4 mol*(1 + 0.1*t/(1 s)), temperature: 300 K}}\n"
    "  filled: {chamber: {along: arm, at: [0, 3 mm, 3 mm], area: \"4e-5 m^2*(1 + pressure/pc)\"}, "
    "volume: 2.2e-5 m^3*(1 + 0.1*t^2)}\n"
    "  sealed: {chamber: {along: arm, at: [0, 0, -5 mm], area: \"5e-5 m^2/sqrt(stretch)\"}, gas: "
    "{moles: 1.2e-3 mol, temperature: 300 K}}\n"
    "  water: {chamber: {along: [arm, tail], at: [0, 5 mm, -7 mm], area: \"1e-4 m^2*(1 + "
    "x/L)/stretch^0.4\"}, volume: 1e-4 m^3*(1 + 0.1*t^2)}\n"
    "probes: {tip: {position: tail.tip}, speed: {velocity: tail.tip}}\n";

enum { TIMED, FOLLOWS_TIP, AIR, FILLED, SEALED_LEAN, WATER, YIELDING };

static void yielding_random(setting *s, dice *d) {
    setting_open(s, yielding_text);
    state_random(s->g.m, d, s->g.s);
    snw_inputs_at(s->g.m, s->g.s->t, s->g.in);
    s->g.s->lambda[0] = roll(d, 1e3, 5e3);
}

static void forces_of_areas_that_vary_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {76};
    for (int k = 0; k < 3; k++) {
        setting s;
        yielding_random(&s, &d);
        assert_int_equal(s.g.m->nconstraint, 1);
        snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
        for (int i = 0; i < YIELDING; i++) {
            assert_true(isfinite(s.g.w->tendon[i].effort) && s.g.w->tendon[i].effort != 0);
        }
        rig_check(&s.g);
        rows_check(&s.g);
        setting_close(&s);
    }
}

// Maxwell's relation: the derivative of the generalised forces by the pressure is that of the
// volume by the coordinates.
static void pressure_and_stretch_have_a_potential(void **state) {
    (void)state;
    dice d = {76};
    setting s;
    yielding_random(&s, &d);
    rig *g = &s.g;
    const int n = g->m->nv;
    double *want = calloc((size_t)n, sizeof *want), *got = calloc((size_t)n, sizeof *got);
    snw_residual(g->m, g->in, g->s, false, g->w);
    const snw_tendon *tendon = &g->m->tendon[TIMED];
    for (int j = 0; j < tendon->ndof; j++) {
        want[tendon->dof[j]] = -g->w->G[tendon->store + (size_t)j];
    }
    const double p = g->in->tendon[TIMED].v;
    for (int way = 0; way < BESIDE; way++) {
        g->in->tendon[TIMED].v = p * (1 + beside(way));
        snw_residual(g->m, g->in, g->s, false, g->w);
        for (int j = 0; j < n; j++) got[j] += slope_of(way, g->w->r[j]) / p;
    }
    for (int j = 0; j < n; j++) assert_near(got[j], want[j], LEFT);
    free(want);
    free(got);
    setting_close(&s);
}

#ifndef SNW_NUMBERS // no derivatives

// Length of a path and volume from positions alone: n chords along a rod from x0 to x1 at the
// offset (y, z).
static void chords(const rig *g, int tendon, int n, double *length, double *volume) {
    const snw_tendon_desc *d = &g->m->desc->tendon[tendon];
    *length = *volume = 0;
    for (int k = 0; k < d->nlink; k++) {
        const snw_rod *rod = &g->m->rod[g->m->link_rod[d->link[k]]];
        const double from = k == 0 ? d->from : 0, to = k + 1 == d->nlink ? d->to : rod->L;
        const double h = (to - from) / n;
        snw_se3 at = snw_se3_identity();
        snw_vec3 before = {{0}};
        for (int i = 0; i <= n; i++) {
            const double x = from + i * h;
            const snw_at where = {.x = x, .L = rod->L};
            const snw_vec3 D = {
                {0, snw_expr_value(d->at[0], where), snw_expr_value(d->at[1], where)}};
            const snw_vec3 p = snw_add(at.p, snw_rotate(at.R, D));
            if (i > 0) {
                const snw_vec3 step = snw_sub(p, before);
                *length += snw_norm(step);
                if (d->area) {
                    const snw_at mid = {.x = x - 0.5 * h, .L = rod->L};
                    const snw_twist xi = snw_rod_strain(rod, g->s->q, g->in->t, x - 0.5 * h);
                    // the section half a chord back
                    const snw_mat3 R = snw_mat3_mul(at.R, snw_so3_exp(snw_scale(-0.5 * h, xi.w)));
                    *volume += snw_expr_value(d->area, mid) * snw_rotate_inv(R, step).x;
                }
            }
            before = p;
            const snw_twist xi = snw_rod_strain(rod, g->s->q, g->in->t, fmin(x + 0.5 * h, rod->L));
            at = snw_se3_mul(at, snw_se3_exp(snw_twist_scale(h, xi)));
        }
    }
}

static void lengths_and_volumes_are_those_of_the_shape(void **state) {
    (void)state;
    dice d = {72};
    for (int k = 0; k < 4; k++) {
        setting s;
        setting_random(&s, robot_text, &d);
        snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
        for (int i = 0; i < STRUT; i++) { // all that run along rods
            double coarse[2], fine[2];
            chords(&s.g, i, 600, &coarse[0], &coarse[1]);
            chords(&s.g, i, 1200, &fine[0], &fine[1]);
            const bool tendon = s.g.m->tendon[i].type->is_length;
            const int c = tendon ? 0 : 1;
            const double want = fine[c] + (fine[c] - coarse[c]) / 3; // chords have an error of h^2
            const double value = s.g.w->tendon[i].value;
            const double got = tendon ? s.g.m->tendon[i].reference - value : value;
            if (!(fabs(got - want) <= 1e-8 * want)) fail_msg("%d: %.12g, %.12g", i, got, want);
        }
        setting_close(&s);
    }
}

#define ARM                                                                                        \
    "sinew: 1\n"                                                                                   \
    "materials: {rubber: {young: 0.5 MPa, poisson: 0.5, density: 1000}}\n"                         \
    "robot: {arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 12 mm}}, material: "   \
    "rubber, strain: cosserat legendre 3}}}\n"

// No force belongs to an area that is not differentiable without pressure.
static void areas_without_a_force_are_refused(void **state) {
    (void)state;
    refuses(ARM "actuators: {air: {chamber: {along: arm, area: \"1 mm^2*(1 + sqrt(pressure/(1 "
                "Pa)))\"}, pressure: 1 Pa}}\n",
            "no force belongs to its area");
    refuses(ARM "actuators: {air: {chamber: {along: arm, area: 1 mm^2*(stretch - 1)}, pressure: 1 "
                "Pa}}\n",
            "its area must be positive, got 0 m^2");
    refuses(ARM "actuators: {air: {chamber: {along: arm, area: 1 mm^2/stretch}, volume: 1 cm^3}}\n",
            "no coordinate of its rods changes it");
}

// A tendon on the axis, or chambers in pairs, do not bend the rod.
static void what_is_symmetric_only_stretches(void **state) {
    (void)state;
    outcome o;
    execute_ok(ARM "gravity: 0\n"
                   "actuators:\n"
                   "  cord: {tendon: {along: arm}, effort: 2 N}\n"
                   "study: [static:]\nprobes: {s: {strain: arm@30%}}\n",
               &o);
    const double EA = 0.5e6 * M_PI * 0.012 * 0.012;
    const double want[6] = {0, 0, 0, -2 / EA, 0, 0};
    for (int i = 0; i < 6; i++) assert_near(last(&o, i), want[i], 1e-12);
    snw_series_clear(&o.series);
    execute_ok(
        ARM "gravity: 0\n"
            "actuators:\n"
            "  left: {chamber: {along: arm, at: [0, 6 mm, 0], area: 20e-6 m^2}, effort: 30 kPa}\n"
            "  right: {chamber: {along: arm, at: [0, -6 mm, 0], area: 20e-6 m^2}, effort: 30 "
            "kPa}\n"
            "study: [static:]\nprobes: {s: {strain: arm@30%}}\n",
        &o);
    for (int i = 0; i < 6; i++) assert_near(last(&o, i), i == 3 ? 1.2 / EA : 0, 1e-12);
    snw_series_clear(&o.series);
}

#define UNTIL AMONG("60 ms", "0.4 s")

// A winch with a fixed end and a sealed gas are springs: together with their stored energy the
// energy is constant, also while the tendon is slack part of the time.
static void winch_and_gas_store_energy(void **state) {
    (void)state;
    outcome o;
    // columns: total energy, tension, length, volume
    execute_ok(ARM
               "gravity: 0\ninitial: {arm: {strain: {bend_y: 3}}}\n"
               "actuators:\n"
               "  cord: {tendon: {along: arm, at: [0, 0, 8 mm], extra: 20 mm, compliance: 3e-2 "
               "1/N}, shortening: 0}\n"
               "  air: {chamber: {along: arm, at: [0, 0, -6 mm], area: 30e-6 m^2}, gas: {moles: "
               "4e-4 mol, temperature: 300 K}}\n"
               "study: [dynamic: {for: " UNTIL ", scheme: adaptive, tolerance: 1e-10}]\n"
               "record: {every: 5 ms}\n"
               "probes: {e: energy, pull: {tension: cord}, path: {length: cord}, room: {volume: "
               "air}, p: {pressure: air}}\n",
               &o);
    enum { BALANCE = 6, TOTAL = 7, PULL = 8, PATH, ROOM, PRESSURE };
    const double nRT = 4e-4 * SNW_GAS_CONSTANT * 300, ambient = 101325;
    double first = 0, swing = 0;
    int slack = 0, taut = 0;
    for (int f = 0; f < o.series.nframe; f++) {
        const double T = shown(&o, f, PULL), V = shown(&o, f, ROOM);
        const double stored = 0.5 * 0.32 * 3e-2 * T * T - nRT * log(V) + ambient * V;
        const double all = shown(&o, f, TOTAL) + stored;
        if (f == 0) first = all;
        swing = fmax(swing, fabs(shown(&o, f, TOTAL) - shown(&o, 0, TOTAL)));
        assert_near(all, first, 1e-9);
        assert_near(shown(&o, f, BALANCE), 0, 1e-9);
        assert_near(shown(&o, f, PRESSURE), nRT / V - ambient, 1e-6);
        assert_near(T, fmax(0, ((shown(&o, f, PATH) + 0.02) / 0.32 - 1) / 3e-2), 1e-9);
        slack += T == 0;
        taut += T > 0;
    }
    assert_true(slack + taut > 10 && (AMONG(true, false) || (slack > 10 && taut > 10)));
    assert_true(swing > 1e-3);
    snw_series_clear(&o.series);
}

// Implicit steps converge to the same motion, with order two.
static void implicit_steps_pull_as_explicit_ones(void **state) {
    (void)state;
    static const char *const ways[] = {"scheme: adaptive, tolerance: 1e-9", "step: 2 ms",
                                       "step: 1 ms"};
    double z[3];
    for (int k = 0; k < 3; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            ARM "gravity: [0, 0, -9.81]\n"
                "actuators:\n"
                "  cord: {tendon: {along: arm, at: [0, 3 mm, 8 mm*(1 - x/L)]}, effort: \"1.5 "
                "N*sin(9*t)^2 + 5 N/m*limit(tip.x, 0, 1)\"}\n"
                "  hold: {tendon: {along: arm, at: [0, 0, 8 mm], extra: 20 mm, compliance: 3e-2 "
                "1/N}, shortening: 30 mm + 5 mm*sin(t)}\n"
                "  air: {chamber: {along: arm, at: [0, 0, -6 mm], area: 30e-6 m^2}, gas: {moles: "
                "4e-4 mol + 1e-4 mol*sin(4*t), temperature: 300 K}}\n"
                "study: [static:, dynamic: {for: 0.3 s, %s}]\n"
                "probes: {tip: {position: arm.tip}}\n",
            ways[k]);
        execute_ok(text, &o);
        z[k] = last(&o, 2);
        snw_series_clear(&o.series);
    }
    const double slope = log2(fabs(z[1] - z[0]) / fabs(z[2] - z[0]));
    printf("errors %.2e, %.2e m, slope %.2f\n", z[1] - z[0], z[2] - z[0], slope);
    assert_true(fabs(z[2] - z[0]) < 1e-4);
    assert_true(slope > 1.8 && slope < 2.2);
}

// The tension of a winch, given as an effort, makes the same shape.
static void given_length_and_given_tension_agree(void **state) {
    (void)state;
    static const char form[] =
        ARM "gravity: [0, 0, -9.81]\n"
            "actuators: {cord: {tendon: {along: arm, at: [0, 2 mm, 8 mm], extra: 20 mm, "
            "compliance: 1e-3 1/N}, %s}}\n"
            "study: [static:]\nprobes: {pull: {tension: cord}, tip: {pose: arm.tip}}\n";
    char text[2000], given[100];
    outcome o[2];
    (void)snprintf(text, sizeof text, form, "shortening: 12 mm");
    execute(text, &o[0]);
    if (o[0].status != SNW_OK) fail_msg("%s", o[0].err.text);
    const double tension = last(&o[0], 0);
    assert_true(tension > 0.5);
    (void)snprintf(given, sizeof given, "effort: %.17g N", tension);
    (void)snprintf(text, sizeof text, form, given);
    execute(text, &o[1]);
    if (o[1].status != SNW_OK) fail_msg("%s", o[1].err.text);
    for (int c = 1; c < 8; c++) assert_near(last(&o[1], c), last(&o[0], c), 1e-8);
    for (int k = 0; k < 2; k++) snw_series_clear(&o[k].series);
}

// A chamber full of water: its volume follows the law to rounding under any load, with every
// scheme, and its pressure does the work.
static void a_given_volume_is_kept(void **state) {
    (void)state;
    static const char *const ways[] = {
        "scheme: adaptive, tolerance: 1e-11", "step: 0.5 ms, tolerance: 1e-12",
        "step: 0.25 ms, tolerance: 1e-12", "scheme: bdf2, step: 0.5 ms"};
    enum { X, Y, Z, VOLUME, PRESSURE, BALANCE = 5 + 6 };
    double z[4];
    for (int k = 0; k < 4; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       ARM "gravity: [0, 0, -9.81]\n"
                           "actuators:\n"
                           "  water: {chamber: {along: arm, at: [0, 2 mm, 5 mm*(1 - x/L)], area: "
                           "30e-6 m^2*(1 + x/L)}, volume: 13.5e-6 m^3 + 0.3e-6 m^3*sin(9*t)^2}\n"
                           "  cord: {tendon: {along: arm, at: [0, 0, 8 mm]}, effort: 1 N}\n"
                           "study: [static:, dynamic: {for: 0.1 s, %s}]\n"
                           "record: {every: 10 ms}\n"
                           "probes: {tip: {position: arm.tip}, v: {volume: water}, p: {pressure: "
                           "water}, e: energy}\n",
                       ways[k]);
        execute(text, &o);
        if (o.status != SNW_OK) fail_msg("%s: %s", ways[k], o.err.text);
        for (int f = 0; f < o.series.nframe; f++) {
            const double t = o.series.t[f], want = 13.5e-6 + 0.3e-6 * pow(sin(9 * t), 2);
            assert_near(shown(&o, f, VOLUME), want, k == 0 ? 1e-15 : 1e-14);
            if (k == 0) assert_near(shown(&o, f, BALANCE), 0, 1e-9);
        }
        z[k] = last(&o, Z);
        snw_series_clear(&o.series);
    }
    const double slope = log2(fabs(z[1] - z[0]) / fabs(z[2] - z[0]));
    printf("errors %.2e, %.2e m, slope %.2f; bdf2 %.2e m\n", z[1] - z[0], z[2] - z[0], slope,
           z[3] - z[0]);
    assert_true(slope > 1.8 && slope < 2.2);
    assert_true(fabs(z[3] - z[0]) < 1e-4);
}

// The pressure that a given volume requires, given as an effort, makes that volume; also with a
// loop in the robot.
static void given_volume_and_given_pressure_agree(void **state) {
    (void)state;
    static const char form[] = ARM
        "  # and a hinge that closes a loop\n"
        "gravity: [0, 0, -9.81]\n"
        "loops: {pin: {join: [world, arm.tip], as: spherical, pose: {xyz: [0.29, 0, 0]}}}\n"
        "actuators: {water: {chamber: {along: arm, at: [0, 2 mm, 5 mm], area: 30e-6 m^2}, %s}}\n"
        "study: [static:]\n"
        "probes: {p: {pressure: water}, v: {volume: water}, mid: {position: arm@50%%}}\n";
    char text[2000], given[100];
    outcome o[2];
    (void)snprintf(text, sizeof text, form, "volume: 9.4e-6 m^3");
    execute(text, &o[0]);
    if (o[0].status != SNW_OK) fail_msg("%s", o[0].err.text);
    assert_near(last(&o[0], 1), 9.4e-6, 1e-15);
    (void)snprintf(given, sizeof given, "effort: %.17g Pa", last(&o[0], 0));
    (void)snprintf(text, sizeof text, form, given);
    execute(text, &o[1]);
    if (o[1].status != SNW_OK) fail_msg("%s", o[1].err.text);
    assert_near(last(&o[1], 1), 9.4e-6, 1e-12);
    for (int c = 2; c < 5; c++) assert_near(last(&o[1], c), last(&o[0], c), 1e-7);
    for (int k = 0; k < 2; k++) snw_series_clear(&o[k].series);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(efforts_have_exact_derivatives),
#ifndef SNW_WIDE
        cmocka_unit_test(efforts_work_along_their_coordinates),
#endif
        cmocka_unit_test(given_lengths_and_volumes_are_rows),
        cmocka_unit_test(forces_of_areas_that_vary_have_exact_derivatives),
        cmocka_unit_test(pressure_and_stretch_have_a_potential),
#ifndef SNW_NUMBERS
        cmocka_unit_test(lengths_and_volumes_are_those_of_the_shape),
        cmocka_unit_test(areas_without_a_force_are_refused),
        cmocka_unit_test(what_is_symmetric_only_stretches),
        cmocka_unit_test(winch_and_gas_store_energy),
        cmocka_unit_test(implicit_steps_pull_as_explicit_ones),
        cmocka_unit_test(given_length_and_given_tension_agree),
        cmocka_unit_test(a_given_volume_is_kept),
        cmocka_unit_test(given_volume_and_given_pressure_agree),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
