// SPDX-License-Identifier: MIT
//
// row_rig.h: constraint rows of loops and driven coordinates of a rig, checked against derivatives
// of their violations.
#pragma once

#include "dynamics/constraint.h"
#include "tangent_rig.h"

// C is the derivative of the violations e(q).
static inline void rows_are_slopes(const rig *g) {
    const int nv = g->m->nv, nr = g->m->nconstraint;
    double *x = calloc((size_t)(2 * nv + 2 * nr), sizeof *x), *r = x + nv;
    double *slope = r + nv, *want = slope + nr;
    for (int l = 0; l < nv; l++) {
        rig_direction(g, l, x);
        snw_residual(g->m, g->in, g->s, false, g->w);
        snw_tangent_pass(g->m, NULL, g->w);
        snw_constraints_jacobian(g->m, g->w);
        for (int i = 0; i < nr; i++) slope[i] = 0;
        snw_constraints_apply(g->m, g->w, x, slope);
        difference(g, x, 1, 0, 0, r, want);
        for (int i = 0; i < nr; i++) assert_near(slope[i], want[i], 0.1 * LEFT);
    }
    free(x);
}

// The first and second rates of the rows are derivatives of violations and of first rates along
// q(t) with constant a, time included.
static inline void rows_have_rates(const rig *g) {
    const int nv = g->m->nv, nr = g->m->nconstraint;
    double *rate = calloc((size_t)(6 * nr + nv), sizeof *rate), *bend = rate + nr;
    double *first = bend + nr, *second = first + nr, *then = second + nr, *unused = then + nr;
    double *dx = unused + nr;
    snw_kinematics(g->m, g->in, g->s, false, g->w);
    snw_constraints_rates(g->m, g->in, g->s, g->w, rate, bend);
    for (int n = 0; n < BESIDE; n++) {
        // Along a path with velocity v and acceleration a at t = 0; on a group exp(v t + a t^2/2)
        // is such a path.
        const double t = beside(n);
        snw_state_copy(g->m, g->s, g->moved);
        for (int i = 0; i < nv; i++) {
            dx[i] = t * g->s->v[i] + 0.5 * t * t * g->s->a[i];
            g->moved->v[i] += t * g->s->a[i];
        }
        snw_move(g->m, g->s->q, 1, dx, g->moved->q);
        snw_inputs_at(g->m, g->s->t + t, g->in);
        snw_residual(g->m, g->in, g->moved, false, g->w);
        snw_constraints_rates(g->m, g->in, g->moved, g->w, then, unused);
        for (int i = 0; i < nr; i++) {
            first[i] += slope_of(n, g->w->violation[i]);
            second[i] += slope_of(n, then[i]);
        }
    }
    snw_inputs_at(g->m, g->s->t, g->in);
    for (int i = 0; i < nr; i++) {
        assert_near(rate[i], first[i], LEFT);
        assert_near(bend[i], second[i], LEFT);
    }
    free(rate);
}

// Constraint forces do no work on admissible motions: r(l) - r(0) = -C' l. The friction of rods
// that slide through loops grows with the multipliers.
static inline void rows_pull_along(const rig *g) {
    const int nv = g->m->nv, nr = g->m->nconstraint;
    double *r = calloc((size_t)nv, sizeof *r);
    snw_residual(g->m, g->in, g->s, false, g->w);
    for (int i = 0; i < nv; i++) r[i] = g->w->r[i];
    snw_tangent_pass(g->m, NULL, g->w);
    snw_constraints_jacobian(g->m, g->w);
    snw_constraints_apply_transpose(g->m, g->w, g->s->lambda, r);
    for (int i = 0; i < nr; i++) {
        const snw_constraint row = snw_constraint_at(g->m, g->w, i);
        if (row.slip_dof >= 0) r[row.slip_dof] -= row.slip * g->s->lambda[i];
    }
    for (int i = 0; i < nr; i++) g->s->lambda[i] = 0;
    snw_residual(g->m, g->in, g->s, false, g->w);
    for (int i = 0; i < nv; i++) assert_near(r[i], g->w->r[i], 1e-11);
    free(r);
}

// All of these checks; with wide numbers only the residuals are stored.
static inline void rows_check(const rig *g) {
#ifdef SNW_WIDE
    (void)g;
#else
    rows_are_slopes(g);
    rows_have_rates(g);
    rows_pull_along(g);
#endif
}
