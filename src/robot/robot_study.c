// SPDX-License-Identifier: MIT
//
// Studies of the public API: a run whose recorder writes each frame as one row of numbers, which is
// kept in memory or only shown to the caller.

#include "robot/robot_model.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "sinew/study.h"
#include "study/run.h"
#include "study/series.h"
#include "study/special_table.h"

#include <math.h>
#include <string.h>

struct snw_study {
    snw_robot_model *model;
    snw_run *run;
    snw_pool *pool; // names of columns
    const char **column;
    size_t width[SNW_FIELDS];
    double *row[SNW_FIELDS];   // last frame
    double *array[SNW_FIELDS]; // kept frames
    double *rows;              // memory of all rows
    size_t nframe, room;
    bool keep, any; // any: there was a frame
    const snw_study_hooks *hooks;
};

// ---- frames -------------------------------------------------------------------------------------

static void set_widths(snw_study *s) {
    const snw_run_info *info = snw_run_describe(s->run);
    size_t *w = s->width;
    w[SNW_FIELD_TIME] = w[SNW_FIELD_STEP] = 1;
    w[SNW_FIELD_Q] = (size_t)info->nq;
    w[SNW_FIELD_V] = (size_t)info->nv;
    w[SNW_FIELD_POSE] = SNW_FRAME_POSE * (size_t)info->nnode;
    w[SNW_FIELD_COLUMN] = (size_t)info->ncolumn;
    w[SNW_FIELD_ENERGY] = sizeof(snw_energy) / sizeof(double);
    w[SNW_FIELD_STATS] = sizeof(snw_stats) / sizeof(double);
    w[SNW_FIELD_LOAD] = 6 * (size_t)info->nload;
    w[SNW_FIELD_LOOP] = 6 * (size_t)info->nloop;
    w[SNW_FIELD_CONTACT] = 6 * (size_t)info->ncontact;
    w[SNW_FIELD_EFFORT] = (size_t)info->ntendon;
    w[SNW_FIELD_PRESENT] = (size_t)info->ncondition;
    w[SNW_FIELD_FORCE_FIELD] = 3 * (size_t)info->nforce_field_point;
    w[SNW_FIELD_FOLD] = (size_t)info->nfold;
}

static void write_row(snw_study *s, const snw_frame *f) {
    const void *from[SNW_FIELDS] = {[SNW_FIELD_TIME] = &f->t,
                                    [SNW_FIELD_Q] = f->q,
                                    [SNW_FIELD_V] = f->v,
                                    [SNW_FIELD_COLUMN] = f->column,
                                    [SNW_FIELD_ENERGY] = &f->energy,
                                    [SNW_FIELD_STATS] = &f->stats,
                                    [SNW_FIELD_LOAD] = f->load,
                                    [SNW_FIELD_LOOP] = f->loop,
                                    [SNW_FIELD_CONTACT] = f->contact,
                                    [SNW_FIELD_EFFORT] = f->effort,
                                    [SNW_FIELD_PRESENT] = f->present,
                                    [SNW_FIELD_FORCE_FIELD] = f->field,
                                    [SNW_FIELD_FOLD] = f->fold};
    for (int i = 0; i < SNW_FIELDS; i++) {
        if (from[i]) memcpy(s->row[i], from[i], s->width[i] * sizeof(double));
    }
    *s->row[SNW_FIELD_STEP] = f->stage;
    double *pose = s->row[SNW_FIELD_POSE];
    for (size_t i = 0; i < s->width[SNW_FIELD_POSE] / SNW_FRAME_POSE; i++, pose += SNW_FRAME_POSE)
        snw_frame_pose(&f->pose[i], pose);
}

// room for another frame; doubles as it grows
static snw_status make_room(snw_study *s) {
    if (s->nframe < s->room) return SNW_OK;
    const size_t room = s->room > 0 ? 2 * s->room : 64;
    double *grown[SNW_FIELDS] = {NULL};
    for (int i = 0; i < SNW_FIELDS; i++) {
        grown[i] = snw_alloc((room * s->width[i] + 1) * sizeof(double));
        if (grown[i]) continue;
        while (i > 0) snw_free(grown[--i]);
        return SNW_E_MEMORY;
    }
    for (int i = 0; i < SNW_FIELDS; i++) {
        if (s->nframe > 0) memcpy(grown[i], s->array[i], s->nframe * s->width[i] * sizeof(double));
        snw_free(s->array[i]);
        s->array[i] = grown[i];
    }
    s->room = room;
    return SNW_OK;
}

static snw_status keep_row(snw_study *s, snw_error *err) {
    if (make_room(s) != SNW_OK) return snw_fail(err, SNW_E_MEMORY, "no memory for another frame");
    for (int i = 0; i < SNW_FIELDS; i++) {
        memcpy(s->array[i] + s->nframe * s->width[i], s->row[i], s->width[i] * sizeof(double));
    }
    s->nframe++;
    return SNW_OK;
}

static snw_status study_frame(void *user, const snw_frame *f, snw_error *err) {
    snw_study *s = user;
    write_row(s, f);
    s->any = true;
    if (s->keep) SNW_TRY(keep_row(s, err));
    if (!s->hooks || !s->hooks->frame) return SNW_OK;
    const snw_status status = s->hooks->frame(s->hooks->user, s);
    return status == SNW_OK ? SNW_OK : snw_fail(err, status, "ended by the receiver of its frames");
}

static snw_status study_end(void *user, snw_status status, const char *message, snw_error *err) {
    (void)user;
    (void)status;
    (void)message;
    (void)err;
    return SNW_OK;
}

// ---- hooks --------------------------------------------------------------------------------------

static void study_progress(void *user, const snw_progress *p) {
    const snw_study_hooks *h = ((const snw_study *)user)->hooks;
    h->progress(h->user, p->stage_name, p->t, p->fraction);
}

static bool study_stop(void *user) {
    const snw_study_hooks *h = ((const snw_study *)user)->hooks;
    return h->cancel(h->user) != 0;
}

static void study_warn(void *user, const char *message) {
    const snw_study_hooks *h = ((const snw_study *)user)->hooks;
    h->warn(h->user, message);
}

// ---- public calls -------------------------------------------------------------------------------

static snw_status name_columns(snw_study *s) {
    const snw_run_info *info = snw_run_describe(s->run);
    s->pool = snw_pool_create((size_t)64 << 20);
    s->column =
        s->pool ? snw_pool_array(s->pool, (size_t)info->ncolumn + 1, sizeof *s->column) : NULL;
    if (!s->column) return SNW_E_MEMORY;
    for (int i = 0; i < info->ncolumn; i++) {
        char name[200];
        snw_column_name(&info->column[i], name, sizeof name);
        s->column[i] = snw_pool_text(s->pool, name, strlen(name));
        if (!s->column[i]) return SNW_E_MEMORY;
    }
    return SNW_OK;
}

static snw_status study_prepare(snw_study *s, snw_error *err) {
    SNW_TRY(snw_run_create(s->model->desc, snw_robot_model_run(s->model), &s->run, err));
    set_widths(s);
    size_t total = 0;
    for (int i = 0; i < SNW_FIELDS; i++) total += s->width[i];
    s->rows = snw_alloc((total + 1) * sizeof *s->rows);
    if (!s->rows) return SNW_E_MEMORY;
    for (size_t i = 0, at = 0; i < SNW_FIELDS; at += s->width[i++]) s->row[i] = s->rows + at;
    return name_columns(s);
}

snw_status snw_study_create(snw_robot_model *m, snw_study **out, snw_error *err) {
    if (!m || !out) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", m ? "out" : "the model");
    *out = NULL;
    snw_study *s = snw_alloc(sizeof *s);
    if (!s) return snw_fail_memory(err);
    s->model = snw_robot_model_share(m);
    const snw_status status = study_prepare(s, err);
    if (status == SNW_OK) {
        *out = s;
        return SNW_OK;
    }
    snw_study_close(s);
    return status == SNW_E_MEMORY ? snw_fail(err, status, "out of memory") : status;
}

static void drop_frames(snw_study *s) {
    for (int i = 0; i < SNW_FIELDS; i++) {
        snw_free(s->array[i]);
        s->array[i] = NULL;
    }
    s->nframe = s->room = 0;
    s->any = false;
}

void snw_study_close(snw_study *s) {
    if (!s) return;
    drop_frames(s);
    snw_free(s->rows);
    snw_run_destroy(s->run);
    snw_pool_destroy(s->pool);
    snw_robot_model_close(s->model);
    snw_free(s);
}

snw_status snw_study_run(snw_study *s, int keep, const snw_study_hooks *hooks, snw_error *err) {
    if (!s) return snw_fail(err, SNW_E_ARGUMENT, "the study is NULL");
    const snw_recorder recorder = {.user = s, .frame = study_frame, .end = study_end};
    const snw_run_hooks asked = {.user = s,
                                 .progress = hooks && hooks->progress ? study_progress : NULL,
                                 .stop = hooks && hooks->cancel ? study_stop : NULL,
                                 .warn = hooks && hooks->warn ? study_warn : NULL};
    drop_frames(s);
    s->keep = keep != 0;
    s->hooks = hooks;
    const snw_status status = snw_run_execute(s->run, 1, &recorder, &asked, NULL, err);
    s->hooks = NULL;
    return status;
}

int snw_study_frames(const snw_study *s) { return s ? (int)s->nframe : 0; }

static bool is_field(const snw_study *s, snw_field_kind field) {
    return s && (int)field >= 0 && field < SNW_FIELDS;
}

int snw_study_width(const snw_study *s, snw_field_kind field) {
    return is_field(s, field) ? (int)s->width[field] : 0;
}

const double *snw_study_array(const snw_study *s, snw_field_kind field) {
    return is_field(s, field) && s->nframe > 0 ? s->array[field] : NULL;
}

const double *snw_study_row(const snw_study *s, snw_field_kind field) {
    return is_field(s, field) && s->any ? s->row[field] : NULL;
}

const char *snw_study_column(const snw_study *s, int k) {
    const bool is_column = k >= 0 && k < snw_study_width(s, SNW_FIELD_COLUMN);
    return is_column ? s->column[k] : NULL;
}

// ---- special points -----------------------------------------------------------------------------

// *table <- that of the step with special point k; returns its number there, -1: none
static int find_special(const snw_study *s, int k, int *step, const snw_special_table **table) {
    const int n = s ? snw_run_describe(s->run)->nstage : 0;
    for (*step = 0; k >= 0 && *step < n; ++*step) {
        *table = snw_run_special_points(s->run, *step);
        if (!*table) continue;
        if (k < (*table)->n) return k;
        k -= (*table)->n;
    }
    return -1;
}

int snw_study_special_points(const snw_study *s) {
    int total = 0;
    for (int i = 0; s && i < snw_run_describe(s->run)->nstage; i++) {
        const snw_special_table *t = snw_run_special_points(s->run, i);
        total += t ? t->n : 0;
    }
    return total;
}

snw_status snw_study_special_point(const snw_study *s, int k, snw_special_record *out) {
    int step;
    const snw_special_table *table;
    const int i = find_special(s, k, &step, &table);
    if (i < 0 || !out) return SNW_E_ARGUMENT;
    const snw_special_point *p = &table->point[i];
    *out = (snw_special_record){.step = step,
                                .kind = snw_special_name(p->kind),
                                .number = p->number,
                                .path = p->path,
                                .t = p->t,
                                .arc = p->arc,
                                .multiplicity = p->multiplicity,
                                .unstable = p->negative,
                                .frequency = p->frequency,
                                .moves = p->moves};
    return SNW_OK;
}

const char *snw_study_fold_column(const snw_study *s, int k, int *step) {
    if (k < 0 || k >= snw_study_width(s, SNW_FIELD_FOLD)) return NULL;
    const snw_fold_column *column = &snw_run_describe(s->run)->fold[k];
    if (step) *step = column->stage;
    return column->by;
}

double snw_study_fold_derivative(const snw_study *s, int k, const char *parameter) {
    int step;
    const snw_special_table *table;
    const int i = find_special(s, k, &step, &table);
    for (int j = 0; i >= 0 && parameter && j < table->nparameter; j++) {
        if (strcmp(table->parameter[j].name, parameter) == 0) return table->point[i].derivative[j];
    }
    return NAN;
}

// ---- inverse steps ------------------------------------------------------------------------------

const snw_inverse_result *snw_study_inverse(const snw_study *s, int step) {
    const int n = s ? snw_run_describe(s->run)->nstage : 0;
    return step >= 0 && step < n ? snw_run_inverse_found(s->run, step) : NULL;
}

// ---- linearize steps ----------------------------------------------------------------------------

const snw_linear_model *snw_study_linear(const snw_study *s, int step) {
    const int n = s ? snw_run_describe(s->run)->nstage : 0;
    return step >= 0 && step < n ? snw_run_linear_found(s->run, step) : NULL;
}
