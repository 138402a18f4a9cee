// SPDX-License-Identifier: MIT
//
// Least-squares fit of model parameters by Levenberg-Marquardt, with confidence intervals
// (theory.md 9). The unknowns are u = x / (start of x), so that all are of order one; the rows are
// r_i = (model_i - measured_i)/error_i and those of the priors, (x - prior)/sigma. With Huber's
// loss the search sees sign(r) sqrt(2 rho(r)), whose square is twice the loss. With J = dr/du at
// the minimum, |r|^2/(m - n), or 1, is the variance of a residual, and that times (J'J)^-1 the
// covariance of u.

#include "identify/fit.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fields.h"
#include "identify/student.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// singular value of J with columns of unit length that counts as zero, relative: the error of
// differences of order 6, and that of derivatives
static const double unseen_by_differences = 1e-7, unseen_by_derivatives = 1e-10;
static const double rounding = 1e-13; // of the values, in exact derivatives
static const double smallest = 1e-6;  // singular value to which smaller ones are raised
static const double at_bound = 1e-9;  // distance from a bound, in units of the start

typedef struct fit_context {
    const snw_fit_problem *p;
    const double *start;
    double *x;
    double *before;     // filled by the first run that covers all values, then NULL
    double *raw;        // nvalue: (model - measured)/error of the last run
    double *dy;         // nvalue x nfind: derivatives of the values
    snw_series *series; // nrun
    snw_fit_info *info;
    snw_error *err;
} fit_context;

static bool has_prior(const snw_fit_problem *p, int j) {
    return p->parameter && isfinite(p->parameter[j].sigma);
}

static int count_rows(const snw_fit_problem *p) {
    int rows = p->nvalue;
    for (int j = 0; j < p->nfind; j++) rows += has_prior(p, j);
    return rows;
}

static void unscale(const snw_fit_problem *p, const double *r, double *out) {
    for (int i = 0; i < p->nvalue; i++) out[i] = r[i] * p->value[i].error;
}

static bool is_outlier(const snw_fit_problem *p, double r) {
    return p->huber > 0 && fabs(r) > p->huber;
}

// sign(r) sqrt(2 rho(r)): rho = r^2/2 up to delta, delta |r| - delta^2/2 beyond
static double huber_root(const snw_fit_problem *p, double r) {
    if (!is_outlier(p, r)) return r;
    return copysign(sqrt(p->huber * (2 * fabs(r) - p->huber)), r);
}

// Residuals of the values of the last run; the root of Huber's loss is r.
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
        f->raw[i] = (got - v->value) / v->error;
        r[i] = huber_root(f->p, f->raw[i]);
    }
    return SNW_OK;
}

static void compare_priors(const fit_context *f, double *r) {
    int row = f->p->nvalue;
    for (int j = 0; j < f->p->nfind; j++) {
        if (!has_prior(f->p, j)) continue;
        r[row++] = (f->x[j] - f->p->parameter[j].prior) / f->p->parameter[j].sigma;
    }
}

static snw_status fit_residual(void *user, const double *u, double *r) {
    fit_context *f = user;
    for (int j = 0; j < f->p->nfind; j++) f->x[j] = u[j] * f->start[j];
    *f->err = (snw_error){0};
    f->info->misplaced = -1;
    snw_status status = f->p->run(f->p->user, f->x, f->series, f->err);
    if (status == SNW_OK) status = fit_compare(f, r);
    for (int i = 0; i < f->p->nrun; i++) snw_series_clear(&f->series[i]);
    if (status != SNW_OK) return status;
    compare_priors(f, r);
    if (f->before) {
        unscale(f->p, f->raw, f->before);
        f->before = NULL;
    }
    return SNW_OK;
}

// ---- memory -------------------------------------------------------------------------------------

// n unknowns, m rows
#define FIT_FIELDS(AT, PACK)                                                                       \
    AT(double, u, n, "unknowns relative to their start")                                           \
    PACK(double, r, m, "residuals, of Huber's loss its roots")                                     \
    PACK(double, dy, m *n, "derivatives of the values")                                            \
    PACK(double, raw, m, "residuals")                                                              \
    PACK(double, J, m *n, "derivatives of r, then of the residuals that count, scaled")            \
    PACK(double, size, n, "norms of the columns of J")                                             \
    PACK(double, start, n, "start of the search")                                                  \
    PACK(double, low, n, "bounds of u")                                                            \
    PACK(double, high, n, "bounds of u")                                                           \
    PACK(double, K, m *n, "J, weighted and overwritten")                                           \
    PACK(double, U, m *n, "left singular vectors")                                                 \
    PACK(double, S, n, "singular values")                                                          \
    PACK(double, Vt, n *n, "right singular vectors, as rows")                                      \
    PACK(double, C, n *n, "(K'K)^-1")                                                              \
    PACK(double, Q, n *n, "middle of the sandwich")                                                \
    PACK(double, trial, n, "unknowns on a profile")                                                \
    PACK(double, minimum, n, "unknowns at the minimum")                                            \
    PACK(double, trial_r, m, "residuals on a profile")                                             \
    PACK(double, spare, m, "residuals of its runs")                                                \
    AT(int, free_of, n, "unknowns that are at no bound")

typedef struct fit_memory {
    const snw_fit_problem *p;
    int m;     // rows
    int nfree; // unknowns at no bound; J, K, S, Vt, C, Q are of them
    FIT_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    snw_series *series;
    snw_arena scratch;
} fit_memory;

static void fit_memory_place(void *object, snw_fields *f) {
    fit_memory *o = object;
    const size_t n = (size_t)o->p->nfind, m = (size_t)o->m;
    FIT_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

static void fit_memory_free(fit_memory *w) {
    snw_free(w->block);
    snw_free(w->series);
    snw_free(w->scratch.base);
}

static snw_status fit_memory_alloc(const snw_fit_problem *p, fit_memory *w) {
    *w = (fit_memory){.p = p, .m = count_rows(p)};
    w->block = snw_fields_create(fit_memory_place, w);
    w->series = snw_alloc((size_t)p->nrun * sizeof *w->series);
    w->scratch.size = snw_levenberg_scratch(p->nfind, w->m) + snw_svd_scratch(w->m, p->nfind) + 256;
    w->scratch.base = snw_alloc(w->scratch.size);
    return w->block && w->series && w->scratch.base ? SNW_OK : SNW_E_MEMORY;
}

static void set_bounds(fit_memory *w) {
    for (int j = 0; j < w->p->nfind; j++) {
        const snw_fit_parameter *b = w->p->parameter ? &w->p->parameter[j] : NULL;
        const double low = (b ? b->low : -INFINITY) / w->start[j],
                     high = (b ? b->high : INFINITY) / w->start[j];
        w->low[j] = fmin(low, high);
        w->high[j] = fmax(low, high);
    }
}

// ---- standard errors ----------------------------------------------------------------------------

// -1, 1: at the bound of x below, above
static int side_of(const fit_memory *w, int j) {
    const double u = w->u[j];
    const int side = u - w->low[j] <= at_bound ? -1 : w->high[j] - u <= at_bound ? 1 : 0;
    return w->start[j] < 0 ? -side : side;
}

// J <- derivatives of the residuals from those of the roots of their loss
static void unroot(fit_memory *w) {
    for (int i = 0; i < w->p->nvalue; i++) {
        if (!is_outlier(w->p, w->raw[i])) continue;
        const double factor = fabs(w->r[i]) / w->p->huber;
        for (int j = 0; j < w->p->nfind; j++) w->J[(size_t)j * (size_t)w->m + (size_t)i] *= factor;
    }
}

// J <- its columns of free unknowns, scaled to unit length; size <- their lengths. Unknowns whose
// column is zero are no longer free; returns the first of them, or -1.
static int fit_normalise(fit_memory *w) {
    const size_t m = (size_t)w->m;
    int n = 0, idle = -1;
    for (int k = 0; k < w->nfree; k++) {
        const int j = w->free_of[k];
        const double *from = w->J + (size_t)j * m;
        double *column = w->J + (size_t)n * m, sum = 0;
        for (size_t i = 0; i < m; i++) sum += from[i] * from[i];
        if (!(sum > 0)) {
            idle = idle < 0 ? j : idle;
            continue;
        }
        w->size[n] = sqrt(sum);
        w->free_of[n] = j;
        for (size_t i = 0; i < m; i++) column[i] = from[i] / w->size[n];
        n++;
    }
    w->nfree = n;
    return idle;
}

// S, Vt <- of J, without the rows of outliers: the second derivative of their loss is 0
static snw_status decompose(fit_memory *w) {
    const size_t m = (size_t)w->m;
    memcpy(w->K, w->J, m * (size_t)w->nfree * sizeof *w->J);
    for (int i = 0; i < w->p->nvalue; i++) {
        if (!is_outlier(w->p, w->raw[i])) continue;
        for (int j = 0; j < w->nfree; j++) w->K[(size_t)j * m + (size_t)i] = 0;
    }
    return snw_svd(w->m, w->nfree, w->K, &w->scratch, w->U, w->S, w->Vt);
}

// C <- (K'K)^-1, singular values below the error of the derivatives raised to it
static void invert(fit_memory *w) {
    const size_t n = (size_t)w->nfree;
    memset(w->C, 0, n * n * sizeof *w->C);
    for (size_t k = 0; k < n; k++) {
        const double s = fmax(w->S[k], smallest);
        for (size_t a = 0; a < n; a++) {
            for (size_t b = 0; b < n; b++)
                w->C[a * n + b] += w->Vt[a * n + k] * w->Vt[b * n + k] / (s * s);
        }
    }
}

// out (n x n) <- A B
static void multiply(size_t n, const double *A, const double *B, double *out) {
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++) sum += A[k * n + a] * B[b * n + k];
            out[b * n + a] = sum;
        }
    }
}

// C <- C Q C with Q = sum of psi(r)^2 g g' over the rows g of J; a prior counts 1
static void sandwich(fit_memory *w) {
    const size_t n = (size_t)w->nfree, m = (size_t)w->m;
    memset(w->Q, 0, n * n * sizeof *w->Q);
    for (size_t i = 0; i < m; i++) {
        const bool prior = i >= (size_t)w->p->nvalue;
        const double psi = prior ? 1 : fmin(fabs(w->raw[i]), w->p->huber);
        for (size_t a = 0; a < n; a++) {
            for (size_t b = 0; b < n; b++)
                w->Q[a * n + b] += psi * psi * w->J[a * m + i] * w->J[b * m + i];
        }
    }
    multiply(n, w->C, w->Q, w->Vt); // the singular vectors have been used
    multiply(n, w->Vt, w->C, w->Q);
    memcpy(w->C, w->Q, n * n * sizeof *w->C);
}

// Directions of small singular values, as relative changes of the parameters.
static void list_unseen(const fit_memory *w, snw_fit_answer *answer, snw_fit_info *info) {
    const size_t n = (size_t)w->nfree;
    for (size_t k = 0; k < n; k++) {
        const double unseen = info->exact ? unseen_by_derivatives : unseen_by_differences;
        if (w->S[k] > unseen * w->S[0]) continue;
        double *to = answer->direction + (size_t)info->nunseen++ * (size_t)w->p->nfind, most = 0;
        memset(to, 0, (size_t)w->p->nfind * sizeof *to);
        for (size_t a = 0; a < n; a++) {
            const int j = w->free_of[a];
            to[j] = w->Vt[a * n + k] / w->size[a] / w->u[j];
            if (fabs(to[j]) > fabs(most)) most = to[j];
        }
        for (int j = 0; j < w->p->nfind; j++) to[j] /= most;
    }
}

static void correlate(const fit_memory *w, double *correlation) {
    const size_t n = (size_t)w->nfree;
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) {
            const size_t j = (size_t)w->free_of[a], k = (size_t)w->free_of[b];
            const bool flip = (w->start[j] < 0) != (w->start[k] < 0);
            const double both = sqrt(w->C[a * n + a] * w->C[b * n + b]);
            correlation[j * (size_t)w->p->nfind + k] =
                a == b ? 1 : (flip ? -1 : 1) * w->C[a * n + b] / both;
        }
    }
}

// Standard errors and symmetric intervals from C.
static void set_intervals(const fit_context *f, const fit_memory *w, snw_fit_answer *answer) {
    const snw_fit_problem *p = f->p;
    const int left = w->m - w->nfree;
    f->info->freedom = p->known ? (double)INFINITY : left;
    f->info->variance = p->known ? 1 : left > 0 ? f->info->chi2 / left : NAN;
    const double level = p->level > 0 ? p->level : 0.95;
    const double quantile = snw_student_quantile(0.5 + level / 2, f->info->freedom);
    for (size_t k = 0; k < (size_t)w->nfree; k++) {
        const int j = w->free_of[k];
        const double variance = f->info->variance * w->C[k * (size_t)w->nfree + k];
        answer->error[j] = fabs(w->start[j]) / w->size[k] * sqrt(variance);
        answer->low[j] = w->u[j] * w->start[j] - quantile * answer->error[j];
        answer->high[j] = w->u[j] * w->start[j] + quantile * answer->error[j];
    }
}

// ---- last steps ---------------------------------------------------------------------------------

// trial <- Newton step from u with J kept: -(K'K)^-1 J'psi, without the directions that J does not
// resolve; *length <- its length in standard errors
static void newton_step(fit_memory *w, double *length) {
    const size_t n = (size_t)w->nfree, m = (size_t)w->m;
    memcpy(w->trial, w->u, (size_t)w->p->nfind * sizeof *w->trial);
    *length = 0;
    for (size_t k = 0; k < n && w->S[k] > 10 * smallest; k++) {
        double along = 0; // of the gradient
        for (size_t a = 0; a < n; a++) {
            for (size_t i = 0; i < m; i++) {
                const bool outlier = i < (size_t)w->p->nvalue && is_outlier(w->p, w->raw[i]);
                const double psi = i >= (size_t)w->p->nvalue ? w->r[i]
                                   : outlier                 ? copysign(w->p->huber, w->raw[i])
                                                             : w->raw[i];
                along += w->Vt[a * n + k] * w->J[a * m + i] * psi;
            }
        }
        *length += along * along / (w->S[k] * w->S[k]);
        for (size_t a = 0; a < n; a++) {
            w->trial[w->free_of[a]] -= w->Vt[a * n + k] * along / (w->S[k] * w->S[k]) / w->size[a];
        }
    }
    *length = sqrt(*length);
}

// u, r, raw <- improved beyond what the fall of |r|^2 can tell from rounding: Newton's steps as
// long as they become much shorter. S, Vt <- of J for the outliers at the end.
static snw_status polish(fit_context *f, fit_memory *w) {
    double *raw = f->raw, before = 1e-2, length;
    f->raw = w->spare;
    snw_status status = decompose(w);
    for (int i = 0; status == SNW_OK && i < 8; i++) {
        newton_step(w, &length);
        if (!(length < 0.3 * before) || length < 1e-11) break;
        for (int j = 0; j < w->p->nfind; j++)
            w->trial[j] = fmin(fmax(w->trial[j], w->low[j]), w->high[j]);
        status = fit_residual(f, w->trial, w->trial_r);
        if (status == SNW_E_STOPPED || status == SNW_E_MEMORY) break;
        if (status != SNW_OK) {
            status = SNW_OK;
            break;
        }
        memcpy(w->u, w->trial, (size_t)w->p->nfind * sizeof *w->u);
        memcpy(w->r, w->trial_r, (size_t)w->m * sizeof *w->r);
        memcpy(raw, w->spare, (size_t)w->p->nvalue * sizeof *raw);
        before = length;
        status = decompose(w);
    }
    f->raw = raw;
    return status;
}

static snw_status estimate_free(fit_context *f, fit_memory *w, snw_fit_answer *answer) {
    const snw_fit_problem *p = f->p;
    for (int j = 0; j < p->nfind; j++) {
        answer->at[j] = side_of(w, j);
        if (!answer->at[j]) w->free_of[w->nfree++] = j;
    }
    unroot(w);
    f->info->idle = fit_normalise(w);
    if (w->nfree > 0) SNW_TRY(polish(f, w));
    f->info->chi2 = 0;
    for (int i = 0; i < w->m; i++) {
        const double r = i < p->nvalue ? w->raw[i] : w->r[i];
        f->info->chi2 += r * r;
    }
    for (int i = 0; i < p->nvalue; i++)
        answer->weight[i] = is_outlier(p, w->raw[i]) ? p->huber / fabs(w->raw[i]) : 1;
    if (w->nfree == 0) return SNW_OK;
    invert(w);
    list_unseen(w, answer, f->info);
    for (int k = 0; k < w->nfree; k++) {
        const double inflation = w->C[(size_t)k * (size_t)w->nfree + (size_t)k];
        if (f->info->vague >= 0 && inflation <= f->info->inflation) continue;
        f->info->vague = w->free_of[k];
        f->info->inflation = inflation;
    }
    if (p->huber > 0) sandwich(w);
    correlate(w, answer->correlation);
    set_intervals(f, w, answer);
    return SNW_OK;
}

// Errors of the unknowns on which values depend; SNW_E_SINGULAR: there are others.
static snw_status estimate_errors(fit_context *f, fit_memory *w, snw_fit_answer *answer) {
    SNW_TRY(estimate_free(f, w, answer));
    if (f->info->idle < 0) return SNW_OK;
    unscale(f->p, w->raw, answer->after);
    return snw_fail(f->err, SNW_E_SINGULAR, "no measured value depends on it");
}

// ---- profile likelihood -------------------------------------------------------------------------

// sqrt of the rise of |r|^2 from the minimum when unknown j is held at u_j and the others follow.
static snw_status rise_at(const snw_least_squares *problem, const snw_levenberg_opts *opts,
                          fit_memory *w, int j, double u_j, double least, double *rise) {
    snw_levenberg_info info = {0};
    const double low = w->low[j], high = w->high[j];
    w->trial[j] = w->low[j] = w->high[j] = u_j;
    const snw_status status =
        problem->n == 1
            ? problem->residual(problem->user, w->trial, w->trial_r)
            : snw_levenberg(problem, opts, &w->scratch, w->trial, w->trial_r, w->K, &info);
    w->low[j] = low;
    w->high[j] = high;
    double sum = 0;
    for (int i = 0; i < w->m; i++) sum += w->trial_r[i] * w->trial_r[i];
    *rise = sqrt(fmax(sum - least, 0));
    return status;
}

// *end <- u_j on this side of the minimum, about `distance` away, at which the rise is `limit`, or
// the bound before it; NaN where runs fail. The rise grows almost linearly with the distance.
static snw_status profile_side(const snw_least_squares *problem, const snw_levenberg_opts *opts,
                               fit_memory *w, int j, int side, double distance, double least,
                               double limit, double *end) {
    const double from = w->minimum[j], room = side * ((side < 0 ? w->low : w->high)[j] - from);
    double inner = 0, inner_rise = 0, outer = INFINITY, outer_rise = INFINITY;
    memcpy(w->trial, w->minimum, (size_t)w->p->nfind * sizeof *w->trial);
    *end = NAN;
    for (int i = 0; i < 60; i++) {
        const double d = fmin(distance, room);
        double rise;
        const snw_status status = rise_at(problem, opts, w, j, from + side * d, least, &rise);
        if (status == SNW_E_STOPPED || status == SNW_E_MEMORY) return status;
        if (status != SNW_OK) return SNW_OK;
        const bool found = fabs(rise - limit) <= 1e-9 * limit || outer - inner <= 1e-13 * d;
        if (found || (rise < limit && d >= room)) {
            *end = from + side * d;
            return SNW_OK;
        }
        if (rise < limit) {
            inner = d, inner_rise = rise;
        } else {
            outer = d, outer_rise = rise;
        }
        distance = isinf(outer)
                       ? inner * fmin(limit / inner_rise, 4)
                       : inner + (outer - inner) * (limit - inner_rise) / (outer_rise - inner_rise);
    }
    return SNW_OK;
}

static snw_status profile_intervals(const snw_least_squares *problem,
                                    const snw_levenberg_opts *opts, const fit_context *f,
                                    fit_memory *w, snw_fit_answer *answer) {
    const double least = f->info->chi2;
    memcpy(w->minimum, w->u, (size_t)w->p->nfind * sizeof *w->u);
    for (int j = 0; j < w->p->nfind; j++) {
        if (!(answer->error[j] > 0)) continue;
        const double width = (answer->high[j] - answer->low[j]) / 2, scale = w->start[j];
        const double limit = width / answer->error[j] * sqrt(f->info->variance);
        for (int side = -1; side <= 1; side += 2) {
            double end = NAN;
            SNW_TRY(
                profile_side(problem, opts, w, j, side, width / fabs(scale), least, limit, &end));
            *((side < 0) == (scale > 0) ? &answer->low[j] : &answer->high[j]) = end * scale;
        }
    }
    return SNW_OK;
}

// ---- fit ----------------------------------------------------------------------------------------

static void clear_answer(const snw_fit_problem *p, snw_fit_answer *a) {
    const int n = p->nfind;
    for (int j = 0; j < n; j++) {
        a->error[j] = a->low[j] = a->high[j] = NAN;
        a->at[j] = 0;
    }
    for (int j = 0; j < n * n; j++) a->correlation[j] = a->direction[j] = NAN;
    for (int i = 0; i < p->nvalue; i++) a->before[i] = a->after[i] = a->weight[i] = NAN;
}

// Are the derivatives by unknown j the rounding of the values, not far from its start? Then nothing
// depends on it.
static bool is_rounding(const fit_context *f, int j) {
    const snw_fit_problem *p = f->p;
    double most = 0, size = 0;
    if (fabs(f->x[j]) > 1e3 * fabs(f->start[j])) return false; // it diverges
    for (int i = 0; i < p->nvalue; i++) {
        const snw_fit_value *v = &p->value[i];
        const double by = f->dy[(size_t)j * (size_t)p->nvalue + (size_t)i];
        most = fmax(most, fabs(f->start[j] * by) / v->error);
        size = fmax(size, fabs(v->value) / v->error + fabs(f->raw[i]));
    }
    return most <= rounding * size;
}

// J (rows x n) <- derivatives of the roots of the loss at u by those of the problem
static snw_status fit_derivative(void *user, const double *u, double *J) {
    fit_context *f = user;
    const snw_fit_problem *p = f->p;
    const size_t rows = (size_t)count_rows(p);
    for (int j = 0; j < p->nfind; j++) f->x[j] = u[j] * f->start[j];
    SNW_TRY(p->derive(p->user, f->x, f->dy));
    int row = p->nvalue;
    for (int j = 0; j < p->nfind; j++) {
        double *column = J + (size_t)j * rows;
        memset(column, 0, rows * sizeof *column);
        for (int i = 0; i < p->nvalue && !is_rounding(f, j); i++) {
            const double r = f->raw[i]; // of the last run, at u
            const double root = is_outlier(p, r) ? p->huber / fabs(huber_root(p, r)) : 1;
            column[i] = root * f->start[j] * f->dy[(size_t)j * (size_t)p->nvalue + (size_t)i] /
                        p->value[i].error;
        }
        if (has_prior(p, j)) column[row++] = f->start[j] / p->parameter[j].sigma;
    }
    return SNW_OK;
}

// Search by differences of order 2, which are cheap, then to the end by exact derivatives, or by
// differences of order 6, whose error is that of the runs. J <- by the latter.
static snw_status fit_search(const snw_least_squares *problem, const snw_levenberg_opts *opts,
                             fit_memory *w, snw_fit_info *info) {
    SNW_TRY(snw_levenberg(problem, opts, &w->scratch, w->u, w->r, w->J, &info->search));
    snw_levenberg_info first = info->search;
    snw_levenberg_opts fine = *opts;
    fine.order = 6;
    fine.step = 3 * opts->step;
    fine.tol = 1e-10;
    snw_least_squares exact = *problem;
    exact.derivative = w->p->derive ? fit_derivative : NULL;
    memcpy(w->minimum, w->u, (size_t)w->p->nfind * sizeof *w->u);
    snw_status status = snw_levenberg(&exact, &fine, &w->scratch, w->u, w->r, w->J, &info->search);
    info->exact = w->p->derive && status == SNW_OK;
    if (w->p->derive && status != SNW_OK && status != SNW_E_STOPPED) { // there are none
        memcpy(w->u, w->minimum, (size_t)w->p->nfind * sizeof *w->u);
        status = snw_levenberg(problem, &fine, &w->scratch, w->u, w->r, w->J, &info->search);
    }
    info->search.iterations += first.iterations;
    info->search.evaluations += first.evaluations;
    info->search.failures += first.failures;
    return status;
}

static snw_status fit_run(fit_context *f, const snw_levenberg_opts *given, fit_memory *w,
                          snw_fit_answer *answer) {
    const snw_fit_problem *p = f->p;
    snw_levenberg_opts opts = *given;
    bool bounded = false;
    for (int j = 0; j < p->nfind; j++) bounded |= isfinite(w->low[j]) || isfinite(w->high[j]);
    if (bounded) opts.low = w->low, opts.high = w->high;
    const snw_least_squares problem = {
        .n = p->nfind, .m = w->m, .user = f, .residual = fit_residual};
    snw_status status = fit_search(&problem, &opts, w, f->info);
    if (!f->before) {
        f->info->misplaced = -1; // the start covers all values: a later failure is not the input's
        // residuals from the roots of their loss
        for (int i = 0; i < p->nvalue; i++) {
            const double root = fabs(w->r[i]), d = p->huber;
            w->raw[i] = d > 0 && root > d ? copysign((root * root / d + d) / 2, w->r[i]) : w->r[i];
        }
        unscale(p, w->raw, answer->after);
    }
    if (status != SNW_OK) return status;
    SNW_TRY(estimate_errors(f, w, answer));
    unscale(p, w->raw, answer->after);
    f->raw = w->spare; // runs of the profiles leave the residuals at the minimum alone
    if (!p->profile || p->huber > 0) return SNW_OK;
    opts.low = w->low, opts.high = w->high, opts.order = 6, opts.step *= 3, opts.tol = 1e-10;
    return profile_intervals(&problem, &opts, f, w, answer);
}

snw_status snw_fit(const snw_fit_problem *p, const snw_levenberg_opts *opts, double *x,
                   snw_fit_answer *answer, snw_fit_info *info, snw_error *err) {
    SNW_ASSERT(p->nfind > 0 && count_rows(p) >= p->nfind);
    *info = (snw_fit_info){.misplaced = -1, .idle = -1, .vague = -1};
    clear_answer(p, answer);
    fit_memory w;
    snw_status status = fit_memory_alloc(p, &w);
    if (status != SNW_OK) {
        fit_memory_free(&w);
        return snw_fail(err, status, "out of memory");
    }
    memcpy(w.start, x, // x changes during the search
           (size_t)p->nfind * sizeof *x);
    set_bounds(&w);
    snw_error last = {0}; // of the last run that failed, which may have been a trial
    fit_context f = {.p = p,
                     .start = w.start,
                     .x = x,
                     .before = answer->before,
                     .raw = w.raw,
                     .dy = w.dy,
                     .series = w.series,
                     .info = info,
                     .err = &last};
    for (int j = 0; j < p->nfind; j++) w.u[j] = 1;
    status = fit_run(&f, opts, &w, answer);
    if (status != SNW_OK) *err = last;
    for (int j = 0; j < p->nfind; j++) x[j] = w.u[j] * w.start[j];
    fit_memory_free(&w);
    return status;
}
