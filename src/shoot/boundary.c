// SPDX-License-Identifier: MIT
//
// Newton's method with line search for the matching defects and tip conditions of one rod. Factors
// are kept between time steps and corrected by secants (solve/secants.h); the initial guess is an
// extrapolation of the previous steps.

#include "shoot/boundary.h"

#include "shoot/single.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/dense.h"

#include <math.h>

snw_boundary_opts snw_boundary_defaults(void) {
    return (snw_boundary_opts){
        .kind = SNW_BOUNDARY_BANDED, .tol = 1e-10, .max_iter = 40, .growth = 2, .keep = true};
}

static void boundary_place(void *object, snw_fields *f) {
    snw_boundary *o = object;
    const size_t n = (size_t)o->segments->most, rows = n * (SNW_SEGMENT_A + 6);
    SNW_BOUNDARY_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

snw_status snw_boundary_create(snw_shoot_rod *r, const snw_boundary_opts *opts,
                               snw_boundary **out) {
    *out = NULL;
    snw_segments *segments;
    SNW_TRY(snw_segments_create(r, opts->pose, &segments));
    snw_boundary *b = snw_alloc(sizeof *b);
    if (!b) {
        snw_segments_destroy(segments);
        return SNW_E_MEMORY;
    }
    b->opts = *opts;
    b->segments = segments;
    b->block = snw_fields_create(boundary_place, b);
    if (!b->block) {
        snw_boundary_destroy(b);
        return SNW_E_MEMORY;
    }
    for (int i = 0; i < SNW_BOUNDARY_PAST; i++) {
        b->past[i] = b->history + (size_t)i * (size_t)segments->most;
    }
    *out = b;
    return SNW_OK;
}

void snw_boundary_destroy(snw_boundary *b) {
    if (!b) return;
    snw_segments_destroy(b->segments);
    snw_free(b->block);
    snw_free(b);
}

// ---- boundary conditions at the tip -------------------------------------------------------------

static int nfree(const snw_boundary *b) {
    const snw_shoot_law *law = b->segments->r->law;
    return law ? law->nfree : 0;
}

// b->tip_residual <- residual of the boundary conditions at the tip; returns its largest scaled
// entry
static double evaluate_tip(snw_boundary *b) {
    const snw_segments *s = b->segments;
    const snw_shoot_rod *r = s->r;
    const snw_shoot_state *tip = snw_segments_tip(s);
    const snw_wrench W = snw_station_wrench(r, r->npiece - 1, tip);
    double worst = 0;
    for (int i = 0; i < 6; i++) {
        b->tip_residual[i] = W.e[i] - tip->F.e[i];
        const double x = fabs(b->tip_residual[i]) / s->scale[s->na + i];
        if (!(x <= worst)) worst = x;
    }
    if (nfree(b) == 0) return worst;
    double jacobian[SNW_SHOOT_Z * 2 * SNW_SHOOT_Z];
    r->law->close(r->law->user, tip->z, s->seg[0].start.z, b->tip_residual + 6, jacobian);
    const int nz = r->law->nz;
    for (int i = 0; i < nfree(b); i++) {
        for (int k = 0; k < 2 * nz; k++) b->tip_jacobian[i][k] = jacobian[2 * nz * i + k];
        if (!(fabs(b->tip_residual[6 + i]) <= worst)) worst = fabs(b->tip_residual[6 + i]);
    }
    return worst;
}

// Wa, and the factors of the tip equations with residual r:
//   dF - Wa da = r,   r + Gt dz + Gb dz0 = 0,   da = Y dF + y + P dp
static snw_status factor_tip(snw_boundary *b) {
    const snw_segments *s = b->segments;
    const snw_shoot_rod *r = s->r;
    const snw_segment *t = snw_segments_relation(s);
    const int nf = nfree(b), n = 6 + nf, nz = snw_shoot_nz(r);
    double S[SNW_SHOOT_ROWS * 12] = {0};
    for (int i = 0; i < 12; i++) S[i * 12 + i] = 1;
    snw_station_vary(r, r->npiece - 1, snw_segments_tip(s), 12, S, &b->Wa[0][0]);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < n; j++) {
            double x = i == j;
            for (int a = 0; a < s->na; a++) {
                if (s->row[a] < 12)
                    x -= b->Wa[i][s->row[a]] * (j < 6 ? t->Y[a][j] : t->P[a][j - 6]);
            }
            b->closing[n * j + i] = x;
        }
    }
    for (int i = 0; i < nf; i++) {
        for (int j = 0; j < n; j++) {
            double x = j < 6 ? 0 : b->tip_jacobian[i][nz + r->law->free[j - 6]];
            for (int k = 0; k < nz; k++) {
                const int a = s->na - nz + k;
                x += b->tip_jacobian[i][k] * (j < 6 ? t->Y[a][j] : t->P[a][j - 6]);
            }
            b->closing[n * j + 6 + i] = x;
        }
    }
    for (int i = 0; i < n * n; i++) {
        if (!isfinite(b->closing[i])) return SNW_E_SINGULAR;
    }
    return snw_lu_factor(n, b->closing, b->pivot);
}

// x <- dF and dp that fulfil the linearised boundary conditions
static void solve_tip(const snw_boundary *b, double *x) {
    const snw_segments *s = b->segments;
    const snw_segment *t = snw_segments_relation(s);
    const int nf = nfree(b), nz = snw_shoot_nz(s->r);
    for (int i = 0; i < 6; i++) {
        x[i] = b->tip_residual[i];
        for (int a = 0; a < s->na; a++) {
            if (s->row[a] < 12) x[i] += b->Wa[i][s->row[a]] * t->y[a];
        }
    }
    for (int i = 0; i < nf; i++) {
        x[6 + i] = -b->tip_residual[6 + i];
        for (int k = 0; k < nz; k++) x[6 + i] -= b->tip_jacobian[i][k] * t->y[s->na - nz + k];
    }
    snw_lu_solve(6 + nf, b->closing, b->pivot, x);
}

// ---- initial guess ------------------------------------------------------------------------------

// extrapolation weights of the polynomials through the last instants
static const double weight[SNW_BOUNDARY_PAST + 1][SNW_BOUNDARY_PAST] = {
    {0}, {1}, {2, -1}, {3, -3, 1}, {4, -6, 4, -1}, {5, -10, 10, -5, 1}};

double snw_boundary_weight(int n, int k) { return weight[n][k]; }

// pose of start k extrapolated by a polynomial through its last poses; used for variable-length
// rods, too, whose nodes do not move with the material
static snw_se3 extrapolate_pose(const snw_boundary *b, int k) {
    const snw_se3 last = b->past[0][k].g;
    snw_twist x = snw_twist_zero();
    for (int l = 1; l < b->npast; l++) {
        const snw_twist back = snw_se3_log(snw_se3_mul(snw_se3_inv(last), b->past[l][k].g));
        x = snw_twist_axpy(weight[b->npast][l], back, x);
    }
    snw_se3 g = snw_se3_mul(last, snw_se3_exp(x));
    // the extrapolation must not accumulate errors of orthogonality
    g.R = snw_quat_to_mat3(snw_quat_normalise(snw_quat_from_mat3(g.R)));
    return g;
}

// starts <- extrapolation of the last steps; the pose by integration of the velocity
static void boundary_predict(snw_boundary *b) {
    snw_segments *s = b->segments;
    const snw_shoot_rod *r = s->r;
    const double *w = weight[b->npast];
    const double h = r->formula.c[0] > 0 ? r->step[0] : 0;
    for (int k = 0; k < s->n && b->npast > 0; k++) {
        snw_shoot_state *y = &s->seg[k].start;
        const snw_shoot_state *last = &b->past[0][k];
        snw_shoot_state sum = {.g = last->g};
        for (int l = 0; l < b->npast; l++) {
            const snw_shoot_state *a = &b->past[l][k];
            sum.V = snw_twist_axpy(w[l], a->V, sum.V);
            sum.F = snw_wrench_axpy(w[l], a->F, sum.F);
            for (int i = 0; i < snw_shoot_nz(r); i++) sum.z[i] += w[l] * a->z[i];
        }
        sum.g =
            s->pose == SNW_POSE_ALL
                ? extrapolate_pose(b, k)
                : snw_se3_mul(last->g,
                              snw_se3_exp(snw_twist_scale(0.5 * h, snw_twist_add(last->V, sum.V))));
        *y = sum;
    }
    for (int i = 0; i < snw_shoot_nz(r) && !r->carried; i++) {
        bool known = true;
        for (int k = 0; k < nfree(b); k++) known = known && r->law->free[k] != i;
        if (known) s->seg[0].start.z[i] = r->base_z[i];
    }
}

void snw_boundary_reset_guess(snw_boundary *b) {
    b->npast = 0;
    b->segments->n = 0;
    b->segments->factored = false;
    b->secants = (snw_secants){0}; // they belong to the discarded factors
}

void snw_boundary_accept(snw_boundary *b, double h) {
    snw_segments *s = b->segments;
    // with different step lengths only the last state is used
    const double was = s->r->step[1];
    if (b->npast > 1 && !(fabs(h - was) <= 1e-9 * h)) b->npast = 1;
    snw_shoot_state *oldest = b->past[SNW_BOUNDARY_PAST - 1];
    for (int i = SNW_BOUNDARY_PAST - 1; i > 0; i--) b->past[i] = b->past[i - 1];
    b->past[0] = oldest;
    for (int k = 0; k < s->n; k++) {
        b->past[0][k] = s->seg[k].start;
        if (!s->r->world) b->past[0][k].g = s->r->g[s->seg[k].node];
    }
    if (b->npast < SNW_BOUNDARY_PAST) b->npast++;
}

// ---- Newton iteration ---------------------------------------------------------------------------

double snw_boundary_march(snw_boundary *b, bool derivatives, snw_boundary_info *info) {
    const double defects = snw_segments_march(b->segments, derivatives);
    info->marches++;
    info->tangents += derivatives;
    if (!isfinite(defects)) return NAN;
    const double tip = evaluate_tip(b);
    return tip >= defects || !isfinite(tip) ? tip : defects;
}

static snw_status boundary_factor(void *user) {
    snw_boundary *b = user;
    SNW_TRY(snw_segments_factor(b->segments));
    b->segments->factored = false; // until the tip equations are factorised
    snw_segments_condense(b->segments);
    SNW_TRY(factor_tip(b));
    b->segments->factored = true;
    b->c0 = b->segments->r->formula.c[0];
    return SNW_OK;
}

void snw_boundary_save(snw_boundary *b) {
    for (int k = 0; k < b->segments->n; k++) b->saved[k] = b->segments->seg[k].start;
}

void snw_boundary_restore(snw_boundary *b) {
    for (int k = 0; k < b->segments->n; k++) b->segments->seg[k].start = b->saved[k];
}

// b->delta <- Newton increment with the present factors, corrected by the secants
static void boundary_increment(void *user) {
    snw_boundary *b = user;
    double x[6 + SNW_SHOOT_Z];
    snw_segments_condense(b->segments);
    solve_tip(b, x);
    snw_segments_solution(b->segments, x, x + 6, b->delta);
    snw_secants_next(&b->secants, b->delta);
}

static void boundary_keep(void *user) { snw_boundary_save(user); }
static void boundary_return(void *user) { snw_boundary_restore(user); }
static void boundary_move(void *user, double size) {
    snw_boundary *b = user;
    snw_segments_move(b->segments, b->delta, size);
}
static double boundary_residual(void *user, bool derivatives, snw_boundary_info *info) {
    return snw_boundary_march(user, derivatives, info);
}

// Secants of previous steps remain valid while the factors are kept.
static void boundary_begin_secants(snw_boundary *b, bool have) {
    const snw_segments *s = b->segments;
    const int n = s->na + 6;
    snw_secants_pause(&b->secants);
    if (have && b->secants.n == s->n * n) return;
    (void)snw_segments_weights(s, b->weight);
    b->secants = snw_secants_on(s->n * n, SNW_BOUNDARY_SECANTS, b->weight, b->memory);
}

static snw_status boundary_newton(snw_boundary *b, snw_boundary_info *info) {
    const snw_segments *s = b->segments;
    const bool have = b->opts.keep && s->factored && b->c0 == s->r->formula.c[0];
    boundary_begin_secants(b, have);
    const snw_kept_newton newton = {.user = b,
                                    .tol = b->opts.tol,
                                    .max_iter = b->opts.max_iter,
                                    .secants = &b->secants,
                                    .have = have,
                                    .march = boundary_residual,
                                    .factor = boundary_factor,
                                    .increment = boundary_increment,
                                    .save = boundary_keep,
                                    .move = boundary_move,
                                    .restore = boundary_return};
    return snw_kept_newton_solve(&newton, info);
}

void snw_boundary_begin(snw_boundary *b) {
    const bool single = b->opts.kind != SNW_BOUNDARY_BANDED;
    if (snw_segments_cut(b->segments, b->opts.growth, single ? 1 : 0)) b->npast = 0;
    boundary_predict(b);
}

snw_status snw_boundary_solve(snw_boundary *b, snw_boundary_info *info) {
    *info = (snw_boundary_info){0};
    snw_segments *s = b->segments;
    snw_boundary_begin(b);
    snw_status status;
    if (b->opts.kind == SNW_BOUNDARY_LEVENBERG || b->opts.kind == SNW_BOUNDARY_DOGLEG) {
        status = snw_single_solve(b, info);
    } else {
        status = boundary_newton(b, info);
    }
    if (status == SNW_OK) snw_shoot_poses(s->r);
    return status;
}
