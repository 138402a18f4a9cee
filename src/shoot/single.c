// SPDX-License-Identifier: MIT
//
// Single shooting: the unknowns are the wrench at the base and the free states of the law, the
// residual is that of the boundary conditions at the tip, both scaled by typical values. The
// derivative is that of the march.

#include "shoot/single.h"

#include "base/fail.h"
#include "solve/dogleg.h"
#include "solve/levenberg.h"

#include <math.h>

enum { MOST = 6 + SNW_SHOOT_Z };

static int unknowns(const snw_boundary *b) {
    const snw_shoot_law *law = b->segments->r->law;
    return 6 + (law ? law->nfree : 0);
}

static double single_unit(const snw_boundary *b, int i) {
    const snw_segments *s = b->segments;
    return i < 6 ? s->scale[s->na + i] : s->r->law->typical[s->r->law->free[i - 6]];
}

static void single_set_unknowns(snw_boundary *b, const double *x) {
    snw_shoot_state *y = &b->segments->seg[0].start;
    for (int i = 0; i < unknowns(b); i++) {
        if (i < 6) {
            y->F.e[i] = x[i] * single_unit(b, i);
        } else {
            y->z[b->segments->r->law->free[i - 6]] = x[i] * single_unit(b, i);
        }
    }
}

static snw_status single_residual(void *user, const double *x, double *r) {
    snw_boundary *b = user;
    single_set_unknowns(b, x);
    snw_boundary_info *info = &b->info;
    if (!isfinite(snw_boundary_march(b, false, info))) return SNW_E_DIVERGED;
    for (int i = 0; i < unknowns(b); i++)
        r[i] = b->tip_residual[i] / (i < 6 ? single_unit(b, i) : 1);
    return SNW_OK;
}

static snw_status single_derivative(void *user, const double *x, double *J) {
    snw_boundary *b = user;
    single_set_unknowns(b, x);
    if (!isfinite(snw_boundary_march(b, true, &b->info))) return SNW_E_DIVERGED;
    const snw_segments *s = b->segments;
    const snw_shoot_rod *r = s->r;
    const snw_segment *seg = &s->seg[0];
    const int n = unknowns(b), ld = seg->columns, nz = snw_shoot_nz(r);
    double dW[6 * (SNW_SHOOT_ROWS + 2)];
    snw_station_vary(r, r->npiece - 1, &seg->end, ld, seg->S, dW);
    for (int j = 0; j < n; j++) {
        const int column = j < 6 ? j : 6 + r->law->free[j - 6];
        for (int i = 0; i < 6; i++) {
            const double d = dW[i * ld + column] - seg->S[(SNW_ROW_F + i) * ld + column];
            J[n * j + i] = d * single_unit(b, j) / single_unit(b, i);
        }
        for (int i = 6; i < n; i++) {
            double d = j < 6 ? 0 : b->tip_jacobian[i - 6][nz + r->law->free[j - 6]];
            for (int k = 0; k < nz; k++) {
                d += b->tip_jacobian[i - 6][k] * seg->S[(SNW_ROW_Z + k) * ld + column];
            }
            J[n * j + i] = d * single_unit(b, j);
        }
    }
    return SNW_OK;
}

snw_status snw_single_solve(snw_boundary *b, snw_boundary_info *info) {
    const int n = unknowns(b);
    double x[MOST];
    for (int i = 0; i < n; i++) {
        const snw_shoot_state *y = &b->segments->seg[0].start;
        x[i] = (i < 6 ? y->F.e[i] : y->z[b->segments->r->law->free[i - 6]]) / single_unit(b, i);
    }
    unsigned char memory[16384];
    snw_arena arena = {memory, sizeof memory, 0, 0};
    b->info = (snw_boundary_info){0};
    snw_status status;
    if (b->opts.kind == SNW_BOUNDARY_LEVENBERG) {
        const snw_least_squares p = {n, n, b, single_residual, single_derivative};
        snw_levenberg_opts opts = snw_levenberg_defaults();
        opts.enough = b->opts.tol * b->opts.tol;
        opts.tol = opts.gain = 0;
        double r[MOST], J[MOST * MOST];
        snw_levenberg_info done;
        status = snw_levenberg(&p, &opts, &arena, x, r, J, &done);
        b->info.iterations = done.iterations;
    } else {
        const snw_dogleg_problem p = {n, b, single_residual, single_derivative};
        snw_dogleg_opts opts = snw_dogleg_defaults();
        opts.tol = b->opts.tol;
        snw_dogleg_info done;
        status = snw_dogleg(&p, &opts, &arena, x, &done);
        b->info.iterations = done.iterations;
    }
    *info = b->info;
    single_set_unknowns(b, x);
    info->residual = snw_boundary_march(b, false, info);
    if (info->residual <= b->opts.tol) return SNW_OK;
    return status == SNW_OK ? SNW_E_DIVERGED : status;
}
