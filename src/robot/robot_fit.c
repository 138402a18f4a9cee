// SPDX-License-Identifier: MIT
//
// Fits of numbers of models to measured columns of their probes, theory.md 9: runs of their studies
// and, where there are any, their gradients, as the problem of identify/fit.h.
#include "base/alloc.h"
#include "base/fail.h"
#include "identify/fit.h"
#include "robot/robot_model.h"
#include "sinew/fit.h"
#include "sinew/gradient.h"
#include "study/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_FOUND = 10000,
    MOST_SWEEPS = 300 // values, each of which has a sweep; beyond differences are cheaper
};
static const size_t RESULT_LIMIT = (size_t)256 << 20;

snw_fit_options snw_fit_defaults(void) { return (snw_fit_options){.confidence = 0.95}; }

snw_fit_find snw_fit_find_defaults(const char *path) {
    return (snw_fit_find){
        .path = path, .start = NAN, .low = NAN, .high = NAN, .prior = NAN, .sigma = NAN};
}

typedef struct model_fit {
    snw_fit_result result; // first member
    snw_pool *pool;
    const snw_fit_options *how;
    snw_fit_value *value;
    snw_fit_parameter *parameter; // nfind
    snw_gradient **gradient;      // ndata; NULL: none
    snw_run_loops **loops;        // ndata: of the runs before; NULL: none so far
    double *x;
    snw_fit_found *found;
} model_fit;

void snw_fit_close(snw_fit_result *r) {
    model_fit *f = (model_fit *)(void *)r;
    if (f) snw_pool_destroy(f->pool); // holds the fit itself
}

// ---- input --------------------------------------------------------------------------------------

static snw_status check_find(const snw_fit_options *how, const snw_fit_find *find, snw_error *err) {
    if (!find->path) return snw_fail(err, SNW_E_ARGUMENT, "the path of a number to find is NULL");
    const bool prior = !isnan(find->prior);
    if (find->low >= find->high || find->start < find->low || find->start > find->high)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'%.100s': the start must be between its bounds, low below high",
                        find->path);
    if (prior != !isnan(find->sigma) || (prior && !(find->sigma > 0)))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'%.100s': a prior has a value and a positive standard deviation",
                        find->path);
    if (prior && !how->known)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'%.100s' has a prior, which needs errors that are known", find->path);
    return SNW_OK;
}

static snw_status read_find(model_fit *f, int i, snw_document_numbers *file, snw_error *err) {
    const snw_fit_find *find = &f->how->find[i];
    snw_fit_found *to = &f->found[i];
    double value = NAN;
    char unit[48];
    SNW_TRY(check_find(f->how, find, err));
    SNW_TRY(snw_robot_number(file, find->path, &value, unit, err));
    if (!isnan(find->start)) value = find->start;
    if (value == 0 || !isfinite(value))
        return snw_fail(err, SNW_E_ARGUMENT, "'%.100s' starts from %g; give a typical value",
                        find->path, value);
    *to = (snw_fit_found){.path = snw_pool_text(f->pool, find->path, strlen(find->path)),
                          .unit = snw_pool_text(f->pool, unit, strlen(unit)),
                          .value = value,
                          .start = value,
                          .error = NAN,
                          .low = NAN,
                          .high = NAN};
    if (!to->path || !to->unit) return snw_fail_memory(err);
    f->x[i] = value;
    f->parameter[i] = (snw_fit_parameter){.low = isnan(find->low) ? -INFINITY : find->low,
                                          .high = isnan(find->high) ? INFINITY : find->high,
                                          .prior = find->prior,
                                          .sigma = find->sigma};
    if (value >= f->parameter[i].low && value <= f->parameter[i].high) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "'%.100s' starts from %g, outside of its bounds",
                    find->path, value);
}

static snw_status read_finds(model_fit *f, snw_error *err) {
    snw_document_numbers *file = NULL;
    SNW_TRY(snw_robot_model_numbers(f->how->data[0].model, &file, err));
    snw_status s = SNW_OK;
    for (int i = 0; s == SNW_OK && i < f->how->nfind; i++) s = read_find(f, i, file, err);
    snw_document_numbers_close(file);
    return s;
}

static snw_status find_column(const snw_run_info *info, const char *name, int *out,
                              snw_error *err) {
    char own[256];
    for (*out = 0; name && *out < info->ncolumn; (*out)++) {
        snw_column_name(&info->column[*out], own, sizeof own);
        if (strcmp(own, name) == 0) return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT, "the model has no column '%.100s' of a probe",
                    name ? name : "NULL");
}

static snw_status list_values(model_fit *f, int data, snw_error *err) {
    const snw_fit_data *d = &f->how->data[data];
    snw_run *run = NULL;
    SNW_TRY(snw_run_create(d->model->desc, snw_robot_model_run(d->model), &run, err));
    snw_status s = SNW_OK;
    for (int k = 0; s == SNW_OK && k < d->ncolumn; k++) {
        const snw_fit_column *c = &d->column[k];
        int column = 0;
        s = find_column(snw_run_describe(run), c->name, &column, err);
        if (s == SNW_OK && (!(c->error > 0) || isinf(c->error) || (c->n > 0 && (!c->t || !c->y))))
            s = snw_fail(err, SNW_E_ARGUMENT,
                         "column '%.100s' needs times, values and a positive error", c->name);
        for (int i = 0; s == SNW_OK && i < c->n; i++) {
            if (isnan(c->y[i])) continue;
            if (!isfinite(c->t[i]) || isinf(c->y[i]))
                s = snw_fail(err, SNW_E_ARGUMENT, "value %d of column '%.100s' is not finite", i,
                             c->name);
            f->value[f->result.nvalue++] = (snw_fit_value){
                .run = data, .column = column, .t = c->t[i], .value = c->y[i], .error = c->error};
        }
    }
    snw_run_destroy(run);
    return s;
}

// ---- runs ---------------------------------------------------------------------------------------

static snw_status run_one(model_fit *f, int data, const double *x, snw_series *series,
                          snw_error *err) {
    enum { SET_SIZE = 400 };
    const size_t n = (size_t)f->how->nfind;
    const snw_robot_model *m = f->how->data[data].model;
    char *text = snw_alloc(n * SET_SIZE);
    const char **set = snw_alloc(n * sizeof *set);
    snw_robot_model *at = NULL;
    snw_run *run = NULL;
    snw_run_totals totals;
    const snw_run_hooks hooks = {0};
    snw_status s = text && set ? SNW_OK : snw_fail_memory(err);
    for (size_t i = 0; s == SNW_OK && i < n; i++) {
        set[i] = text + i * SET_SIZE;
        (void)snprintf(text + i * SET_SIZE, SET_SIZE, "%.300s=%.17g%s%s", f->found[i].path, x[i],
                       f->found[i].unit[0] ? " " : "", f->found[i].unit);
    }
    if (s == SNW_OK && !f->loops[data] && snw_run_loops_create(&f->loops[data]) != SNW_OK)
        s = snw_fail_memory(err);
    if (s == SNW_OK) s = snw_robot_model_describe(m, (int)n, set, &at, err);
    if (s == SNW_OK)
        s = snw_run_create_like(at->desc, snw_robot_model_run(m), f->loops[data], &run, err);
    if (s == SNW_OK) {
        snw_series_init(series, snw_run_describe(run)->ncolumn);
        const snw_recorder recorder = snw_series_recorder(series);
        s = snw_run_execute(run, 1, &recorder, &hooks, &totals, err);
    }
    snw_run_destroy(run);
    snw_robot_model_close(at);
    snw_free(set);
    snw_free(text);
    return s;
}

static snw_status run_all(void *user, const double *x, snw_series *series, snw_error *err) {
    model_fit *f = user;
    f->result.runs++;
    for (int i = 0; i < f->how->ndata; i++) SNW_TRY(run_one(f, i, x, &series[i], err));
    return SNW_OK;
}

static snw_status open_gradient(model_fit *f, int data, snw_error *err) {
    const snw_fit_data *d = &f->how->data[data];
    const size_t n = (size_t)f->how->nfind;
    snw_gradient_variable *by = snw_pool_array(f->pool, n, sizeof *by);
    const char **of = snw_pool_array(f->pool, (size_t)f->result.nvalue + 1, sizeof *of);
    if (!by || !of) return snw_fail_memory(err);
    snw_gradient_options how = snw_gradient_defaults();
    for (size_t i = 0; i < n; i++) by[i] = (snw_gradient_variable){.name = f->found[i].path};
    how.nvariable = (int)n, how.variable = by, how.scalar = of;
    for (int k = 0; k < d->ncolumn; k++) {
        for (int i = 0; i < d->column[k].n; i++) {
            char time[32];
            if (isnan(d->column[k].y[i])) continue;
            (void)snprintf(time, sizeof time, "%.17g", d->column[k].t[i]);
            of[how.nscalar] = snw_pool_format(f->pool, "at(%s, %s)", time, d->column[k].name);
            if (!of[how.nscalar++]) return snw_fail_memory(err);
        }
    }
    return snw_gradient_create(d->model, &how, &f->gradient[data], err);
}

static bool open_gradients(model_fit *f) {
    snw_error none = {0};
    if (f->result.nvalue > MOST_SWEEPS) return false;
    for (int i = 0; i < f->how->ndata; i++) {
        if (open_gradient(f, i, &none) != SNW_OK) return false;
    }
    return true;
}

static snw_status derive(void *user, const double *x, double *dy) {
    model_fit *f = user;
    const size_t n = (size_t)f->how->nfind, m = (size_t)f->result.nvalue;
    double *J = snw_alloc((m + m * n + 1) * sizeof *J), *dJ = J + m;
    snw_status s = J ? SNW_OK : SNW_E_MEMORY;
    for (size_t first = 0, i = 0; s == SNW_OK && i < (size_t)f->how->ndata; i++) {
        snw_error none = {0};
        s = snw_gradient_evaluate(f->gradient[i], x, J, dJ, &none);
        size_t row = 0;
        for (; s == SNW_OK && first < m && f->value[first].run == (int)i; first++, row++) {
            for (size_t j = 0; j < n; j++) dy[j * m + first] = dJ[row * n + j];
        }
    }
    snw_free(J);
    return s;
}

// ---- the fit ------------------------------------------------------------------------------------

static snw_status search(model_fit *f, snw_error *err) {
    const snw_fit_options *how = f->how;
    const size_t n = (size_t)how->nfind, m = (size_t)f->result.nvalue;
    double *kept = snw_pool_array(f->pool, 3 * n + 2 * n * n + 3 * m + 1, sizeof *kept);
    int *at = snw_pool_array(f->pool, n, sizeof *at);
    if (!kept || !at) return snw_fail_memory(err);
    for (size_t i = 0; i < 3 * n + 2 * n * n + 3 * m; i++) kept[i] = NAN;
    double *error = kept, *low = error + n, *high = low + n, *correlation = high + n;
    double *direction = correlation + n * n, *before = direction + n * n;
    memset(at, 0, n * sizeof *at);
    snw_fit_answer answer = {.error = error,
                             .correlation = correlation,
                             .low = low,
                             .high = high,
                             .at = at,
                             .before = before,
                             .after = before + m,
                             .weight = before + 2 * m,
                             .direction = direction};
    const snw_fit_problem problem = {.nfind = how->nfind,
                                     .nrun = how->ndata,
                                     .nvalue = f->result.nvalue,
                                     .value = f->value,
                                     .parameter = f->parameter,
                                     .huber = how->robust,
                                     .known = how->known != 0,
                                     .level = how->confidence,
                                     .profile = how->profile != 0,
                                     .user = f,
                                     .run = run_all,
                                     .derive = open_gradients(f) ? derive : NULL};
    const snw_levenberg_opts opts = snw_levenberg_defaults();
    snw_fit_info info = {.idle = -1, .misplaced = -1};
    const snw_status s = snw_fit(&problem, &opts, f->x, &answer, &info, err);
    for (size_t i = 0; i < n; i++) {
        snw_fit_found *to = &f->found[i];
        to->value = f->x[i], to->error = error[i], to->low = low[i], to->high = high[i];
        to->at = at[i];
    }
    f->result.correlation = correlation;
    f->result.unseen = direction;
    f->result.nunseen = info.nunseen;
    f->result.before = before, f->result.after = before + m, f->result.weight = before + 2 * m;
    f->result.chi2 = info.chi2, f->result.variance = info.variance;
    f->result.exact = info.exact;
    for (int i = 0; s == SNW_OK && info.exact && i < how->ndata; i++) {
        int steps;
        double effect;
        SNW_TRY(snw_gradient_cut_effect(f->gradient[i], f->x, &steps, &effect, err));
        f->result.cut_steps += steps;
        if (isnan(effect) || !(effect <= f->result.cut_effect)) f->result.cut_effect = effect;
    }
    if (s != SNW_OK && info.idle >= 0)
        (void)snw_fail(err, SNW_E_SINGULAR,
                       "'%.100s' cannot be found: no measured value depends on it",
                       f->found[info.idle].path);
    if (s != SNW_OK && info.misplaced >= 0)
        (void)snw_fail(err, s, "the study has no state at t = %g s", f->value[info.misplaced].t);
    return s;
}

static snw_status prepare(model_fit *f, snw_error *err) {
    const snw_fit_options *how = f->how;
    const size_t n = (size_t)how->nfind;
    size_t most = 1;
    for (int i = 0; i < how->ndata; i++) {
        if (!how->data[i].model || (how->data[i].ncolumn > 0 && !how->data[i].column))
            return snw_fail(err, SNW_E_ARGUMENT, "data %d lack the model or the columns", i);
        for (int k = 0; k < how->data[i].ncolumn; k++) {
            if (how->data[i].column[k].n < 0)
                return snw_fail(err, SNW_E_ARGUMENT, "a column has %d values",
                                how->data[i].column[k].n);
            most += (size_t)how->data[i].column[k].n;
        }
    }
    f->value = snw_pool_array(f->pool, most, sizeof *f->value);
    f->parameter = snw_pool_array(f->pool, n, sizeof *f->parameter);
    f->gradient = snw_pool_array(f->pool, (size_t)how->ndata, sizeof(snw_gradient *));
    f->loops = snw_pool_array(f->pool, (size_t)how->ndata, sizeof *f->loops);
    f->x = snw_pool_array(f->pool, n, sizeof *f->x);
    f->found = snw_pool_array(f->pool, n, sizeof *f->found);
    if (!f->value || !f->parameter || !f->gradient || !f->loops || !f->x || !f->found)
        return snw_fail_memory(err);
    for (int i = 0; i < how->ndata; i++) f->gradient[i] = NULL;
    SNW_TRY(read_finds(f, err));
    for (int i = 0; i < how->ndata; i++) SNW_TRY(list_values(f, i, err));
    int npriors = 0;
    for (int i = 0; i < how->nfind; i++) npriors += !isnan(how->find[i].prior);
    if (f->result.nvalue + npriors >= how->nfind) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "%d values and priors are not enough for %d numbers",
                    f->result.nvalue + npriors, how->nfind);
}

snw_status snw_fit_models(const snw_fit_options *how, snw_fit_result **out, snw_error *err) {
    if (!how || !out) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", how ? "out" : "how");
    *out = NULL;
    if (how->nfind < 1 || how->nfind > MOST_FOUND || how->ndata < 1 || !how->find || !how->data)
        return snw_fail(err, SNW_E_ARGUMENT, "numbers to find, or data, are missing");
    if (!(how->confidence > 0 && how->confidence < 1) || how->robust < 0)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'confidence' is between 0 and 1, and 'robust' not negative");
    if (how->robust > 0 && (!how->known || how->profile))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'robust' needs errors that are known, and no 'profile'");
    snw_pool *pool = snw_pool_create(RESULT_LIMIT);
    model_fit *f = pool ? snw_pool_take(pool, sizeof *f) : NULL;
    if (!f) {
        snw_pool_destroy(pool);
        return snw_fail_memory(err);
    }
    *f = (model_fit){.pool = pool, .how = how};
    snw_status s = prepare(f, err);
    const bool ready = s == SNW_OK;
    if (ready) s = search(f, err);
    for (int i = 0; f->gradient && i < how->ndata; i++) snw_gradient_close(f->gradient[i]);
    for (int i = 0; f->loops && i < how->ndata; i++) snw_run_loops_destroy(f->loops[i]);
    f->result.nfind = how->nfind;
    f->result.found = f->found;
    if (s == SNW_OK || (ready && f->result.runs > 1)) {
        *out = &f->result;
    } else {
        snw_pool_destroy(pool);
    }
    return s;
}
