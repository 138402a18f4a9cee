// SPDX-License-Identifier: MIT
//
// Newton's matrix of collocation: blocks of the residual's derivatives at each stage,
// bordered by the nonholonomic constraint rows; its factors and solution. theory.md 6.7
#include "integrate/collocation_step_private.h"

#include "dynamics/constraint.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

static bool collocation_matrix_is_driven(const snw_model *m, const snw_state *s, int dof) {
    for (int k = 0; k < m->ndrive; k++) {
        if (m->drive[k].dof == dof && snw_drive_holds(m, s, k)) return true;
    }
    return false;
}

// Nonholonomic rows of stage i, after the accelerations of all stages: generalised forces of the
// multipliers, and derivatives of the violations, times w->velocity_time, in the accelerations.
// Call after the tangent in q alone, which leaves the rows' derivative in q in R.
static void collocation_matrix_place_rows(snw_collocation_step *g, int i, snw_work *w) {
    const snw_model *m = g->m;
    const size_t n = (size_t)m->nv, all = snw_collocation_step_unknowns(g);
    const double h = g->J_origin.h;
    if (i == 0) {
        const double was = g->constraint_scale;
        g->constraint_scale = 0;
        for (size_t k = 0; k < n; k++) {
            const double x = m->typical[k] / m->length;
            g->constraint_scale = fmax(g->constraint_scale, fabs(g->M[k * (n + 1)]) * x * x);
        }
        for (int k = 0; k < g->k.s * g->ng; k++) g->lambda[k] *= was / g->constraint_scale;
    }
    for (int k = 0; k < g->ng; k++) {
        const snw_constraint row = snw_constraint_at(m, w, g->row[k]);
        const size_t at = snw_collocation_step_accelerations(g) + (size_t)(i * g->ng + k);
        for (size_t r = 0; r < all; r++) g->J[at * all + r] = g->J[r * all + at] = 0;
        if (row.inactive)
            g->J[at * (all + 1)] = -g->constraint_scale; // inactive: its multiplier stays zero
        for (int j = 0; j < row.n; j++) {
            const size_t dof = (size_t)row.dof[j];
            if (collocation_matrix_is_driven(m, g->J_origin.at[i], row.dof[j])) continue;
            g->J[at * all + (size_t)i * n + dof] = -g->constraint_scale * row.C[j];
            for (int c = 0; c < g->k.s; c++) {
                const double d1 = h * g->k.A[i][c] * w->velocity_time * row.C[j] +
                                  h * h * g->k.AA[i][c] * row.R[j];
                g->J[((size_t)c * n + dof) * all + at] = -g->constraint_scale * d1;
            }
        }
    }
}

void snw_collocation_step_place(snw_collocation_step *g, int i, snw_work *w) {
    const snw_model *m = g->m;
    const size_t n = (size_t)m->nv, all = snw_collocation_step_unknowns(g);
    const double h = g->J_origin.h;
    const snw_inputs *in = g->J_origin.in[i];
    w->velocity_time = 1 / h; // for nonholonomic rows
    snw_tangent_pass(
        m, m->nlie_block ? g->chart_jacobian + snw_collocation_step_jacobian_doubles(m, i) : NULL,
        w);
    snw_tangent_assemble(m, in, 0, 0, 1, w, g->M);
    snw_tangent_assemble(m, in, 0, 1, 0, w, g->D);
    snw_tangent_assemble(m, in, 1, 0, 0, w, g->K);
    for (int k = 0; k < m->ndrive; k++) { // driven coordinate: unit row, its increment is zero
        if (!snw_drive_holds(m, g->J_origin.at[i], k)) continue;
        const size_t d = (size_t)m->drive[k].dof;
        for (size_t r = 0; r < n; r++) {
            g->M[r * n + d] = g->M[d * n + r] = r == d;
            g->D[r * n + d] = g->D[d * n + r] = g->K[r * n + d] = g->K[d * n + r] = 0;
        }
    }
    for (int j = 0; j < g->k.s; j++) {
        const double d = h * g->k.A[i][j], k = h * h * g->k.AA[i][j];
        for (size_t c = 0; c < n; c++) {
            double *to = g->J + ((size_t)j * n + c) * all + (size_t)i * n;
            const double *M = g->M + c * n, *D = g->D + c * n, *K = g->K + c * n;
            for (size_t r = 0; r < n; r++) to[r] = (i == j ? M[r] : 0) + d * D[r] + k * K[r];
        }
    }
    if (m->nbranch) snw_collocation_step_place_branches(g, i);
    if (g->ng) collocation_matrix_place_rows(g, i, w);
}

snw_status snw_collocation_step_factor(snw_collocation_step *g) {
    snw_equilibration_take(&g->equilibration, snw_matrix_dense((size_t)g->equilibration.n, g->J),
                           NULL);
    g->condition = NAN;
    return snw_lu_factor((int)snw_collocation_step_unknowns(g), g->J, g->pivot);
}

void snw_collocation_step_correct(snw_collocation_step *g) {
    const snw_model *m = g->m;
    for (int i = 0; i < g->k.s; i++) {
        const double *r = g->w[i]->r;
        double *x = g->dx + i * m->nv;
        for (int k = 0; k < m->nv; k++) x[k] = -r[k];
        for (int f = 0; f < m->nblock; f++) {
            const snw_block *b = &m->block[f];
            if (b->lie_block < 0) continue;
            const double *S = g->chart_jacobian + snw_collocation_step_jacobian_doubles(m, i) +
                              108 * b->lie_block;
            for (int k = 0; k < b->n; k++) {
                x[b->dof + k] = 0;
                for (int j = 0; j < b->n; j++) x[b->dof + k] -= S[6 * j + k] * r[b->dof + j];
            }
        }
    }
    for (int i = 0; i < g->k.s; i++) {
        double *x = g->dx + g->k.s * m->nv + i * g->ng;
        for (int k = 0; k < g->ng; k++) x[k] = g->constraint_scale * g->w[i]->violation[g->row[k]];
    }
    snw_lu_solve((int)snw_collocation_step_unknowns(g), g->J, g->pivot, g->dx);
}

// ---- nonholonomic rows

void snw_collocation_step_nonholonomic(const snw_collocation_step *g, int i, snw_state *s) {
    memset(s->lambda, 0, (size_t)g->m->nconstraint * sizeof *s->lambda);
    for (int k = 0; k < g->ng; k++)
        s->lambda[g->row[k]] = g->constraint_scale * g->lambda[i * g->ng + k];
    for (int k = 0; k < g->m->nnonholonomic; k++) s->dropped[k] = g->end->dropped[k];
    g->w[i]->velocity_time = 1 / g->h;
}

double snw_collocation_step_slip(const snw_collocation_step *g, int i) {
    double largest = 0;
    for (int k = 0; k < g->ng; k++) {
        const double rate = fabs(g->w[i]->violation[g->row[k]]) * g->h / g->m->length;
        largest = snw_larger(largest, rate);
    }
    return largest;
}

void snw_collocation_step_drop_redundant(snw_collocation_step *g, const snw_inputs *in,
                                         snw_state *s) {
    const snw_model *m = g->m;
    for (int k = 0; k < m->nnonholonomic; k++) s->dropped[k] = 0;
    memcpy(s->lambda, g->now->lambda, (size_t)m->nconstraint * sizeof *s->lambda);
    if (g->redundant != 0) (void)snw_redundancy_drop(g->redundancy, in, s);
    for (int k = 0; k < m->nnonholonomic; k++) {
        if (s->dropped[k] != g->J_origin.at[0]->dropped[k]) g->J_origin.known = false;
        g->end->dropped[k] = s->dropped[k];
    }
    if (!g->J_origin.known) g->constraint_scale = 1; // as after a load
    for (int k = 0; k < g->ng; k++) {
        for (int i = 0; i < g->k.s; i++)
            g->lambda[i * g->ng + k] = s->lambda[g->row[k]] / g->constraint_scale;
    }
}
