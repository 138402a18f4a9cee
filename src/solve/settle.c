// SPDX-License-Identifier: MIT
#include "solve/settle.h"

#include "solve/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double FAR = 0.3;       // typical increments in one step
static const double SHORTEST = 1e-9; // pseudo-time of a step
static const double LONGEST = 1e12;
static const double GIVE =
    1e-10; // compliance of rows, in typical ones: they may depend on each other
static const double CLOSED = 1e-12; // of rows that do, and resist closing further
enum { STALLED = 3 };               // iterations without progress

snw_settle_opts snw_settle_defaults(void) {
    return (snw_settle_opts){.tol = 1e-10, .max_iter = 500};
}

size_t snw_settle_scratch(int n, int nx) {
    const size_t pad = 64, N = (size_t)n;
    return (2 * N * N + 3 * N + (size_t)nx) * sizeof(double) + 6 * pad + snw_tangent_scratch(n) +
           snw_negative_scratch(n);
}

typedef struct flow {
    const snw_problem *p;
    const double *D;
    snw_arena *scratch;
    int rows;          // unknowns without D
    double soft;       // smallest typical energy
    double *r, *J;     // residual and tangent at x
    double *A;         // of the implicit step, its lower triangle
    double *dx;        // the step
    double *trial, *f; // where it leads, and the residual there
    snw_tangent t;
} flow;

static bool settle_symmetric(int n, const double *A) {
    double largest = 0, skew = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < j; i++) {
            const double a = A[(size_t)j * (size_t)n + (size_t)i],
                         b = A[(size_t)i * (size_t)n + (size_t)j];
            skew = fmax(skew, fabs(a - b));
            largest = fmax(largest, fabs(a) + fabs(b));
        }
        largest = fmax(largest, fabs(A[(size_t)j * (size_t)(n + 1)]));
    }
    return skew <= 1e-9 * largest;
}

// D x' = -r falls towards the equilibrium only where T + D/h is positive definite on what the rows
// allow. Where T is symmetric, [T + D/h, -C'; -C, 0] then has as many negative eigenvalues as there
// are rows. Elsewhere its determinant has the sign of
// (-1)^rows, and dx (T + D/h) dx is positive
static bool falls(const flow *f) {
    const int n = f->p->n;
    if (settle_symmetric(n, f->A)) {
        int negative;
        return snw_count_negative(n, f->A, f->scratch, &negative) == SNW_OK && negative == f->rows;
    }
    double power = 0;
    for (int i = 0; i < n; i++) power += (f->D[i] == 0 ? -1 : 1) * f->r[i] * f->dx[i];
    return f->t.sign == (f->rows % 2 ? -1 : 1) && power >= 0;
}

// f->dx <- implicit step of pseudo-time h; false: it does not fall
static bool implicit_step(flow *f, double h) {
    const snw_problem *p = f->p;
    const size_t n = (size_t)p->n;
    memcpy(f->A, f->J, n * n * sizeof *f->A);
    for (size_t i = 0; i < n; i++) {
        const double give = f->D[i] == 0 ? GIVE * p->scale[i] * p->scale[i] / f->soft : 0;
        f->A[i * (n + 1)] += f->D[i] / h - give;
    }
    memcpy(f->t.J, f->A, n * n * sizeof *f->A);
    if (snw_tangent_factor(&f->t, false) != SNW_OK) return false;
    memcpy(f->dx, f->r, n * sizeof *f->dx);
    snw_tangent_solve(&f->t, f->dx);
    return falls(f);
}

// largest part of a typical increment in the step; NaN when one is
static double settle_length(const flow *f) {
    double most = 0;
    for (int i = 0; i < f->p->n; i++) {
        const double part = fabs(f->dx[i]) * f->D[i] / f->p->scale[i];
        if (!(part <= most)) most = part;
        if (isnan(most)) break;
    }
    return most;
}

// x <- moved by an implicit step of pseudo-time *h or less, to where forces are finite; *h <- for
// the next. SNW_E_SINGULAR: none falls, however short; SNW_E_DIVERGED: none ends where forces are
// finite.
static snw_status settle_advance(flow *f, double *x, double *h) {
    const snw_problem *p = f->p;
    snw_status s = SNW_E_SINGULAR;
    for (; *h >= SHORTEST; *h *= 0.25) {
        s = SNW_E_SINGULAR;
        if (!implicit_step(f, *h)) continue;
        s = SNW_E_DIVERGED;
        const double most = settle_length(f);
        if (!(most < INFINITY)) continue;
        snw_problem_move(p, x, most > FAR ? -FAR / most : -1, f->dx, f->trial);
        const snw_status there = p->residual(p->user, 1, f->trial, f->f);
        if (there == SNW_E_STOPPED) return there;
        if (there != SNW_OK || !(snw_problem_norm(p, f->f) < INFINITY)) continue;
        memcpy(x, f->trial, (size_t)p->nx * sizeof *x);
        *h = fmin(*h * fmin(fmax(FAR / most, 0.3), 4), LONGEST); // most may be zero
        return SNW_OK;
    }
    return s;
}

// is each residual what rounding of x makes of it? J (column major) as it is at x
static bool is_rounding(const snw_problem *p, const double *x, const double *r, const double *J) {
    double size = 1;
    for (int i = 0; i < p->nx; i++) size = fmax(size, fabs(x[i]));
    for (int i = 0; i < p->n; i++) {
        double sum = 0;
        for (int j = 0; j < p->n; j++) sum += fabs(J[(size_t)j * (size_t)p->n + (size_t)i]);
        if (!(fabs(r[i]) <= 8 * DBL_EPSILON * size * sum)) return false;
    }
    return true;
}

// is the residual within the tolerance, but for rows, and these closed?
static bool is_closed(const flow *f, double tol) {
    for (int i = 0; i < f->p->n; i++) {
        const double most = f->D[i] == 0 ? fmax(tol, CLOSED) : tol;
        if (!(fabs(f->r[i]) <= most * f->p->scale[i])) return false;
    }
    return true;
}

snw_status snw_settle(const snw_problem *p, const double *D, const snw_settle_opts *opts,
                      bool (*stop)(void *user), void *stop_user, snw_arena *scratch, double *x,
                      snw_settle_info *info) {
    const size_t mark = snw_arena_mark(scratch), n = (size_t)p->n;
    flow f = {.p = p, .D = D, .scratch = scratch, .soft = INFINITY};
    f.r = snw_arena_doubles(scratch, n);
    f.J = snw_arena_doubles(scratch, n * n);
    f.A = snw_arena_doubles(scratch, n * n);
    f.dx = snw_arena_doubles(scratch, n);
    f.trial = snw_arena_doubles(scratch, (size_t)p->nx);
    f.f = snw_arena_doubles(scratch, n);
    f.t = snw_tangent_take(p->n, scratch);
    for (size_t i = 0; i < n; i++) {
        f.rows += D[i] == 0;
        if (D[i] > 0) f.soft = fmin(f.soft, p->scale[i] * p->scale[i] / D[i]);
    }
    snw_status s = SNW_E_DIVERGED;
    double best = INFINITY, h = 1;
    int stalled = 0; // iterations since it was halved
    for (*info = (snw_settle_info){.residual = INFINITY};; info->iterations++) {
        s = p->tangent(p->user, 1, x, f.r, f.J);
        if (s != SNW_OK) break;
        info->residual = snw_problem_norm(p, f.r);
        if (info->residual <= opts->tol) break;
        // stiff cables that hold a plate leave more than the tolerance, and no x has less
        stalled = info->residual < 0.5 * best ? 0 : stalled + 1;
        best = fmin(best, info->residual);
        if (stalled >= STALLED && (is_closed(&f, opts->tol) || is_rounding(p, x, f.r, f.J))) break;
        s = SNW_E_DIVERGED;
        if (info->iterations == opts->max_iter || !(info->residual < INFINITY)) break;
        if (stop && stop(stop_user)) {
            s = SNW_E_STOPPED;
            break;
        }
        s = settle_advance(&f, x, &h);
        if (s != SNW_OK) break;
    }
    snw_arena_reset(scratch, mark);
    return s;
}
