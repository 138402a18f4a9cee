// SPDX-License-Identifier: MIT
//
// sinew fit --find: parameters of a model from measured values of its probes, by nonlinear least
// squares; warnings about parameters that the data do not determine.
#include "base/alloc.h"
#include "base/fail.h"
#include "cli/fit.h"
#include "cli/grid.h"
#include "cli/job.h"
#include "cli/output.h"
#include "cli/stop.h"
#include "identify/fit.h"
#include "language/node.h"
#include "language/table.h"
#include "sinew/gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 256, SET_SIZE = PATH_SIZE + 96, NAME_SIZE = 256 };
static const double MAX_CORRELATION = 0.95;    // of two estimates, before a warning
static const double MAX_INFLATION = 1e6;       // variance inflation factor, before a warning
static const double RUNAWAY = 1e3;             // ratio to the start of a diverging value
static const double NOISE = 3;                 // acceptable rms error / error of measurement
static const size_t LIMIT = (size_t)256 << 20; // bytes of measured data

// One parameter to find.
typedef struct parameter {
    char path[PATH_SIZE];
    snw_quantity_read start;
    double error;       // standard error
    double low, high;   // confidence interval
    int at;             // -1, 1: at the bound below, above
    char set[SET_SIZE]; // override with the value of the current run
} parameter;

// One column of a data file.
typedef struct column {
    int data, field; // file and column of the measurement
    int run, index;  // run and its column that are compared
    char name[NAME_SIZE];
    size_t probe;         // length of the probe's name in `name`
    double error;         // error of measurement; the weight is its inverse
    int first, n;         // its values in session.value
    double before, after; // rms of model minus measurement, at the start and at the end
    double judged;        // `after`, or with --robust what outliers do not change
    double acceptable;    // its largest acceptable value
} column;

typedef struct session {
    snw_reply *reply;
    const snw_args *args;
    snw_job job;
    snw_pool *pool; // of the data
    snw_meter meter;
    int ndata;
    snw_data_table *data;
    int nfind;
    parameter *find;
    snw_fit_parameter *known; // nfind: bounds and priors
    double *x;                // nfind: values of the parameters
    double *correlation;      // nfind x nfind
    double *direction;        // nfind x nfind: relative changes that no value shows
    double huber, level;
    bool sigma;              // --error are standard deviations
    snw_gradient **gradient; // of each run; NULL: none
    bool has_gradients;      // of all runs
    int cut_steps;           // of all runs: lengths that the motion chose; their effect on the
    double cut_effect;       // derivatives, relative to the largest
    int shift;               // 1 + index of the time shift, which is no override; 0: none
    int nset;                // overrides: those of the command line, then the parameters
    const char **set;
    int ncolumn;
    column *column;
    int nvalue;
    snw_fit_value *value;
    const int *line; // nvalue: line of each value in its file
    double *before, *after, *weight;
    int runs;              // number of evaluations so far
    snw_run_loops **loops; // of each run, from the evaluations before
    snw_fit_info info;
} session;

// ---- parameters --------------------------------------------------------------------------------

static snw_status fail_parameter(snw_error *err, const char *text) {
    (void)snw_fail(err, SNW_E_ARGUMENT, "%s", text);
    return snw_fail_at_location(err, SNW_E_ARGUMENT, "--find", 1, 1);
}

static snw_status read_find(session *s, const char *text, parameter *f, snw_error *err) {
    const char *eq = snw_set_equals(text);
    const size_t length = eq ? (size_t)(eq - text) : strlen(text);
    char message[2 * PATH_SIZE + 128];
    if (length == 0 || length >= sizeof f->path) {
        return fail_parameter(err, "a path is missing, or too long");
    }
    memcpy(f->path, text, length);
    const snw_document *d = s->job.document;
    const int run = s->job.run[0].index;
    snw_quantity_read file = {0};
    bool given = false;
    if (eq) {
        SNW_TRY(snw_document_evaluate(d, run, eq + 1, "--find", &f->start, err));
        const snw_status status = snw_document_find(d, run, f->path, "--find", &given, &file, err);
        // the file may give no value, or one that is not a number
        if (status != SNW_OK && !given) return status;
        *err = (snw_error){0};
        if (!f->start.unit[0]) memcpy(f->start.unit, file.unit, sizeof file.unit);
    } else {
        SNW_TRY(snw_document_find(d, run, f->path, "--find", &given, &f->start, err));
        if (!given) {
            (void)snprintf(message, sizeof message,
                           "the file gives no '%s'; give a start, --find %s=VALUE", f->path,
                           f->path);
            return fail_parameter(err, message);
        }
    }
    if (f->start.value == 0 || !isfinite(f->start.value)) {
        (void)snprintf(message, sizeof message,
                       "'%s' starts from %g; give a typical value, --find %s=VALUE", f->path,
                       f->start.value, f->path);
        return fail_parameter(err, message);
    }
    return SNW_OK;
}

static void number_with_unit(double value, const char *unit, int digits, char *out, size_t size) {
    (void)snprintf(out, size, "%.*g%s%s", digits, value, unit[0] ? " " : "", unit);
}

static void make_set(parameter *f, double value) {
    char text[80];
    number_with_unit(value, f->start.unit, 17, text, sizeof text);
    (void)snprintf(f->set, sizeof f->set, "%s=%s", f->path, text);
}

static bool is_override(const session *s, int i) { return i != s->shift - 1; }

static void make_sets(session *s, const double *x) {
    for (int i = 0; i < s->nfind; i++) {
        if (is_override(s, i)) make_set(&s->find[i], x[i]);
    }
}

// start value of --shift: time of the study minus time of the data
static snw_status read_shift(session *s, const char *text, parameter *f, snw_error *err) {
    (void)snprintf(f->path, sizeof f->path, "shift of the data");
    SNW_TRY(snw_document_evaluate(s->job.document, s->job.run[0].index, text, "--shift", &f->start,
                                  err));
    const bool time = !f->start.unit[0] || strcmp(f->start.unit, "s") == 0;
    if (time && f->start.value != 0 && isfinite(f->start.value)) {
        (void)snprintf(f->start.unit, sizeof f->start.unit, "s");
        return SNW_OK;
    }
    (void)snw_fail(err, SNW_E_ARGUMENT, "the start must not be 0; give a typical value");
    return snw_fail_at_location(err, SNW_E_ARGUMENT, "--shift", 1, 1);
}

static snw_status read_finds(session *s, snw_error *err) {
    const char *const *text, *const *given;
    const int nfind = snw_args_values(s->args, "find", &text);
    const int ngiven = snw_args_values(s->args, "set", &given);
    s->nfind = nfind + snw_args_has(s->args, "shift");
    if (s->nfind > nfind) s->shift = s->nfind;
    const size_t n = (size_t)s->nfind;
    s->nset = ngiven + nfind;
    s->find = snw_alloc(n * sizeof *s->find);
    s->known = snw_alloc(n * sizeof *s->known);
    s->x = snw_alloc(n * sizeof *s->x);
    s->correlation = snw_alloc(n * n * sizeof *s->correlation);
    s->direction = snw_alloc(n * n * sizeof *s->direction);
    s->set = snw_alloc((size_t)s->nset * sizeof *s->set);
    if (!s->find || !s->known || !s->x || !s->correlation || !s->direction || !s->set)
        return snw_fail_memory(err);
    for (size_t i = 0; i < n; i++) s->known[i] = (snw_fit_parameter){-INFINITY, INFINITY, NAN, NAN};
    for (int i = 0; i < ngiven; i++) s->set[i] = given[i];
    for (int i = 0; i < nfind; i++) {
        parameter *f = &s->find[i];
        SNW_TRY(read_find(s, text[i], f, err));
        for (int k = 0; k < i; k++) {
            if (strcmp(f->path, s->find[k].path) == 0) {
                return fail_parameter(err, "the same path is given twice");
            }
        }
        s->x[i] = f->start.value;
        s->set[ngiven + i] = f->set;
    }
    if (!s->shift) return SNW_OK;
    SNW_TRY(read_shift(s, snw_args_value(s->args, "shift"), &s->find[nfind], err));
    s->x[nfind] = s->find[nfind].start.value;
    return SNW_OK;
}

// ---- what is known before ----------------------------------------------------------------------

// The parts of PATH=FIRST<between>SECOND: *which <- index of the parameter, first and second <- the
// numbers, unchanged where a text is empty.
static snw_status read_pair(session *s, const char *option, const char *text, const char *between,
                            int *which, double *first, double *second, snw_error *err) {
    const char *eq = snw_set_equals(text), *middle = eq ? strstr(eq + 1, between) : NULL;
    char flag[16], part[PATH_SIZE];
    (void)snprintf(flag, sizeof flag, "--%s", option);
    *which = -1;
    for (int i = 0; eq && i < s->nfind; i++) {
        const size_t length = strlen(s->find[i].path);
        if (length == (size_t)(eq - text) && strncmp(s->find[i].path, text, length) == 0)
            *which = i;
    }
    if (*which < 0 || !middle || strlen(text) >= sizeof part) {
        (void)snw_fail(err, SNW_E_ARGUMENT, "'%.200s': %s%s%s", text,
                       *which < 0 ? "no --find has this path; it takes PATH=" : "it takes PATH=",
                       strcmp(between, "..") == 0 ? "LOW..HIGH" : "VALUE+-SIGMA",
                       *which < 0 ? " of a value to find" : "");
        return snw_fail_at_location(err, SNW_E_ARGUMENT, flag, 1, 1);
    }
    double *const to[2] = {first, second};
    bool other = false, other_unit = false; // was the first one given, with a unit?
    for (int k = 0; k < 2; k++) {
        const char *from = k == 0 ? eq + 1 : middle + strlen(between);
        (void)snprintf(part, sizeof part, "%.*s", k == 0 ? (int)(middle - from) : PATH_SIZE, from);
        if (!part[strspn(part, " ")]) continue;
        snw_quantity_read q = {0};
        SNW_TRY(snw_document_evaluate(s->job.document, s->job.run[0].index, part, flag, &q, err));
        const char *unit = s->find[*which].start.unit;
        if (q.unit[0] && unit[0] && strcmp(q.unit, unit) != 0) {
            (void)snw_fail(err, SNW_E_ARGUMENT, "'%.100s' is in %s, expected %s", part, q.unit,
                           unit);
            return snw_fail_at_location(err, SNW_E_ARGUMENT, flag, 1, 1);
        }
        const bool has_unit = q.unit[0] != 0;
        if (other && other_unit != has_unit && q.value != 0 && *first != 0) {
            (void)snw_fail(err, SNW_E_ARGUMENT,
                           "'%.200s': one number has a unit and the other has none", text);
            return snw_fail_at_location(err, SNW_E_ARGUMENT, flag, 1, 1);
        }
        other = true;
        other_unit = has_unit;
        *to[k] = q.value;
    }
    return SNW_OK;
}

static snw_status read_known(session *s, snw_error *err) {
    const char *const *bound, *const *prior;
    const int nbound = snw_args_values(s->args, "bound", &bound),
              nprior = snw_args_values(s->args, "prior", &prior);
    for (int i = 0; i < nbound; i++) {
        int which;
        double low = -INFINITY, high = INFINITY;
        SNW_TRY(read_pair(s, "bound", bound[i], "..", &which, &low, &high, err));
        s->known[which].low = low;
        s->known[which].high = high;
        if (low < high && low <= s->x[which] && s->x[which] <= high) continue;
        (void)snw_fail(err, SNW_E_ARGUMENT,
                       "'%.200s': the start %g must be within the bounds, the lower one first",
                       bound[i], s->x[which]);
        return snw_fail_at_location(err, SNW_E_ARGUMENT, "--bound", 1, 1);
    }
    for (int i = 0; i < nprior; i++) {
        int which;
        double value = NAN, sigma = NAN;
        SNW_TRY(read_pair(s, "prior", prior[i], "+-", &which, &value, &sigma, err));
        s->known[which].prior = value;
        s->known[which].sigma = sigma;
        if (isfinite(value) && sigma > 0 && isfinite(sigma)) continue;
        (void)snw_fail(err, SNW_E_ARGUMENT,
                       "'%.200s': give a value and a positive standard deviation, e.g. "
                       "E='2 MPa +- 0.1 MPa'",
                       prior[i]);
        return snw_fail_at_location(err, SNW_E_ARGUMENT, "--prior", 1, 1);
    }
    s->sigma = nprior > 0 || snw_args_has(s->args, "robust") || snw_args_has(s->args, "known");
    if (s->sigma && !snw_args_has(s->args, "error")) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "%s needs the standard deviations of the measurements; give --error",
                        nprior > 0                        ? "--prior"
                        : snw_args_has(s->args, "robust") ? "--robust"
                                                          : "--known");
    }
    if (snw_args_has(s->args, "robust") && snw_args_has(s->args, "profile")) {
        return snw_fail(err, SNW_E_ARGUMENT, "--profile is not available with --robust");
    }
    double percent = 95;
    SNW_TRY(snw_args_number(s->args, "confidence", 1, 99.9999, &percent, err));
    s->level = percent / 100;
    return snw_args_number(s->args, "robust", 0.01, 1e6, &s->huber, err);
}

// ---- measured data -----------------------------------------------------------------------------

static const char *data_path(const session *s, int data) {
    return snw_args_operand(s->args, data + 1);
}

// The run that a data file is compared with: its own, or the only one.
static int run_of(const session *s, int data) { return s->job.n == 1 ? 0 : data; }

static snw_status fit_values_fail_data(const session *s, int data, snw_error *err) {
    return snw_fail_at_location(err, SNW_E_ARGUMENT, data_path(s, data), 1, 1);
}

static int fit_values_find_column(const snw_run_info *info, const char *name) {
    for (int i = 0; i < info->ncolumn; i++) {
        char known[NAME_SIZE];
        snw_column_name(&info->column[i], known, sizeof known);
        if (strcmp(known, name) == 0) return i;
    }
    return -1;
}

static snw_status unknown_column(const session *s, int data, const char *name, snw_error *err) {
    const snw_run_info *info = snw_run_describe(s->job.run[run_of(s, data)].run);
    const size_t n = (size_t)info->ncolumn;
    char(*text)[NAME_SIZE] = snw_alloc((n + 1) * sizeof *text);
    const char **known = snw_alloc((n + 1) * sizeof *known);
    const char *near = NULL;
    for (size_t i = 0; text && known && i < n; i++) {
        snw_column_name(&info->column[i], text[i], sizeof text[i]);
        known[i] = text[i];
        if (strcmp(info->column[i].probe, name) == 0 && !near) near = text[i];
    }
    if (!near && text && known) near = snw_nearest(name, info->ncolumn, known);
    (void)snw_fail(err, SNW_E_ARGUMENT, "column '%.100s' is no component of a recorded probe%s",
                   name, near ? snw_hint_text(near).text : "; 'sinew show --csv' names them");
    snw_free(known);
    snw_free(text);
    return fit_values_fail_data(s, data, err);
}

static snw_status fit_values_read_data(session *s, snw_error *err) {
    s->ndata = snw_args_operands(s->args) - 1;
    if (s->ndata != s->job.n && s->job.n != 1) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "%d run%s and %d data file%s; give one for each, or choose runs by --run",
                        s->job.n, s->job.n == 1 ? "" : "s", s->ndata, s->ndata == 1 ? "" : "s");
    }
    s->pool = snw_pool_create(LIMIT);
    s->data = snw_alloc((size_t)s->ndata * sizeof *s->data);
    if (!s->pool || !s->data) return snw_fail_memory(err);
    size_t columns = 0;
    for (int i = 0; i < s->ndata; i++) {
        SNW_TRY(snw_measured_read(s->pool, data_path(s, i), &s->data[i], err));
        if (strcmp(s->data[i].name[0], "t") != 0) {
            (void)snw_fail(
                err, SNW_E_ARGUMENT,
                "the first column is the time and called 't', not '%.100s'; of a series of "
                "equilibria it counts them, and a law of t gives the load of each",
                s->data[i].name[0]);
            return fit_values_fail_data(s, i, err);
        }
        columns += (size_t)s->data[i].ncolumn - 1;
    }
    s->column = snw_alloc(columns * sizeof *s->column);
    return s->column ? SNW_OK : snw_fail_memory(err);
}

static snw_status match_columns(session *s, snw_error *err) {
    for (int d = 0; d < s->ndata; d++) {
        const snw_run_info *info = snw_run_describe(s->job.run[run_of(s, d)].run);
        for (int k = 1; k < s->data[d].ncolumn; k++) {
            column *c = &s->column[s->ncolumn++];
            const char *name = s->data[d].name[k];
            *c = (column){.data = d,
                          .field = k,
                          .run = run_of(s, d),
                          .index = fit_values_find_column(info, name)};
            if (c->index < 0) return unknown_column(s, d, name, err);
            for (int i = 1; i < k; i++) {
                if (strcmp(name, s->data[d].name[i]) != 0) continue;
                (void)snw_fail(err, SNW_E_ARGUMENT, "there are two columns '%.100s'", name);
                return fit_values_fail_data(s, d, err);
            }
            (void)snprintf(c->name, sizeof c->name, "%s", name);
            c->probe = strlen(info->column[c->index].probe);
        }
    }
    return SNW_OK;
}

static const double *fields_of(const session *s, const column *c) {
    const snw_data_table *m = &s->data[c->data];
    return m->value + (size_t)c->field * (size_t)m->nrow;
}

static snw_status list_values(session *s, snw_error *err) {
    size_t most = 1;
    for (int i = 0; i < s->ncolumn; i++) most += (size_t)s->data[s->column[i].data].nrow;
    s->value = snw_alloc(most * sizeof *s->value);
    int *line = snw_pool_array(s->pool, most, sizeof *line);
    s->before = snw_alloc(most * sizeof *s->before);
    s->after = snw_alloc(most * sizeof *s->after);
    s->weight = snw_alloc(most * sizeof *s->weight);
    if (!s->value || !line || !s->before || !s->after || !s->weight) return snw_fail_memory(err);
    s->line = line;
    for (int i = 0; i < s->ncolumn; i++) {
        column *c = &s->column[i];
        const snw_data_table *m = &s->data[c->data];
        const double *field = fields_of(s, c);
        c->first = s->nvalue;
        for (int row = 0; row < m->nrow; row++) {
            if (isnan(field[row])) continue;
            line[s->nvalue] = m->line[row];
            s->value[s->nvalue++] = (snw_fit_value){.run = c->run,
                                                    .column = c->index,
                                                    .t = m->value[row],
                                                    .value = field[row],
                                                    .error = c->error};
        }
        c->n = s->nvalue - c->first;
    }
    int priors = 0;
    for (int i = 0; i < s->nfind; i++) priors += isfinite(s->known[i].sigma);
    if (s->nvalue + priors >= s->nfind) return SNW_OK;
    (void)snw_fail(err, SNW_E_ARGUMENT, "%d measured value%s cannot determine %d parameters",
                   s->nvalue, s->nvalue == 1 ? "" : "s", s->nfind);
    return fit_values_fail_data(s, 0, err);
}

// ---- errors of measurement ---------------------------------------------------------------------

static bool same_probe(const column *a, const column *b) {
    return a->probe == b->probe && strncmp(a->name, b->name, a->probe) == 0;
}

// error <- largest magnitude among the columns of the same probe
static snw_status weigh_by_size(session *s, snw_error *err) {
    for (int i = 0; i < s->ncolumn; i++) {
        column *c = &s->column[i];
        for (int k = 0; k < s->ncolumn; k++) {
            const column *other = &s->column[k];
            if (!same_probe(c, other)) continue;
            const double *field = fields_of(s, other);
            for (int row = 0; row < s->data[other->data].nrow; row++) {
                if (fabs(field[row]) > c->error) c->error = fabs(field[row]);
            }
        }
        if (c->error > 0) continue;
        (void)snw_fail(
            err, SNW_E_ARGUMENT,
            "column '%.100s' is zero or blank throughout; give its error, --error %.100s=SIZE",
            c->name, c->name);
        return fit_values_fail_data(s, c->data, err);
    }
    return SNW_OK;
}

static snw_status read_errors(session *s, snw_error *err) {
    const char *const *text;
    const int n = snw_args_values(s->args, "error", &text);
    if (n == 0) return weigh_by_size(s, err);
    for (int i = 0; i < n; i++) {
        const char *eq = snw_set_equals(text[i]);
        snw_quantity_read size = {.value = NAN};
        if (eq) {
            SNW_TRY(snw_document_evaluate(s->job.document, s->job.run[0].index, eq + 1, "--error",
                                          &size, err));
        }
        const size_t length = eq ? (size_t)(eq - text[i]) : 0;
        bool used = false;
        for (int k = 0; k < s->ncolumn; k++) {
            column *c = &s->column[k];
            const bool whole = strlen(c->name) == length, probe = c->probe == length;
            if ((!whole && !probe) || strncmp(c->name, text[i], length) != 0) continue;
            c->error = size.value;
            used = true;
        }
        if (!used || !(size.value > 0) || isinf(size.value)) {
            (void)snw_fail(err, SNW_E_ARGUMENT, "'%.200s': %s", text[i],
                           eq && !used ? "no column of the data has this name"
                                       : "give a column and a positive size, e.g. tip.x='1 mm'");
            return snw_fail_at_location(err, SNW_E_ARGUMENT, "--error", 1, 1);
        }
    }
    for (int k = 0; k < s->ncolumn; k++) {
        if (s->column[k].error > 0) continue;
        (void)snw_fail(err, SNW_E_ARGUMENT,
                       "'%.200s' has no error; give the errors of all columns, or of none",
                       s->column[k].name);
        return snw_fail_at_location(err, SNW_E_ARGUMENT, "--error", 1, 1);
    }
    return SNW_OK;
}

// ---- running -----------------------------------------------------------------------------------

static void fit_values_pass_warning(void *user, const char *message) {
    session *s = user;
    snw_reply_warn(s->reply, s->job.path, message);
}

// Loops of run i as the evaluations before have found them; NULL: no memory.
static snw_run_loops *loops_of(session *s, int i) {
    if (!s->loops) s->loops = snw_pool_array(s->pool, (size_t)s->job.n, sizeof *s->loops);
    if (s->loops && !s->loops[i] && snw_run_loops_create(&s->loops[i]) != SNW_OK) return NULL;
    return s->loops ? s->loops[i] : NULL;
}

static snw_status run_one(session *s, int i, snw_series *series, snw_error *err) {
    const snw_job_run *which = &s->job.run[i];
    snw_run_loops *loops = loops_of(s, i);
    snw_desc *desc = NULL;
    snw_run *run = NULL;
    snw_run_totals totals;
    // warnings are reported for the start values only, not for intermediate ones
    const snw_run_hooks hooks = {
        .user = s, .stop = snw_stop_hook, .warn = s->runs == 0 ? fit_values_pass_warning : NULL};
    snw_status status = loops ? SNW_OK : snw_fail_memory(err);
    if (status == SNW_OK)
        status = snw_document_describe_with(s->job.document, which->index, s->nset, s->set, NULL,
                                            &desc, err);
    if (status == SNW_OK) status = snw_run_create_like(desc, which->name, loops, &run, err);
    if (status == SNW_OK) {
        snw_series_init(series, snw_run_describe(run)->ncolumn);
        const snw_recorder recorder = snw_series_recorder(series);
        status = snw_run_execute(run, 1, &recorder, &hooks, &totals, err);
    }
    snw_run_destroy(run);
    snw_desc_destroy(desc);
    return status;
}

static snw_status run_all(void *user, const double *x, snw_series *series, snw_error *err) {
    session *s = user;
    char line[80];
    (void)snprintf(line, sizeof line, "run %d", s->runs + 1);
    snw_meter_text(&s->meter, line);
    make_sets(s, x);
    snw_status status = SNW_OK;
    for (int i = 0; status == SNW_OK && i < s->job.n; i++) {
        status = run_one(s, i, &series[i], err);
    }
    s->runs++;
    if (status != SNW_OK && !err->file[0])
        (void)snw_fail_at_location(err, status, s->job.path, 0, 0);
    return status;
}

// ---- derivatives --------------------------------------------------------------------------------

// Gradients of the measured values of each run by the parameters, where there are any.
static snw_status open_gradient(session *s, int run, snw_gradient **out, snw_error *err) {
    const char *const *given;
    const int ngiven = snw_args_values(s->args, "set", &given);
    const size_t n = (size_t)s->nfind;
    snw_gradient_variable *by = snw_pool_array(s->pool, n, sizeof *by);
    const char **of = snw_pool_array(s->pool, (size_t)s->nvalue + 1, sizeof *of);
    if (!by || !of) return snw_fail_memory(err);
    snw_gradient_options how = snw_gradient_defaults();
    for (size_t i = 0; i < n; i++) by[i] = (snw_gradient_variable){.name = s->find[i].path};
    how.nvariable = s->nfind, how.variable = by, how.scalar = of;
    for (int i = 0; i < s->ncolumn; i++) {
        const column *c = &s->column[i];
        for (int k = c->first; c->run == run && k < c->first + c->n; k++) {
            char time[32];
            (void)snprintf(time, sizeof time, "%.17g", s->value[k].t);
            of[how.nscalar] = snw_pool_format(s->pool, "at(%s, %s)", time, c->name);
            if (!of[how.nscalar++]) return snw_fail_memory(err);
        }
    }
    snw_robot_model *model = NULL;
    SNW_TRY(snw_robot_model_open(s->job.path, s->job.run[run].name, ngiven, given, &model, err));
    const snw_status status = snw_gradient_create(model, &how, out, err);
    snw_robot_model_close(model);
    return status;
}

static void open_gradients(session *s) {
    enum { MOST = 300 }; // values, each of which has a sweep; beyond differences are cheaper
    if (s->shift || s->nvalue > MOST) return;
    s->gradient = snw_pool_array(s->pool, (size_t)s->job.n, sizeof(snw_gradient *));
    snw_error none = {0};
    bool all = s->gradient != NULL;
    for (int i = 0; all && i < s->job.n; i++)
        all = open_gradient(s, i, &s->gradient[i], &none) == SNW_OK;
    s->has_gradients = all;
}

static void close_gradients(session *s) {
    for (int i = 0; s->gradient && i < s->job.n; i++) snw_gradient_close(s->gradient[i]);
}

static snw_status derive_values(void *user, const double *x, double *dy) {
    session *s = user;
    const size_t n = (size_t)s->nfind, m = (size_t)s->nvalue;
    double *J = snw_alloc((m + m * n + 1) * sizeof *J), *dJ = J + m;
    snw_status status = J ? SNW_OK : SNW_E_MEMORY;
    for (int run = 0; status == SNW_OK && run < s->job.n; run++) {
        snw_error none = {0};
        status = snw_gradient_evaluate(s->gradient[run], x, J, dJ, &none);
        size_t row = 0;
        for (int i = 0; status == SNW_OK && i < s->ncolumn; i++) {
            const column *c = &s->column[i];
            for (int k = c->first; c->run == run && k < c->first + c->n; k++, row++) {
                for (size_t j = 0; j < n; j++) dy[j * m + (size_t)k] = dJ[row * n + j];
            }
        }
    }
    snw_free(J);
    return snw_stop_asked() ? SNW_E_STOPPED : status;
}

// ---- output ------------------------------------------------------------------------------------

static double rms(int n, const double *r) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += r[i] * r[i];
    return n ? sqrt(sum / n) : NAN;
}

static int compare_sizes(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Deviation of normal errors with the median of |r|, which outliers do not change. r is sorted by
// its sizes.
static double deviation_by_median(int n, double *r) {
    static const double normal = 1.4826; // deviation over median size
    for (int i = 0; i < n; i++) r[i] = fabs(r[i]);
    qsort(r, (size_t)n, sizeof *r, compare_sizes);
    return n ? normal * 0.5 * (r[(n - 1) / 2] + r[n / 2]) : NAN;
}

static void fit_values_summarise(session *s) {
    for (int i = 0; i < s->ncolumn; i++) {
        column *c = &s->column[i];
        c->before = rms(c->n, s->before + c->first);
        c->after = rms(c->n, s->after + c->first);
        c->judged = c->after;
        if (!(s->huber > 0)) continue;
        memcpy(s->before + c->first, s->after + c->first, (size_t)c->n * sizeof *s->after);
        c->judged = deviation_by_median(c->n, s->before + c->first);
    }
}

// Largest acceptable rms error of each column: three errors of measurement, if they are given; else
// the larger of a tenth of the probe's range and a hundredth of its magnitude.
static void set_acceptable_errors(session *s) {
    const bool said = snw_args_has(s->args, "error");
    for (int i = 0; i < s->ncolumn; i++) {
        column *c = &s->column[i];
        double spread = 0;
        for (int k = 0; k < s->ncolumn; k++) {
            const column *other = &s->column[k];
            if (!same_probe(c, other)) continue;
            double low = INFINITY, high = -INFINITY;
            for (int v = other->first; v < other->first + other->n; v++) {
                low = fmin(low, s->value[v].value);
                high = fmax(high, s->value[v].value);
            }
            if (high - low > spread) spread = high - low;
        }
        c->acceptable = said ? NOISE * c->error : fmax(0.1 * spread, 0.01 * c->error);
    }
}

static bool is_acceptable(const column *c) { return c->n == 0 || c->judged <= c->acceptable; }

// The column that exceeds its acceptable error most, NULL when there is none.
static const column *find_missed(const session *s) {
    const column *worst = NULL;
    for (int i = 0; i < s->ncolumn; i++) {
        const column *c = &s->column[i];
        if (is_acceptable(c)) continue;
        if (!worst || c->judged / c->acceptable > worst->judged / worst->acceptable) worst = c;
    }
    return worst;
}

// Path of a parameter that has diverged from its start, "" when there is none.
static const char *find_runaway(const session *s) {
    for (int i = 0; i < s->nfind; i++) {
        const double u = fabs(s->x[i] / s->find[i].start.value);
        if (u > RUNAWAY || u < 1 / RUNAWAY) return s->find[i].path;
    }
    return "";
}

// Fail if the model with the best values does not reproduce the measurements.
static snw_status fit_values_check_target(const session *s, snw_error *err) {
    const column *c = find_missed(s);
    if (!c) return SNW_OK;
    const bool said = snw_args_has(s->args, "error");
    const char *far = find_runaway(s);
    (void)snw_fail(err, SNW_E_DIVERGED,
                   "the target is not reached: the best fit misses '%.60s' by %.3g (%s), above "
                   "the limit %.3g%s%.60s%s; check units, frames and signs, find other values%s",
                   c->name, c->judged, s->huber > 0 ? "1.48 medians" : "rms", c->acceptable,
                   *far ? ", and '" : "", far, *far ? "' diverged from its start" : "",
                   said ? ", or enlarge --error" : ", or give --error");
    return snw_fail_at_location(err, SNW_E_DIVERGED, data_path(s, c->data), 0, 0);
}

// Name the combinations of parameters that no value shows; false when there are none.
static bool warn_unseen(session *s) {
    for (int k = 0; k < s->info.nunseen; k++) {
        const double *d = s->direction + (size_t)k * (size_t)s->nfind;
        char text[1024] = "no measured value shows this change: ";
        for (int i = 0; i < s->nfind; i++) {
            const size_t used = strlen(text);
            if (fabs(d[i]) < 1e-4) continue;
            (void)snprintf(text + used, sizeof text - used, "%s%.100s by %+.4g %%",
                           text[used - 2] == ':' ? "" : ", ", s->find[i].path, d[i]);
        }
        const size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used,
                       "; fix one of them, give a --prior, or measure more");
        snw_reply_warn(s->reply, s->job.path, text);
    }
    return s->info.nunseen > 0;
}

static void warn_undetermined(session *s) {
    char text[PATH_SIZE + 160];
    if (s->info.vague < 0 || s->info.inflation < MAX_INFLATION) return;
    (void)snprintf(text, sizeof text,
                   "these data do not determine '%s': a combination of the other values has the "
                   "same effect; fix one of them, or measure more",
                   s->find[s->info.vague].path);
    snw_reply_warn(s->reply, s->job.path, text);
}

// Warn about strongly correlated pairs of parameters; false when there are none.
static bool warn_correlated(session *s) {
    bool any = false;
    for (int i = 0; i < s->nfind; i++) {
        for (int k = 0; k < i; k++) {
            const double r = s->correlation[i * s->nfind + k];
            if (!(fabs(r) > MAX_CORRELATION)) continue;
            char text[2 * PATH_SIZE + 160];
            (void)snprintf(text, sizeof text,
                           "these data hardly distinguish '%s' from '%s' (correlation %.4f): fix "
                           "one of them, or measure more",
                           s->find[k].path, s->find[i].path, r);
            snw_reply_warn(s->reply, s->job.path, text);
            any = true;
        }
    }
    return any;
}

static snw_status print_found(const session *s, snw_error *err) {
    snw_grid *g;
    char interval[40];
    (void)snprintf(interval, sizeof interval, "%.6g %% interval", 100 * s->level);
    SNW_TRY(snw_grid_create("lrlrrll", &g, err));
    const char *const head[] = {"found",    "value",  "",     "standard error",
                                "relative", interval, "start"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) snw_grid_cell(g, "%s", head[i]);
    for (int i = 0; i < s->nfind; i++) {
        const parameter *f = &s->find[i];
        char start[80];
        number_with_unit(f->start.value, f->start.unit, 6, start, sizeof start);
        snw_grid_cell(g, "%s", f->path);
        snw_grid_number(g, 7, s->x[i]);
        snw_grid_cell(g, "%s", f->start.unit);
        snw_grid_number(g, 3, f->error);
        if (isnan(f->error)) {
            snw_grid_cell(g, "-");
        } else {
            snw_grid_cell(g, "%.2g %%", 100 * f->error / fabs(s->x[i]));
        }
        if (f->at) {
            snw_grid_cell(g, "at its %s bound", f->at < 0 ? "lower" : "upper");
        } else if (isnan(f->error)) {
            snw_grid_cell(g, "-");
        } else {
            snw_grid_cell(g, "%.6g .. %.6g", f->low, f->high);
        }
        snw_grid_cell(g, "%s", start);
    }
    const snw_status status = snw_grid_print(g, stdout, err);
    snw_grid_destroy(g);
    return status;
}

// Origin of the intervals, in words.
static const char *describe_intervals(const session *s) {
    return s->huber > 0 ? "intervals: errors given by --error, Huber's loss (sandwich covariance, "
                          "normal distribution)"
           : snw_args_has(s->args, "profile") && s->sigma
               ? "intervals: profile likelihood, errors given by --error"
           : snw_args_has(s->args, "profile")
               ? "intervals: profile likelihood, errors estimated from the residuals"
           : s->sigma ? "intervals: errors given by --error, normal distribution"
                      : "intervals: errors estimated from the residuals, Student's distribution";
}

// Steps of the runs whose lengths the motion chose, and by how much others change the derivatives:
// the values found, and their intervals, depend on them.
static snw_status find_cuts(session *s, snw_error *err) {
    for (int i = 0; s->info.exact && i < s->job.n; i++) {
        int steps;
        double effect;
        SNW_TRY(snw_gradient_cut_effect(s->gradient[i], s->x, &steps, &effect, err));
        s->cut_steps += steps;
        if (isnan(effect) || !(effect <= s->cut_effect)) s->cut_effect = effect;
    }
    return SNW_OK;
}

static void print_cuts(const session *s) {
    if (s->cut_steps == 0) return;
    printf("  through %d steps with lengths that the motion chose: values jump where one of these "
           "changes (see\n  'sinew gradient'), a shorter 'step' makes this less",
           s->cut_steps);
    if (s->cut_effect > 0)
        printf("; other lengths change derivatives by up to %.1g of the largest", s->cut_effect);
    printf("\n");
}

static const char *derivatives_name(const session *s) {
    static const char *const name[] = {"", "adjoint", "forward", "differences"};
    return name[s->info.exact ? snw_gradient_report(s->gradient[0]).method
                              : SNW_GRADIENT_DIFFERENCES];
}

static snw_status print_columns(const session *s, snw_error *err) {
    snw_grid *g;
    SNW_TRY(snw_grid_create("llrrrr", &g, err));
    const char *const head[] = {
        "column", s->job.n > 1 ? "run" : "", "values", "rms before", "rms after", "weighed by"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) snw_grid_cell(g, "%s", head[i]);
    enum { SHOWN = 24 };
    for (int i = 0; i < s->ncolumn && i < SHOWN; i++) {
        const column *c = &s->column[i];
        snw_grid_cell(g, "%s", c->name);
        snw_grid_cell(g, "%s", s->job.n > 1 ? s->job.run[c->run].name : "");
        snw_grid_cell(g, "%d", c->n);
        snw_grid_number(g, 4, c->before);
        snw_grid_number(g, 4, c->after);
        snw_grid_number(g, 4, c->error);
    }
    const snw_status status = snw_grid_print(g, stdout, err);
    snw_grid_destroy(g);
    if (s->ncolumn > SHOWN) printf("  ... and %d more, see --json\n", s->ncolumn - SHOWN);
    return status;
}

static snw_status print_answer(const session *s, snw_error *err) {
    printf("%s: %d values, %d steps, %d runs\n\n", s->job.path, s->nvalue,
           s->info.search.iterations, s->runs);
    SNW_TRY(print_found(s, err));
    printf("\n  %s\n  derivatives: %s\n", describe_intervals(s),
           strcmp(derivatives_name(s), "differences") == 0 ? "differences of runs, order 6"
                                                           : derivatives_name(s));
    print_cuts(s);
    printf("\n");
    SNW_TRY(print_columns(s, err));
    printf("\n  sinew run %s", s->job.path);
    for (int i = 0; i < s->nfind; i++) {
        char text[80];
        number_with_unit(s->x[i], s->find[i].start.unit, 9, text, sizeof text);
        if (is_override(s, i)) printf(" --set '%s=%s'", s->find[i].path, text);
    }
    printf("\n");
    return SNW_OK;
}

static void json_answer(const session *s) {
    snw_json *j = s->reply->json;
    snw_field_integer(j, "values", s->nvalue);
    snw_field_integer(j, "steps", s->info.search.iterations);
    snw_field_integer(j, "runs", s->runs);
    snw_field_integer(j, "failed_runs", s->info.search.failures);
    snw_field_bool(j, "reached", !find_missed(s));
    snw_field_number(j, "chi2", s->info.chi2);
    snw_field_number(j, "variance", s->info.variance);
    snw_field_bool(j, "errors_known", s->sigma);
    snw_field_number(j, "confidence", s->level);
    snw_field_text(j, "intervals", describe_intervals(s) + strlen("intervals: "));
    snw_field_text(j, "derivatives", derivatives_name(s));
    snw_field_integer(j, "cut_steps", s->cut_steps);
    snw_field_number(j, "cut_effect", s->cut_effect);
    snw_field_list(j, "unobservable");
    for (int k = 0; k < s->info.nunseen; k++) {
        snw_field_object(j, NULL);
        for (int i = 0; i < s->nfind; i++)
            snw_field_number(j, s->find[i].path, s->direction[k * s->nfind + i]);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_list(j, "found");
    for (int i = 0; i < s->nfind; i++) {
        snw_field_object(j, NULL);
        snw_field_text(j, "path", s->find[i].path);
        snw_field_number(j, "value", s->x[i]);
        snw_field_text(j, "unit", s->find[i].start.unit);
        snw_field_number(j, "standard_error", s->find[i].error);
        snw_field_number(j, "low", s->find[i].low);
        snw_field_number(j, "high", s->find[i].high);
        snw_field_text(j, "bound", s->find[i].at < 0 ? "low" : s->find[i].at > 0 ? "high" : "");
        snw_field_number(j, "start", s->find[i].start.value);
        snw_field_list(j, "correlation");
        for (int k = 0; k < s->nfind; k++)
            snw_field_number(j, NULL, s->correlation[i * s->nfind + k]);
        snw_json_close(j);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_list(j, "columns");
    for (int i = 0; i < s->ncolumn; i++) {
        const column *c = &s->column[i];
        snw_field_object(j, NULL);
        snw_field_text(j, "column", c->name);
        snw_field_text(j, "run", s->job.run[c->run].name);
        snw_field_integer(j, "values", c->n);
        snw_field_number(j, "rms_before", c->before);
        snw_field_number(j, "rms_after", c->after);
        snw_field_number(j, "weighed_by", c->error);
        snw_field_bool(j, "met", is_acceptable(c));
        if (s->huber > 0) {
            snw_field_list(j, "weights");
            for (int k = 0; k < c->n; k++) snw_field_number(j, NULL, s->weight[c->first + k]);
            snw_json_close(j);
        }
        snw_json_close(j);
    }
    snw_json_close(j);
}

// ---- a model file with the values found --------------------------------------------------------

// runs of `each` and of ranges cannot be overridden individually in a file
static snw_status check_output(const session *s, snw_error *err) {
    const char *output = snw_args_value(s->args, "output");
    if (!output) return SNW_OK;
    SNW_TRY(snw_job_refuse_output_model(s->job.document, output, err));
    for (int i = 0; i < s->ndata; i++) {
        SNW_TRY(snw_job_refuse_output("data", data_path(s, i), output, err));
    }
    for (int i = 0; i < s->job.n; i++) {
        if (!strpbrk(s->job.run[i].name, ".(")) continue;
        return snw_fail(err, SNW_E_ARGUMENT,
                        "run '%s' is one of several made by 'each' and cannot be overridden alone; "
                        "use the --set line instead of -o",
                        s->job.run[i].name);
    }
    return snw_fit_can_name(s->job.path, output, err);
}

static snw_status write_model(session *s, snw_error *err) {
    const char *output = snw_args_value(s->args, "output");
    if (!output) return SNW_OK;
    make_sets(s, s->x);
    const char *by = "sinew fit from";
    for (int i = 0; i < s->ndata && by; i++)
        by = snw_pool_format(s->pool, "%s %s", by, data_path(s, i));
    if (!by) return snw_fail_memory(err);
    return snw_fit_write(&s->job, s->nset, s->set, by, output, err);
}

// ---- entry point -------------------------------------------------------------------------------

static snw_status fit_values_prepare(session *s, snw_error *err) {
    SNW_TRY(snw_job_open_args(snw_args_operand(s->args, 0), s->args, &s->job, err));
    SNW_TRY(read_finds(s, err));
    SNW_TRY(read_known(s, err));
    SNW_TRY(fit_values_read_data(s, err));
    SNW_TRY(match_columns(s, err));
    SNW_TRY(read_errors(s, err));
    SNW_TRY(list_values(s, err));
    return check_output(s, err);
}

static void locate_failure(const session *s, snw_error *err) {
    const snw_fit_info *info = &s->info;
    if (info->misplaced >= 0) {
        int data = 0;
        for (int i = 0; i < s->ncolumn; i++) {
            const column *c = &s->column[i];
            if (c->first <= info->misplaced && info->misplaced < c->first + c->n) data = c->data;
        }
        (void)snw_fail_at_location(err, err->status, data_path(s, data), s->line[info->misplaced],
                                   1);
    }
    if (info->idle >= 0) {
        (void)snw_fail(err, SNW_E_SINGULAR, "'%s' cannot be found: no measured value depends on it",
                       s->find[info->idle].path);
        (void)snw_fail_at_location(err, SNW_E_SINGULAR, "--find", 1, 1);
    }
}

// text of the error when the search ended early; the best values so far are shown nevertheless
static void explain_stop(const session *s, snw_status status, snw_error *err) {
    if (s->info.search.evaluations <= 1 || s->info.idle >= 0) return;
    char why[256];
    (void)snprintf(why, sizeof why, "%.200s", err->text);
    if (status == SNW_E_STOPPED) {
        (void)snw_fail(err, status, "the search was stopped; these are the best values so far");
    } else if (why[0]) {
        (void)snw_fail(err, SNW_E_DIVERGED,
                       "the search ended where runs begin to fail (%s); these are the best values "
                       "so far, try another start",
                       why);
    } else {
        const char *far = find_runaway(s);
        (void)snw_fail(err, SNW_E_DIVERGED,
                       "no minimum after %d steps%s%.60s%s; these are the best values so far, %s",
                       s->info.search.iterations, *far ? ": '" : "", far,
                       *far ? "' diverges, as it does when the target cannot be reached" : "",
                       *far ? "check units, frames and signs" : "go on from them");
    }
}

// The search itself, and its answers to the parameters.
static snw_status fit_values_solve(session *s, snw_error *err) {
    const size_t n = (size_t)s->nfind;
    open_gradients(s);
    const snw_levenberg_opts opts = snw_levenberg_defaults();
    const snw_fit_problem problem = {.nfind = s->nfind,
                                     .shift = s->shift,
                                     .nrun = s->job.n,
                                     .nvalue = s->nvalue,
                                     .value = s->value,
                                     .parameter = s->known,
                                     .huber = s->huber,
                                     .known = s->sigma,
                                     .level = s->level,
                                     .profile = snw_args_has(s->args, "profile"),
                                     .user = s,
                                     .run = run_all,
                                     .derive = s->has_gradients ? derive_values : NULL};
    double *error = snw_pool_array(s->pool, n, sizeof *error),
           *low = snw_pool_array(s->pool, n, sizeof *low),
           *high = snw_pool_array(s->pool, n, sizeof *high);
    int *at = snw_pool_array(s->pool, n, sizeof *at);
    if (!error || !low || !high || !at) return snw_fail_memory(err);
    snw_fit_answer answer = {.error = error,
                             .correlation = s->correlation,
                             .low = low,
                             .high = high,
                             .at = at,
                             .before = s->before,
                             .after = s->after,
                             .weight = s->weight,
                             .direction = s->direction};
    s->meter = snw_meter_start(1, false);
    s->reply->meter = &s->meter;
    const snw_status status = snw_fit(&problem, &opts, s->x, &answer, &s->info, err);
    snw_meter_clear(&s->meter);
    s->reply->meter = NULL;
    for (size_t i = 0; i < n; i++) {
        parameter *f = &s->find[i];
        f->error = error[i], f->low = low[i], f->high = high[i], f->at = at[i];
    }
    return status;
}

static int fit_values_search(session *s, snw_error *err) {
    const snw_status status = fit_values_solve(s, err);
    locate_failure(s, err);
    if (status != SNW_OK && s->info.search.evaluations <= 1) return snw_reply_exit_input(status);
    if (status != SNW_OK) explain_stop(s, status, err);
    fit_values_summarise(s);
    set_acceptable_errors(s);
    if (status == SNW_OK && find_cuts(s, err) != SNW_OK) return SNW_EXIT_FAILED;
    snw_error second = {0};
    snw_status written = SNW_OK;
    if (s->reply->json) {
        json_answer(s);
    } else {
        written = print_answer(s, &second);
    }
    if (status == SNW_OK && !warn_unseen(s) && !warn_correlated(s)) warn_undetermined(s);
    if (status == SNW_OK && written == SNW_OK) written = write_model(s, &second);
    if (status == SNW_OK && written == SNW_OK) written = fit_values_check_target(s, &second);
    if (status == SNW_OK && written != SNW_OK) *err = second;
    return status == SNW_OK && written == SNW_OK ? SNW_EXIT_DONE : SNW_EXIT_FAILED;
}

static void fit_values_release(session *s) {
    close_gradients(s);
    snw_free(s->weight);
    snw_free(s->after);
    snw_free(s->before);
    snw_free(s->value);
    snw_free(s->column);
    snw_free(s->data);
    for (int i = 0; s->loops && i < s->job.n; i++) snw_run_loops_destroy(s->loops[i]);
    snw_pool_destroy(s->pool);
    snw_free(s->set);
    snw_free(s->direction);
    snw_free(s->correlation);
    snw_free(s->x);
    snw_free(s->known);
    snw_free(s->find);
    snw_job_close(&s->job);
}

int snw_fit_values(const snw_args *args, snw_reply *reply) {
    session s = {.reply = reply, .args = args};
    snw_error err = {0};
    const snw_status status = fit_values_prepare(&s, &err);
    int exit_status = snw_reply_exit_input(status);
    if (status == SNW_OK) exit_status = fit_values_search(&s, &err);
    if (exit_status != SNW_EXIT_DONE) snw_reply_fail(reply, &err);
    fit_values_release(&s);
    return exit_status;
}
