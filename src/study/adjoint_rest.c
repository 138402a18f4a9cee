// SPDX-License-Identifier: MIT
//
// Equilibria with hard contacts, theory.md (7.5.32): with the contacts that touch held as they are,
//
//     r(q, lambda) - G'P = 0,   e(q) = 0,   g(q) = 0,   P_t = 0
//
// for the unknowns d (of the configuration), lambda and P, in the order of the first block of a
// step with hard contacts (adjoint_hard.c), whose solution serves here, too.
#include "study/adjoint_hard_private.h"

#include "base/fail.h"
#include "dynamics/constraint.h"
#include "math/vector.h"

#include <string.h>

// rows (nv + nconstraint), gap (hard->n) <- residual, rows and gaps by a model at the state of the
// map, with its forces. `holds`: contacts along pieces of rods touch at the places of the map or
// nearby; else these are kept.
static void rest_rows(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w,
                      adjoint_hard *x, const snw_map *map, bool holds, double *rows, double *gap) {
    const snw_hard_step *r = map->hard;
    const hard_evaluation e = {.m = m, .x = x, .map = map};
    double *place = hard_places(x, m, END);
    w->span_held = holds ? place : NULL;
    hard_give_forces(&e, r, 0, w);
    snw_residual(m, in, s, true, w);
    hard_give_forces(&e, NULL, 0, w);
    memcpy(rows, w->r, (size_t)m->nv * sizeof *rows);
    if (m->nconstraint) memcpy(rows + m->nv, w->violation, (size_t)m->nconstraint * sizeof *rows);
    for (int i = 0; i < r->n; i++) {
        snw_hard_contact at = r->contact[i].at;
        gap[i] = snw_hard_gap(m, w, &at);
    }
    for (int k = 0; k < m->ncontact_point && !holds; k++) place[k] = w->contact_point[k].place;
    w->span_held = NULL;
}

// J <- derivatives of the equations by d, lambda and P
static void find_matrix(snw_adjoint *a, const snw_map *map, const snw_state *s) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const hard_layout *l = &x->l;
    const int nv = m->nv;
    const hard_evaluation e = {.m = m, .x = x, .map = map};
    snw_work *w = a->clock.w;
    a->half = 0;
    hard_give_forces(&e, map->hard, 0, a->w);
    adjoint_tangents(a, map->t_laws, s, true);
    hard_give_forces(&e, NULL, 0, a->w);
    memset(x->J, 0, (size_t)l->n * (size_t)l->n * sizeof *x->J);
    for (int k = 0; k < nv; k++)
        memcpy(hard_entry(x, x->J, l->d, k), a->K + (size_t)nv * (size_t)k,
               (size_t)nv * sizeof *x->J);
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, a->w, k);
        const double *C = a->C + (size_t)nv * (size_t)k;
        for (int i = 0; i < nv; i++) {
            *hard_entry(x, x->J, l->d + i, l->lambda + k) -= C[i];
            *hard_entry(x, x->J, l->lambda + k, l->d + i) += C[i];
        }
        if (c.slip_dof >= 0) *hard_entry(x, x->J, l->d + c.slip_dof, l->lambda + k) += c.slip;
        if (c.inactive) *hard_entry(x, x->J, l->lambda + k, l->lambda + k) += 1;
    }
    snw_kinematics(m, a->in, s, false, w);
    snw_jacobian_pass(m, w);
    for (int i = 0; i < map->hard->n; i++) {
        const int P = l->P + 3 * i;
        (void)hard_place_contact(m, w, &map->hard->contact[i].at, NULL, x->G);
        const double slope = snw_hard_gradient(w, &map->hard->contact[i].at);
        for (int k = 0; k < nv; k++) {
            for (int j = 0; j < 3; j++) *hard_entry(x, x->J, l->d + k, P + j) -= x->G[j * nv + k];
            *hard_entry(x, x->J, P, l->d + k) += slope * x->G[k];
        }
        for (int j = 1; j < 3; j++) *hard_entry(x, x->J, P + j, P + j) += 1;
    }
}

snw_status adjoint_rest_prepare(snw_adjoint *a, const snw_map *map, snw_error *err) {
    SNW_TRY(adjoint_hard_begin(a, map, err));
    const snw_state s = adjoint_map_state(map);
    find_matrix(a, map, &s);
    rest_rows(a->m, a->in, &s, a->clock.w, a->hard, map, false, a->hard->base,
              a->hard->base + a->hard->l.P);
    if (hard_factor(a->hard, map)) return SNW_OK;
    return snw_fail(err, SNW_E_SINGULAR,
                    "there is no derivative at t = %g s: the matrix of the equilibrium is singular",
                    map->s.t);
}

snw_status adjoint_rest_back(snw_adjoint *a, const snw_map *map, snw_error *err) {
    const snw_model *m = a->m;
    SNW_TRY(adjoint_rest_prepare(a, map, err));
    adjoint_hard *x = a->hard;
    const hard_layout *l = &x->l;
    SNW_TRY(adjoint_hard_refuse_redundant(a, map, err));
    for (int i = 0; i < a->nscalar; i++) {
        const snw_bars *b = &a->bars[i];
        double *mu = x->mu + (size_t)i * (size_t)l->n;
        adjoint_branch_begin(a, map, i);
        memset(mu, 0, (size_t)l->n * sizeof *mu);
        memcpy(mu + l->d, b->place, (size_t)m->nv * sizeof *mu);
        for (int k = 0; k < m->nconstraint; k++) mu[l->lambda + k] = b->lambda[k];
        (void)adjoint_hard_take_forces(a, map, i, mu);
        hard_solve_transposed(x, mu);
        memcpy(a->covectors[i].mu, mu + l->d, (size_t)m->nv * sizeof *mu);
        for (int k = 0; k < m->nconstraint; k++) a->covectors[i].nu[k] = -mu[l->lambda + k];
        adjoint_memory_back(a, map, i);
        adjoint_branch_back(a, map, i);
        memset(b->place, 0, (size_t)(b->z - b->place) * sizeof *b->place);
    }
    return SNW_OK;
}

void adjoint_rest_equations(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *rows,
                            double *gap) {
    rest_rows(x->m, x->in, x->s, x->w, a->hard, map, true, rows, gap);
}

void adjoint_rest_sample(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *value) {
    const hard_layout *l = &a->hard->l;
    double *rows = a->hard->sample, *gap = rows + l->P;
    adjoint_rest_equations(x, a, map, rows, gap);
    for (int k = 0; k < a->nscalar; k++) {
        const double *mu = a->hard->mu + (size_t)k * (size_t)l->n;
        value[k] = snw_vector_dot(l->P, mu, rows);
        for (int i = 0; i < map->hard->n; i++) value[k] += mu[l->P + 3 * i] * gap[i];
    }
}

void adjoint_rest_solve(snw_adjoint *a, const snw_map *map, int variable, const double *by,
                        double *x) {
    adjoint_hard *h = a->hard;
    const hard_layout *l = &h->l;
    double *d = h->x;
    memset(d, 0, (size_t)l->n * sizeof *d);
    for (int i = 0; i < l->lambda; i++) d[i] = x[i];
    for (int i = l->lambda; i < l->P; i++) d[i] = -by[i];
    for (int i = 0; i < map->hard->n; i++)
        d[l->P + 3 * i] = -by[snw_sensitivity_size(a, map) - map->hard->n + i];
    hard_solve(h, d);
    adjoint_hard_keep_forces(a, map, variable, 0);
    memcpy(x, d, (size_t)l->P * sizeof *x);
}
