// SPDX-License-Identifier: MIT
//
// Levenberg-Marquardt iteration, for fits (identify) and single shooting (shoot/single.c).

#include "solve/levenberg.h"

#include "base/fail.h"
#include "math/difference.h"
#include "solve/bounded_least_squares.h"
#include "solve/dense.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MOST_ORDER = 8 };
static const double NEAR_ZERO =
    0.01; // smallest size of an unknown in differences and convergence tests
static const double MAX_DAMPING = 1e12; // damping at which steps vanish

snw_levenberg_opts snw_levenberg_defaults(void) {
    return (snw_levenberg_opts){
        .tol = 1e-7, .gain = 1e-14, .step = 1e-3, .order = 2, .max_iter = 100};
}

size_t snw_levenberg_scratch(int n, int m) {
    const size_t pad = 64, N = (size_t)n, M = (size_t)m;
    const size_t plain = snw_minimum_norm_scratch(m + n, n),
                 bounded = snw_bounded_linear_scratch(n, m + n, 0);
    return (2 * M + 6 * N + (M + N) * (N + 1)) * sizeof(double) + 10 * pad +
           (plain > bounded ? plain : bounded);
}

// State of the iteration; arrays from the arena.
typedef struct search {
    const snw_least_squares *p;
    const snw_levenberg_opts *opts;
    snw_levenberg_info *info;
    snw_arena *scratch;
    double *trial, *up; // x and residuals of a trial point
    double *room;       // 2 n: bounds of a step
    double *size;       // of the columns of J, the largest seen
    double *A, *dx;     // damped system and its solution
} search;

static double square(int n, const double *r) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += r[i] * r[i];
    return sum;
}

static bool is_returned(snw_status s) { return s == SNW_E_STOPPED || s == SNW_E_MEMORY; }

// a residual that is not finite is a failure, too
static snw_status levenberg_evaluate(const search *s, const double *x, double *r) {
    s->info->evaluations++;
    const snw_status status = s->p->residual(s->p->user, x, r);
    if (status != SNW_OK) return status;
    return isfinite(square(s->p->m, r)) ? SNW_OK : SNW_E_DIVERGED;
}

static double levenberg_typical(double x) { return fmax(fabs(x), NEAR_ZERO); }

// column <- dr/dx_j at x: the derivative at 0 of the polynomial through the residuals at the nodes
// (k + shift) h, k = -order/2 .. order/2; that at 0 are r
static snw_status levenberg_stencil(const search *s, const double *x, const double *r, int j,
                                    double h, int shift, double *column) {
    const int n = s->p->n, m = s->p->m, half = s->opts->order / 2;
    double weight[MOST_ORDER + 1];
    snw_difference_weights(half, shift, weight);
    memset(column, 0, (size_t)m * sizeof *column);
    memcpy(s->trial, x, (size_t)n * sizeof *x);
    for (int a = 0; a <= 2 * half; a++) {
        const int node = shift - half + a;
        if (node == 0) continue;
        s->trial[j] = x[j] + node * h;
        SNW_TRY(levenberg_evaluate(s, s->trial, s->up));
        for (int i = 0; i < m; i++) column[i] += weight[a] / h * (s->up[i] - r[i]);
    }
    return SNW_OK;
}

// J <- dr/dx at x with residuals r: differences, central as far as the bounds allow. If the
// residual cannot be computed on one side, they are one-sided.
static snw_status levenberg_differences(const search *s, const double *x, const double *r,
                                        double *J) {
    const int half = s->opts->order / 2;
    for (int j = 0; j < s->p->n; j++) {
        double *column = J + (size_t)j * (size_t)s->p->m;
        const double low = s->opts->low ? s->opts->low[j] : -INFINITY,
                     high = s->opts->high ? s->opts->high[j] : INFINITY;
        const double h =
            fmin(s->opts->step * levenberg_typical(x[j]), (high - low) / s->opts->order);
        if (!(h > 0)) {
            memset(column, 0, (size_t)s->p->m * sizeof *column);
            continue;
        }
        snw_status status = SNW_E_DIVERGED;
        for (int k = 0; k <= 2 * half && status != SNW_OK && !is_returned(status); k++) {
            const int shift = k % 2 ? (k + 1) / 2 : -k / 2;
            if (x[j] + (shift + half) * h > high || x[j] + (shift - half) * h < low) continue;
            status = levenberg_stencil(s, x, r, j, h, shift, column);
        }
        SNW_TRY(status);
    }
    return SNW_OK;
}

static snw_status levenberg_differentiate(const search *s, const double *x, const double *r,
                                          double *J) {
    const size_t m = (size_t)s->p->m;
    if (s->p->derivative) {
        SNW_TRY(s->p->derivative(s->p->user, x, J));
    } else {
        SNW_TRY(levenberg_differences(s, x, r, J));
    }
    for (int j = 0; j < s->p->n; j++) {
        s->size[j] = fmax(s->size[j], sqrt(square(s->p->m, J + (size_t)j * m)));
    }
    return SNW_OK;
}

// dx <- argmin |J dx + r|^2 + lambda |D dx|^2 within the bounds; *gain <- decrease of |r|^2 for
// linear r
static snw_status damped_step(const search *s, const double *x, const double *J, const double *r,
                              double lambda, double *gain) {
    const int n = s->p->n, m = s->p->m, rows = m + n;
    int rank;
    for (int j = 0; j < n; j++) {
        double *column = s->A + (size_t)j * (size_t)rows;
        memcpy(column, J + (size_t)j * (size_t)m, (size_t)m * sizeof *J);
        memset(column + m, 0, (size_t)n * sizeof *J);
        column[m + j] = sqrt(lambda) * s->size[j];
    }
    for (int i = 0; i < m; i++) s->dx[i] = -r[i];
    memset(s->dx + m, 0, (size_t)n * sizeof *r);
    if (!s->opts->low) {
        SNW_TRY(snw_minimum_norm(rows, n, s->A, 1e-14, s->scratch, s->dx, &rank));
    } else {
        memset(s->trial, 0, (size_t)n * sizeof *s->trial);
        for (int j = 0; j < n; j++) {
            s->room[j] = s->opts->low[j] - x[j];
            s->room[n + j] = s->opts->high[j] - x[j];
        }
        const snw_bounded_linear step = {
            .n = n, .m = rows, .A = s->A, .b = s->dx, .low = s->room, .high = s->room + n};
        SNW_TRY(snw_bounded_linear_solve(&step, s->scratch, s->trial, NULL));
        memcpy(s->dx, s->trial, (size_t)n * sizeof *s->dx);
    }
    *gain = 0;
    for (int i = 0; i < m; i++) {
        double change = 0;
        for (int j = 0; j < n; j++) change += J[(size_t)j * (size_t)m + (size_t)i] * s->dx[j];
        *gain -= change * (2 * r[i] + change);
    }
    return SNW_OK;
}

static bool is_small(const search *s, const double *x) {
    for (int j = 0; j < s->p->n; j++) {
        if (!(fabs(s->dx[j]) <= s->opts->tol * levenberg_typical(x[j]))) return false;
    }
    return true;
}

static snw_status levenberg_iterate(search *s, double *x, double *r, double *J) {
    const int n = s->p->n, m = s->p->m;
    double lambda = 1e-3, growth = 2;
    bool refused = false; // the last trial point failed
    SNW_TRY(levenberg_differentiate(s, x, r, J));
    while (s->info->iterations < s->opts->max_iter) {
        double gain;
        SNW_TRY(damped_step(s, x, J, r, lambda, &gain));
        // no further decrease
        if (!refused && (is_small(s, x) || !(gain > s->opts->gain * s->info->last))) return SNW_OK;
        if (s->info->last <= s->opts->enough) return SNW_OK;
        if (lambda > MAX_DAMPING) return refused ? SNW_E_DIVERGED : SNW_OK;
        s->info->iterations++;
        for (int j = 0; j < n; j++) {
            s->trial[j] = x[j] + s->dx[j];
            if (s->opts->low)
                s->trial[j] = fmin(fmax(s->trial[j], s->opts->low[j]), s->opts->high[j]);
        }
        const snw_status status = levenberg_evaluate(s, s->trial, s->up);
        if (is_returned(status)) return status;
        refused = status != SNW_OK;
        s->info->failures += refused;
        const double cost = refused ? INFINITY : square(m, s->up);
        if (!(cost < s->info->last)) {
            lambda *= growth;
            growth *= 2;
            continue;
        }
        const double trust = 2 * (s->info->last - cost) / gain - 1;
        lambda *= fmax(1.0 / 3, 1 - trust * trust * trust);
        growth = 2;
        memcpy(x, s->trial, (size_t)n * sizeof *x);
        memcpy(r, s->up, (size_t)m * sizeof *r);
        s->info->last = cost;
        SNW_TRY(levenberg_differentiate(s, x, r, J));
    }
    return SNW_E_DIVERGED;
}

snw_status snw_levenberg(const snw_least_squares *p, const snw_levenberg_opts *opts,
                         snw_arena *scratch, double *x, double *r, double *J,
                         snw_levenberg_info *info) {
    SNW_ASSERT(p->m > 0 && p->n > 0 && opts->order > 0 && opts->order % 2 == 0 &&
               opts->order <= MOST_ORDER);
    const size_t mark = snw_arena_mark(scratch), n = (size_t)p->n, m = (size_t)p->m;
    search s = {.p = p, .opts = opts, .info = info, .scratch = scratch};
    s.trial = snw_arena_doubles(scratch, n);
    s.up = snw_arena_doubles(scratch, m);
    s.room = snw_arena_doubles(scratch, 2 * n);
    s.size = snw_arena_doubles(scratch, n);
    s.A = snw_arena_doubles(scratch, (m + n) * n);
    s.dx = snw_arena_doubles(scratch, m + n);
    memset(s.size, 0, n * sizeof *s.size);
    *info = (snw_levenberg_info){0};
    snw_status status = levenberg_evaluate(&s, x, r);
    if (status == SNW_OK) {
        info->last = square(p->m, r);
        status = levenberg_iterate(&s, x, r, J);
    }
    snw_arena_reset(scratch, mark);
    return status;
}
