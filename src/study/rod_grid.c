// SPDX-License-Identifier: MIT
//
// Spectral numerical integration of the pose along a rod, theory.md (3.1d). With g' = g xi^ the
// quaternion of the section and its position follow
//   h' = h (0, kappa)/2,   p' = R(h) eps,
// collocated at the Chebyshev points of a piece of length L but the first, where h and p are given:
//   h_i = h_0 + L sum_j S_ij h_j (0, kappa_j)/2,   p_i = L sum_j S_ij R(h_j) eps_j.
// The first is one linear system for all points. |h| = 1 holds only up to the error of collocation,
// so that R is made of h/|h|, and | |h| - 1 | estimates the error.
#include "study/rod_grid.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/geometry_error.h"
#include "math/quadrature.h"
#include "math/vector.h"
#include "solve/dense.h"
#include "study/run_private.h"

#include <math.h>
#include <string.h>

void snw_grid_make(int n, snw_grid *out) {
    double *x = out->x, *S = out->S;
    out->n = n;
    SNW_ASSERT(n >= SNW_GRID_LEAST && n <= SNW_GRID_MOST);
    for (int i = 0; i < n; i++) {
        const double s = sin(i * 3.14159265358979323846 / (2 * (n - 1)));
        x[i] = s * s;
    }
    for (int i = 1; i < n; i++) {
        for (int j = 1; j < n; j++) {
            S[(i - 1) * (n - 1) + j - 1] = snw_lagrange_integral(n - 1, x + 1, j - 1, x[i]);
        }
    }
}

size_t snw_grid_scratch(int n) {
    const size_t m = (size_t)n - 1, pad = 64;
    return (16 * m * m + 4 * m + 6 * (size_t)n) * sizeof(double) + 4 * m * sizeof(int) + 4 * pad;
}

// A <- 1 - L S (x) B, 4m x 4m column major, with h (0, kappa)/2 = B h.
static void grid_matrix(int m, double L, const double *S, const snw_twist *xi, double *A) {
    const size_t n = 4 * (size_t)m;
    for (int j = 0; j < m; j++) {
        const snw_vec3 k = snw_scale(0.5 * L, xi[j + 1].w);
        const double B[4][4] = {
            {0, -k.x, -k.y, -k.z}, {k.x, 0, k.z, -k.y}, {k.y, -k.z, 0, k.x}, {k.z, k.y, -k.x, 0}};
        for (int i = 0; i < m; i++) {
            for (int b = 0; b < 4; b++) {
                for (int a = 0; a < 4; a++) {
                    A[(4 * (size_t)j + (size_t)b) * n + 4 * (size_t)i + (size_t)a] =
                        (i == j && a == b) - S[i * m + j] * B[a][b];
                }
            }
        }
    }
}

snw_status snw_grid_integrate(const snw_grid *grid, double a, double b, snw_grid_strain strain,
                              const void *user, snw_arena *scratch, snw_quat *h, snw_vec3 *p) {
    const int n = grid->n, m = n - 1;
    const double L = b - a, *S = grid->S;
    const size_t mark = snw_arena_mark(scratch), M = (size_t)m;
    double *A = snw_arena_doubles(scratch, 16 * M * M), *y = snw_arena_doubles(scratch, 4 * M);
    snw_twist *xi = (snw_twist *)(void *)snw_arena_doubles(scratch, 6 * (size_t)n);
    int *pivot = snw_arena_ints(scratch, 4 * M);
    for (int i = 0; i < n; i++) xi[i] = strain(user, a + L * grid->x[i]);
    grid_matrix(m, L, S, xi, A);
    h[0] = snw_quat_identity();
    for (int i = 0; i < 4 * m; i++) y[i] = h[0].e[i % 4];
    const snw_status s = snw_lu_factor(4 * m, A, pivot);
    if (s == SNW_OK) snw_lu_solve(4 * m, A, pivot, y);
    p[0] = (snw_vec3){{0, 0, 0}};
    for (int i = 1; i < n; i++) {
        memcpy(h[i].e, y + (ptrdiff_t)4 * (i - 1), sizeof h[i].e);
        p[i] = p[0];
    }
    for (int j = 1; j < n && s == SNW_OK; j++) {
        const snw_vec3 dp = snw_rotate(snw_quat_to_mat3(h[j]), xi[j].v);
        for (int i = 1; i < n; i++) {
            p[i] = snw_add(p[i], snw_scale(L * S[(i - 1) * m + j - 1], dp));
        }
    }
    snw_arena_reset(scratch, mark);
    return s;
}

// ---- rods of a run
// -------------------------------------------------------------------------------

// A rod with coordinates, at t = 0.
typedef struct shape {
    const snw_rod *rod;
    const double *q;
    double from, to; // of the piece: strains at its ends are the limits from within
} shape;

static snw_twist shape_strain(const void *user, double x) {
    const shape *s = user;
    const double inside = 1e-12 * (s->to - s->from);
    return snw_rod_strain(s->rod, s->q, 0, fmin(fmax(x, s->from + inside), s->to - inside));
}

// Next break of the strain functions after x; the length of the rod at last.
static double next_break(const snw_rod *rod, double x) {
    double next = rod->L;
    for (int a = 0; a < rod->na; a++) {
        for (int e = 1; e < rod->basis[a].nelem; e++) {
            const double at = rod->L * snw_basis_break(&rod->basis[a], e);
            if (at > x + 1e-9 * rod->L && at < next) next = at;
        }
    }
    return next;
}

static snw_status grid_of_rod(const snw_model *m, const snw_rod *rod, const snw_grid *grid,
                              const double *q, snw_arena *scratch, snw_grid_info *out) {
    const int n = grid->n;
    snw_quat h[SNW_GRID_MOST];
    snw_vec3 p[SNW_GRID_MOST];
    shape s = {.rod = rod, .q = q};
    *out = (snw_grid_info){.tip = snw_se3_identity()};
    while (s.to < rod->L) {
        s.from = s.to;
        s.to = next_break(rod, s.from);
        SNW_TRY(snw_grid_integrate(grid, s.from, s.to, shape_strain, &s, scratch, h, p));
        for (int i = 0; i < n; i++) {
            double size = 0;
            for (int k = 0; k < 4; k++) size += h[i].e[k] * h[i].e[k];
            out->drift = snw_larger(out->drift, fabs(sqrt(size) - 1));
        }
        const snw_se3 end = {snw_quat_to_mat3(h[n - 1]), p[n - 1]};
        out->tip = snw_se3_mul(out->tip, end);
        out->pieces++;
    }
    const snw_vec3 slices = snw_rod_tip_position(m, rod, q, 0, 1);
    out->difference = snw_norm(snw_sub(out->tip.p, slices)) / rod->L;
    return SNW_OK;
}

snw_status snw_run_grid(const snw_run *r, int link, int n, snw_grid_info *out, snw_error *err) {
    const snw_model *m = r->phase[0].model;
    for (int i = 0; i < m->nrod; i++) {
        if (m->rod[i].link != link) continue;
        snw_arena scratch = {.base = snw_alloc(snw_grid_scratch(n)), .size = snw_grid_scratch(n)};
        snw_grid *grid = snw_alloc(sizeof *grid);
        double *q = snw_alloc(((size_t)m->nq + 1) * sizeof *q);
        snw_status s = SNW_E_MEMORY;
        if (scratch.base && grid && q) {
            snw_grid_make(n, grid);
            s = grid_of_rod(m, &m->rod[i], grid, q, &scratch, out);
        }
        snw_free(scratch.base);
        snw_free(grid);
        snw_free(q);
        if (s == SNW_E_MEMORY) return snw_fail_memory(err);
        if (s != SNW_E_SINGULAR) return s;
        return snw_fail(err, s,
                        "a grid of %d points is too coarse for the rod of '%s'; give more points",
                        n, r->desc->link[link].name);
    }
    return snw_fail(err, SNW_E_ARGUMENT, "link '%s' has no rod", r->desc->link[link].name);
}
