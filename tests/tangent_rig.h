// SPDX-License-Identifier: MIT
//
// tangent_rig.h: a model with inputs and work memory for its residual, and checks of its tangent
// against derivatives of the residual: by differences where numbers are doubles, by complex steps
// where they are complex.
#pragma once

#include "dynamics/dynamics.h"
#include "near.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A derivative is a sum over BESIDE points near a point: beside(k) is the offset of point k,
// slope_of(k, f) the term of the value f found there, LEFT the error of the sum. Complex numbers
// need one point, so near that only the rounding of doubles remains. Differences of fourth order
// leave an error of e^4 times the fifth derivative, and rounding over e.
#ifdef SNW_COMPLEX
#define STEP 1e-100
#define LEFT 1e-13
enum { BESIDE = 1 };
static inline double beside(int k) { return {0, (k + 1) * STEP}; }
static inline double slope_of(int k, double f) { return f.im / ((k + 1) * STEP); }
#else
#define STEP 1e-3
#define LEFT 2e-8
enum { BESIDE = 4 };
static inline double beside(int k) { return (k < 2 ? k - 2 : k - 1) * STEP; }
static inline double slope_of(int k, double f) {
    static const double weight[BESIDE] = {1, -8, 8, -1};
    return weight[k] * f / (12 * STEP);
}
#endif

typedef struct rig {
    snw_model *m;
    snw_state *s, *moved;
    snw_inputs *in;
    snw_work *w;
} rig;

// Create state, inputs and work of g->m.
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

// Move the coordinates along x (nv) by the amounts (e, e', e'') of a variation and its rates. A
// free joint moves by delta g = g zeta^, so its twist and acceleration vary by zeta' + ad_V zeta
// and zeta'' + ad_V' zeta + ad_V zeta' (theory.md 4). This is exact to first order, which suffices
// for derivatives up to an error of e^4.
static inline void vary(const rig *g, const double *x, double e, double de, double dde) {
    const snw_model *m = g->m;
    snw_state_copy(m, g->s, g->moved);
    snw_move(m, g->s->q, e, x, g->moved->q);
    for (int i = 0; i < m->nv; i++) g->moved->v[i] += de * x[i], g->moved->a[i] += dde * x[i];
    for (int f = 0; f < m->nblock; f++) {
        const int i = m->block[f].dof, size = m->block[f].n;
        if (m->block[f].lie_block < 0) continue;
        snw_twist z = {0}, dz = {0}, V = {0}, A = {0};
        for (int k = 0; k < size; k++) {
            z.e[k] = e * x[i + k], dz.e[k] = de * x[i + k];
            V.e[k] = g->s->v[i + k], A.e[k] = g->s->a[i + k];
        }
        const snw_twist av = snw_ad(V, z), aa = snw_twist_add(snw_ad(A, z), snw_ad(V, dz));
        for (int k = 0; k < size; k++) g->moved->v[i + k] += av.e[k], g->moved->a[i + k] += aa.e[k];
    }
}

// out (nv) <- derivative of the residual along x; gap (nrow, may be NULL) <- derivative of the
// violations.
static inline void difference(const rig *g, const double *x, double e, double de, double dde,
                              double *out, double *gap) {
    const int n = g->m->nv, nr = gap ? g->m->nconstraint : 0;
    for (int i = 0; i < n; i++) out[i] = 0;
    for (int i = 0; i < nr; i++) gap[i] = 0;
    for (int k = 0; k < BESIDE; k++) {
        const double c = beside(k);
        vary(g, x, c * e, c * de, c * dde);
        snw_residual(g->m, g->in, g->moved, false, g->w);
        for (int i = 0; i < n; i++) out[i] += slope_of(k, g->w->r[i]);
        for (int i = 0; i < nr; i++) gap[i] += slope_of(k, g->w->violation[i]);
    }
}

// Unit direction of one coordinate, so that a failure names the coordinate.
static inline void rig_direction(const rig *g, int k, double *x) {
    for (int j = 0; j < g->m->nv; j++) x[j] = j == k;
}

static inline double size_of(int n, const double *A) {
    double s = 0;
    for (int i = 0; i < n; i++) s = fmax(s, fabs(A[i]));
    return s;
}

// Rounding error of a residual: the build with wide numbers writes its residuals to the file that
// SNW_DERIVATIVES names; the build with doubles compares with them, relative to the largest entry.
#ifndef RIG_ROUNDING
#define RIG_ROUNDING 1e-13
#endif
#ifdef SNW_COMPLEX
static inline void rig_compare(const rig *g) { (void)g; }
#else
static inline void rig_compare(const rig *g) {
    static FILE *file;
    const char *name = getenv("SNW_DERIVATIVES");
    if (!name) return;
    const size_t n = (size_t)g->m->nv;
    narrow *kept = malloc(n * sizeof *kept);
#ifdef SNW_WIDE
    if (!file) file = fopen(name, "wb");
    assert_non_null(file);
    for (size_t i = 0; i < n; i++) kept[i] = (narrow)g->w->r[i];
    assert_int_equal(fwrite(kept, sizeof *kept, n, file), n);
    fflush(file);
#else
    if (!file) file = fopen(name, "rb");
    assert_non_null(file);
    assert_int_equal(fread(kept, sizeof *kept, n, file), n);
    const double size = size_of((int)n, kept);
    for (size_t i = 0; i < n; i++) {
        if (fabs(g->w->r[i] - kept[i]) <= RIG_ROUNDING * size) continue;
        fail_msg("residual %zu of %zu: %.17g, wide %.17g, size %g", i, n, g->w->r[i], kept[i],
                 size);
    }
#endif
    free(kept);
}
#endif

// Compare T, which is dr/dq, dr/dv or dr/da for `which` = 0, 1 or 2, with derivatives by
// rig_direction. Returns the largest error relative to the largest number, and its row and column.
static inline double rig_miss(const rig *g, int which, const double *T, int *row, int *column) {
    const int n = g->m->nv;
    const double size = size_of(n * n, T);
    double *slope = malloc(2 * (size_t)n * sizeof *slope), *x = slope + n, most = 0;
    for (int j = 0; j < n; j++) {
        rig_direction(g, j, x);
        difference(g, x, which == 0, which == 1, which == 2, slope, NULL);
        for (int i = 0; i < n; i++) {
            const double miss = fabs(T[(size_t)(j * n + i)] - slope[i]);
            if (isnan(most) || miss <= most) continue;
            most = miss, *row = i, *column = j;
        }
    }
    free(slope);
    return most == 0 ? 0 : most / size;
}

// Compare the residual with the one in wide numbers, and every column of its three derivatives with
// differences, within `left` of the largest number. The build with wide numbers does the first
// only.
#ifdef SNW_WIDE
static inline void rig_check(rig *g) {
    snw_residual(g->m, g->in, g->s, false, g->w);
    rig_compare(g);
}
#else
// The tangent in one pass has the bits of columns first, then products; after snw_residual.
static inline void rig_compare_once(rig *g) {
    const size_t n = (size_t)g->m->nv;
    double *T = calloc(2 * n * n, sizeof *T), *once = T + n * n;
    snw_residual(g->m, g->in, g->s, false, g->w);
    snw_tangent_pass(g->m, NULL, g->w);
    snw_tangent_assemble(g->m, g->in, 1, 2, 3, g->w, T);
    snw_residual(g->m, g->in, g->s, false, g->w);
    snw_tangent_once(g->m, g->in, NULL, 1, 2, 3, g->w, snw_matrix_dense(n, once));
    for (size_t i = 0; i < n * n; i++) {
        if (!(once[i] == T[i]))
            fail_msg("entry %zu in one pass: %g, not %g", i, (narrow)once[i], (narrow)T[i]);
    }
    free(T);
}

static inline void rig_check_within(rig *g, double left) {
    const int n = g->m->nv;
    double *T[3];
    snw_residual(g->m, g->in, g->s, false, g->w);
    rig_compare(g);
    snw_tangent_pass(g->m, NULL, g->w);
    for (int k = 0; k < 3; k++) {
        T[k] = malloc((size_t)n * (size_t)n * sizeof(double));
        snw_tangent_assemble(g->m, g->in, k == 0, k == 1, k == 2, g->w, T[k]);
    }
    for (int k = 0; k < 3; k++) {
        int row = 0, column = 0;
        const double miss = rig_miss(g, k, T[k], &row, &column);
        if (!(miss <= left)) {
            fail_msg("part %d, row %d, column %d of %d: misses the slope by %g of the largest", k,
                     row, column, n, (narrow)miss);
        }
        free(T[k]);
    }
    rig_compare_once(g);
}
static inline void rig_check(rig *g) { rig_check_within(g, LEFT); }
#endif

// The same for dr/dq of statics, where nothing moves, within `left` of the largest number.
static inline void rig_check_stiffness_within(rig *g, double left) {
    const int n = g->m->nv;
    double *T = malloc((size_t)(n * n) * sizeof *T);
    double *column = malloc(2 * (size_t)n * sizeof *column), *dx = column + n;
    snw_residual(g->m, g->in, g->s, true, g->w);
    snw_tangent_pass(g->m, NULL, g->w);
    snw_tangent_assemble(g->m, g->in, 1, 0, 0, g->w, T);
    const double size = size_of(n * n, T);
    for (int j = 0; j < n; j++) {
        rig_direction(g, j, dx);
        memset(column, 0, (size_t)n * sizeof *column);
        for (int way = 0; way < BESIDE; way++) {
            snw_move(g->m, g->s->q, beside(way), dx, g->moved->q);
            snw_residual(g->m, g->in, g->moved, true, g->w);
            for (int i = 0; i < n; i++) column[i] += slope_of(way, g->w->r[i]);
        }
        for (int i = 0; i < n; i++) assert_near(T[j * n + i] / size, column[i] / size, left);
    }
    free(T);
    free(column);
}
static inline void rig_check_stiffness(rig *g) { rig_check_stiffness_within(g, LEFT); }

// Static forces are the derivatives of stored and gravitational energy.
static inline void rig_check_energy(rig *g) {
    const int n = g->m->nv;
    double *dx = calloc((size_t)n, sizeof *dx);
    for (int j = 0; j < n; j++) {
        double energy = 0, power = 0;
        rig_direction(g, j, dx);
        for (int way = 0; way < BESIDE; way++) {
            snw_move(g->m, g->s->q, beside(way), dx, g->moved->q);
            snw_residual(g->m, g->in, g->moved, true, g->w);
            energy += slope_of(way, snw_stored_energy(g->m, g->moved, g->w) +
                                        snw_gravity_energy(g->m, g->in, g->w));
        }
        snw_residual(g->m, g->in, g->s, true, g->w);
        for (int i = 0; i < n; i++) power += g->w->r[i] * dx[i];
        assert_near(power, energy, 100 * LEFT);
    }
    free(dx);
}
