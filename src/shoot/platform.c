// SPDX-License-Identifier: MIT
//
// With zeta a variation of the plate's pose in its frame, hole h and tip t of a leg, b the variation of the wrench at the tip,
//   pose      Yg b + yg = Ad(h^-1) zeta + log(t^-1 g h)               rows of the pose of a = Y b + y (segments.h)
//   exerted   G = F - W(a),   dG = Z b - Wa y,   Z = 1 - Wa Y         W: the station's weight, inertia and loads
//   balance   sum Ad*(h) (G + dG) = 0
// so that b = Yg^-1 (Ad(h^-1) zeta + gap - yg) and six equations for zeta are left.
#include "shoot/platform.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

snw_status snw_platform_create(int n, snw_shoot_rod *const *rod, const snw_se3 *hole, snw_se3 g,
                               const snw_boundary_opts *opts, snw_platform **out) {
    *out = NULL;
    size_t rows = 6;
    for (int i = 0; i < n; i++) rows += (size_t)(rod[i]->nnode - 1) * (12 + 6);
    const size_t numbers = 2 * rows + snw_secants_doubles((int)rows, SNW_BOUNDARY_SECANTS);
    snw_platform *p = snw_alloc(sizeof *p + (size_t)n * sizeof *p->leg + numbers * sizeof(double));
    if (!p) return SNW_E_MEMORY;
    p->opts = *opts;
    p->opts.pose = SNW_POSE_ALL;
    p->leg = (snw_leg *)(void *)(p + 1);
    p->delta = (double *)(void *)(p->leg + n);
    p->weight = p->delta + rows;
    p->memory = p->weight + rows;
    p->g = g;
    p->n = n;
    for (int i = 0; i < n; i++) {
        snw_leg *leg = &p->leg[i];
        SNW_ASSERT(rod[i]->npiece == 1 && !rod[i]->law);
        leg->r = rod[i];
        leg->hole = hole[i];
        for (int k = 0; k <= SNW_TIME_LEVELS; k++) leg->length[k] = rod[i]->length;
        const snw_status s = snw_boundary_create(rod[i], &p->opts, &leg->b);
        if (s == SNW_OK) continue;
        snw_platform_destroy(p);
        return s;
    }
    *out = p;
    return SNW_OK;
}

void snw_platform_destroy(snw_platform *p) {
    if (!p) return;
    for (int i = 0; i < p->n; i++) snw_boundary_destroy(p->leg[i].b);
    snw_free(p);
}

// ---- what acts on it --------------------------------------------------------------------------------

snw_status snw_platform_carry(snw_platform *p, const snw_inertia *M) {
    for (int i = 0; i < p->n; i++) {
        const snw_inertia share = snw_inertia_scale(1.0 / p->n, *M);
        snw_shoot_station *tip = p->leg[i].r->station;
        tip->M = snw_inertia_seen(snw_se3_inv(p->leg[i].hole), &share);
        tip->has_body = true;
        SNW_TRY(snw_shoot_ready(p->leg[i].r, p->leg[i].r->force));
    }
    return SNW_OK;
}

snw_status snw_platform_push_on(snw_platform *p, const snw_wrench *W, bool body) {
    for (int i = 0; i < p->n; i++) {
        const snw_se3 plate = snw_se3_inv(p->leg[i].hole); // seen from the tip
        snw_wrench share = snw_wrench_scale(1.0 / p->n, *W);
        if (body) share.f = snw_rotate(plate.R, share.f), share.m = snw_rotate(plate.R, share.m);
        snw_shoot_station *tip = p->leg[i].r->station;
        tip->nload = snw_norm(share.f) + snw_norm(share.m) > 0;
        tip->load[0] = (snw_shoot_load){.body = body, .arm = plate.p, .W = share};
        SNW_TRY(snw_shoot_ready(p->leg[i].r, snw_norm(share.f)));
    }
    return SNW_OK;
}

void snw_platform_feed(snw_platform *p, int leg, double length) {
    p->leg[leg].length[0] = length;
    snw_shoot_rod *r = p->leg[leg].r;
    r->length = length;
    r->piece[0].h = length / r->piece[0].n;
}

// ---- time -------------------------------------------------------------------------------------------

static double feed_rate(const snw_leg *leg) {
    const snw_time_formula *f = &leg->r->formula;
    double rate = f->d * leg->rate;
    for (int k = 0; k <= SNW_TIME_LEVELS; k++) rate += f->c[k] * leg->length[k];
    return rate;
}

void snw_platform_formula(snw_platform *p, snw_time_kind kind, double alpha, double h) {
    for (int i = 0; i < p->n; i++) {
        snw_leg *leg = &p->leg[i];
        snw_shoot_formula(leg->r, kind, alpha, h);
        // the base section stays, and the rod goes through it
        leg->r->base_V = snw_twist_zero();
        leg->r->base_V.v = snw_scale(feed_rate(leg), leg->r->section[0].rest.v);
    }
}

void snw_platform_accept(snw_platform *p, double h) {
    for (int i = 0; i < p->n; i++) {
        snw_leg *leg = &p->leg[i];
        leg->rate = feed_rate(leg);
        for (int k = SNW_TIME_LEVELS; k > 0; k--) leg->length[k] = leg->length[k - 1];
        snw_shoot_push(leg->r, h);
        snw_boundary_accept(leg->b, h);
    }
    for (int k = SNW_BOUNDARY_PAST - 1; k > 0; k--) p->past[k] = p->past[k - 1];
    p->past[0] = p->g;
    p->npast = p->leg[0].b->npast; // of steps of the same length, as the guesses of the legs
}

void snw_platform_begin(snw_platform *p, bool rest, double h) {
    for (int i = 0; i < p->n; i++) {
        snw_leg *leg = &p->leg[i];
        if (rest) leg->rate = 0;
        for (int k = 1; k <= SNW_TIME_LEVELS; k++) {
            leg->length[k] = leg->length[0] - (k - 1) * h * leg->rate;
        }
        snw_shoot_begin(leg->r, rest, h);
    }
    snw_platform_forget(p);
}

void snw_platform_forget(snw_platform *p) {
    for (int i = 0; i < p->n; i++) snw_boundary_forget(p->leg[i].b);
    p->npast = 0;
    p->factored = false;
}

// ---- Newton -----------------------------------------------------------------------------------------

static double larger(double a, double b) { return b >= a || isnan(b) ? b : a; }

// march all legs; the largest scaled residual: defects, gaps, balance
static double march(snw_platform *p, bool slopes, snw_boundary_info *info) {
    double worst = 0, force = 0, length = 0;
    snw_wrench sum = snw_wrench_zero();
    info->marches++;
    info->tangents += slopes;
    for (int i = 0; i < p->n; i++) {
        snw_leg *leg = &p->leg[i];
        worst = larger(worst, snw_segments_march(leg->b->segments, slopes));
        if (!isfinite(worst)) return NAN;
        const snw_shoot_state *tip = snw_segments_tip(leg->b->segments);
        leg->gap = snw_se3_log(snw_se3_mul(snw_se3_inv(tip->g), snw_se3_mul(p->g, leg->hole)));
        leg->beyond = snw_wrench_sub(tip->F, snw_station_wrench(leg->r, 0, tip));
        const double size = fmax(snw_norm(leg->gap.w), snw_norm(leg->gap.v) / leg->r->length);
        worst = larger(worst, size);
        sum = snw_wrench_add(sum, snw_wrench_to_parent(leg->hole, leg->beyond));
        force = fmax(force, leg->r->force);
        length = fmax(length, leg->r->length);
    }
    p->balance = sum;
    return larger(worst, fmax(snw_norm(sum.f), snw_norm(sum.m) / length) / force);
}

// leg's factors, and p->A += Ad*(h) Z Yg^-1 Ad(h^-1)
static snw_status factor_leg(snw_platform *p, snw_leg *leg) {
    snw_segments *s = leg->b->segments;
    SNW_TRY(snw_segments_factor(s));
    const snw_segment *t = snw_segments_relation(s);
    double S[SNW_SHOOT_ROWS * 12] = {0};
    for (int i = 0; i < 12; i++) S[i * 12 + i] = 1;
    snw_station_vary(leg->r, 0, snw_segments_tip(s), 12, S, &leg->Wa[0][0]);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            leg->Y[6 * j + i] = t->Y[i][j];
            double z = i == j;
            for (int a = 0; a < 12; a++) z -= leg->Wa[i][a] * t->Y[a][j];
            leg->Z[6 * j + i] = z;
        }
    }
    SNW_TRY(snw_lu_factor(6, leg->Y, leg->pivot));
    for (int k = 0; k < 6; k++) {
        snw_twist unit = snw_twist_zero();
        unit.e[k] = 1;
        snw_twist b = snw_twist_to_child(leg->hole, unit);
        snw_lu_solve(6, leg->Y, leg->pivot, b.e);
        snw_wrench G = snw_wrench_zero();
        for (int j = 0; j < 6; j++) {
            for (int i = 0; i < 6; i++) G.e[i] += leg->Z[6 * j + i] * b.e[j];
        }
        const snw_wrench W = snw_wrench_to_parent(leg->hole, G);
        for (int i = 0; i < 6; i++) p->A[6 * k + i] += W.e[i];
    }
    return SNW_OK;
}

static snw_status factor(snw_platform *p) {
    p->factored = false;
    memset(p->A, 0, sizeof p->A);
    for (int i = 0; i < p->n; i++) SNW_TRY(factor_leg(p, &p->leg[i]));
    for (int i = 0; i < 36; i++) {
        if (!isfinite(p->A[i])) return SNW_E_SINGULAR;
    }
    memcpy(p->LU, p->A, sizeof p->A);
    SNW_TRY(snw_lu_factor(6, p->LU, p->pivot));
    p->factored = true;
    p->c0 = p->leg[0].r->formula.c[0];
    return SNW_OK;
}

// leg->x <- gap - yg, and what is then exerted at the tip
static snw_wrench condense_leg(snw_leg *leg) {
    snw_segments *s = leg->b->segments;
    snw_segments_condense(s);
    const snw_segment *t = snw_segments_relation(s);
    double b[6];
    for (int i = 0; i < 6; i++) b[i] = leg->x[i] = leg->gap.e[i] - t->y[i];
    snw_lu_solve(6, leg->Y, leg->pivot, b);
    snw_wrench G = leg->beyond;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) G.e[i] += leg->Z[6 * j + i] * b[j];
        for (int a = 0; a < 12; a++) G.e[i] -= leg->Wa[i][a] * t->y[a];
    }
    return G;
}

// numbers of a leg's increment
static int rows_of(const snw_leg *leg) { return leg->b->segments->n * (leg->b->segments->na + 6); }

// Secants of the steps before serve while the factors do.
static void begin_secants(snw_platform *p, bool have) {
    int n = 6;
    for (int i = 0; i < p->n; i++) n += rows_of(&p->leg[i]);
    snw_secants_pause(&p->secants);
    if (have && p->secants.n == n) return;
    double *w = p->weight;
    const double L = p->leg[0].r->length;
    for (int i = 0; i < 6; i++) *w++ = i < 3 ? 1 : 1 / (L * L);
    for (int i = 0; i < p->n; i++) {
        const snw_segments *s = p->leg[i].b->segments;
        for (int k = 0; k < rows_of(&p->leg[i]); k++) {
            const double scale = s->scale[k % (s->na + 6)];
            *w++ = 1 / (scale * scale);
        }
    }
    p->secants = snw_secants_on(n, SNW_BOUNDARY_SECANTS, p->weight, p->memory);
}

// p->delta <- zeta and increments of all starts, with what has been learnt of the factors
static void increment(snw_platform *p) {
    snw_wrench sum = snw_wrench_zero();
    for (int i = 0; i < p->n; i++) {
        const snw_wrench G = condense_leg(&p->leg[i]);
        sum = snw_wrench_add(sum, snw_wrench_to_parent(p->leg[i].hole, G));
    }
    snw_twist zeta;
    for (int i = 0; i < 6; i++) zeta.e[i] = -sum.e[i];
    snw_lu_solve(6, p->LU, p->pivot, zeta.e);
    memcpy(p->delta, zeta.e, sizeof zeta.e);
    double *delta = p->delta + 6;
    for (int i = 0; i < p->n; i++) {
        snw_leg *leg = &p->leg[i];
        const snw_twist at = snw_twist_to_child(leg->hole, zeta);
        double b[6];
        for (int k = 0; k < 6; k++) b[k] = leg->x[k] + at.e[k];
        snw_lu_solve(6, leg->Y, leg->pivot, b);
        snw_segments_solution(leg->b->segments, b, NULL, delta);
        delta += rows_of(leg);
    }
    snw_secants_next(&p->secants, p->delta);
}

enum { HALVINGS = 10 };

static bool step(snw_platform *p, double *norm, int halvings, snw_boundary_info *info) {
    const snw_se3 g = p->g;
    increment(p);
    snw_twist zeta;
    memcpy(zeta.e, p->delta, sizeof zeta.e);
    for (int i = 0; i < p->n; i++) snw_boundary_save(p->leg[i].b);
    double size = 1;
    for (int k = 0; k <= halvings; k++, size *= 0.5) {
        if (k > 0) snw_secants_pause(&p->secants); // not taken as it was given
        p->g = snw_se3_mul(g, snw_se3_exp(snw_twist_scale(size, zeta)));
        const double *delta = p->delta + 6;
        for (int i = 0; i < p->n; i++) {
            snw_segments_move(p->leg[i].b->segments, delta, size);
            delta += rows_of(&p->leg[i]);
        }
        const double now = march(p, false, info);
        if (now < *norm) {
            *norm = now;
            return true;
        }
        for (int i = 0; i < p->n; i++) snw_boundary_restore(p->leg[i].b);
        p->g = g;
    }
    return false;
}

// As in boundary.c: what a fresh step cannot make smaller is rounding when it is this small.
static const double rounding = 1e-7;

static snw_status newton(snw_platform *p, snw_boundary_info *info) {
    // the factors are those of this very iterate, or were kept
    bool here = !(p->opts.keep && p->factored && p->c0 == p->leg[0].r->formula.c[0]);
    for (int i = 0; i < p->n; i++) here = here || !p->leg[i].b->segments->factored;
    begin_secants(p, !here);
    double norm = march(p, here, info);
    info->residual = norm;
    if (!isfinite(norm)) return SNW_E_DIVERGED;
    if (here && norm > p->opts.tol) SNW_TRY(factor(p));
    for (; info->iterations < p->opts.max_iter; info->iterations++) {
        info->residual = norm;
        if (norm <= p->opts.tol) return SNW_OK;
        const double before = norm;
        const bool better = step(p, &norm, here ? HALVINGS : 0, info), last = here;
        here = false;
        if (better && norm <= 0.5 * before) continue; // a tangent costs nine marches
        if (norm <= p->opts.tol) continue;
        const double now =
            march(p, true, info); // and the nodes are as they were before a trial that failed
        if (!better && last) {
            info->residual = now;
            return norm <= rounding ? SNW_OK : SNW_E_DIVERGED;
        }
        norm = now;
        SNW_TRY(factor(p));
        snw_secants_reset(&p->secants);
        here = true;
    }
    info->residual = norm;
    return norm <= p->opts.tol ? SNW_OK : SNW_E_DIVERGED;
}

// a polynomial through the last poses, carried on
static void guess(snw_platform *p) {
    snw_twist x = snw_twist_zero();
    for (int k = 1; k < p->npast; k++) {
        const snw_twist back = snw_se3_log(snw_se3_mul(snw_se3_inv(p->past[0]), p->past[k]));
        x = snw_twist_axpy(snw_boundary_weight(p->npast, k), back, x);
    }
    if (p->npast < 2) return;
    p->g = snw_se3_mul(p->past[0], snw_se3_exp(x));
    // what is not quite a rotation must not become less so with each step
    p->g.R = snw_quat_to_mat3(snw_quat_normalise(snw_quat_from_mat3(p->g.R)));
}

snw_status snw_platform_solve(snw_platform *p, snw_boundary_info *info) {
    *info = (snw_boundary_info){0};
    for (int i = 0; i < p->n; i++) snw_boundary_begin(p->leg[i].b);
    const snw_se3 g = p->g;
    guess(p);
    const snw_status status = newton(p, info);
    if (status != SNW_OK) p->g = g;
    // marches of legs with weight have kept the poses
    for (int i = 0; i < p->n && status == SNW_OK; i++) {
        if (!p->leg[i].r->world) snw_shoot_poses(p->leg[i].r);
    }
    return status;
}

snw_status snw_platform_stiffness(snw_platform *p, double *A) {
    snw_boundary_info ignored = {0};
    if (!isfinite(march(p, true, &ignored))) return SNW_E_DIVERGED;
    SNW_TRY(factor(p));
    memcpy(A, p->A, sizeof p->A);
    return SNW_OK;
}
