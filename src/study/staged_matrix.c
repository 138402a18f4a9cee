// SPDX-License-Identifier: MIT
//
// Newton's matrix of a staged motion, and its rows of contacts.
#include "study/staged_private.h"

#include "dynamics/loop.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

static bool held(const snw_model *m, const snw_state *s, int dof) {
    for (int k = 0; k < m->ndrive; k++) {
        if (m->drive[k].dof == dof && snw_drive_holds(m, s, k)) return true;
    }
    return false;
}

// Rows of contacts of stage i, behind the accelerations of all stages: what multipliers exert, and how the rates of the rows, w->pace times, vary with
// accelerations. After the tangent in q alone, which leaves the derivative in q in R.
static void place_rows(snw_staged *g, int i, snw_work *w) {
    const snw_model *m = g->m;
    const size_t n = (size_t)m->nv, all = snw_staged_unknowns(g);
    const double h = g->of_J.h;
    if (i == 0) {
        const double was = g->bond;
        g->bond = 0;
        for (size_t k = 0; k < n; k++) {
            const double x = m->typical[k] / m->length;
            g->bond = fmax(g->bond, fabs(g->M[k * (n + 1)]) * x * x);
        }
        for (int k = 0; k < g->k.s * g->ng; k++) g->l[k] *= was / g->bond;
    }
    for (int k = 0; k < g->ng; k++) {
        const snw_row row = snw_row_at(m, w, g->row[k]);
        const size_t at = snw_staged_accelerations(g) + (size_t)(i * g->ng + k);
        for (size_t r = 0; r < all; r++) g->J[at * all + r] = g->J[r * all + at] = 0;
        if (row.off) g->J[at * (all + 1)] = -g->bond; // its multiplier stays zero
        for (int j = 0; j < row.n; j++) {
            const size_t dof = (size_t)row.dof[j];
            if (held(m, g->of_J.at[i], row.dof[j])) continue;
            g->J[at * all + (size_t)i * n + dof] = -g->bond * row.C[j];
            for (int c = 0; c < g->k.s; c++) {
                const double slope =
                    h * g->k.A[i][c] * w->pace * row.C[j] + h * h * g->k.AA[i][c] * row.R[j];
                g->J[((size_t)c * n + dof) * all + at] = -g->bond * slope;
            }
        }
    }
}

void snw_staged_place(snw_staged *g, int i, snw_work *w) {
    const snw_model *m = g->m;
    const size_t n = (size_t)m->nv, all = snw_staged_unknowns(g);
    const double h = g->of_J.h;
    const snw_inputs *in = g->of_J.in[i];
    w->pace = 1 / h; // of rows of contacts
    snw_tangent_sweep(m, m->ncurved ? g->columns + snw_staged_columns(m, i) : NULL, w);
    snw_tangent_assemble(m, in, 0, 0, 1, w, g->M);
    snw_tangent_assemble(m, in, 0, 1, 0, w, g->D);
    snw_tangent_assemble(m, in, 1, 0, 0, w, g->K);
    for (int k = 0; k < m->ndrive; k++) { // a row of its own, which asks for no change
        if (!snw_drive_holds(m, g->of_J.at[i], k)) continue;
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
    if (g->ng) place_rows(g, i, w);
}

snw_status snw_staged_factor(snw_staged *g) {
    snw_gauge_take(&g->gauge, g->J, NULL);
    g->condition = NAN;
    return snw_lu_factor((int)snw_staged_unknowns(g), g->J, g->pivot);
}

void snw_staged_correct(snw_staged *g) {
    const snw_model *m = g->m;
    for (int i = 0; i < g->k.s; i++) {
        const double *r = g->w[i]->r;
        double *x = g->dx + i * m->nv;
        for (int k = 0; k < m->nv; k++) x[k] = -r[k];
        for (int f = 0; f < m->nblock; f++) {
            const snw_block *b = &m->block[f];
            if (b->curved < 0) continue;
            const double *S = g->columns + snw_staged_columns(m, i) + 108 * b->curved;
            for (int k = 0; k < b->n; k++) {
                x[b->dof + k] = 0;
                for (int j = 0; j < b->n; j++) x[b->dof + k] -= S[6 * j + k] * r[b->dof + j];
            }
        }
    }
    for (int i = 0; i < g->k.s; i++) {
        double *x = g->dx + g->k.s * m->nv + i * g->ng;
        for (int k = 0; k < g->ng; k++) x[k] = g->bond * g->w[i]->gap[g->row[k]];
    }
    snw_lu_solve((int)snw_staged_unknowns(g), g->J, g->pivot, g->dx);
}

// ---- contacts --------------------------------------------------------------------------------------

void snw_staged_grip(const snw_staged *g, int i, snw_state *s) {
    memset(s->l, 0, (size_t)g->m->nrow * sizeof *s->l);
    for (int k = 0; k < g->ng; k++) s->l[g->row[k]] = g->bond * g->l[i * g->ng + k];
    for (int k = 0; k < g->m->ngrip; k++) s->rest[k] = g->end->rest[k];
    g->w[i]->pace = 1 / g->h;
}

double snw_staged_slip(const snw_staged *g, int i) {
    double largest = 0;
    for (int k = 0; k < g->ng; k++) {
        const double rate = fabs(g->w[i]->gap[g->row[k]]) * g->h / g->m->length;
        if (!(rate <= largest)) largest = rate;
    }
    return largest;
}

void snw_staged_let_rest(snw_staged *g, const snw_inputs *in, snw_state *s) {
    const snw_model *m = g->m;
    for (int k = 0; k < m->ngrip; k++) s->rest[k] = 0;
    memcpy(s->l, g->now->l, (size_t)m->nrow * sizeof *s->l);
    if (g->shares != 0) (void)snw_share_choose(g->share, in, s);
    for (int k = 0; k < m->ngrip; k++) {
        if (s->rest[k] != g->of_J.at[0]->rest[k]) g->of_J.known = false;
        g->end->rest[k] = s->rest[k];
    }
    if (!g->of_J.known) g->bond = 1; // as after a load
    for (int k = 0; k < g->ng; k++) {
        for (int i = 0; i < g->k.s; i++) g->l[i * g->ng + k] = s->l[g->row[k]] / g->bond;
    }
}
