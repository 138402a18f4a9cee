// SPDX-License-Identifier: MIT
//
// Wheels, rings and anchors, theory.md 3.15: rows of velocities, their derivatives and forces
// against differences at random states; robots on wheels against closed forms.
#include "described.h"
#include "random_rod.h"
#include "row_rig.h"

#include <stdio.h>

// Nonholonomic constraints on a floating tree of bodies and rods; a wheel rolls on inclined ground.
static const char robot_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  hull: {on: world, joint: free, body: {mass: 2, inertia: [0.02, 0.03, 0.04]}}\n"
    "  left: {on: hull, pose: {xyz: [0.1, 0.2, 0]}, joint: spherical, rod: {length: 0.5, section: "
    "{circle: {radius: 20 mm}}, material: rubber, strain: cosserat legendre 2}}\n"
    "  fork: {on: hull, pose: {xyz: [0.1, -0.2, 0], x: y}, joint: revolute, axis: [1, 2, 3]}\n"
    "  disc: {on: fork, pose: {xyz: [0.05, 0, 0]}, joint: revolute, axis: y, body: {mass: 0.3, "
    "inertia: [1e-3, 2e-3, 1e-3]}}\n"
    "  worm: {on: hull, pose: {xyz: [0, 0, 0.1], x: z}, rod: {length: 0.4, section: {circle: "
    "{radius: "
    "20 mm}}, material: rubber, nodes: %d, strain: {bend_z: sin(3*x + t), twist: 2*x*cos(t), "
    "stretch: "
    "0.2*sin(t - 5*x)}}}\n"
    "sites: {eye: {on: left@40%%, pose: {xyz: [0, 0.05, 0.01], x: z}}}\n"
    "actuators:\n"
    "  turn: {joint: fork, position: 0.3*sin(3*t)}\n"
    "contacts:\n"
    "  blade: {wheel: {on: hull, axis: [1, 0.2, 0.1]}}\n"
    "  tyre: {wheel: {on: disc, axis: y, radius: 0.2 m, normal: [0.1, 0.2, 0.9]}}\n"
    "  post: {ring: {on: eye}}\n"
    "  foot: {anchor: {on: left.tip}}\n"
    "  heel: {anchor: {on: eye, turns: freely}}\n"
    "  stand: {anchor: {on: worm@(0.22 + 0.02*sin(t)), turns: across}}\n"
    "  pass: {ring: {on: worm@(0.2 + 0.05*sin(2*t))}}\n"
    "  keep: {anchor: {on: worm@(0.15 + 0.05*cos(t)), holds: place}}\n"
    "  deck: {ring: {on: worm@(0.1 + 0.03*sin(t))}, motion: {xyz: [0.2*sin(t), 0.3*t, 0], rpy: "
    "[0.2*t, 0, 0.5*t]}}\n"
    "  ride: {anchor: {on: worm@(0.25 + 0.03*cos(2*t)), holds: place}, carrier: left.tip}\n"
    "  belt: {wheel: {on: disc, axis: y, radius: 0.15 m}, carrier: left@60%%, motion: {axis: z, "
    "angle: 0.4*t}}\n"
    "  reel: {wheel: {on: worm@(0.3 + 0.02*cos(t)), axis: [1, 2, 0.5], radius: 0.1 m}, motion: "
    "{xyz: [0, 0.2*t, 0], axis: x, angle: 0.3*t}}\n";

typedef struct setting {
    snw_document *doc;
    snw_desc *desc;
    rig g;
} setting;

static void setting_with(setting *s, int nodes, dice *d) {
    snw_error err;
    char text[sizeof robot_text + 8];
    (void)snprintf(text, sizeof text, robot_text, nodes);
    if (describe(text, &s->doc, &s->desc, &err) != SNW_OK) {
        fail_msg("%d:%d %s", err.line, err.column, err.text);
    }
    rig_open(&s->g, s->desc);
    s->g.w->velocity_time = 0.7;
    state_random(s->g.m, d, s->g.s);
    snw_inputs_at(s->g.m, s->g.s->t, s->g.in);
    for (int i = 0; i < s->g.m->nconstraint; i++) s->g.s->lambda[i] = roll(d, -3, 3);
}

static void setting_open(setting *s, dice *d) { setting_with(s, 5, d); }

static void setting_close(setting *s) {
    rig_close(&s->g);
    release(s->doc, s->desc);
}

static void wrenches_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {31};
    for (int k = 0; k < 4; k++) {
        setting s;
        setting_open(&s, &d);
        assert_int_equal(s.g.m->nnonholonomic, 12);
        assert_int_equal(s.g.m->nsliding_station, 6);
        rig_check(&s.g);
        setting_close(&s);
    }
}

// R is the derivative of the velocity rows in q and v, C that of the factors of the velocities.
static void rows_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {32};
    const double part[3][2] = {{1, 0}, {1e-9, 1}, {0.8, 2.5}}; // cq, cv
    for (int k = 0; k < 6; k++) {
        setting s;
        setting_open(&s, &d);
        const rig *g = &s.g;
        const int nv = g->m->nv, nr = g->m->nconstraint;
        const double cq = part[k % 3][0], cv = part[k % 3][1];
        double *x = calloc((size_t)(2 * nv + nr + nv * nv), sizeof *x), *r = x + nv;
        double *want = r + nv, *T = want + nr;
        for (int l = 0; l < nv; l++) {
            rig_direction(g, l, x);
            snw_residual(g->m, g->in, g->s, false, g->w);
            snw_tangent_pass(g->m, NULL, g->w);
            snw_constraints_add_tangent(g->m, cq, cv, g->w, snw_matrix_dense((size_t)nv, T));
            difference(g, x, cq, cv, 0, r, want);
            for (int i = 0; i < g->m->nloop; i++) {
                for (int n = g->m->loop[i].row; n < g->m->loop[i].row + g->m->loop[i].nrow; n++) {
                    const snw_constraint row = snw_constraint_at(g->m, g->w, n);
                    double slope = 0;
                    for (int j = 0; j < row.n; j++) slope += row.R[j] * x[row.dof[j]];
                    assert_near(slope, want[n], LEFT);
                }
            }
        }
        free(x);
        setting_close(&s);
    }
}

// In statics with contacts that hold, the rows are functions of the displacement from the frozen
// state: zero at first, to first order C x, and R is their derivative.
static void displacements_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {35};
    for (int k = 0; k < 4; k++) {
        setting s;
        setting_open(&s, &d);
        const rig *g = &s.g;
        const int nv = g->m->nv, nr = g->m->nconstraint;
        double *x = calloc((size_t)(2 * nv + 2 * nr + nv * nv), sizeof *x), *y = x + nv;
        double *want = y + nv, *slope = want + nr, *T = slope + nr;
        snw_residual(g->m, g->in, g->s, true, g->w);
        snw_contacts_freeze(g->m, g->w);
        snw_residual(g->m, g->in, g->s, true, g->w);
        for (int i = 0; i < g->m->nloop; i++) {
            for (int r = 0; r < g->m->loop[i].nrow; r++) {
                assert_near(g->w->violation[g->m->loop[i].row + r], 0, 1e-13);
            }
        }
        for (int i = 0; i < nv; i++) y[i] = roll(&d, -0.4, 0.4) * (k > 0);
        snw_move(g->m, g->s->q, 1, y, g->s->q);
        for (int l = 0; l < nv; l++) {
            rig_direction(g, l, x);
            snw_residual(g->m, g->in, g->s, true, g->w);
            snw_tangent_pass(g->m, NULL, g->w);
            snw_constraints_add_tangent(g->m, 1, 0, g->w, snw_matrix_dense((size_t)nv, T));
            for (int n = 0; n < nr; n++) {
                const snw_constraint row = snw_constraint_at(g->m, g->w, n);
                slope[n] = want[n] = 0;
                for (int j = 0; j < row.n; j++) {
                    slope[n] += row.R[j] * x[row.dof[j]];
                    if (k == 0) assert_near(row.R[j], row.C[j], 1e-12);
                }
            }
            for (int n = 0; n < BESIDE; n++) {
                snw_state_copy(g->m, g->s, g->moved);
                snw_move(g->m, g->s->q, beside(n), x, g->moved->q);
                snw_residual(g->m, g->in, g->moved, true, g->w);
                for (int i = 0; i < nr; i++) want[i] += slope_of(n, g->w->violation[i]);
            }
            for (int i = 0; i < nr; i++) assert_near(slope[i], want[i], LEFT);
        }
        free(x);
        setting_close(&s);
    }
}

// Rows are C v; `bend` is their derivative in time. At a sliding station the rate along the rod is
// that of the rod itself, not that of its slice by the Magnus rule of order 4: their difference is
// of fourth order in the slice's length.
static void check_rates(int nodes) {
    dice d = {33};
    for (int k = 0; k < 4; k++) {
        setting s;
        setting_with(&s, nodes, &d);
        const rig *g = &s.g;
        const int nv = g->m->nv, nr = g->m->nconstraint;
        double *rate = calloc((size_t)(4 * nr + nv), sizeof *rate), *bend = rate + nr;
        double *first = bend + nr, *product = first + nr, *dx = product + nr;
        snw_residual(g->m, g->in, g->s, false, g->w);
        snw_constraints_rates(g->m, g->in, g->s, g->w, rate, bend);
        snw_tangent_pass(g->m, NULL, g->w);
        snw_constraints_jacobian(g->m, g->w);
        snw_constraints_apply(g->m, g->w, g->s->v, product);
        for (int i = 0; i < g->m->nloop; i++) {
            const snw_loop *loop = &g->m->loop[i];
            for (int r = loop->row; r < loop->row + loop->nrow; r++) {
                // with driven strains, sliding stations and carriers that move by a law, the rates
                // contain more than the velocities of coordinates
                const bool moves = snw_pose_desc_vars(&g->m->desc->loop[i].pose) != 0;
                if (!loop->sliding_station && !moves) assert_near(product[r], rate[r], 1e-12);
                assert_near(g->w->violation[r], g->w->velocity_time * rate[r], 1e-12);
            }
        }
        for (int n = 0; n < BESIDE; n++) {
            // exp(v t + a t^2/2) has the velocity v + a t up to terms of second order in t
            const double t = beside(n);
            for (int i = 0; i < nv; i++) dx[i] = t * g->s->v[i] + 0.5 * t * t * g->s->a[i];
            snw_state_copy(g->m, g->s, g->moved);
            snw_move(g->m, g->s->q, 1, dx, g->moved->q);
            for (int i = 0; i < nv; i++) g->moved->v[i] += t * g->s->a[i];
            snw_inputs_at(g->m, g->s->t + t, g->in);
            snw_residual(g->m, g->in, g->moved, false, g->w);
            for (int i = 0; i < nr; i++) first[i] += slope_of(n, g->w->violation[i]);
        }
        for (int i = 0; i < g->m->nloop; i++) {
            const snw_loop *loop = &g->m->loop[i];
            for (int r = loop->row; r < loop->row + loop->nrow; r++) {
                const double want = first[r] / g->w->velocity_time;
                const double slice = loop->sliding_station
                                         ? g->w->sliding_station[loop->sliding_station - 1].length
                                         : 0;
                // besides the error of the slice that of the slopes: complex steps, or differences
                const double least = fmax(5e-12, 0.1 * LEFT);
                const double apart = loop->sliding_station ? 0.05 * pow(slice, 4) + least : LEFT;
                assert_near(bend[r], want, apart);
            }
        }
        free(rate);
        setting_close(&s);
    }
}

static void rates_are_derivatives_in_time(void **state) {
    (void)state;
    for (int nodes = 5; nodes <= 80; nodes *= 2) check_rates(nodes);
}

static void multipliers_pull_along_rows(void **state) {
    (void)state;
    dice d = {34};
    setting s;
    setting_open(&s, &d);
    rows_pull_along(&s.g);
    setting_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrenches_have_exact_derivatives),
#ifndef SNW_WIDE
        cmocka_unit_test(rows_have_exact_derivatives),
        cmocka_unit_test(displacements_have_exact_derivatives),
        cmocka_unit_test(rates_are_derivatives_in_time),
        cmocka_unit_test(multipliers_pull_along_rows),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
