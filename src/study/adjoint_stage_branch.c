// SPDX-License-Identifier: MIT
//
// Maxwell branches at the stages of collocation, theory.md (7.5.35): a' = (q - a)/tau there gives
//
//     a_i = a_0 + sum_l E_il (q_l - a_0),   E = (h/tau) A (1 + (h/tau) A)^-1,   q_l = q_0 + c_l h
//     v_0
//     + h^2 sum_j AA_lj X_j
//
// with the weights b in place of a row of A at the end of the step. The strains are functions of
// the unknowns X, whose equations have the forces K a_i.
#include "study/adjoint_private.h"

#include "dynamics/relaxation.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

typedef struct stage_weights {
    double E[SNW_STAGES + 1][SNW_STAGES]; // the end last
} stage_weights;

// Weights of a branch with the time tau in a step of length h; NaN: none.
static stage_weights weights_of(const snw_collocation *c, double h, double tau) {
    stage_weights out;
    double B[SNW_STAGES * SNW_STAGES], x[SNW_STAGES];
    int pivot[SNW_STAGES];
    const int s = c->s;
    for (int j = 0; j < s; j++) {
        for (int i = 0; i < s; i++) B[j * s + i] = (i == j) + h / tau * c->A[i][j];
    }
    const bool known = snw_lu_factor(s, B, pivot) == SNW_OK;
    for (int l = 0; l < s; l++) {
        for (int i = 0; i < s; i++) x[i] = i == l;
        if (known) snw_lu_solve(s, B, pivot, x);
        for (int i = 0; i <= s; i++) {
            out.E[i][l] = known ? 0 : NAN;
            for (int k = 0; k < s; k++) out.E[i][l] += h / tau * (i < s ? c->A[i] : c->b)[k] * x[k];
        }
    }
    return out;
}

// The same by the length, by differences of order 6.
static stage_weights weights_by_length(const snw_collocation *c, double h, double tau) {
    stage_weights out = {{{0}}};
    const double step = 1e-3 * h;
    for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
        if (j == 0) continue;
        const double w = (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / step;
        const stage_weights x = weights_of(c, h + j * step, tau);
        for (int i = 0; i <= c->s; i++) {
            for (int l = 0; l < c->s; l++) out.E[i][l] += w * x.E[i][l];
        }
    }
    return out;
}

// q_l of a branch at stage l less q_0, and by the length of the step.
static double path_of(const snw_map *map, int nv, int dof, int l, double *by_length) {
    const snw_collocation *c = &map->points;
    double sum = 0;
    for (int j = 0; j < c->s; j++) sum += c->AA[l][j] * map->ddx[j * nv + dof];
    if (by_length) *by_length = c->c[l] * map->v0[dof] + 2 * map->h * sum;
    return map->h * (c->c[l] * map->v0[dof] + map->h * sum);
}

void adjoint_stage_strains(const snw_model *m, const snw_map *map, int stage, double *out) {
    for (int b = 0; b < m->nbranch_coordinate; b++) {
        const snw_branch_place at = snw_relaxation_place(m, b);
        const stage_weights x = weights_of(&map->points, map->h, at.time);
        out[b] = map->branch_from[b];
        for (int l = 0; l < map->points.s; l++)
            out[b] += x.E[stage][l] *
                      (map->q0[at.q] + path_of(map, m->nv, at.dof, l, NULL) - map->branch_from[b]);
    }
}

// Generalised force (nv) of a unit of strain b.
static const double *force_of(snw_adjoint *a, int b) {
    memset(a->branch_force, 0, (size_t)a->m->nv * sizeof *a->branch_force);
    (void)snw_relaxation_force(a->m, b, a->branch_force);
    return a->branch_force;
}

void adjoint_stage_branch_rows(snw_adjoint *a, const snw_map *map, int i) {
    const snw_model *m = a->m;
    const snw_collocation *c = &map->points;
    const size_t nv = (size_t)m->nv, n = (size_t)c->s * (nv + (size_t)adjoint_stage_extra(a));
    for (int b = 0; b < m->nbranch_coordinate; b++) {
        const snw_branch_place at = snw_relaxation_place(m, b);
        const stage_weights x = weights_of(c, map->h, at.time);
        const double *force = force_of(a, b);
        for (int j = 0; j < c->s; j++) {
            double by = 0;
            for (int l = 0; l < c->s; l++) by += x.E[i][l] * map->h * map->h * c->AA[l][j];
            double *to = a->stage_matrix + n * ((size_t)j * nv + (size_t)at.dof) + (size_t)i * nv;
            for (size_t row = 0; row < nv; row++) {
                if (!a->driven[row]) to[row] -= by * force[row];
            }
        }
    }
}

// ---- back ---------------------------------------------------------------------------------------

void adjoint_stage_branch_begin(snw_adjoint *a, const snw_map *map, int scalar, double *X) {
    const snw_model *m = a->m;
    const snw_collocation *c = &map->points;
    for (int b = 0; b < m->nbranch_coordinate; b++) {
        const snw_branch_place at = snw_relaxation_place(m, b);
        const stage_weights x = weights_of(c, map->h, at.time);
        const double bar = a->bars[scalar].branch[b];
        a->covectors[scalar].branch[b] = bar;
        for (int l = 0; l < c->s; l++) {
            for (int j = 0; j < c->s; j++)
                X[j * m->nv + at.dof] += map->h * map->h * c->AA[l][j] * x.E[c->s][l] * bar;
        }
    }
}

double adjoint_stage_branch_back(snw_adjoint *a, const snw_map *map, int scalar, const double *mu) {
    const snw_model *m = a->m;
    const snw_collocation *c = &map->points;
    const snw_bars *bars = &a->bars[scalar];
    const bool moves = adjoint_moves(map);
    double by_length = 0;
    for (int b = 0; b < m->nbranch_coordinate; b++) {
        const snw_branch_place at = snw_relaxation_place(m, b);
        const stage_weights x = weights_of(c, map->h, at.time);
        const double *force = force_of(a, b);
        double bar[SNW_STAGES + 1], before = 0; // of the strains at the stages and at the end
        for (int i = 0; i <= c->s; i++) {
            bar[i] = i < c->s ? snw_vector_dot(m->nv, force, mu + i * m->nv) : bars->branch[b];
            before += bar[i];
        }
        for (int l = 0; l < c->s; l++) {
            double q = 0, slope;
            for (int i = 0; i <= c->s; i++) q += bar[i] * x.E[i][l];
            before -= q;
            bars->place[at.dof] += q;
            bars->rate[at.dof] += map->h * c->c[l] * q;
            if (!moves) continue;
            const stage_weights dx = weights_by_length(c, map->h, at.time);
            const double way =
                map->q0[at.q] + path_of(map, m->nv, at.dof, l, &slope) - map->branch_from[b];
            by_length += slope * q;
            for (int i = 0; i <= c->s; i++) by_length += bar[i] * dx.E[i][l] * way;
        }
        bars->branch[b] = before;
    }
    return by_length;
}

// ---- forward ------------------------------------------------------------------------------------

// Derivative of strain b at stage i (the end: s) at fixed X.
static double strain_along(const snw_adjoint *a, const snw_map *map, int k, int b, int i,
                           double length) {
    const snw_model *m = a->m;
    const snw_collocation *c = &map->points;
    const snw_bars *bars = &a->bars[k];
    const snw_branch_place at = snw_relaxation_place(m, b);
    const stage_weights x = weights_of(c, map->h, at.time);
    double sum = bars->branch[b];
    for (int l = 0; l < c->s; l++) {
        double slope;
        const double way =
            map->q0[at.q] + path_of(map, m->nv, at.dof, l, &slope) - map->branch_from[b];
        sum += x.E[i][l] * (bars->place[at.dof] + map->h * c->c[l] * bars->rate[at.dof] +
                            length * slope - bars->branch[b]);
        if (length != 0) sum += length * weights_by_length(c, map->h, at.time).E[i][l] * way;
    }
    return sum;
}

void adjoint_stage_branch_force(snw_adjoint *a, const snw_map *map, int k, int i, double length,
                                double *x) {
    const snw_model *m = a->m;
    for (int b = 0; b < m->nbranch_coordinate; b++) {
        const double strain = strain_along(a, map, k, b, i, length);
        const double *force = force_of(a, b);
        for (int j = 0; j < m->nv; j++) x[j] += a->driven[j] ? 0 : strain * force[j];
    }
}

void adjoint_stage_branch_apply(snw_adjoint *a, const snw_map *map, int k, const double *by,
                                const double *X, double length) {
    const snw_model *m = a->m;
    const snw_collocation *c = &map->points;
    for (int b = 0; b < m->nbranch_coordinate; b++) {
        const snw_branch_place at = snw_relaxation_place(m, b);
        const stage_weights x = weights_of(c, map->h, at.time);
        a->branch[b] = by[b] + strain_along(a, map, k, b, c->s, length);
        for (int l = 0; l < c->s; l++) {
            for (int j = 0; j < c->s; j++)
                a->branch[b] +=
                    x.E[c->s][l] * map->h * map->h * c->AA[l][j] * X[j * m->nv + at.dof];
        }
    }
    for (int b = 0; b < m->nbranch_coordinate; b++) a->bars[k].branch[b] = a->branch[b];
}
