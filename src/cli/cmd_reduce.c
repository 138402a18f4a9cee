// SPDX-License-Identifier: MIT
//
// sinew reduce: strain functions from results. Reads snapshots of runs, finds the best functions
// (identify/reduction.h), writes them as a table with the strains to write in a model, and tells
// their errors on other runs: of the projection, and of the reduced simulation.
#include "base/alloc.h"
#include "base/fail.h"
#include "base/pool.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/stop.h"
#include "identify/reduction.h"
#include "job/choice.h"
#include "job/job.h"
#include "results/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_SNAPSHOTS = 2000,
    CHUNK = 64, // frames read at once
    MOST_SIGMA = 8
};

// Strains below this fraction of the largest of a test have no relative error.
static const double COUNTS = 1e-3;

// ---- runs of result files -----------------------------------------------------------------------

// One run of a result file with its model.
typedef struct reduce_run {
    const char *path, *name;
    snw_result *file;
    int index; // in the file
    int in_document;
    snw_document *document;
    snw_desc *desc;
    snw_run *run;
    snw_reduction_source *source;
} reduce_run;

// One result file.
typedef struct reduce_file {
    const char *path;
    snw_result *file;
    snw_document *document;
    int nset;
    const char **set; // of its results
    int nrun;
    reduce_run *run;
} reduce_file;

typedef struct reduce_session {
    const snw_args *args;
    snw_reply *reply;
    snw_pool *pool;
    int ntrain, ntest;
    reduce_file *train, *test;
    snw_reduction *reduction;
    int stride; // of the frames taken
} reduce_session;

static bool shows_modes(const reduce_run *r, int stage) {
    return stage >= 0 && stage < r->desc->nstep && r->desc->step[stage].kind == SNW_STEP_MODES;
}

// The model of a file cannot be read again.
static snw_status reduce_fail_model(const char *path, snw_error *err) {
    snw_error why = *err;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "%.200s: the model of these results cannot be read again (%.200s); keep the "
                    "tables that it reads beside the results",
                    path, why.text);
}

static snw_status open_run(const reduce_file *f, reduce_run *r, snw_error *err) {
    const snw_run_info *info = snw_result_info(f->file, r->index);
    int k = 0;
    while (k < snw_document_runs(f->document) &&
           strcmp(snw_document_run_name(f->document, k), info->run) != 0)
        k++;
    if (k == snw_document_runs(f->document))
        return snw_fail(err, SNW_E_ARGUMENT, "%.200s: its model has no run '%s'", f->path,
                        info->run);
    r->path = f->path, r->name = info->run, r->file = f->file;
    r->document = f->document, r->in_document = k;
    if (snw_document_describe(f->document, k, &r->desc, err) != SNW_OK)
        return reduce_fail_model(f->path, err);
    SNW_TRY(snw_run_create(r->desc, r->name, &r->run, err));
    if (snw_run_describe(r->run)->nq != info->nq)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "%.200s: its model has %d coordinates, its frames %d; run it again with "
                        "this version and its present tables",
                        f->path, snw_run_describe(r->run)->nq, info->nq);
    return SNW_OK;
}

static snw_status open_file(reduce_session *s, const char *path, reduce_file *f, snw_error *err) {
    f->path = path;
    SNW_TRY(snw_result_open(path, &f->file, err));
    const char *text = snw_result_model(f->file);
    SNW_TRY(snw_job_sets(s->pool, text, &f->nset, &f->set, err));
    if (snw_document_parse_kept(path, text, f->nset, f->set, &f->document, err) != SNW_OK)
        return reduce_fail_model(path, err);
    const int total = snw_result_runs(f->file);
    const char **name = snw_pool_array(s->pool, (size_t)total + 1, sizeof *name);
    int *chosen = snw_pool_array(s->pool, (size_t)total + 1, sizeof *chosen);
    f->run = snw_pool_array(s->pool, (size_t)total + 1, sizeof *f->run);
    if (!name || !chosen || !f->run) return snw_fail_memory(err);
    for (int i = 0; i < total; i++) name[i] = snw_result_info(f->file, i)->run;
    const char *const *wanted = NULL;
    const int nwanted = snw_args_values(s->args, "run", &wanted);
    int n = 0;
    SNW_TRY(snw_choose_runs(total, name, nwanted, wanted, chosen, &n, err));
    for (int i = 0; i < n; i++) {
        reduce_run *r = &f->run[f->nrun];
        r->index = chosen[i];
        if (snw_result_frames(f->file, chosen[i]) == 0) continue;
        f->nrun++;
        SNW_TRY(open_run(f, r, err));
    }
    if (f->nrun > 0) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "%.200s has no frames", path);
}

static void close_file(reduce_file *f) {
    for (int i = 0; i < f->nrun; i++) {
        snw_reduction_close(f->run[i].source);
        snw_run_destroy(f->run[i].run);
        snw_desc_destroy(f->run[i].desc);
    }
    snw_document_destroy(f->document);
    snw_result_close(f->file);
}

// Calls `take` with the coordinates of every `stride`th frame of a run that shows a state.
typedef snw_status take_frame_fn(void *user, const reduce_run *r, int frame, double t, int stage,
                                 const double *q, snw_error *err);

static snw_status each_frame(const reduce_run *r, int stride, take_frame_fn *take, void *user,
                             snw_error *err) {
    const int total = snw_result_frames(r->file, r->index);
    const size_t nq = (size_t)snw_result_info(r->file, r->index)->nq;
    double *q = snw_alloc(CHUNK * (nq + 2) * sizeof *q);
    if (!q) return snw_fail_memory(err);
    double *t = q + CHUNK * nq, *stage = t + CHUNK;
    snw_status s = SNW_OK;
    for (int first = 0; s == SNW_OK && first < total; first += CHUNK) {
        const int n = total - first < CHUNK ? total - first : CHUNK;
        s = snw_result_read(r->file, r->index, SNW_RESULT_Q, first, n, q, err);
        if (s == SNW_OK) s = snw_result_read(r->file, r->index, SNW_RESULT_T, first, n, t, err);
        if (s == SNW_OK)
            s = snw_result_read(r->file, r->index, SNW_RESULT_STAGE, first, n, stage, err);
        for (int i = 0; s == SNW_OK && i < n; i++) {
            if ((first + i) % stride != 0 || shows_modes(r, (int)stage[i])) continue;
            s = take(user, r, first + i, t[i], (int)stage[i], q + (size_t)i * nq, err);
        }
    }
    snw_free(q);
    return s;
}

// ---- training -----------------------------------------------------------------------------------

static snw_status count_frame(void *user, const reduce_run *r, int frame, double t, int stage,
                              const double *q, snw_error *err) {
    (void)r, (void)frame, (void)t, (void)stage, (void)q, (void)err;
    ++*(int *)user;
    return SNW_OK;
}

static snw_status add_frame(void *user, const reduce_run *r, int frame, double t, int stage,
                            const double *q, snw_error *err) {
    (void)frame, (void)t, (void)stage, (void)err;
    snw_reduction_add(((reduce_session *)user)->reduction, r->source, q);
    return SNW_OK;
}

static snw_status collect(reduce_session *s, snw_error *err) {
    const char *const *rod = NULL;
    const int nrod = snw_args_values(s->args, "rod", &rod);
    int total = 0, taken = 0;
    SNW_TRY(snw_reduction_create(s->train[0].run[0].run, nrod, rod,
                                 snw_args_has(s->args, "together"), &s->reduction, err));
    for (int pass = 0; pass < 2; pass++) {
        s->stride = pass ? (total + MOST_SNAPSHOTS - 1) / MOST_SNAPSHOTS : 1;
        int *count = pass ? &taken : &total;
        for (int i = 0; i < s->ntrain; i++) {
            for (int k = 0; k < s->train[i].nrun; k++)
                SNW_TRY(each_frame(&s->train[i].run[k], s->stride ? s->stride : 1, count_frame,
                                   count, err));
        }
    }
    if (taken == 0)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "%.200s has no frames of states; those of modes are not snapshots",
                        s->train[0].path);
    SNW_TRY(snw_reduction_room(s->reduction, taken, err));
    for (int i = 0; i < s->ntrain; i++) {
        for (int k = 0; k < s->train[i].nrun; k++) {
            reduce_run *r = &s->train[i].run[k];
            SNW_TRY(snw_reduction_open(s->reduction, r->run, r->path, false, &r->source, err));
            SNW_TRY(each_frame(r, s->stride, add_frame, s, err));
        }
    }
    double functions = 0, energy = 0.9999;
    SNW_TRY(snw_args_number(s->args, "functions", 1, 1000, &functions, err));
    SNW_TRY(snw_args_number(s->args, "energy", 0, 1, &energy, err));
    if (functions != floor(functions))
        return snw_fail(err, SNW_E_ARGUMENT, "--functions is a whole number, got %g", functions);
    return snw_reduction_solve(s->reduction, (int)functions, energy, err);
}

// ---- the strains to write -----------------------------------------------------------------------

static const char one_element[] = ", elements: 1";

// First strain behind those of the rod to which strain i belongs.
static int rod_ends(const snw_reduction *r, int i) {
    const char *link = snw_reduction_strain(r, i)->link;
    while (i < snw_reduction_strains(r) && strcmp(snw_reduction_strain(r, i)->link, link) == 0) i++;
    return i;
}

// Does the rod of a link have equal elements? They are then set to one, since the functions of the
// table live on the whole rod.
static bool has_elements(const reduce_run *r, const char *link) {
    bool any = false;
    for (int l = 0; l < r->desc->nlink; l++) {
        const snw_rod_desc *rod = &r->desc->link[l].rod;
        if (!r->desc->link[l].has_rod || strcmp(r->desc->link[l].name, link) != 0) continue;
        for (int i = 0; i < 6; i++) {
            const snw_basis *b = &rod->basis[i];
            any |= rod->active[i] && !b->set && b->nelem > 1 && !b->breaks;
        }
    }
    return any;
}

// "[{table: modes.csv, column: arm.bend_z, over: x/L}]"; NULL: out of memory.
static char *functions_text(snw_pool *pool, const snw_reduced_strain *s, const char *table) {
    return snw_pool_format(pool, "[{table: \"%s\", column: %s.%s, over: x/L%s}]", table, s->link,
                           snw_strain_name[s->strain], s->linear ? ", between: linear" : "");
}

// "bend_z: [..], .." of the strains of a rod; NULL: out of memory.
static char *strain_text(snw_pool *pool, const snw_reduction *r, int first, const char *table) {
    char *text = snw_pool_format(pool, "%s", "");
    for (int i = first; text && i < rod_ends(r, first); i++) {
        const snw_reduced_strain *s = snw_reduction_strain(r, i);
        if (s->n == 0) continue;
        const char *value = functions_text(pool, s, table);
        if (!value) return NULL;
        text = snw_pool_format(pool, "%s%s%s: %s", text, text[0] ? ", " : "",
                               snw_strain_name[s->strain], value);
    }
    return text;
}

// ", together: [bend_z, stretch]" behind the strains of a rod that share coordinates, `between` in
// front of the list; "": none do. NULL: out of memory.
static char *together_text(snw_pool *pool, const snw_reduction *r, int first, const char *between) {
    char *text = snw_pool_format(pool, "%s", "");
    int n = 0;
    for (int i = first; text && i < rod_ends(r, first); i++) {
        const snw_reduced_strain *s = snw_reduction_strain(r, i);
        if (s->n == 0 || s->first_together != first) continue;
        text = snw_pool_format(pool, "%s%s%s", text, n++ ? ", " : "", snw_strain_name[s->strain]);
    }
    if (!text) return NULL;
    return n > 1 ? snw_pool_format(pool, "%s[%s]", between, text) : snw_pool_format(pool, "%s", "");
}

// Rows of names, then numbers, below comments that say whence they come.
static snw_status write_table(const reduce_session *s, const char *path, snw_error *err) {
    const snw_reduction *r = s->reduction;
    snw_output out;
    SNW_TRY(snw_output_open(path, &out, err));
    const char *slash = strrchr(path, '/');
    const double *x;
    const int nrow = snw_reduction_rows(r, &x);
    snw_status status = SNW_OK;
    (void)fprintf(out.file,
                  "# strain functions by sinew reduce, of %d snapshots of %s%s: %d functions, "
                  "energy kept %.8g\n",
                  snw_reduction_snapshots(r), s->train[0].path, s->ntrain > 1 ? " and others" : "",
                  snw_reduction_functions(r), snw_reduction_kept(r));
    for (int i = 0; i < snw_reduction_strains(r); i = rod_ends(r, i)) {
        const char *text = strain_text(s->pool, r, i, slash ? slash + 1 : path);
        const char *together = together_text(s->pool, r, i, ", together: ");
        if (!text || !together) status = snw_fail_memory(err);
        if (!text || !together) break;
        const char *link = snw_reduction_strain(r, i)->link;
        (void)fprintf(out.file, "# %s: {rod: {strain: {%s}%s%s}}\n", link, text, together,
                      has_elements(&s->train[0].run[0], link) ? one_element : "");
    }
    (void)fputs("x/L", out.file);
    for (int i = 0; i < snw_reduction_strains(r); i++) {
        const snw_reduced_strain *one = snw_reduction_strain(r, i);
        for (int k = 0; k < one->n; k++)
            (void)fprintf(out.file, ",%s.%s.%d", one->link, snw_strain_name[one->strain], k + 1);
    }
    for (int j = 0; j < nrow; j++) {
        (void)fprintf(out.file, "\n%.12g", x[j]);
        for (int i = 0; i < snw_reduction_strains(r); i++) {
            const snw_reduced_strain *one = snw_reduction_strain(r, i);
            for (int k = 0; k < one->n; k++)
                (void)fprintf(out.file, ",%.12g", one->phi[(size_t)k * (size_t)nrow + (size_t)j]);
        }
    }
    (void)fputc('\n', out.file);
    return snw_output_close(&out, status, err);
}

// ---- errors on other runs -----------------------------------------------------------------------

// Errors relative to the strain of each frame, and of tips relative to the length of their rod.
typedef struct reduce_errors {
    double most, sum;
    int n;
} reduce_errors;

static void add_error(reduce_errors *e, double value) {
    if (!(value <= e->most)) e->most = value;
    e->sum += value;
    e->n++;
}

static double mean_error(const reduce_errors *e) { return e->n > 0 ? e->sum / e->n : NAN; }

// A test run: its frames, and what the reduced robot does at the same times.
typedef struct reduce_test {
    const reduce_session *s;
    const reduce_run *r;
    int n;
    double *t, *whole; // n: time; square of the strain norm
    int *stage, *frame;
    double largest; // of `whole`
    reduce_errors projection, strain, tip;
    const reduce_run *reduced;
    int at; // next frame of the parent
    double *q, *pose;
} reduce_test;

static snw_status measure_frame(void *user, const reduce_run *r, int frame, double t, int stage,
                                const double *q, snw_error *err) {
    (void)err;
    reduce_test *e = user;
    double missing;
    snw_reduction_project(e->s->reduction, r->source, q, &missing, &e->whole[e->n]);
    e->t[e->n] = t, e->stage[e->n] = stage, e->frame[e->n] = frame;
    if (!(e->whole[e->n] <= e->largest)) e->largest = e->whole[e->n];
    e->n++;
    return SNW_OK;
}

static snw_status project_frame(void *user, const reduce_run *r, int frame, double t, int stage,
                                const double *q, snw_error *err) {
    (void)frame, (void)t, (void)stage, (void)err;
    reduce_test *e = user;
    double missing, whole;
    snw_reduction_project(e->s->reduction, r->source, q, &missing, &whole);
    if (whole > COUNTS * COUNTS * e->largest) add_error(&e->projection, sqrt(missing / whole));
    return SNW_OK;
}

// Last node of a link.
static int tip_of(const snw_run_info *info, const char *link) {
    int k = info->nnode - 1;
    while (k >= 0 && strcmp(info->node_link[k], link) != 0) k--;
    return k;
}

// A frame of the reduced simulation, compared with that of the parent at the same time.
static snw_status compare_frame(void *user, const snw_frame *f, snw_error *err) {
    reduce_test *e = user;
    const reduce_run *r = e->r;
    const snw_run_info *info = snw_result_info(r->file, r->index),
                       *own = snw_run_describe(e->reduced->run);
    const double near = 1e-9 * fmax(1, fabs(f->t));
    if (f->partial || shows_modes(r, f->stage)) return SNW_OK;
    while (e->at < e->n && (e->stage[e->at] < f->stage ||
                            (e->stage[e->at] == f->stage && e->t[e->at] < f->t - near)))
        e->at++;
    if (e->at == e->n || e->stage[e->at] != f->stage || e->t[e->at] > f->t + near) return SNW_OK;
    const int frame = e->frame[e->at];
    const double whole = e->whole[e->at++];
    SNW_TRY(snw_result_read(r->file, r->index, SNW_RESULT_Q, frame, 1, e->q, err));
    SNW_TRY(snw_result_read(r->file, r->index, SNW_RESULT_POSE, frame, 1, e->pose, err));
    double difference;
    snw_reduction_compare(e->s->reduction, e->reduced->source, f->q, r->source, e->q, &difference);
    if (whole > COUNTS * COUNTS * e->largest) add_error(&e->strain, sqrt(difference / whole));
    double worst = 0;
    for (int i = 0; i < snw_reduction_strains(e->s->reduction); i = rod_ends(e->s->reduction, i)) {
        const char *link = snw_reduction_strain(e->s->reduction, i)->link;
        const int a = tip_of(info, link), b = tip_of(own, link);
        if (a < 0 || b < 0) continue;
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            const double d = f->pose[b].p.e[k] - e->pose[SNW_RESULT_POSE_WIDTH * a + k];
            sum += d * d;
        }
        const double tip = sqrt(sum) / info->node_x[a];
        if (!(tip <= worst)) worst = tip;
    }
    add_error(&e->tip, worst);
    return SNW_OK;
}

static snw_status end_compare(void *user, snw_status status, const char *message, snw_error *err) {
    (void)user, (void)status, (void)message, (void)err;
    return SNW_OK;
}

// set (grows by *n) <- overrides that give a robot the functions of the table.
static snw_status reduced_sets(const reduce_session *s, const reduce_run *parent, const char *table,
                               int *n, const char **set, snw_error *err) {
    const snw_reduction *r = s->reduction;
    for (int i = 0; i < snw_reduction_strains(r); i = rod_ends(r, i)) {
        const char *link = snw_reduction_strain(r, i)->link;
        const char *text = strain_text(s->pool, r, i, table);
        if (!text) return snw_fail_memory(err);
        // beside laws of other strains each is set by itself
        const bool given = snw_reduction_strain(r, i)->given_beside;
        for (int k = i; k < (given ? rod_ends(r, i) : i + 1); k++) {
            const snw_reduced_strain *one = snw_reduction_strain(r, k);
            if (given && one->n == 0) continue;
            const char *value = functions_text(s->pool, one, table);
            if (!value) return snw_fail_memory(err);
            set[*n] = given     ? snw_pool_format(s->pool, "%s.rod.strain.%s=%s", link,
                                                  snw_strain_name[one->strain], value)
                      : text[0] ? snw_pool_format(s->pool, "%s.rod.strain={%s}", link, text)
                                : snw_pool_format(s->pool, "%s.rod.strain=rigid", link);
            if (!set[(*n)++]) return snw_fail_memory(err);
        }
        const char *together = together_text(s->pool, r, i, "");
        if (!together) return snw_fail_memory(err);
        if (together[0])
            set[(*n)++] = snw_pool_format(s->pool, "%s.rod.together=%s", link, together);
        if (together[0] && !set[*n - 1]) return snw_fail_memory(err);
        if (!has_elements(parent, link)) continue;
        set[*n] = snw_pool_format(s->pool, "%s.rod.elements=1", link);
        if (!set[(*n)++]) return snw_fail_memory(err);
    }
    return SNW_OK;
}

static snw_status run_reduced(reduce_test *e, const reduce_run *own, snw_error *err) {
    const snw_recorder recorder = {e, compare_frame, end_compare};
    const snw_run_hooks hooks = {.stop = snw_stop_hook};
    snw_run_totals totals;
    snw_error why = {0};
    const snw_status s = snw_run_execute(own->run, 1, &recorder, &hooks, &totals, &why);
    if (s == SNW_OK || s == SNW_E_STOPPED) {
        if (s != SNW_OK && err) *err = why;
        return s;
    }
    return snw_fail(err, s, "the reduced simulation of run '%s' of %.120s failed: %.200s",
                    e->r->name, e->r->path, why.text);
}

static snw_status simulate(reduce_session *s, const reduce_file *f, reduce_test *e,
                           snw_error *err) {
    const char *table = snw_args_value(s->args, "output");
    char *whole = realpath(table, NULL);
    const snw_run_info *info = snw_result_info(e->r->file, e->r->index);
    int n = f->nset;
    const char **set = snw_pool_array(
        s->pool, (size_t)(f->nset + 3 * snw_reduction_strains(s->reduction)) + 1, sizeof *set);
    e->q = snw_pool_array(s->pool, (size_t)info->nq + 1, sizeof *e->q);
    e->pose =
        snw_pool_array(s->pool, SNW_RESULT_POSE_WIDTH * (size_t)info->nnode + 1, sizeof *e->pose);
    reduce_run own = {.path = f->path, .name = e->r->name};
    snw_status status = whole && set && e->q && e->pose ? SNW_OK : snw_fail_memory(err);
    for (int i = 0; status == SNW_OK && i < f->nset; i++) set[i] = f->set[i];
    if (status == SNW_OK) status = reduced_sets(s, e->r, whole, &n, set, err);
    if (status == SNW_OK)
        status =
            snw_document_parse_kept(f->path, snw_result_model(f->file), n, set, &own.document, err);
    if (status == SNW_OK)
        status = snw_document_describe(own.document, e->r->in_document, &own.desc, err);
    if (status == SNW_OK) status = snw_run_create(own.desc, own.name, &own.run, err);
    if (status == SNW_OK)
        status = snw_reduction_open(s->reduction, own.run, f->path, true, &own.source, err);
    e->reduced = &own;
    if (status == SNW_OK) status = run_reduced(e, &own, err);
    e->reduced = NULL;
    snw_reduction_close(own.source);
    snw_run_destroy(own.run);
    snw_desc_destroy(own.desc);
    snw_document_destroy(own.document);
    free(whole);
    return status;
}

// ---- report -------------------------------------------------------------------------------------

static void report_errors(snw_json *j, const char *key, const char *what, const reduce_errors *e) {
    if (e->n == 0) return;
    if (j) {
        snw_field_object(j, key);
        snw_field_number(j, "max", e->most);
        snw_field_number(j, "mean", mean_error(e));
        snw_field_integer(j, "frames", e->n);
        snw_json_close(j);
    } else {
        printf("  %s at most %.4g, mean %.4g\n", what, e->most, mean_error(e));
    }
}

static void report_test(snw_reply *reply, const reduce_test *e) {
    snw_json *j = reply->json;
    if (j) {
        snw_field_object(j, NULL);
        snw_field_text(j, "file", e->r->path);
        snw_field_text(j, "run", e->r->name);
    } else {
        printf("test %s, run %s\n", e->r->path, e->r->name);
    }
    report_errors(j, "projection", "projection: strain error", &e->projection);
    report_errors(j, "strain", "reduced simulation: strain error", &e->strain);
    report_errors(j, "tip", "reduced simulation: tip error, of the length,", &e->tip);
    if (j) snw_json_close(j);
}

static snw_status test_run(reduce_session *s, const reduce_file *f, reduce_run *r, snw_error *err) {
    const size_t n = (size_t)snw_result_frames(r->file, r->index);
    reduce_test e = {.s = s, .r = r};
    e.t = snw_pool_array(s->pool, 2 * n, sizeof *e.t);
    e.stage = snw_pool_array(s->pool, 2 * n, sizeof *e.stage);
    if (!e.t || !e.stage) return snw_fail_memory(err);
    e.whole = e.t + n, e.frame = e.stage + n;
    SNW_TRY(snw_reduction_open(s->reduction, r->run, r->path, false, &r->source, err));
    SNW_TRY(each_frame(r, 1, measure_frame, &e, err));
    if (!(e.largest > 0))
        return snw_fail(err, SNW_E_ARGUMENT, "%.200s, run '%s': the rods keep their rest shape",
                        r->path, r->name);
    SNW_TRY(each_frame(r, 1, project_frame, &e, err));
    if (snw_args_has(s->args, "simulate")) SNW_TRY(simulate(s, f, &e, err));
    report_test(s->reply, &e);
    return SNW_OK;
}

static void report_strains(const reduce_session *s) {
    const snw_reduction *r = s->reduction;
    snw_json *j = s->reply->json;
    if (j) {
        snw_field_integer(j, "snapshots", snw_reduction_snapshots(r));
        snw_field_integer(j, "every", s->stride);
        snw_field_integer(j, "parent", snw_reduction_parent(r));
        snw_field_integer(j, "functions", snw_reduction_functions(r));
        snw_field_number(j, "energy", snw_reduction_kept(r));
        snw_field_list(j, "strains");
    } else {
        printf("%d snapshots", snw_reduction_snapshots(r));
        if (s->stride > 1) printf(", every %dth frame", s->stride);
        printf("\n%-16s %-8s %6s %9s %14s  singular values, sqrt(J)\n", "rod", "strain", "parent",
               "functions", "energy lost");
    }
    for (int i = 0; i < snw_reduction_strains(r); i++) {
        const snw_reduced_strain *one = snw_reduction_strain(r, i);
        const bool shares = one->first_together != i;
        if (j) {
            snw_field_object(j, NULL);
            snw_field_text(j, "rod", one->link);
            snw_field_text(j, "strain", snw_strain_name[one->strain]);
            snw_field_integer(j, "parent", one->parent);
            snw_field_integer(j, "functions", one->n);
            snw_field_number(j, "energy", one->energy > 0 ? one->kept : 1);
            snw_field_number(j, "interpolation", one->interpolation);
            snw_field_list(j, "sigma");
            for (int k = 0; k < one->rank; k++) snw_field_number(j, NULL, one->sigma[k]);
            snw_json_close(j);
            snw_json_close(j);
            continue;
        }
        printf("%-16s %-8s %6d %9d ", one->link, snw_strain_name[one->strain], one->parent, one->n);
        if (shares) {
            printf("      together with %s\n",
                   snw_strain_name[snw_reduction_strain(r, one->first_together)->strain]);
            continue;
        }
        printf("%14.4g ", one->energy > 0 ? 1 - one->kept : 0);
        for (int k = 0; k < one->rank && k < MOST_SIGMA; k++) printf(" %.3g", one->sigma[k]);
        printf("%s\n", one->rank > MOST_SIGMA ? " .." : "");
    }
    if (j) {
        snw_json_close(j);
        return;
    }
    printf("%d of %d coordinates, energy kept %.8g, lost %.3g\n", snw_reduction_functions(r),
           snw_reduction_parent(r), snw_reduction_kept(r), 1 - snw_reduction_kept(r));
}

static void report_notes(const reduce_session *s) {
    const snw_reduction *r = s->reduction;
    char text[240];
    for (int i = 0; snw_reduction_left(r, i); i++)
        snw_reply_note(s->reply, s->train[0].path, snw_reduction_left(r, i));
    for (int i = 0; i < snw_reduction_strains(r); i++) {
        const snw_reduced_strain *one = snw_reduction_strain(r, i);
        if (one->n == 0) {
            (void)snprintf(text, sizeof text,
                           "%s of rod '%.80s' gets no function and keeps its rest value",
                           snw_strain_name[one->strain], one->link);
            snw_reply_note(s->reply, s->train[0].path, text);
        }
        if (one->interpolation > 1e-3) {
            (void)snprintf(text, sizeof text,
                           "%s of rod '%.80s': between its rows the table errs by %.1g of a "
                           "function; give the parent a smoother basis",
                           snw_strain_name[one->strain], one->link, one->interpolation);
            snw_reply_warn(s->reply, s->train[0].path, text);
        }
    }
}

static snw_status report_model(const reduce_session *s, const char *out, snw_error *err) {
    const snw_reduction *r = s->reduction;
    snw_json *j = s->reply->json;
    if (j) snw_field_object(j, "strain");
    if (!j) printf("%s has the functions; write\n", out);
    for (int i = 0; i < snw_reduction_strains(r); i = rod_ends(r, i)) {
        const snw_reduced_strain *one = snw_reduction_strain(r, i);
        const char *text = strain_text(s->pool, r, i, out);
        const char *together = together_text(s->pool, r, i, ", together: ");
        if (!text || !together) return snw_fail_memory(err);
        const char *elements = has_elements(&s->train[0].run[0], one->link) ? one_element : "";
        if (!j && text[0])
            printf("  %s: {rod: {strain: {%s}%s%s}}\n", one->link, text, together, elements);
        if (!j && !text[0]) printf("  %s: {rod: {strain: rigid%s}}\n", one->link, elements);
        if (j) {
            text = text[0] ? snw_pool_format(s->pool, "{%s}", text) : "rigid";
            if (!text) return snw_fail_memory(err);
            snw_field_text(j, one->link, text);
        }
    }
    if (j) snw_json_close(j);
    if (!j) return SNW_OK;
    snw_field_object(j, "together");
    for (int i = 0; i < snw_reduction_strains(r); i = rod_ends(r, i)) {
        const char *together = together_text(s->pool, r, i, "");
        if (!together) return snw_fail_memory(err);
        if (together[0]) snw_field_text(j, snw_reduction_strain(r, i)->link, together);
    }
    snw_json_close(j);
    return SNW_OK;
}

// ---- the command --------------------------------------------------------------------------------

static snw_status check_options(const snw_args *args, snw_error *err) {
    if (snw_args_has(args, "functions") && snw_args_has(args, "energy"))
        return snw_fail(err, SNW_E_ARGUMENT, "give --functions or --energy, not both");
    if (snw_args_has(args, "simulate") && !snw_args_has(args, "test"))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "--simulate compares with the runs of --test; give such a file");
    if (snw_args_has(args, "simulate") && !snw_args_has(args, "output"))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "--simulate needs the table of functions; give -o modes.csv");
    return SNW_OK;
}

static snw_status open_files(reduce_session *s, snw_error *err) {
    const char *const *test = NULL;
    const int ntrain = snw_args_operands(s->args), ntest = snw_args_values(s->args, "test", &test);
    s->train = snw_pool_array(s->pool, (size_t)ntrain + 1, sizeof *s->train);
    s->test = snw_pool_array(s->pool, (size_t)ntest + 1, sizeof *s->test);
    if (!s->train || !s->test) return snw_fail_memory(err);
    const char *out = snw_args_value(s->args, "output");
    for (int i = 0; i < ntrain + ntest; i++) {
        const char *path = i < ntrain ? snw_args_operand(s->args, i) : test[i - ntrain];
        if (out) SNW_TRY(snw_job_refuse_output("results", path, out, err));
        reduce_file *f = i < ntrain ? &s->train[s->ntrain++] : &s->test[s->ntest++];
        SNW_TRY(open_file(s, path, f, err));
    }
    return SNW_OK;
}

static snw_status reduce(reduce_session *s, snw_error *err) {
    const char *out = snw_args_value(s->args, "output");
    SNW_TRY(check_options(s->args, err));
    SNW_TRY(open_files(s, err));
    SNW_TRY(collect(s, err));
    if (out) SNW_TRY(write_table(s, out, err));
    report_strains(s);
    report_notes(s);
    if (s->reply->json) snw_field_list(s->reply->json, "tests");
    snw_status status = SNW_OK;
    for (int i = 0; status == SNW_OK && i < s->ntest; i++) {
        for (int k = 0; status == SNW_OK && k < s->test[i].nrun; k++)
            status = test_run(s, &s->test[i], &s->test[i].run[k], err);
    }
    if (s->reply->json) snw_json_close(s->reply->json);
    if (status == SNW_OK && out) status = report_model(s, out, err);
    return status;
}

static int cmd_reduce_run(const snw_args *args, snw_reply *reply) {
    snw_error err = {0};
    reduce_session s = {.args = args, .reply = reply, .pool = snw_pool_create((size_t)1 << 28)};
    snw_stop_defer();
    snw_status status = s.pool ? reduce(&s, &err) : snw_fail_memory(&err);
    if (status != SNW_OK) snw_reply_fail(reply, &err);
    for (int i = 0; i < s.ntrain; i++) close_file(&s.train[i]);
    for (int i = 0; i < s.ntest; i++) close_file(&s.test[i]);
    snw_reduction_destroy(s.reduction);
    snw_pool_destroy(s.pool);
    return snw_reply_exit_input(status);
}

static const snw_option options[] = {
    {"functions", 0, "N", false,
     "number of functions in all, of all strains and rods: the coordinates of the reduced robot"},
    {"energy", 0, "SHARE", false,
     "instead: as few functions as keep this share of the elastic energy of the snapshots, 0.9999 "
     "unless given"},
    {"together", 0, NULL, false,
     "one coordinate for functions of all strains of a rod that move together, instead of "
     "coordinates of each strain"},
    {"test", 0, "OUT.h5", true,
     "results of the same robot that were not used: tells the error of its strains less their "
     "projection on the functions. May be repeated"},
    {"simulate", 0, NULL, false,
     "also runs the study of each test with the functions of -o, and tells the errors of strains "
     "and tips"},
    {"rod", 0, "NAME", true, "only this rod; may be repeated"},
    SNW_OPTION_RUN,
    {"output", 'o', "OUT", false, "table of the functions, which a model reads"},
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_reduce = {
    .name = "reduce",
    .operands = "OUT.h5...",
    .min_operands = 1,
    .max_operands = 100,
    .brief = "strain functions from results: fewer coordinates for the same motions",
    .about =
        "Takes the frames of all runs of the result files as snapshots and finds, for each strain "
        "of each rod, the functions that represent them best: proper orthogonal decomposition in "
        "the norm of the elastic energy, each strain by itself or, with --together, all strains of "
        "a "
        "rod in one, with one threshold for all. Prints "
        "the energy that the functions keep and lose, and writes them by -o as a table, with the "
        "strains to write in the model.\n\n"
        "The files are runs of one robot: the same rods with the same lengths and strains; bases "
        "may differ. Frames of modes are left out. Functions are orthonormal in the energy norm, "
        "so that half the square of a coordinate is the elastic energy of its function, and "
        "positive at the first point. Rods whose basis jumps, of variable length, with actuators "
        "on their strain coordinates, and concentric tubes keep their functions.\n\n"
        "Functions represent what they have seen: a load or a motion of another kind may need "
        "others. With --test the error on runs that were not used is told, relative to the strain "
        "of the same frame, for frames with more than a thousandth of the largest strain; it is a "
        "lower bound of the error of a simulation with these functions, which --simulate tells.",
    .option = options,
    .examples = "sinew reduce finger.h5 --functions 4 -o modes.csv\n"
                "sinew reduce slow.h5 fast.h5 --energy 0.99999 --test other.h5 \\\n"
                "  --simulate -o modes.csv\n"
                "sinew reduce arm.h5 --together --functions 3 -o modes.csv\n"
                "sinew reduce hand.h5 --rod thumb --functions 6 --json",
    .run = cmd_reduce_run,
};
