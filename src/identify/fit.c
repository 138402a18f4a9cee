// SPDX-License-Identifier: MIT
//
// Least-squares fit of model parameters by Levenberg-Marquardt, with standard errors (theory.md 9).
// The unknowns are u = x / (start of x), so that all are of order one; the residuals are r_i =
// (model_i - measured_i)/error_i. With J = dr/du at the minimum, |r|^2/(m - n) estimates the
// variance of a residual, and that times (J'J)^-1 the covariance of u.

#include "identify/fit.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fields.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

typedef struct fit_context {
    const snw_fit_problem *p;
    const double *start;
    double *x;
    double *before;     // filled by the first run that covers all values, then NULL
    snw_series *series; // nrun
    snw_fit_info *info;
    snw_error *err;
} fit_context;

static void unscale(const snw_fit_problem *p, const double *r, double *out) {
    for (int i = 0; i < p->nvalue; i++) out[i] = r[i] * p->value[i].error;
}

static snw_status fit_compare(fit_context *f, double *r) {
    for (int i = 0; i < f->p->nvalue; i++) {
        const snw_fit_value *v = &f->p->value[i];
        const snw_series *s = &f->series[v->run];
        double got;
        const double t = v->t + (f->p->shift > 0 ? f->x[f->p->shift - 1] : 0);
        if (!snw_series_at(s, v->column, t, &got)) {
            f->info->misplaced = i;
            const double first = s->nframe ? s->t[0] : NAN,
                         last = s->nframe ? s->t[s->nframe - 1] : NAN;
            return snw_fail(f->err, SNW_E_ARGUMENT,
                            "t = %g s is not reached by the study, which goes from %g to %g s", t,
                            first, last);
        }
        if (!isfinite(got)) {
            f->info->misplaced = i;
            return snw_fail(f->err, SNW_E_ARGUMENT,
                            "at t = %g s the model has no value to compare with", t);
        }
        r[i] = (got - v->value) / v->error;
    }
    return SNW_OK;
}

static snw_status fit_residual(void *user, const double *u, double *r) {
    fit_context *f = user;
    for (int j = 0; j < f->p->nfind; j++) f->x[j] = u[j] * f->start[j];
    *f->err = (snw_error){0};
    f->info->misplaced = -1;
    snw_status status = f->p->run(f->p->user, f->x, f->series, f->err);
    if (status == SNW_OK) status = fit_compare(f, r);
    for (int i = 0; i < f->p->nrun; i++) snw_series_clear(&f->series[i]);
    if (status == SNW_OK && f->before) {
        unscale(f->p, r, f->before);
        f->before = NULL;
    }
    return status;
}

// ---- standard errors ----------------------------------------------------------------------------

// scale the columns of J to unit length; size <- their lengths; returns the first zero column, or
// -1
static int fit_normalise(int n, int m, double *J, double *size) {
    for (int j = 0; j < n; j++) {
        double *column = J + (size_t)j * (size_t)m, sum = 0;
        for (int i = 0; i < m; i++) sum += column[i] * column[i];
        size[j] = sqrt(sum);
        if (!(size[j] > 0)) return j;
        for (int i = 0; i < m; i++) column[i] /= size[j];
    }
    return -1;
}

// C <- inverse of J'J, J with columns of unit length; eigenvalues below the error of the finite
// differences in J are raised to a floor
static snw_status fit_invert(int n, int m, const double *J, snw_arena *scratch, double *C) {
    static const double floor = 1e-12;
    const size_t mark = snw_arena_mark(scratch), N = (size_t)n;
    double *G = snw_arena_doubles(scratch, N * N), *I = snw_arena_doubles(scratch, N * N);
    double *eigenvalue = snw_arena_doubles(scratch, N);
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) {
            const double *p = J + (size_t)a * (size_t)m, *q = J + (size_t)b * (size_t)m;
            double sum = 0;
            for (int i = 0; i < m; i++) sum += p[i] * q[i];
            G[(size_t)a * N + (size_t)b] = sum;
            I[(size_t)a * N + (size_t)b] = a == b;
            C[(size_t)a * N + (size_t)b] = 0;
        }
    }
    const snw_status status = snw_eigen_symmetric(n, G, I, true, scratch, eigenvalue);
    for (size_t k = 0; status == SNW_OK && k < N; k++) {
        const double *v = G + k * N;
        for (size_t a = 0; a < N; a++) {
            for (size_t b = 0; b < N; b++) C[a * N + b] += v[a] * v[b] / fmax(eigenvalue[k], floor);
        }
    }
    snw_arena_reset(scratch, mark);
    return status;
}

static snw_status estimate_errors(const fit_context *f, double *J, double *size, snw_arena *scratch,
                                  double *error, double *correlation) {
    const int n = f->p->nfind, m = f->p->nvalue;
    const size_t N = (size_t)n;
    f->info->idle = fit_normalise(n, m, J, size);
    if (f->info->idle >= 0) {
        return snw_fail(f->err, SNW_E_SINGULAR, "no measured value depends on it");
    }
    SNW_TRY(fit_invert(n, m, J, scratch, correlation));
    for (int j = 0; j < n; j++) {
        const double inflation = correlation[(size_t)j * N + (size_t)j];
        if (f->info->vague >= 0 && inflation <= f->info->inflation) continue;
        f->info->vague = j;
        f->info->inflation = inflation;
    }
    const double variance = m > n ? f->info->search.last / (m - n) : NAN;
    for (size_t j = 0; j < N; j++) {
        error[j] = fabs(f->start[j]) / size[j] * sqrt(variance * correlation[j * N + j]);
    }
    for (size_t a = 0; a < N; a++) {
        for (size_t b = 0; b < N; b++) {
            if (a == b) continue;
            const double both = correlation[a * N + a] * correlation[b * N + b];
            const bool flip = (f->start[a] < 0) != (f->start[b] < 0);
            correlation[a * N + b] *= (flip ? -1 : 1) / sqrt(both);
        }
    }
    for (size_t a = 0; a < N; a++) correlation[a * N + a] = 1;
    return SNW_OK;
}

// ---- fit ----------------------------------------------------------------------------------------

// n unknowns, m measured values
#define FIT_FIELDS(AT, PACK)                                                                       \
    AT(double, u, n, "unknowns relative to their start")                                           \
    PACK(double, r, m, "residuals")                                                                \
    PACK(double, J, m *n, "their derivatives")                                                     \
    PACK(double, size, n, "norms of the columns of J")                                             \
    PACK(double, start, n, "start of the search")

typedef struct fit_memory {
    const snw_fit_problem *p;
    FIT_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    snw_series *series;
    snw_arena scratch;
} fit_memory;

static void fit_memory_place(void *object, snw_fields *f) {
    fit_memory *o = object;
    const size_t n = (size_t)o->p->nfind, m = (size_t)o->p->nvalue;
    FIT_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

static void fit_memory_free(fit_memory *w) {
    snw_free(w->block);
    snw_free(w->series);
    snw_free(w->scratch.base);
}

static snw_status fit_memory_alloc(const snw_fit_problem *p, fit_memory *w) {
    const size_t n = (size_t)p->nfind;
    *w = (fit_memory){.p = p};
    w->block = snw_fields_create(fit_memory_place, w);
    w->series = snw_alloc((size_t)p->nrun * sizeof *w->series);
    w->scratch.size = snw_levenberg_scratch(p->nfind, p->nvalue) +
                      snw_eigen_symmetric_scratch(p->nfind) + (2 * n * n + n) * sizeof(double) +
                      256;
    w->scratch.base = snw_alloc(w->scratch.size);
    return w->block && w->series && w->scratch.base ? SNW_OK : SNW_E_MEMORY;
}

snw_status snw_fit(const snw_fit_problem *p, const snw_levenberg_opts *opts, double *x,
                   double *error, double *correlation, double *before, double *after,
                   snw_fit_info *info, snw_error *err) {
    SNW_ASSERT(p->nvalue >= p->nfind && p->nfind > 0);
    const int n = p->nfind;
    *info = (snw_fit_info){.misplaced = -1, .idle = -1, .vague = -1};
    for (int j = 0; j < n; j++) error[j] = NAN;
    for (int j = 0; j < n * n; j++) correlation[j] = NAN;
    for (int i = 0; i < p->nvalue; i++) before[i] = after[i] = NAN;
    fit_memory w;
    snw_status status = fit_memory_alloc(p, &w);
    if (status != SNW_OK) {
        fit_memory_free(&w);
        return snw_fail(err, status, "out of memory");
    }
    memcpy(w.start, x, // x changes during the search
           (size_t)n * sizeof *x);
    snw_error last = {0};
    fit_context f = {.p = p,
                     .start = w.start,
                     .x = x,
                     .before = before,
                     .series = w.series,
                     .info = info,
                     .err = &last};
    for (int j = 0; j < n; j++) w.u[j] = 1;
    const snw_least_squares problem = {
        .n = n, .m = p->nvalue, .user = &f, .residual = fit_residual};
    status = snw_levenberg(&problem, opts, &w.scratch, w.u, w.r, w.J, &info->search);
    for (int j = 0; j < n; j++) x[j] = w.u[j] * w.start[j];
    if (status != SNW_OK) *err = last;
    if (!f.before) {
        info->misplaced = -1; // the start covers all values: a later failure is not the input's
        unscale(p, w.r, after);
    }
    if (status == SNW_OK) {
        f.err = err;
        status = estimate_errors(&f, w.J, w.size, &w.scratch, error, correlation);
    }
    fit_memory_free(&w);
    return status;
}
