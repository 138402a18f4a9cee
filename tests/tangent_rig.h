// SPDX-License-Identifier: MIT
//
// tangent_rig.h: a model with all that its residual needs, and its tangent checked against differences.
#pragma once

#include "dynamics/dynamics.h"
#include "near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct rig {
    snw_model *m;
    snw_state *s, *moved;
    snw_inputs *in;
    snw_work *w;
} rig;

// what a residual of g->m needs
static inline void rig_around(rig *g) {
    assert_int_equal(snw_state_create(g->m, &g->s), SNW_OK);
    assert_int_equal(snw_state_create(g->m, &g->moved), SNW_OK);
    assert_int_equal(snw_inputs_create(g->m, &g->in), SNW_OK);
    assert_int_equal(snw_work_create(g->m, &g->w), SNW_OK);
}

static inline void rig_open(rig *g, const snw_desc *desc) {
    snw_error err = {0};
    if (snw_model_compile(desc, &g->m, &err) != SNW_OK) fail_msg("%s", err.text);
    rig_around(g);
}

static inline void rig_close(rig *g) {
    snw_work_destroy(g->w);
    snw_inputs_destroy(g->in);
    snw_state_destroy(g->s);
    snw_state_destroy(g->moved);
    snw_model_destroy(g->m);
}

// coordinate j moved by the amounts (e, e', e'') of a variation and its rates. A free joint moves by
// delta g = g zeta^, so its twist and acceleration vary by zeta' + ad_V zeta and zeta'' + ad_V' zeta + ad_V zeta'
// (rods.md 3.4): exact to first order, which central differences in e turn into an error of e^2
static inline void vary(const rig *g, int j, double e, double de, double dde) {
    const snw_model *m = g->m;
    double *dx = calloc((size_t)m->nv, sizeof *dx);
    snw_state_copy(m, g->s, g->moved);
    dx[j] = e;
    snw_move(m, g->s->q, 1, dx, g->moved->q);
    free(dx);
    for (int f = 0; f < m->nblock; f++) {
        const int i = m->block[f].dof, size = m->block[f].n;
        if (m->block[f].curved < 0 || j < i || j >= i + size) continue;
        snw_twist z = {0}, dz = {0}, V = {0}, A = {0};
        z.e[j - i] = e, dz.e[j - i] = de;
        for (int k = 0; k < size; k++) V.e[k] = g->s->v[i + k], A.e[k] = g->s->a[i + k];
        const snw_twist av = snw_ad(V, z), aa = snw_twist_add(snw_ad(A, z), snw_ad(V, dz));
        for (int k = 0; k < size; k++) g->moved->v[i + k] += av.e[k], g->moved->a[i + k] += aa.e[k];
    }
    g->moved->v[j] += de;
    g->moved->a[j] += dde;
}

static inline void difference(const rig *g, int j, double e, double de, double dde, double *out) {
    const int n = g->m->nv;
    const double step[2] = {1, 2}, weight[2] = {8.0 / 12, -1.0 / 12};
    memset(out, 0, (size_t)n * sizeof *out);
    for (int k = 0; k < 2; k++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            const double c = step[k] * sign;
            vary(g, j, c * e, c * de, c * dde);
            snw_residual(g->m, g->in, g->moved, false, g->w);
            for (int i = 0; i < n; i++) out[i] += sign * weight[k] * g->w->r[i];
        }
    }
}

static inline double size_of(int n, const double *A) {
    double s = 0;
    for (int i = 0; i < n; i++) s = fmax(s, fabs(A[i]));
    return s;
}

// every column of dr/dq, dr/dv, dr/da against differences
static inline void rig_check(rig *g) {
    const int n = g->m->nv;
    const size_t nn = (size_t)n * (size_t)n;
    double *T[3], *column = malloc((size_t)n * sizeof *column);
    snw_residual(g->m, g->in, g->s, false, g->w);
    snw_tangent_sweep(g->m, NULL, g->w);
    for (int k = 0; k < 3; k++) {
        T[k] = malloc(nn * sizeof(double));
        snw_tangent_assemble(g->m, g->in, k == 0, k == 1, k == 2, g->w, T[k]);
    }
    const double e = 1e-3;
    for (int k = 0; k < 3; k++) {
        const double size = size_of((int)nn, T[k]);
        for (int j = 0; j < n; j++) {
            difference(g, j, k == 0 ? e : 0, k == 1 ? e : 0, k == 2 ? e : 0, column);
            for (int i = 0; i < n; i++) {
                const double got = T[k][(size_t)j * (size_t)n + (size_t)i], want = column[i] / e;
                // fourth order differences: e^4 of the fifth derivative, and rounding over e
                if (!(fabs(got - want) <= 2e-8 * size)) {
                    fail_msg("part %d, row %d, column %d of %d: %.12g, differences %.12g, size %g",
                             k, i, j, n, got, want, size);
                }
            }
        }
    }
    for (int k = 0; k < 3; k++) free(T[k]);
    free(column);
}
