// SPDX-License-Identifier: MIT
//
// sinew estimate: state, outputs and unknown inputs of a robot from a file of measurements, step by
// step, by a Kalman filter.
#include "base/fail.h"
#include "base/pool.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/stop.h"
#include "language/table.h"
#include "sinew/estimate.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POOL_LIMIT = 1 << 28, PARTS = 4 };
static const double on_grid = 1e-6; // of a step: distance of an instant from the grid of steps

// One estimation.
typedef struct estimation {
    const snw_args *args;
    const snw_job *job;
    const snw_robot_model *model;
    snw_pool *pool;
    snw_data_table data;
    snw_linear_options map;
    int *column_of_input;  // of the file; -1: unknown
    int *column_of_output; // of the file; -1: not measured
    int nmeasured;         // outputs with a column
    snw_estimate_input *unknown;
    struct named_numbers *given; // the same as they were written
    int nunknown;
    snw_step_map *steps;
    snw_estimator *filter;
    double *u, *y, *point;
    FILE *out; // NULL: none
    int count; // numbers measured
    double surprise;
} estimation;

// ---- options ------------------------------------------------------------------------------------

// Numbers of an option NAME=A, B, ..
typedef struct named_numbers {
    char *name;
    int n;
    double value[PARTS];
    char unit[48]; // of the first that has one; empty: none
} named_numbers;

// Fails unless the numbers are plain or have the SI unit `own`.
static snw_status check_unit(const estimation *o, const char *option, const named_numbers *x,
                             const char *own, snw_error *err) {
    if (!x->unit[0] || !own[0]) return SNW_OK;
    char one[80];
    snw_quantity_read unit = {0};
    (void)snprintf(one, sizeof one, "1 %.60s", own);
    SNW_TRY(snw_document_evaluate(o->job->document, o->job->run[0].index, one, option, &unit, err));
    if (strcmp(unit.unit, x->unit) == 0) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "--%s: '%.60s' is in %s, expected %s", option, x->name,
                    x->unit, own);
}

// x <- of an option; `least` numbers at least, all of one unit
static snw_status read_named(estimation *o, const char *option, const char *text, int least,
                             named_numbers *x, snw_error *err) {
    char **name = &x->name;
    int *n = &x->n;
    x->unit[0] = 0;
    *name = snw_pool_text(o->pool, text, strlen(text));
    if (!*name) return snw_fail_memory(err);
    char *rest = strchr(*name, '=');
    *n = 0;
    if (rest) *rest++ = 0;
    while (rest && *n < PARTS) {
        char *end = rest;
        for (int depth = 0; *end && (depth > 0 || *end != ','); end++)
            depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
        const bool last = *end == 0;
        *end = 0;
        snw_quantity_read q = {0};
        SNW_TRY(
            snw_document_evaluate(o->job->document, o->job->run[0].index, rest, option, &q, err));
        if (!isfinite(q.value))
            return snw_fail(err, SNW_E_ARGUMENT, "--%s: '%.60s' is not a finite number", option,
                            rest);
        x->value[(*n)++] = q.value;
        if (q.unit[0] && x->unit[0] && strcmp(q.unit, x->unit) != 0)
            return snw_fail(err, SNW_E_ARGUMENT, "--%s: '%.100s' mixes %s and %s", option, text,
                            x->unit, q.unit);
        if (q.unit[0]) (void)snprintf(x->unit, sizeof x->unit, "%s", q.unit);
        rest = last ? NULL : end + 1;
    }
    if (*n >= least && !rest) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "--%s takes NAME=VALUE%s, got '%.100s'", option,
                    least == 3 ? ",DEVIATION,WALK" : "", text);
}

// Is `name` the name of a signal, or of a probe that it is a column of?
static bool means(const char *name, const char *signal) {
    const size_t n = strlen(name);
    return strcmp(name, signal) == 0 ||
           (strncmp(name, signal, n) == 0 && signal[n] == '.' && !strchr(signal + n + 1, '.'));
}

// variance (n) <- squares of the numbers of an option, by names; `rates`: all states whose names
// end in .rate
static snw_status read_variances(estimation *o, const char *option, int n,
                                 const snw_linear_signal *signal, double factor, double *variance,
                                 snw_error *err) {
    const char *const *text = NULL;
    const int count = snw_args_values(o->args, option, &text);
    for (int i = 0; i < count; i++) {
        named_numbers x;
        SNW_TRY(read_named(o, option, text[i], 1, &x, err));
        const char *name = x.name;
        bool found = false, exact = false; // 'slide' is a state beside 'slide.rate'
        for (int k = 0; k < n; k++) exact = exact || strcmp(name, signal[k].name) == 0;
        for (int k = 0; k < n; k++) {
            const char *own = signal[k].name;
            const size_t length = strlen(own);
            const bool rate =
                strcmp(name, "rates") == 0 && length > 5 && strcmp(own + length - 5, ".rate") == 0;
            if (!rate && !(exact ? strcmp(name, own) == 0 : means(name, own))) continue;
            SNW_TRY(check_unit(o, option, &x, signal[k].unit, err));
            const bool noise = strcmp(option, "noise") == 0;
            if (noise ? !(x.value[0] > 0) : !(x.value[0] >= 0))
                return snw_fail(err, SNW_E_ARGUMENT,
                                "--%s: a standard deviation must %s, got %g for '%.100s'", option,
                                noise ? "be positive" : "not be negative", x.value[0], name);
            variance[k] = factor * x.value[0] * x.value[0];
            found = true;
        }
        if (!found)
            return snw_fail(err, SNW_E_ARGUMENT, "--%s: there is no '%.100s'; there are %s .. %s",
                            option, name, n ? signal[0].name : "", n ? signal[n - 1].name : "");
    }
    return SNW_OK;
}

static snw_status read_unknown(estimation *o, snw_error *err) {
    const char *const *text = NULL;
    o->nunknown = snw_args_values(o->args, "unknown", &text);
    o->unknown = snw_pool_array(o->pool, (size_t)o->nunknown + 1, sizeof *o->unknown);
    if (!o->unknown) return snw_fail_memory(err);
    o->given = snw_pool_array(o->pool, (size_t)o->nunknown + 1, sizeof *o->given);
    if (!o->given) return snw_fail_memory(err);
    for (int i = 0; i < o->nunknown; i++) {
        named_numbers *x = &o->given[i];
        SNW_TRY(read_named(o, "unknown", text[i], 3, x, err));
        if (!(x->value[1] >= 0 && x->value[2] >= 0))
            return snw_fail(err, SNW_E_ARGUMENT,
                            "--unknown: standard deviations must not be negative, got %g and %g "
                            "for '%.100s'",
                            x->value[1], x->value[2], x->name);
        o->unknown[i] = (snw_estimate_input){x->name, x->value[0], x->value[1], x->value[2]};
    }
    return SNW_OK;
}

// An output that is not measured, unless it is one already.
static void add_output(estimation *o, const char *name, const char **output) {
    for (int i = 0; i < o->map.noutput; i++) {
        if (strcmp(output[i], name) == 0) return;
    }
    o->column_of_output[o->map.noutput] = -1;
    output[o->map.noutput++] = name;
}

// output <- probes that --probe names, and their columns
static snw_status add_probes(estimation *o, const char **output, snw_error *err) {
    const char *const *name = NULL;
    const int n = snw_args_values(o->args, "probe", &name);
    for (int i = 0; i < n; i++) {
        snw_part part;
        const int column = snw_robot_model_find(o->model, SNW_PART_COLUMN, name[i]);
        const int probe = snw_robot_model_find(o->model, SNW_PART_PROBE, name[i]);
        if (column < 0 && probe < 0)
            return snw_fail(err, SNW_E_ARGUMENT,
                            "--probe: '%.100s' is no probe and no column of one", name[i]);
        if (column >= 0) {
            add_output(o, name[i], output);
            continue;
        }
        SNW_TRY(snw_robot_model_part(o->model, SNW_PART_PROBE, probe, &part));
        for (int k = part.first; k < part.first + part.size; k++) {
            snw_part of;
            SNW_TRY(snw_robot_model_part(o->model, SNW_PART_COLUMN, k, &of));
            add_output(o, of.name, output);
        }
    }
    return SNW_OK;
}

// map <- outputs and inputs: columns of the file that are columns of probes, the others, unknown
// inputs, and probes that are not measured
static snw_status sort_columns(estimation *o, snw_error *err) {
    const size_t columns = (size_t)snw_robot_model_parts(o->model, SNW_PART_COLUMN);
    const size_t n = (size_t)o->data.ncolumn + (size_t)o->nunknown + columns + 1;
    const char **input = snw_pool_array(o->pool, n, sizeof *input);
    const char **output = snw_pool_array(o->pool, n, sizeof *output);
    o->column_of_input = snw_pool_array(o->pool, n, sizeof *o->column_of_input);
    o->column_of_output = snw_pool_array(o->pool, n, sizeof *o->column_of_output);
    if (!input || !output || !o->column_of_input || !o->column_of_output)
        return snw_fail_memory(err);
    for (int i = 1; i < o->data.ncolumn; i++) {
        const char *name = o->data.name[i];
        if (snw_robot_model_find(o->model, SNW_PART_COLUMN, name) >= 0) {
            o->column_of_output[o->map.noutput] = i;
            output[o->map.noutput++] = name;
        } else {
            o->column_of_input[o->map.ninput] = i;
            input[o->map.ninput++] = name;
        }
    }
    for (int i = 0; i < o->nunknown; i++) {
        o->column_of_input[o->map.ninput] = -1;
        input[o->map.ninput++] = o->unknown[i].name;
    }
    o->nmeasured = o->map.noutput;
    SNW_TRY(add_probes(o, output, err));
    o->map.input = input;
    o->map.output = output;
    if (o->nmeasured == 0)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "no column of the measurements is a column of a probe, such as 'tip.x'");
    if (o->map.ninput == 0) o->map.ninput = -1; // laws of the file act alone
    return SNW_OK;
}

// length of a step: that of the option, or the shortest distance of instants
static snw_status choose_step(estimation *o, snw_error *err) {
    const double *t = o->data.value;
    const char *text = snw_args_value(o->args, "step");
    o->map.scheme = snw_args_value(o->args, "scheme") ? snw_args_value(o->args, "scheme") : "euler";
    if (text) {
        snw_quantity_read q = {0};
        SNW_TRY(
            snw_document_evaluate(o->job->document, o->job->run[0].index, text, "step", &q, err));
        if (q.unit[0] && strcmp(q.unit, "s") != 0)
            return snw_fail(err, SNW_E_ARGUMENT, "--step must be a time, got '%.60s'", text);
        o->map.step = q.value;
    } else {
        o->map.step = INFINITY;
        for (int i = 1; i < o->data.nrow; i++)
            if (t[i] > t[i - 1]) o->map.step = fmin(o->map.step, t[i] - t[i - 1]);
    }
    if (!(o->map.step > 0) || !isfinite(o->map.step))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the step must be positive: give --step, or measurements at several "
                        "instants");
    return SNW_OK;
}

static snw_status open_filter(estimation *o, snw_robot *r, snw_error *err) {
    SNW_TRY(snw_robot_step_map(r, &o->map, &o->steps, err));
    const snw_linear_model *m = snw_step_map_model(o->steps);
    if (m->nu != (o->map.ninput > 0 ? o->map.ninput : 0) || m->ny != o->map.noutput)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "name each input and output by itself: an input of an actuator, a "
                        "component of a load ('payload.fz'), a column of a probe ('tip.x'); a "
                        "given coordinate follows its law and is no input here");
    double *first = snw_pool_array(o->pool, (size_t)m->nx, sizeof *first);
    double *process = snw_pool_array(o->pool, (size_t)m->nx, sizeof *process);
    double *noise = snw_pool_array(o->pool, (size_t)m->ny, sizeof *noise);
    o->u = snw_pool_array(o->pool, (size_t)m->nu + 1, sizeof *o->u);
    o->y = snw_pool_array(o->pool, (size_t)m->ny, sizeof *o->y);
    o->point = snw_pool_array(o->pool, snw_step_map_points(o->steps), sizeof *o->point);
    if (!first || !process || !noise || !o->u || !o->y || !o->point) return snw_fail_memory(err);
    SNW_TRY(read_variances(o, "first", m->nx, m->state, 1, first, err));
    SNW_TRY(read_variances(o, "process", m->nx, m->state, o->map.step, process, err));
    SNW_TRY(read_variances(o, "noise", m->ny, m->output, 1, noise, err));
    for (int i = o->nmeasured; i < m->ny; i++) noise[i] = 1; // never used
    for (int i = 0; i < m->ny; i++) {
        if (noise[i] > 0) continue;
        return snw_fail(err, SNW_E_ARGUMENT,
                        "give the standard deviation of '%s', for example --noise '%s=..'",
                        m->output[i].name, m->output[i].name);
    }
    for (int i = 0; i < o->nunknown; i++) {
        SNW_TRY(
            check_unit(o, "unknown", &o->given[i], m->input[m->nu - o->nunknown + i].unit, err));
        o->unknown[i].walk *= sqrt(o->map.step);
    }
    const snw_estimate_options how = {.nunknown = o->nunknown,
                                      .unknown = o->unknown,
                                      .first = first,
                                      .process = process,
                                      .noise = noise};
    return snw_estimator_open(o->steps, &how, &o->filter, err);
}

// ---- the measurements, row by row ---------------------------------------------------------------

static double field(const estimation *o, int row, int column) {
    return o->data.value[(size_t)column * (size_t)o->data.nrow + (size_t)row];
}

// u, y <- of a row; inputs that are blank stay
static void take_row(estimation *o, int row) {
    for (int i = 0; i < o->map.ninput; i++) {
        const double u = o->column_of_input[i] < 0 ? NAN : field(o, row, o->column_of_input[i]);
        if (!isnan(u)) o->u[i] = u;
    }
    for (int i = 0; i < o->map.noutput; i++)
        o->y[i] = o->column_of_output[i] < 0 ? NAN : field(o, row, o->column_of_output[i]);
}

static double deviation(double variance) { return sqrt(fmax(variance, 0)); }

static void write_names(const estimation *o) {
    const snw_linear_model *m = snw_step_map_model(o->steps);
    if (!o->out) return;
    (void)fprintf(o->out, "t");
    for (int i = 0; i < o->nunknown; i++)
        (void)fprintf(o->out, ",%s,%s.deviation", o->unknown[i].name, o->unknown[i].name);
    for (int i = 0; i < m->ny; i++)
        (void)fprintf(o->out, ",%s,%s.deviation", m->output[i].name, m->output[i].name);
    (void)fprintf(o->out, ",surprise,measured\n");
}

// y <- outputs of the corrected estimate
static snw_status read_outputs(estimation *o, snw_error *err) {
    const snw_estimate *e = snw_estimator_view(o->filter);
    for (int k = 0; k < o->nunknown; k++) o->u[o->map.ninput - o->nunknown + k] = e->unknown[k];
    return snw_step_map_outputs(o->steps, e->point, o->u, 0, o->y, err);
}

static void write_row(const estimation *o, double t) {
    const snw_estimate *e = snw_estimator_view(o->filter);
    const snw_linear_model *m = snw_step_map_model(o->steps);
    if (!o->out) return;
    (void)fprintf(o->out, "%.*g", DBL_DECIMAL_DIG, t);
    for (int i = 0; i < o->nunknown; i++) {
        const size_t at = (size_t)(e->n - o->nunknown + i) * (size_t)(e->n + 1);
        (void)fprintf(o->out, ",%.9g,%.9g", e->unknown[i], deviation(e->covariance[at]));
    }
    for (int i = 0; i < m->ny; i++)
        (void)fprintf(o->out, ",%.9g,%.9g", o->y[i], deviation(e->spread[i]));
    (void)fprintf(o->out, ",%.9g,%d\n", e->surprise, e->nmeasured);
}

static snw_status filter_rows(estimation *o, snw_robot *r, snw_error *err) {
    const double *t = o->data.value;
    for (int i = 0; i < o->map.ninput; i++) o->u[i] = snw_step_map_model(o->steps)->input[i].value;
    take_row(o, 0);
    for (int k = 0; k < o->nunknown; k++)
        o->u[o->map.ninput - o->nunknown + k] = o->unknown[k].value;
    const bool settled = snw_args_has(o->args, "settled");
    if (settled && snw_args_has(o->args, "moving"))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "--settled starts at an equilibrium and --moving does not; leave one out");
    if (snw_args_has(o->args, "moving")) {
        SNW_TRY(snw_robot_set_time(r, t[0]));
        SNW_TRY(snw_step_map_begin(o->steps, r, o->u, o->point, err));
    } else {
        SNW_TRY(snw_step_map_rest(o->steps, t[0], o->u, o->point, err));
    }
    SNW_TRY(settled ? snw_estimator_begin_settled(o->filter, o->point, o->u, err)
                    : snw_estimator_begin(o->filter, o->point, err));
    double now = t[0];
    for (int row = 0; row < o->data.nrow; row++) {
        take_row(o, row);
        const double steps = (t[row] - now) / o->map.step;
        if (fabs(steps - round(steps)) > on_grid * fmax(1, steps))
            return snw_fail(err, SNW_E_ARGUMENT,
                            "line %d: t = %g s is no whole number of steps of %g s after %g s; "
                            "give another --step",
                            o->data.line[row], t[row], o->map.step, now);
        for (int k = 0; k < (int)round(steps); k++) {
            if (snw_stop_asked())
                return snw_fail(err, SNW_E_STOPPED, "stopped at t = %g s%s", now,
                                o->out ? "; the estimates so far are written" : "");
            SNW_TRY(snw_estimator_predict(o->filter, o->u, err));
        }
        now = t[row];
        SNW_TRY(snw_estimator_correct(o->filter, o->u, o->y, err));
        const snw_estimate *e = snw_estimator_view(o->filter);
        if (e->nmeasured > 0) o->surprise += e->surprise;
        o->count += e->nmeasured;
        SNW_TRY(read_outputs(o, err));
        write_row(o, now);
    }
    return SNW_OK;
}

// ---- output -------------------------------------------------------------------------------------

// Say which changes of the unknown inputs the measurements do not show.
static snw_status warn_unseen(const estimation *o, snw_reply *reply, snw_error *err) {
    const snw_linear_model *m = snw_step_map_model(o->steps);
    const double *direction;
    int count;
    SNW_TRY(snw_estimator_unseen(o->filter, &count, &direction, err));
    for (int k = 0; k < count; k++, direction += o->nunknown) {
        char text[1024] = "the measurements do not show";
        size_t used = strlen(text);
        int parts = 0;
        for (int i = 0; i < o->nunknown; i++) parts += direction[i] != 0;
        const char *before = parts > 1 ? " this change: " : " ";
        for (int i = 0; i < o->nunknown && used < sizeof text; i++) {
            if (direction[i] == 0) continue;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s'%.60s'", before,
                                     o->unknown[i].name);
            if (parts > 1 && used < sizeof text)
                used += (size_t)snprintf(text + used, sizeof text - used, " by %.3g %.20s",
                                         direction[i], m->input[m->nu - o->nunknown + i].unit);
            before = ", ";
        }
        if (used < sizeof text)
            (void)snprintf(text + used, sizeof text - used, "; %s",
                           parts > 1
                               ? "measure more, or leave one of them out"
                               : "its deviation is that of first value and walk. Measure more, or "
                                 "leave it out");
        snw_reply_warn(reply, o->job->path, text);
    }
    return SNW_OK;
}

static void print_result(const estimation *o) {
    const snw_estimate *e = snw_estimator_view(o->filter);
    const snw_linear_model *m = snw_step_map_model(o->steps);
    const double last = o->data.value[o->data.nrow - 1];
    printf("at t = %g s, after %d instants\n", last, o->data.nrow);
    printf("                                estimate        deviation\n");
    for (int i = 0; i < o->nunknown; i++) {
        const size_t at = (size_t)(e->n - o->nunknown + i) * (size_t)(e->n + 1);
        printf("  %-24s %15.6g  %15.3g  %s\n", o->unknown[i].name, e->unknown[i],
               deviation(e->covariance[at]), m->input[m->nu - o->nunknown + i].unit);
    }
    for (int i = 0; i < m->ny; i++)
        printf("  %-24s %15.6g  %15.3g  %s\n", m->output[i].name, o->y[i], deviation(e->spread[i]),
               m->output[i].unit);
    printf("\nsquared surprise of the measurements %.3g on average (1 where model and noise are "
           "right), log-likelihood %.6g\n",
           o->surprise / fmax(o->count, 1), e->log_likelihood);
}

// The changes that no measurement shows, inputs with their parts.
static snw_status json_unseen(const estimation *o, snw_json *j, snw_error *err) {
    const double *direction;
    int count;
    SNW_TRY(snw_estimator_unseen(o->filter, &count, &direction, err));
    snw_field_list(j, "unseen");
    for (int k = 0; k < count; k++, direction += o->nunknown) {
        snw_field_object(j, NULL);
        for (int i = 0; i < o->nunknown; i++)
            if (direction[i] != 0) snw_field_number(j, o->unknown[i].name, direction[i]);
        snw_json_close(j);
    }
    snw_json_close(j);
    return SNW_OK;
}

static void json_result(const estimation *o, snw_json *j) {
    const snw_estimate *e = snw_estimator_view(o->filter);
    const snw_linear_model *m = snw_step_map_model(o->steps);
    snw_field_number(j, "time", o->data.value[o->data.nrow - 1]);
    snw_field_list(j, "unknown");
    for (int i = 0; i < o->nunknown; i++) {
        const size_t at = (size_t)(e->n - o->nunknown + i) * (size_t)(e->n + 1);
        snw_field_object(j, NULL);
        snw_field_text(j, "name", o->unknown[i].name);
        snw_field_text(j, "unit", m->input[m->nu - o->nunknown + i].unit);
        snw_field_number(j, "value", e->unknown[i]);
        snw_field_number(j, "deviation", deviation(e->covariance[at]));
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_list(j, "outputs");
    for (int i = 0; i < m->ny; i++) {
        snw_field_object(j, NULL);
        snw_field_text(j, "name", m->output[i].name);
        snw_field_text(j, "unit", m->output[i].unit);
        snw_field_number(j, "value", o->y[i]);
        snw_field_number(j, "deviation", deviation(e->spread[i]));
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_number(j, "surprise", o->surprise / fmax(o->count, 1));
    snw_field_number(j, "log_likelihood", e->log_likelihood);
}

// ---- the command --------------------------------------------------------------------------------

static snw_status estimate_robot(estimation *o, snw_robot *r, snw_reply *reply, snw_error *err) {
    const char *path = snw_args_value(o->args, "measured");
    const char *to = snw_args_value(o->args, "output");
    o->model = snw_robot_model_of(r);
    o->map = snw_linear_defaults();
    SNW_TRY(snw_measured_read(o->pool, path, &o->data, err));
    if (o->data.nrow < 1) return snw_fail(err, SNW_E_ARGUMENT, "%s has no measurements", path);
    SNW_TRY(read_unknown(o, err));
    SNW_TRY(sort_columns(o, err));
    SNW_TRY(choose_step(o, err));
    SNW_TRY(open_filter(o, r, err));
    if (to) o->out = fopen(to, "w");
    if (to && !o->out)
        return snw_fail(err, SNW_E_IO, "%s cannot be written: %s", to, strerror(errno));
    write_names(o);
    snw_status s = filter_rows(o, r, err);
    if (o->out) {
        const bool bad = ferror(o->out) != 0;
        if ((fclose(o->out) != 0 || bad) && s == SNW_OK)
            s = snw_fail(err, SNW_E_IO, "%s could not be written", to);
    }
    if (s != SNW_OK) return s;
    SNW_TRY(warn_unseen(o, reply, err));
    if (reply->json) {
        json_result(o, reply->json);
        SNW_TRY(json_unseen(o, reply->json, err));
    } else {
        print_result(o);
        if (to) printf("estimates in %s\n", to);
    }
    return SNW_OK;
}

static snw_status estimate_job(const snw_args *args, const snw_job *job, snw_reply *reply,
                               snw_error *err) {
    const char *const *set = NULL;
    const int nset = snw_args_values(args, "set", &set);
    if (!snw_args_has(args, "measured"))
        return snw_fail(err, SNW_E_ARGUMENT, "give the measurements: --measured data.csv");
    SNW_TRY(snw_job_one_run(job, args, "an estimate", err));
    snw_robot *r = NULL;
    SNW_TRY(snw_robot_open(job->path, job->run[0].name, nset, set, &r, err));
    estimation o = {.args = args, .job = job, .pool = snw_pool_create(POOL_LIMIT)};
    const snw_status s = o.pool ? estimate_robot(&o, r, reply, err) : snw_fail_memory(err);
    snw_estimator_close(o.filter);
    snw_step_map_close(o.steps);
    snw_pool_destroy(o.pool);
    snw_robot_close(r);
    return s;
}

static int cmd_estimate_run(const snw_args *args, snw_reply *reply) {
    snw_error err = {0};
    snw_job job;
    snw_status s = snw_job_open_args(snw_args_operand(args, 0), args, &job, &err);
    if (s == SNW_OK) s = estimate_job(args, &job, reply, &err);
    if (s != SNW_OK) snw_reply_fail(reply, &err);
    snw_job_close(&job);
    return snw_reply_exit_input(s);
}

static const snw_option options[] = {
    {"measured", 'm', "FILE", false,
     "measurements: a line of names, then rows of numbers, SI. The first column is the time; "
     "columns named as columns of probes (tip.x) are measured, others are known inputs: actuators "
     "or components of loads (cord(1), push.fx). Blank: not measured, or as before"},
    {"noise", 0, "NAME=DEVIATION", true,
     "standard deviation of a measured column, or of all columns of a probe. May be repeated"},
    {"probe", 0, "NAME", true,
     "a probe or its column (tip.x) that is not measured, to be estimated with its deviation: of "
     "places and strains, the shape. May be repeated"},
    {"unknown", 'u', "NAME=VALUE,DEVIATION,WALK", true,
     "an input that is not known: first value, its standard deviation, and that of its change in "
     "one second. May be repeated"},
    {"process", 0, "NAME=DEVIATION", true,
     "standard deviation of the random change of a state in one second; the states are those that "
     "`sinew linearize` prints, `rates` stands for all of their rates. May be repeated"},
    {"first", 0, "NAME=DEVIATION", true,
     "standard deviation of a state at the start; 0 unless given. May be repeated"},
    {"moving", 0, NULL, false,
     "start at the initial state of the file; unless given, at the equilibrium under the inputs"},
    {"settled", 0, NULL, false,
     "the robot has come to rest under the unknown inputs, too, before the first instant, so that "
     "where it starts is as uncertain as they are; unless given, they begin to act then"},
    {"step", 0, "TIME", false,
     "length of the steps; the shortest distance of instants unless given"},
    {"scheme", 0, "NAME", false, "implicit scheme of the steps; euler unless given"},
    {"output", 'o', "FILE", false,
     "write the estimates at all instants, with standard deviations, as CSV"},
    SNW_OPTION_RUN,
    SNW_OPTION_SET,
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_estimate = {
    .name = "estimate",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "state, loads and inputs of a robot from measurements, step by step",
    .about =
        "Runs an extended Kalman filter on the steps of the robot: state, outputs and unknown "
        "inputs (loads, tensions) at each instant of a file of measurements, from what was "
        "measured up to then, with standard deviations. Unknown inputs are random walks. A warning "
        "names those, or the changes of several, that the measurements do not show. The tension "
        "of a cable of given length can be measured if the cable has a compliance.\n\n"
        "The squared surprise of a measurement, in units of its own expected spread, is 1 on "
        "average where model and noise are right; larger: the noise is larger than stated, or the "
        "robot differs from the model." SNW_ABOUT_IN_FILE,
    .option = options,
    .examples = "sinew estimate arm.yaml -m tip.csv --noise 'tip=1 mm' --process 'rates=0.01' \\\n"
                "  -u 'payload.fz=0 N, 0.1 N, 0.05 N' -o seen.csv\n"
                "sinew estimate arm.yaml -m gauges.csv --noise 'gauge=0.02 1/m' \\\n"
                "  -u 'cord(1)=2 N, 1 N, 0.5 N' --json",
    .run = cmd_estimate_run,
    .in_file = true,
};
