// SPDX-License-Identifier: MIT
//
// sinew fit --shape: generalised coordinates of a rod from points measured along it, row by row, as
// a table that can prescribe the shape of the rod.
#include "base/alloc.h"
#include "base/fail.h"
#include "cli/fit.h"
#include "cli/job.h"
#include "cli/output.h"
#include "cli/stop.h"
#include "identify/butterworth.h"
#include "identify/shape.h"
#include "language/node.h"
#include "language/table.h"
#include "output/sink.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 256, ROOT = 6 };
static const char prefix[] = "sinew_shape_";   // of the probes at the measured points
static const size_t LIMIT = (size_t)256 << 20; // bytes of measured data

typedef struct session {
    snw_reply *reply;
    const snw_args *args;
    const char *rod, *path;
    snw_job job;    // the model without the probes
    int link;       // of the rod
    snw_pool *pool; // of the data and the stations
    snw_data_table data;
    int nstation;
    const char **station;   // as written after the @
    int *at, *axis;         // station and component of each column but the first
    snw_document *document; // the model with a probe at each station
    snw_desc *desc;
    snw_run *run;
    snw_shape *shape;
    int ncoordinate, nout; // coordinates; columns found, including those of a free root
    double *out;           // nrow x nout, column major
    double cutoff;         // Hz, NaN: no filter
    double worst, mean;    // largest and mean rms distance of the rows, m
    // rows: of the largest distance; the first whose points do not determine all unknowns; the
    // first for which the search did not converge; -1: none
    int worst_row, undetermined_row, unconverged_row;
    snw_shape_info undetermined;
} session;

static snw_status fit_shape_fail_data(const session *s, int line, snw_error *err) {
    return snw_fail_at_location(err, SNW_E_ARGUMENT, s->path, line, 1);
}

// ---- the rod and the columns -------------------------------------------------------------------

static snw_status find_rod(session *s, snw_error *err) {
    const snw_desc *d = s->job.run[0].desc;
    const char **known = snw_pool_array(s->pool, (size_t)d->nlink + 1, sizeof *known);
    if (!known) return snw_fail_memory(err);
    int n = 0;
    for (int i = 0; i < d->nlink; i++) {
        if (!d->link[i].has_rod) continue;
        known[n++] = d->link[i].name;
        s->link = i;
        if (strcmp(d->link[i].name, s->rod) == 0) return SNW_OK;
    }
    const char *near = snw_nearest(s->rod, n, known);
    if (!near && n > 0) near = known[0];
    return snw_fail(err, SNW_E_ARGUMENT, "there is no rod '%s'%s%s%s", s->rod,
                    near ? ", but '" : "", near ? near : "", near ? "'" : "");
}

// station k of `count` equidistant ones, in the model language
static const char *equal_station(snw_pool *pool, int k, int count) {
    return count > 1 ? snw_pool_format(pool, "%d*L/%d", k - 1, count - 1) : "L";
}

// number of a column named x1, y1, z1, x2, ..; 0 when the name has another form
static int point_number(const char *name) {
    int n = 0;
    if (!name[0] || !name[1] || strlen(name) > 6) return 0;
    for (const char *c = name + 1; *c; c++) {
        if (!isdigit((unsigned char)*c)) return 0;
        n = 10 * n + (*c - '0');
    }
    return n;
}

static snw_status fit_shape_read_column(session *s, int k, int count, snw_error *err) {
    const char *name = s->data.name[k], *axes = "xyz";
    const char *axis = name[0] ? strchr(axes, name[0]) : NULL;
    const int number = point_number(name);
    if (!axis || (!number && (name[1] != '@' || !name[2]))) {
        (void)snw_fail(err, SNW_E_ARGUMENT,
                       "column '%.100s' is neither x, y or z at a station, e.g. 'x@0.05' or "
                       "'x@50%%', nor of a numbered point, 'x1'",
                       name);
        return fit_shape_fail_data(s, 1, err);
    }
    if (!number != !count) {
        (void)snw_fail(err, SNW_E_ARGUMENT,
                       "column '%.100s': points are either all numbered or all at stations", name);
        return fit_shape_fail_data(s, 1, err);
    }
    const char *text = number ? equal_station(s->pool, number, count) : name + 2;
    if (!text) return snw_fail_memory(err);
    int station = 0;
    while (station < s->nstation && strcmp(s->station[station], text) != 0) station++;
    if (station == s->nstation) s->station[s->nstation++] = text;
    s->at[k] = station;
    s->axis[k] = (int)(axis - axes);
    for (int i = 1; i < k; i++) {
        if (s->at[i] != station || s->axis[i] != s->axis[k]) continue;
        (void)snw_fail(err, SNW_E_ARGUMENT, "columns '%.60s' and '%.60s' are the same",
                       s->data.name[i], name);
        return fit_shape_fail_data(s, 1, err);
    }
    return SNW_OK;
}

static snw_status fit_shape_read_columns(session *s, snw_error *err) {
    const size_t n = (size_t)s->data.ncolumn;
    s->station = snw_pool_array(s->pool, n, sizeof *s->station);
    s->at = snw_pool_array(s->pool, n, sizeof *s->at);
    s->axis = snw_pool_array(s->pool, n, sizeof *s->axis);
    if (!s->station || !s->at || !s->axis) return snw_fail_memory(err);
    if (strcmp(s->data.name[0], "t") != 0) {
        (void)snw_fail(err, SNW_E_ARGUMENT,
                       "the first column is the time and called 't', not '%.100s'",
                       s->data.name[0]);
        return fit_shape_fail_data(s, 1, err);
    }
    int count = 0; // largest number of a point; 0: columns are named by stations
    for (int k = 1; k < s->data.ncolumn; k++) {
        const int number = point_number(s->data.name[k]);
        if (number > count) count = number;
    }
    for (int k = 1; k < s->data.ncolumn; k++) SNW_TRY(fit_shape_read_column(s, k, count, err));
    // times of a table that prescribes a shape must ascend
    for (int i = 1; i < s->data.nrow; i++) {
        if (s->data.value[i] > s->data.value[i - 1]) continue;
        (void)snw_fail(err, SNW_E_ARGUMENT, "the first column must increase, %g follows %g",
                       s->data.value[i], s->data.value[i - 1]);
        return fit_shape_fail_data(s, s->data.line[i], err);
    }
    return SNW_OK;
}

// ---- the filter --------------------------------------------------------------------------------

static snw_status read_filter(session *s, snw_error *err) {
    const char *text = snw_args_value(s->args, "filter");
    s->cutoff = NAN;
    if (!text) return SNW_OK;
    snw_quantity_read cutoff = {0};
    SNW_TRY(snw_document_evaluate(s->job.document, s->job.run[0].index, text, "--filter", &cutoff,
                                  err));
    const int n = s->data.nrow;
    const double *t = s->data.value, h = n > 1 ? (t[n - 1] - t[0]) / (n - 1) : NAN;
    for (int i = 1; i < n; i++) {
        if (fabs(t[i] - t[i - 1] - h) <= 1e-3 * h) continue;
        (void)snw_fail(err, SNW_E_ARGUMENT, "a filter needs equal times, here %g s follow %g s",
                       t[i] - t[i - 1], h);
        return fit_shape_fail_data(s, s->data.line[i], err);
    }
    if (!(cutoff.value > 0) || !(2 * cutoff.value * h < 1)) {
        (void)snw_fail(
            err, SNW_E_ARGUMENT,
            "'%.60s': the frequency must lie between 0 and %g Hz, half the sampling frequency",
            text, 0.5 / h);
        return snw_fail_at_location(err, SNW_E_ARGUMENT, "--filter", 1, 1);
    }
    s->cutoff = cutoff.value;
    return SNW_OK;
}

static snw_status fit_shape_filter(session *s, snw_error *err) {
    if (isnan(s->cutoff)) return SNW_OK;
    const int n = s->data.nrow;
    const double *t = s->data.value;
    snw_arena scratch = {.size = snw_butterworth_scratch(n)};
    scratch.base = snw_alloc(scratch.size);
    if (!scratch.base) return snw_fail_memory(err);
    for (int k = 0; k < s->nout; k++) {
        snw_butterworth(n, (t[n - 1] - t[0]) / (n - 1), s->cutoff, &scratch,
                        s->out + (size_t)k * (size_t)n);
    }
    snw_free(scratch.base);
    return SNW_OK;
}

// ---- the model with its probes -----------------------------------------------------------------

static snw_status read_model(session *s, snw_error *err) {
    const char *const *given;
    const int ngiven = snw_args_values(s->args, "set", &given), nset = ngiven + s->nstation;
    const char **set = snw_pool_array(s->pool, (size_t)nset + 1, sizeof *set);
    if (!set) return snw_fail_memory(err);
    for (int i = 0; i < ngiven; i++) set[i] = given[i];
    for (int i = 0; i < s->nstation; i++) {
        set[ngiven + i] = snw_pool_format(s->pool, "probes.%s%d={position: \"%s@%s\"}", prefix, i,
                                          s->rod, s->station[i]);
        if (!set[ngiven + i]) return snw_fail_memory(err);
    }
    SNW_TRY(snw_document_read(s->job.path, nset, set, &s->document, err));
    SNW_TRY(snw_document_describe(s->document, s->job.run[0].index, &s->desc, err));
    return snw_run_create(s->desc, s->job.run[0].name, &s->run, err);
}

static snw_status make_shape(session *s, snw_error *err) {
    const int n = s->data.ncolumn - 1;
    int *probe = snw_pool_array(s->pool, (size_t)s->nstation, sizeof *probe);
    snw_shape_column *column = snw_pool_array(s->pool, (size_t)n, sizeof *column);
    if (!probe || !column) return snw_fail_memory(err);
    for (int i = 0; i < s->desc->nprobe; i++) {
        const char *name = s->desc->probe[i].name;
        if (strncmp(name, prefix, sizeof prefix - 1) == 0) {
            probe[strtol(name + sizeof prefix - 1, NULL, 10)] = i;
        }
    }
    for (int k = 0; k < n; k++) column[k] = (snw_shape_column){probe[s->at[k + 1]], s->axis[k + 1]};
    SNW_TRY(snw_shape_create(s->run, s->link, snw_args_has(s->args, "free"), n, column, &s->shape,
                             err));
    s->ncoordinate = snw_shape_coordinates(s->shape);
    s->nout = s->ncoordinate + (snw_args_has(s->args, "free") ? ROOT : 0);
    if (s->ncoordinate == 0) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "rod '%s' has no coordinates to find; give it a strain", s->rod);
    }
    s->out = snw_pool_array(s->pool, (size_t)s->data.nrow * (size_t)s->nout, sizeof *s->out);
    return s->out ? SNW_OK : snw_fail_memory(err);
}

static snw_status fit_shape_prepare(session *s, snw_error *err) {
    s->rod = snw_args_value(s->args, "shape");
    s->path = snw_args_operand(s->args, 1);
    s->undetermined_row = s->unconverged_row = -1;
    s->pool = snw_pool_create(LIMIT);
    if (!s->pool) return snw_fail_memory(err);
    if (snw_args_operands(s->args) != 2) {
        return snw_fail(err, SNW_E_ARGUMENT, "--shape takes one file of points");
    }
    SNW_TRY(snw_job_open_args(snw_args_operand(s->args, 0), s->args, &s->job, err));
    if (s->job.n != 1) {
        return snw_fail(err, SNW_E_ARGUMENT, "the model has %d runs; choose one by --run",
                        s->job.n);
    }
    SNW_TRY(find_rod(s, err));
    SNW_TRY(snw_measured_read(s->pool, s->path, &s->data, err));
    SNW_TRY(fit_shape_read_columns(s, err));
    SNW_TRY(read_filter(s, err));
    const char *output = snw_args_value(s->args, "output");
    if (output) SNW_TRY(snw_job_refuse_output_model(s->job.document, output, err));
    if (output) SNW_TRY(snw_job_refuse_output("data", s->path, output, err));
    const snw_status status = read_model(s, err);
    // the model itself is valid, so the error is in a station
    if (status != SNW_OK && strcmp(err->file, "--set") == 0) {
        return snw_fail_at_location(err, status, s->path, 1, 1);
    }
    return status == SNW_OK ? make_shape(s, err) : status;
}

// ---- fitting -----------------------------------------------------------------------------------

static snw_status fit_row(session *s, int row, double *measured, double *q, snw_error *err) {
    const snw_data_table *d = &s->data;
    snw_se3 root;
    snw_shape_info info;
    for (int k = 1; k < d->ncolumn; k++)
        measured[k - 1] = d->value[(size_t)k * (size_t)d->nrow + (size_t)row];
    snw_status status = snw_shape_fit(s->shape, d->value[row], measured, q, &root, &info);
    if (status != SNW_OK) {
        (void)snw_fail(err, status,
                       "no shape was found for these points; are they in m, and in the order of "
                       "the stations?");
    } else if (info.values == 0) {
        status = snw_fail(err, SNW_E_ARGUMENT, "no point is measured here");
    }
    if (status != SNW_OK) return snw_fail_at_location(err, status, s->path, d->line[row], 1);
    for (int k = 0; k < s->ncoordinate; k++)
        s->out[(size_t)k * (size_t)d->nrow + (size_t)row] = q[k];
    const snw_vec3 turn = snw_so3_log(root.R);
    for (int k = s->ncoordinate; k < s->nout; k++) {
        const int i = k - s->ncoordinate;
        s->out[(size_t)k * (size_t)d->nrow + (size_t)row] = i < 3 ? root.p.e[i] : turn.e[i - 3];
    }
    if (info.rms > s->worst || row == 0) {
        s->worst = info.rms;
        s->worst_row = row;
    }
    s->mean += info.rms / d->nrow;
    if (!info.settled && s->unconverged_row < 0) s->unconverged_row = row;
    if (info.rank < info.unknown && s->undetermined_row < 0) {
        s->undetermined_row = row;
        s->undetermined = info;
    }
    return SNW_OK;
}

static snw_status fit_rows(session *s, snw_error *err) {
    double *measured = snw_pool_array(s->pool, (size_t)s->data.ncolumn, sizeof *measured);
    double *q = snw_pool_array(s->pool, (size_t)s->ncoordinate, sizeof *q);
    if (!measured || !q) return snw_fail_memory(err);
    snw_meter meter = snw_meter_start(1, false);
    s->reply->meter = &meter;
    snw_status status = SNW_OK;
    for (int row = 0; row < s->data.nrow && status == SNW_OK; row++) {
        char line[80];
        (void)snprintf(line, sizeof line, "t = %.4g s, %d of %d", s->data.value[row], row + 1,
                       s->data.nrow);
        snw_meter_text(&meter, line);
        status = fit_row(s, row, measured, q, err);
        if (status == SNW_OK && snw_stop_asked()) {
            status = snw_fail(err, SNW_E_STOPPED, "stopped; nothing is written");
        }
    }
    snw_meter_clear(&meter);
    s->reply->meter = NULL;
    return status;
}

// ---- output ------------------------------------------------------------------------------------

static void column_name(const session *s, int k, char *out, size_t size) {
    static const char *const root[ROOT] = {"x", "y", "z", "rx", "ry", "rz"};
    if (k < s->ncoordinate) {
        (void)snprintf(out, size, "%s", snw_shape_name(s->shape, k));
    } else {
        (void)snprintf(out, size, "%s.root.%s", s->rod, root[k - s->ncoordinate]);
    }
}

static void put_table(const session *s, FILE *out) {
    char text[TEXT];
    (void)fputs("t", out);
    for (int k = 0; k < s->nout; k++) {
        column_name(s, k, text, sizeof text);
        (void)fprintf(out, ",%s", text);
    }
    (void)fputc('\n', out);
    for (int row = 0; row < s->data.nrow; row++) {
        char number[SNW_NUMBER_SIZE];
        snw_number_text(s->data.value[row], number);
        (void)fputs(number, out);
        for (int k = 0; k < s->nout; k++) {
            snw_number_text(s->out[(size_t)k * (size_t)s->data.nrow + (size_t)row], number);
            (void)fprintf(out, ",%s", number);
        }
        (void)fputc('\n', out);
    }
}

static void fit_shape_json_table(const session *s) {
    snw_json *j = s->reply->json;
    snw_field_integer(j, "instants", s->data.nrow);
    snw_field_integer(j, "stations", s->nstation);
    snw_field_number(j, "rms_mean", s->mean);
    snw_field_number(j, "rms_worst", s->worst);
    snw_field_list(j, "t");
    for (int row = 0; row < s->data.nrow; row++) snw_field_number(j, NULL, s->data.value[row]);
    snw_json_close(j);
    snw_field_object(j, "coordinates");
    for (int k = 0; k < s->nout; k++) {
        char name[TEXT];
        column_name(s, k, name, sizeof name);
        snw_field_list(j, name);
        for (int row = 0; row < s->data.nrow; row++)
            snw_field_number(j, NULL, s->out[(size_t)k * (size_t)s->data.nrow + (size_t)row]);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static snw_status write_output(session *s, snw_error *err) {
    const char *output = snw_args_value(s->args, "output");
    if (s->undetermined_row >= 0) {
        char text[TEXT];
        (void)snprintf(
            text, sizeof text,
            "the points at t = %g s determine %d of %d unknowns; the others have minimum norm",
            s->data.value[s->undetermined_row], s->undetermined.rank, s->undetermined.unknown);
        snw_reply_warn(s->reply, s->path, text);
    }
    if (s->unconverged_row >= 0) {
        char text[TEXT];
        (void)snprintf(text, sizeof text,
                       "the points at t = %g s fit many shapes; points on the axis hardly "
                       "distinguish twist from bending, so leave out strains that stay zero",
                       s->data.value[s->unconverged_row]);
        snw_reply_warn(s->reply, s->path, text);
    }
    if (output) {
        snw_output o;
        SNW_TRY(snw_output_open(output, &o, err));
        put_table(s, o.file);
        SNW_TRY(snw_output_close(&o, SNW_OK, err));
    }
    if (s->reply->json) {
        fit_shape_json_table(s);
    } else if (!output) {
        put_table(s, stdout);
    } else {
        printf("%s: %d coordinates of '%s' at %d instants from %d points; rms distance %.3g m, at "
               "most %.3g m at t = %g s\n",
               output, s->ncoordinate, s->rod, s->data.nrow, s->nstation, s->mean, s->worst,
               s->data.value[s->worst_row]);
    }
    return SNW_OK;
}

static void fit_shape_release(session *s) {
    snw_shape_destroy(s->shape);
    snw_run_destroy(s->run);
    snw_desc_destroy(s->desc);
    snw_document_destroy(s->document);
    snw_pool_destroy(s->pool);
    snw_job_close(&s->job);
}

int snw_fit_shape(const snw_args *args, snw_reply *reply) {
    session s = {.reply = reply, .args = args};
    snw_error err = {0};
    snw_status status = fit_shape_prepare(&s, &err);
    if (status == SNW_OK) status = fit_rows(&s, &err);
    if (status == SNW_OK) status = fit_shape_filter(&s, &err);
    int exit_status = snw_reply_exit_input(status);
    if (status == SNW_OK) {
        status = write_output(&s, &err);
        if (status != SNW_OK) exit_status = SNW_EXIT_FAILED;
    }
    if (status != SNW_OK) snw_reply_fail(reply, &err);
    fit_shape_release(&s);
    return exit_status;
}
