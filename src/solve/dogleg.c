// SPDX-License-Identifier: MIT
//
// Dogleg steps and trust-region control, for single shooting (shoot/single.c).

#include "solve/dogleg.h"

#include "base/fail.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

snw_dogleg_opts snw_dogleg_defaults(void) {
    return (snw_dogleg_opts){.tol = 1e-10, .radius = 1, .max_iter = 200};
}

size_t snw_dogleg_scratch(int n) {
    const size_t m = (size_t)n;
    return (2 * m * m + 7 * m) * sizeof(double) + m * sizeof(int) + 64 * 11;
}

static double dogleg_largest(int n, const double *r) {
    double m = 0;
    for (int i = 0; i < n; i++) {
        if (!(fabs(r[i]) <= m)) m = fabs(r[i]);
    }
    return m;
}

// y <- J x, or J' x
static void dogleg_apply(int n, const double *J, const double *x, double *y) {
    memset(y, 0, (size_t)n * sizeof *y);
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) y[i] += J[k * n + i] * x[k];
    }
}
static void dogleg_apply_transposed(int n, const double *J, const double *x, double *y) {
    for (int k = 0; k < n; k++) y[k] = snw_vector_dot(n, J + (ptrdiff_t)k * n, x);
}

typedef struct work {
    double *r, *trial, *rt, *J, *LU, *g, *Jg, *newton, *d;
    int *pivot;
} work;

// d <- dogleg step within `radius`
static void compute_step(int n, const work *w, bool regular, double radius) {
    dogleg_apply_transposed(n, w->J, w->r, w->g);
    dogleg_apply(n, w->J, w->g, w->Jg);
    const double gg = snw_vector_dot(n, w->g, w->g), gJJg = snw_vector_dot(n, w->Jg, w->Jg);
    const double nn = regular ? sqrt(snw_vector_dot(n, w->newton, w->newton)) : INFINITY;
    if (nn <= radius) {
        memcpy(w->d, w->newton, (size_t)n * sizeof *w->d);
        return;
    }
    const double cauchy = gJJg > 0 ? gg / gJJg : 0, length = cauchy * sqrt(gg);
    if (!regular || length >= radius) {
        const double s = length > radius ? radius / sqrt(gg) : cauchy;
        for (int i = 0; i < n; i++) w->d[i] = -s * w->g[i];
        return;
    }
    // on the segment from the Cauchy point c to the Newton point: |c + t (newton - c)| = radius
    double a = 0, b = 0, c = -radius * radius;
    for (int i = 0; i < n; i++) {
        const double from = -cauchy * w->g[i], by = w->newton[i] - from;
        a += by * by, b += from * by, c += from * from;
    }
    const double t = -c / (b + sqrt(b * b - a * c));
    for (int i = 0; i < n; i++) {
        const double from = -cauchy * w->g[i];
        w->d[i] = from + t * (w->newton[i] - from);
    }
}

// |r|^2 after the step d by the linear model
static double predicted_square(int n, const work *w) {
    dogleg_apply(n, w->J, w->d, w->Jg);
    for (int i = 0; i < n; i++) w->Jg[i] += w->r[i];
    return snw_vector_dot(n, w->Jg, w->Jg);
}

static snw_status dogleg_iterate(const snw_dogleg_problem *p, const snw_dogleg_opts *opts,
                                 const work *w, double *x, snw_dogleg_info *info) {
    const int n = p->n;
    double radius = opts->radius;
    SNW_TRY(p->residual(p->user, x, w->r));
    info->residuals = 1;
    bool fresh = false, regular = false;
    for (; info->iterations < opts->max_iter; info->iterations++) {
        info->residual = dogleg_largest(n, w->r);
        if (info->residual <= opts->tol) return SNW_OK;
        if (!fresh) {
            SNW_TRY(p->derivative(p->user, x, w->J));
            info->derivatives++;
            memcpy(w->LU, w->J, (size_t)n * (size_t)n * sizeof *w->LU);
            regular = snw_lu_factor(n, w->LU, w->pivot) == SNW_OK;
            for (int i = 0; i < n; i++) w->newton[i] = -w->r[i];
            if (regular) snw_lu_solve(n, w->LU, w->pivot, w->newton);
            regular = regular && isfinite(snw_vector_dot(n, w->newton, w->newton));
            fresh = true;
        }
        compute_step(n, w, regular, radius);
        for (int i = 0; i < n; i++) w->trial[i] = x[i] + w->d[i];
        const double before = snw_vector_dot(n, w->r, w->r), gain = before - predicted_square(n, w);
        const bool done = p->residual(p->user, w->trial, w->rt) == SNW_OK;
        info->residuals++;
        const double now = done ? snw_vector_dot(n, w->rt, w->rt) : INFINITY;
        const double ratio = now < before ? (before - now) / gain : -1;
        const double size = sqrt(snw_vector_dot(n, w->d, w->d));
        if (!(ratio >= 0.25)) radius = 0.25 * fmin(size, radius);
        if (ratio > 0.75) radius = fmax(radius, 2 * size);
        if (ratio > 0) {
            memcpy(x, w->trial, (size_t)n * sizeof *x);
            memcpy(w->r, w->rt, (size_t)n * sizeof *w->r);
            fresh = false;
        } else if (!(size > 1e-15 * (1 + dogleg_largest(n, x)))) {
            break;
        }
    }
    info->residual = dogleg_largest(n, w->r);
    return info->residual <= opts->tol ? SNW_OK : SNW_E_DIVERGED;
}

snw_status snw_dogleg(const snw_dogleg_problem *p, const snw_dogleg_opts *opts, snw_arena *scratch,
                      double *x, snw_dogleg_info *info) {
    const size_t n = (size_t)p->n, mark = snw_arena_mark(scratch);
    work w;
    double **const vectors[] = {&w.r, &w.trial, &w.rt, &w.g, &w.Jg, &w.newton, &w.d};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        *vectors[i] = snw_arena_doubles(scratch, n);
    }
    w.J = snw_arena_doubles(scratch, n * n);
    w.LU = snw_arena_doubles(scratch, n * n);
    w.pivot = snw_arena_ints(scratch, n);
    *info = (snw_dogleg_info){0};
    const snw_status status = dogleg_iterate(p, opts, &w, x, info);
    snw_arena_reset(scratch, mark);
    return status;
}
