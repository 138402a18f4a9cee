// SPDX-License-Identifier: MIT
//
// Closures and driven coordinates: rows, their derivatives against differences, and the generalised
// forces of their multipliers, on open loops of all joints at random states.
#include "described.h"
#include "random_rod.h"
#include "row_rig.h"

#include <stdio.h>

// Two branches from a floating root and one from the ground, joined in many ways; a rod slides
// through one of the loops.
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
    "  cane: {on: mast, joint: revolute, axis: [1, 0, 2], rod: {length: 0.6, section: {circle: "
    "{radius: 20 mm}}, material: rubber, strain: cosserat legendre 2}, body: {mass: 0.2}}\n"
    "sites: {eye: {on: left@40%%, pose: {xyz: [0, 0.05, 0.01], x: z}}}\n"
    "loops:\n"
    "  one: {join: [left.tip, hand], as: %s%s, pose: {xyz: [0.02, 0.1*sin(2*t), 0], axis: [1, 1, "
    "0], "
    "angle: 0.3 + t}}\n"
    "  two: {join: [eye, mast.tip], as: %s}\n"
    "  ground: {join: [world, right@60%%], as: spherical, pose: {xyz: [0.2*t, 0.1, 0]}}\n"
    "  ring: {join: [hand, cane@70%%], as: %s, slides: on, friction: 0.4, creep: 0.3, axis: [1, "
    "1, 0], pose: {xyz: [0.1*t, 0, 0.1], axis: [1, 2, 0], angle: t}}\n"
    "actuators:\n"
    "  turn: {joint: right, position: 0.3*sin(3*t)}\n"
    "  lean: {joint: mast, position: [free, t + 0.2*t^3]}\n"
    "  push: {joint: hand, rate: 0.2 m/s}\n"
    "  shape: {rod: mast, position: [cos(t), 0.1*t^2, free]}\n";

static const char *const joints[] = {"fixed",       "revolute",  "prismatic",
                                     "cylindrical", "universal", "spherical",
                                     "planar",      "pin_slot",  "screw, pitch: -0.7"};
enum { NJOINT = 9 };

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
                   joints[(k + 3) % NJOINT], k % 2 ? "revolute" : "universal");
    if (describe(text, &s->doc, &s->desc, &err) != SNW_OK) {
        fail_msg("%d:%d %s", err.line, err.column, err.text);
    }
    rig_open(&s->g, s->desc);
    state_random(s->g.m, d, s->g.s);
    for (int r = 0; r < s->g.m->nrod; r++) { // free lengths of the rod that slides
        const snw_rod *rod = &s->g.m->rod[r];
        if (rod->feed >= 0) s->g.s->q[rod->feed_q] = rod->L * roll(d, 0.6, 1.7);
    }
    snw_inputs_at(s->g.m, s->g.s->t, s->g.in);
    for (int i = 0; i < s->g.m->nconstraint; i++) s->g.s->lambda[i] = roll(d, -3, 3);
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

// Apply each of the checks to every joint.
static void on_every_joint(uint64_t seed, void (*check)(const rig *)) {
    dice d = {seed};
    for (int k = 0; k < NJOINT; k++) {
        setting s;
        setting_open(&s, k, &d);
        check(&s.g);
        setting_close(&s);
    }
}

static void rows_are_derivatives_of_violations(void **state) {
    (void)state;
    on_every_joint(18, rows_are_slopes);
}

static void rates_are_derivatives_in_time(void **state) {
    (void)state;
    on_every_joint(19, rows_have_rates);
}

static void multipliers_pull_along_rows(void **state) {
    (void)state;
    on_every_joint(20, rows_pull_along);
}

// The columns of the bordered matrix: derivatives of the residual by the multipliers.
static void columns_are_derivatives_by_multipliers(const rig *g) {
    const int nv = g->m->nv, nr = g->m->nconstraint;
    double *want = calloc((size_t)nv, sizeof *want), *got = calloc((size_t)nv, sizeof *got);
    for (int i = 0; i < nr; i++) {
        const double lambda = g->s->lambda[i];
        snw_residual(g->m, g->in, g->s, false, g->w);
        snw_tangent_pass(g->m, NULL, g->w);
        snw_constraints_jacobian(g->m, g->w);
        const snw_constraint row = snw_constraint_at(g->m, g->w, i);
        for (int j = 0; j < nv; j++) want[j] = got[j] = 0;
        for (int j = 0; j < row.n; j++) want[row.dof[j]] -= row.C[j];
        if (row.slip_dof >= 0) want[row.slip_dof] += row.slip;
        for (int k = 0; k < BESIDE; k++) {
            g->s->lambda[i] = lambda + beside(k);
            snw_residual(g->m, g->in, g->s, false, g->w);
            for (int j = 0; j < nv; j++) got[j] += slope_of(k, g->w->r[j]);
        }
        g->s->lambda[i] = lambda;
        for (int j = 0; j < nv; j++) assert_near(got[j], want[j], LEFT * (1 + fabs(want[j])));
    }
    free(want);
    free(got);
}

static void multipliers_have_exact_columns(void **state) {
    (void)state;
    on_every_joint(21, columns_are_derivatives_by_multipliers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrenches_have_exact_derivatives),
#ifndef SNW_WIDE
        cmocka_unit_test(rows_are_derivatives_of_violations),
        cmocka_unit_test(rates_are_derivatives_in_time),
        cmocka_unit_test(multipliers_pull_along_rows),
        cmocka_unit_test(multipliers_have_exact_columns),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
