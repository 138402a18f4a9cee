// SPDX-License-Identifier: MIT
//
// Closures and driven coordinates: rows, their derivatives, and the forces they make, on open loops of all joints at
// random states.
#include "described.h"
#include "random_rod.h"
#include "tangent_rig.h"

#include "dynamics/loop.h"

#include <stdio.h>

// two branches from a floating root and one from the ground, joined in many ways
static const char robot_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  hull: {on: world, joint: free, body: {mass: 2, inertia: [0.02, 0.03, 0.04]}}\n"
    "  left: {on: hull, pose: {xyz: [0.1, 0.2, 0]}, joint: spherical, rod: {length: 0.5, section: "
    "{circle: {radius: 20 mm}}, material: rubber, strain: cosserat legendre 2}}\n"
    "  right: {on: hull, pose: {xyz: [0.1, -0.2, 0], x: y}, joint: revolute, axis: [1, 2, 3], rod: "
    "{length: 0.4, section: {circle: {radius: 20 mm}}, material: rubber, strain: kirchhoff "
    "legendre 2}}\n"
    "  mast: {on: world, pose: {xyz: [0.3, 0, 0.4]}, joint: universal, rod: {length: 0.3, section: "
    "{circle: {radius: 20 mm}}, material: rubber, strain: {bend_y: legendre 2, twist: legendre "
    "1}}}\n"
    "  hand: {on: right, pose: {xyz: [0.05, 0, 0]}, joint: prismatic, body: {mass: 0.3, inertia: "
    "[1e-3, 2e-3, 3e-3]}}\n"
    "sites: {eye: {on: left@40%%, pose: {xyz: [0, 0.05, 0.01], x: z}}}\n"
    "loops:\n"
    "  one: {join: [left.tip, hand], as: %s%s, pose: {xyz: [0.02, 0.1*sin(2*t), 0], axis: [1, 1, "
    "0], "
    "angle: 0.3 + t}}\n"
    "  two: {join: [eye, mast.tip], as: %s}\n"
    "  ground: {join: [world, right@60%%], as: spherical, pose: {xyz: [0.2*t, 0.1, 0]}}\n"
    "actuators:\n"
    "  turn: {joint: right, position: 0.3*sin(3*t)}\n"
    "  lean: {joint: mast, position: [free, t + 0.2*t^3]}\n"
    "  push: {joint: hand, rate: 0.2 m/s}\n"
    "  shape: {rod: mast, position: [cos(t), 0.1*t^2, free]}\n";

static const char *const joints[] = {"fixed",     "revolute",  "prismatic", "cylindrical",
                                     "universal", "spherical", "planar"};
enum { NJOINT = 7 };

typedef struct setting {
    snw_document *doc;
    snw_desc *desc;
    rig g;
} setting;

static void setting_open(setting *s, int k, dice *d) {
    char text[4000];
    snw_error err;
    const bool axis = k != 0 && k != 5;
    (void)snprintf(text, sizeof text, robot_text, joints[k], axis ? ", axis: [2, -1, 1]" : "",
                   joints[(k + 3) % NJOINT]);
    if (describe(text, &s->doc, &s->desc, &err) != SNW_OK) {
        fail_msg("%d:%d %s", err.line, err.column, err.text);
    }
    rig_open(&s->g, s->desc);
    state_random(s->g.m, d, s->g.s);
    snw_inputs_at(s->g.m, s->g.s->t, s->g.in);
    for (int i = 0; i < s->g.m->nrow; i++) s->g.s->l[i] = roll(d, -3, 3);
}

static void setting_close(setting *s) {
    rig_close(&s->g);
    release(s->doc, s->desc);
}

static void wrenches_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {17};
    for (int k = 0; k < NJOINT; k++) {
        setting s;
        setting_open(&s, k, &d);
        rig_check(&s.g);
        setting_close(&s);
    }
}

// C is the derivative of the gaps
static void rows_are_slopes_of_gaps(void **state) {
    (void)state;
    dice d = {18};
    for (int k = 0; k < NJOINT; k++) {
        setting s;
        setting_open(&s, k, &d);
        const rig *g = &s.g;
        const int nv = g->m->nv, nr = g->m->nrow;
        double *x = calloc((size_t)(2 * nv + 2 * nr), sizeof *x), *r = x + nv;
        double *slope = r + nv, *want = slope + nr;
        for (int l = 0; l < g->m->nv; l++) {
            rig_direction(g, l, x);
            snw_residual(g->m, g->in, g->s, false, g->w);
            snw_tangent_sweep(g->m, NULL, g->w);
            snw_rows_columns(g->m, 1, g->w, NULL);
            for (int i = 0; i < nr; i++) slope[i] = 0;
            snw_rows_push(g->m, g->w, x, slope);
            difference(g, x, 1, 0, 0, r, want);
            for (int i = 0; i < nr; i++) assert_near(slope[i], want[i], 0.1 * LEFT);
        }
        free(x);
        setting_close(&s);
    }
}

// first and second rates of the rows are slopes of gaps and of first rates along q(t) with constant a, time included
static void rates_are_derivatives_in_time(void **state) {
    (void)state;
    dice d = {19};
    for (int k = 0; k < NJOINT; k++) {
        setting s;
        setting_open(&s, k, &d);
        const rig *g = &s.g;
        const int nv = g->m->nv, nr = g->m->nrow;
        double *rate = calloc((size_t)(6 * nr + nv), sizeof *rate), *bend = rate + nr;
        double *first = bend + nr, *second = first + nr, *dx = second + nr;
        double *then = dx + nv, *unused = then + nr;
        snw_kinematics(g->m, g->in, g->s, false, g->w);
        snw_rows_rates(g->m, g->in, g->s, g->w, rate, bend);
        for (int n = 0; n < BESIDE; n++) {
            // along a path with velocity v and acceleration a: on a group exp(v t + a t^2/2) has them at t = 0
            const double t = beside(n);
            snw_state_copy(g->m, g->s, g->moved);
            for (int i = 0; i < nv; i++) {
                dx[i] = t * g->s->v[i] + 0.5 * t * t * g->s->a[i];
                g->moved->v[i] += t * g->s->a[i];
            }
            snw_move(g->m, g->s->q, 1, dx, g->moved->q);
            snw_inputs_at(g->m, g->s->t + t, g->in);
            snw_residual(g->m, g->in, g->moved, false, g->w);
            snw_rows_rates(g->m, g->in, g->moved, g->w, then, unused);
            for (int i = 0; i < nr; i++) {
                first[i] += slope_of(n, g->w->gap[i]);
                second[i] += slope_of(n, then[i]);
            }
        }
        for (int i = 0; i < nr; i++) {
            assert_near(rate[i], first[i], LEFT);
            assert_near(bend[i], second[i], LEFT);
        }
        free(rate);
        setting_close(&s);
    }
}

// the forces of rows do no work on motions they allow: r(l) - r(0) = -C' l
static void multipliers_pull_along_rows(void **state) {
    (void)state;
    dice d = {20};
    for (int k = 0; k < NJOINT; k++) {
        setting s;
        setting_open(&s, k, &d);
        const rig *g = &s.g;
        const int nv = g->m->nv, nr = g->m->nrow;
        double *r = calloc((size_t)nv, sizeof *r);
        snw_residual(g->m, g->in, g->s, false, g->w);
        for (int i = 0; i < nv; i++) r[i] = g->w->r[i];
        snw_tangent_sweep(g->m, NULL, g->w);
        snw_rows_columns(g->m, 1, g->w, NULL);
        snw_rows_pull(g->m, g->w, g->s->l, r);
        for (int i = 0; i < nr; i++) g->s->l[i] = 0;
        snw_residual(g->m, g->in, g->s, false, g->w);
        for (int i = 0; i < nv; i++) assert_near(r[i], g->w->r[i], 1e-11);
        free(r);
        setting_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrenches_have_exact_derivatives),
#ifndef SNW_WIDE
        cmocka_unit_test(rows_are_slopes_of_gaps),
        cmocka_unit_test(rates_are_derivatives_in_time),
        cmocka_unit_test(multipliers_pull_along_rows),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
