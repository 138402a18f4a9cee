// SPDX-License-Identifier: MIT
//
// tangent_rig.h: a model with all that its residual needs, and its tangent checked against differences.
#pragma once

#include "dynamics/dynamics.h"
#include "near.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Fourth order differences: their step, and what they leave: e^4 of the fifth derivative, and rounding over e. Wide
// numbers leave less than the series and constants of the kernels, which are cut where doubles end.
#ifdef SNW_WIDE
#define DIFFERENCE 1e-7
#define LEFT       1e-15
#else
#define DIFFERENCE 1e-3
#define LEFT       2e-8
#endif

typedef struct rig {
    snw_model *m;
    snw_state *s, *moved;
    snw_inputs *in;
    snw_work *w;
    double lost; // what doubles may differ from wide numbers by, of the largest number
} rig;

// what a residual of g->m needs
static inline void rig_around(rig *g) {
    g->lost = 1e-13;
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

// the coordinates moved along x (nv), by the amounts (e, e', e'') of a variation and its rates. A free joint moves by
// delta g = g zeta^, so its twist and acceleration vary by zeta' + ad_V zeta and zeta'' + ad_V' zeta + ad_V zeta'
// (rods.md 3.4): exact to first order, which central differences in e turn into an error of e^2
static inline void vary(const rig *g, const double *x, double e, double de, double dde) {
    const snw_model *m = g->m;
    snw_state_copy(m, g->s, g->moved);
    snw_move(m, g->s->q, e, x, g->moved->q);
    for (int i = 0; i < m->nv; i++) g->moved->v[i] += de * x[i], g->moved->a[i] += dde * x[i];
    for (int f = 0; f < m->nblock; f++) {
        const int i = m->block[f].dof, size = m->block[f].n;
        if (m->block[f].curved < 0) continue;
        snw_twist z = {0}, dz = {0}, V = {0}, A = {0};
        for (int k = 0; k < size; k++) {
            z.e[k] = e * x[i + k], dz.e[k] = de * x[i + k];
            V.e[k] = g->s->v[i + k], A.e[k] = g->s->a[i + k];
        }
        const snw_twist av = snw_ad(V, z), aa = snw_twist_add(snw_ad(A, z), snw_ad(V, dz));
        for (int k = 0; k < size; k++) g->moved->v[i + k] += av.e[k], g->moved->a[i + k] += aa.e[k];
    }
}

// out (nv) <- derivative of the residual along x, and gap (nrow, may be NULL) that of the rows
static inline void difference(const rig *g, const double *x, double e, double de, double dde,
                              double *out, double *gap) {
    const int n = g->m->nv, nr = gap ? g->m->nrow : 0;
    const double weight[5] = {1, -8, 0, 8, -1};
    for (int i = 0; i < n; i++) out[i] = 0;
    for (int i = 0; i < nr; i++) gap[i] = 0;
    for (int k = -2; k <= 2; k++) {
        if (k == 0) continue;
        const double c = DIFFERENCE * k;
        vary(g, x, c * e, c * de, c * dde);
        snw_residual(g->m, g->in, g->moved, false, g->w);
        for (int i = 0; i < n; i++) out[i] += weight[k + 2] * g->w->r[i] / (12 * DIFFERENCE);
        for (int i = 0; i < nr; i++) gap[i] += weight[k + 2] * g->w->gap[i] / (12 * DIFFERENCE);
    }
}

// Directions along which derivatives are looked at: one coordinate after the other, so that it is known which one is wrong;
// wide numbers, which take their time, all at once.
#ifdef SNW_WIDE
static inline int rig_directions(const rig *g) {
    (void)g;
    return 1;
}
static inline void rig_direction(const rig *g, int k, double *x) {
    for (int j = 0; j < g->m->nv; j++) x[j] = (double)((j * 389 + k * 617) % 1009) / 1009 - 0.5;
}
#else
static inline int rig_directions(const rig *g) { return g->m->nv; }
static inline void rig_direction(const rig *g, int k, double *x) {
    for (int j = 0; j < g->m->nv; j++) x[j] = j == k;
}
#endif

static inline double size_of(int n, const double *A) {
    double s = 0;
    for (int i = 0; i < n; i++) s = fmax(s, fabs(A[i]));
    return s;
}

// Residual and tangents, kept in the file that SNW_SLOPES names by the build with wide numbers and compared with it by the
// other: what doubles lose.
static inline void rig_compare(const rig *g, double *const T[3]) {
    static FILE *file;
    const char *name = getenv("SNW_SLOPES");
    if (!name) return;
#ifdef SNW_WIDE
    if (!file) file = fopen(name, "wb");
#else
    if (!file) file = fopen(name, "rb");
#endif
    assert_non_null(file);
    const size_t n = (size_t)g->m->nv;
    narrow *kept = malloc(n * n * sizeof *kept);
    for (int k = 0; k < 4; k++) {
        const double *now = k < 3 ? T[k] : g->w->r;
        const size_t count = k < 3 ? n * n : n;
#ifdef SNW_WIDE
        for (size_t i = 0; i < count; i++) kept[i] = (narrow)now[i];
        assert_int_equal(fwrite(kept, sizeof *kept, count, file), count);
#else
        assert_int_equal(fread(kept, sizeof *kept, count, file), count);
        const double size = size_of((int)count, kept);
        for (size_t i = 0; i < count; i++) {
            if (fabs(now[i] - kept[i]) <= g->lost * size) continue;
            fail_msg("part %d, %zu of %zu: %.17g, wide %.17g, size %g", k, i, n, now[i], kept[i],
                     size);
        }
#endif
    }
    free(kept);
    fflush(file);
}

// every column of dr/dq, dr/dv, dr/da against differences
static inline void rig_check(rig *g) {
    const int n = g->m->nv;
    const size_t nn = (size_t)n * (size_t)n;
    double *T[3], *column = malloc(2 * (size_t)n * sizeof *column), *x = column + n;
    snw_residual(g->m, g->in, g->s, false, g->w);
    snw_tangent_sweep(g->m, NULL, g->w);
    for (int k = 0; k < 3; k++) {
        T[k] = malloc(nn * sizeof(double));
        snw_tangent_assemble(g->m, g->in, k == 0, k == 1, k == 2, g->w, T[k]);
    }
    rig_compare(g, T);
    for (int k = 0; k < 3; k++) {
        const double size = size_of((int)nn, T[k]);
        for (int l = 0; l < rig_directions(g); l++) {
            rig_direction(g, l, x);
            difference(g, x, k == 0, k == 1, k == 2, column, NULL);
            for (int i = 0; i < n; i++) {
                double got = 0;
                for (int j = 0; j < n; j++) got += T[k][(size_t)(j * n + i)] * x[j];
                if (!(fabs(got - column[i]) <= LEFT * size)) {
                    fail_msg(
                        "part %d, row %d, direction %d of %d: %.12g, differences %.12g, size %g", k,
                        i, l, n, (narrow)got, (narrow)column[i], (narrow)size);
                }
            }
        }
    }
    for (int k = 0; k < 3; k++) free(T[k]);
    free(column);
}

// dr/dq of statics, where nothing moves, against differences
static inline void rig_check_stiffness(rig *g) {
    const int n = g->m->nv;
    double *T = malloc((size_t)(n * n) * sizeof *T);
    double *column = malloc(2 * (size_t)n * sizeof *column), *dx = column + n;
    snw_residual(g->m, g->in, g->s, true, g->w);
    snw_tangent_sweep(g->m, NULL, g->w);
    snw_tangent_assemble(g->m, g->in, 1, 0, 0, g->w, T);
    const double size = size_of(n * n, T), e = DIFFERENCE;
    for (int j = 0; j < rig_directions(g); j++) {
        static const double weight[5] = {1, -8, 0, 8, -1};
        rig_direction(g, j, dx);
        memset(column, 0, (size_t)n * sizeof *column);
        for (int way = -2; way <= 2; way++) {
            snw_move(g->m, g->s->q, way * e, dx, g->moved->q);
            snw_residual(g->m, g->in, g->moved, true, g->w);
            for (int i = 0; i < n; i++) column[i] += weight[way + 2] * g->w->r[i] / (12 * e);
        }
        for (int i = 0; i < n; i++) {
            double got = 0;
            for (int k = 0; k < n; k++) got += T[k * n + i] * dx[k];
            assert_near(got / size, column[i] / size, LEFT);
        }
    }
    free(T);
    free(column);
}
