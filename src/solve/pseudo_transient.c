// SPDX-License-Identifier: MIT
//
// Pseudo-transient continuation with a check that each implicit step descends towards a stable
// equilibrium, for statics.

#include "solve/pseudo_transient.h"

#include "solve/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double LARGEST_STEP = 0.3;   // largest step, in typical increments
static const double SHORTEST_TIME = 1e-9; // pseudo-time of a step
static const double LONGEST_TIME = 1e12;
static const double ROW_COMPLIANCE =
    1e-10; // compliance of constraint rows, relative to typical values: they may be redundant
static const double ROW_TOLERANCE =
    1e-12;            // largest violation of redundant rows that cannot be reduced further
enum { STALLED = 3 }; // iterations without progress

snw_pseudo_transient_opts snw_pseudo_transient_defaults(void) {
    return (snw_pseudo_transient_opts){.tol = 1e-10, .max_iter = 500};
}

size_t snw_pseudo_transient_scratch_own(int n, int nx) {
    const size_t pad = 64, N = (size_t)n;
    return (4 * N + (size_t)nx) * sizeof(double) + 7 * pad;
}

size_t snw_pseudo_transient_scratch(int n, int nx) {
    const size_t N = (size_t)n;
    return 2 * N * N * sizeof(double) + snw_pseudo_transient_scratch_own(n, nx) +
           snw_tangent_scratch(n) + snw_negative_scratch(n);
}

typedef struct flow {
    const snw_problem *p;
    const double *D;
    snw_arena *scratch;
    int rows;          // constraint rows: unknowns with D = 0
    double energy;     // smallest typical energy
    double *r, *J;     // residual and tangent at x; J is NULL with factors of the problem's own
    double *A;         // matrix of the implicit step; its lower triangle is overwritten
    double *add;       // what it has on the diagonal besides J
    const double *x;   // present point
    double *dx;        // step
    double *trial, *f; // trial point, and the residual there
    snw_tangent t;
} flow;

// D x' = -r descends towards the equilibrium only where T + D/h is positive definite on the null
// space of the constraint Jacobian C. If T is symmetric, [T + D/h, -C'; -C, 0] then has as many
// negative eigenvalues as rows C. Otherwise the sign of its determinant must be (-1)^rows, and dx
// (T + D/h) dx must be positive.
// `negative`: these eigenvalues less the rows, -1: not known.
static bool descends(const flow *f, int negative) {
    const int n = f->p->n;
    if (f->J && snw_is_symmetric(n, f->A)) {
        return snw_count_negative(n, f->A, f->scratch, &negative) == SNW_OK && negative == f->rows;
    }
    if (negative >= 0) return negative == 0;
    double power = 0;
    for (int i = 0; i < n; i++) power += (f->D[i] == 0 ? -1 : 1) * f->r[i] * f->dx[i];
    return f->t.sign == (f->rows % 2 ? -1 : 1) && power >= 0;
}

// f->dx <- implicit step of pseudo-time h; false: it does not descend
static bool implicit_step(flow *f, double h) {
    const snw_problem *p = f->p;
    const size_t n = (size_t)p->n;
    int negative = -1;
    for (size_t i = 0; i < n; i++) {
        const double compliance =
            f->D[i] == 0 ? ROW_COMPLIANCE * p->scale[i] * p->scale[i] / f->energy : 0;
        f->add[i] = f->D[i] / h - compliance;
    }
    if (!f->J) {
        const snw_own_factors *own = &p->own[0];
        // the last evaluation may have been one of another point
        if (p->tangent(p->user, 1, f->x, f->dx, NULL) != SNW_OK ||
            own->factor(own->user, f->add, NULL, &f->t.sign, &negative) != SNW_OK)
            return false;
        memcpy(f->dx, f->r, n * sizeof *f->dx);
        own->solve(own->user, f->dx);
        return descends(f, negative);
    }
    memcpy(f->A, f->J, n * n * sizeof *f->A);
    for (size_t i = 0; i < n; i++) f->A[i * (n + 1)] += f->add[i];
    memcpy(f->t.J.entry, f->A, n * n * sizeof *f->A);
    if (snw_tangent_factor(&f->t, false) != SNW_OK) return false;
    memcpy(f->dx, f->r, n * sizeof *f->dx);
    snw_tangent_solve(&f->t, f->dx);
    return descends(f, negative);
}

// size of the step in typical increments; NaN if one is
static double flow_step_size(const flow *f) {
    double most = 0;
    for (int i = 0; i < f->p->n; i++) {
        const double part = fabs(f->dx[i]) * f->D[i] / f->p->scale[i];
        if (!(part <= most)) most = part;
        if (isnan(most)) break;
    }
    return most;
}

// x <- moved by an implicit step of pseudo-time *h or less, to a point with finite forces; *h <-
// for the next step. SNW_E_SINGULAR: no step descends, however short; SNW_E_DIVERGED: none ends at
// finite forces.
static snw_status flow_advance(flow *f, double *x, double *h) {
    const snw_problem *p = f->p;
    snw_status s = SNW_E_SINGULAR;
    for (; *h >= SHORTEST_TIME; *h *= 0.25) {
        s = SNW_E_SINGULAR;
        if (!implicit_step(f, *h)) continue;
        s = SNW_E_DIVERGED;
        const double most = flow_step_size(f);
        if (!(most < INFINITY)) continue;
        snw_problem_move(p, x, most > LARGEST_STEP ? -LARGEST_STEP / most : -1, f->dx, f->trial);
        const snw_status there = p->residual(p->user, 1, f->trial, f->f);
        if (there == SNW_E_STOPPED) return there;
        if (there != SNW_OK || !(snw_problem_norm(p, f->f) < INFINITY)) continue;
        memcpy(x, f->trial, (size_t)p->nx * sizeof *x);
        *h = fmin(*h * fmin(fmax(LARGEST_STEP / most, 0.3), 4), LONGEST_TIME); // most may be zero
        return SNW_OK;
    }
    return s;
}

// is each residual within the rounding of x? J (column major) is that at x
static bool residual_is_rounding(const snw_problem *p, const double *x, const double *r,
                                 const double *J) {
    double size = 1;
    for (int i = 0; i < p->nx; i++) size = fmax(size, fabs(x[i]));
    for (int i = 0; i < p->n; i++) {
        double sum = 0;
        for (int j = 0; j < p->n; j++) sum += fabs(J[(size_t)j * (size_t)p->n + (size_t)i]);
        if (!(fabs(r[i]) <= 8 * DBL_EPSILON * size * sum)) return false;
    }
    return true;
}

// are forces within the tolerance, and constraint rows closed?
static bool is_closed(const flow *f, double tol) {
    for (int i = 0; i < f->p->n; i++) {
        const double most = f->D[i] == 0 ? fmax(tol, ROW_TOLERANCE) : tol;
        if (!(fabs(f->r[i]) <= most * f->p->scale[i])) return false;
    }
    return true;
}

snw_status snw_pseudo_transient(const snw_problem *p, const double *D,
                                const snw_pseudo_transient_opts *opts, bool (*stop)(void *user),
                                void *stop_user, snw_arena *scratch, double *x,
                                snw_pseudo_transient_info *info) {
    const size_t mark = snw_arena_mark(scratch), n = (size_t)p->n;
    flow f = {.p = p, .D = D, .scratch = scratch, .energy = INFINITY, .x = x};
    const bool own = p->own[0].user != NULL;
    f.r = snw_arena_doubles(scratch, n);
    if (!own) f.J = snw_arena_doubles(scratch, n * n);
    if (!own) f.A = snw_arena_doubles(scratch, n * n);
    f.add = snw_arena_doubles(scratch, n);
    f.dx = snw_arena_doubles(scratch, n);
    f.trial = snw_arena_doubles(scratch, (size_t)p->nx);
    f.f = snw_arena_doubles(scratch, n);
    if (!own) f.t = snw_tangent_take(p->n, (snw_own_factors){0}, NULL, scratch);
    for (size_t i = 0; i < n; i++) {
        f.rows += D[i] == 0;
        if (D[i] > 0) f.energy = fmin(f.energy, p->scale[i] * p->scale[i] / D[i]);
    }
    snw_status s = SNW_E_DIVERGED;
    double best = INFINITY, h = 1;
    int stalled = 0; // iterations since the residual was halved
    for (*info = (snw_pseudo_transient_info){.residual = INFINITY};; info->iterations++) {
        s = p->tangent(p->user, 1, x, f.r, f.J);
        if (s != SNW_OK) break;
        info->residual = snw_problem_norm(p, f.r);
        if (info->residual <= opts->tol) break;
        // with stiff cables, for instance, rounding may keep the residual above the tolerance
        stalled = info->residual < 0.5 * best ? 0 : stalled + 1;
        best = fmin(best, info->residual);
        if (stalled >= STALLED &&
            (is_closed(&f, opts->tol) || (f.J && residual_is_rounding(p, x, f.r, f.J))))
            break;
        s = SNW_E_DIVERGED;
        if (info->iterations == opts->max_iter || !(info->residual < INFINITY)) break;
        if (stop && stop(stop_user)) {
            s = SNW_E_STOPPED;
            break;
        }
        s = flow_advance(&f, x, &h);
        if (s != SNW_OK) break;
    }
    snw_arena_reset(scratch, mark);
    return s;
}
