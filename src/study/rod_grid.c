// SPDX-License-Identifier: MIT
//
// Spectral numerical integration of the pose along a rod at rest, theory.md (3.1d) and
// math/pose_grid.h, piece by piece between the breaks of its strains, for `sinew check --grid`.
// |h| = 1 holds only up to the error of collocation, so that | |h| - 1 | estimates the error.
#include "study/rod_grid.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/geometry_error.h"
#include "math/vector.h"
#include "study/run_private.h"

#include <math.h>

size_t snw_grid_scratch(int n) {
    const size_t m = (size_t)n - 1, pad = 64;
    return (4 * m * m + 6 * (size_t)n) * sizeof(double) + m * sizeof(int) + 3 * pad;
}

snw_status snw_grid_integrate(const snw_grid *grid, double a, double b, snw_grid_strain strain,
                              const void *user, snw_arena *scratch, snw_quat *h, snw_vec3 *p) {
    const int n = grid->n, m = n - 1;
    const double L = b - a;
    const size_t mark = snw_arena_mark(scratch), M = (size_t)m;
    snw_quat *A = (snw_quat *)(void *)snw_arena_doubles(scratch, 4 * M * M);
    snw_twist *xi = (snw_twist *)(void *)snw_arena_doubles(scratch, 6 * (size_t)n);
    int *pivot = snw_arena_ints(scratch, M);
    for (int i = 0; i < n; i++) xi[i] = strain(user, a + L * grid->x[i]);
    h[0] = snw_quat_identity();
    p[0] = (snw_vec3){{0, 0, 0}};
    const snw_status s = snw_grid_shape(m, grid->S, L, xi + 1, A, pivot, h + 1);
    for (int i = 1; i < n; i++)
        p[i] = snw_grid_pose(m, grid->S + (ptrdiff_t)(i - 1) * m, L, xi + 1, h + 1).p;
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
