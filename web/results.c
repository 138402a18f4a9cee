// SPDX-License-Identifier: MIT
//
// Results in memory, by the interface of results/result.h. Files exist by their names only: the
// file system holds an empty file for each, so that commands see it, and the frames are here.
#include "results/result.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/pool.h"
#include "sinew/version.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { POOL_BYTES = 256 << 20 };
// Frames of all results together; more would leave too little of the 2 GiB of an engine.
static const size_t most_bytes = (size_t)768 << 20;
static size_t stored_bytes;

typedef struct run {
    snw_result *file;
    snw_run_info info;
    size_t width[SNW_RESULT_NFIELD];
    double *field[SNW_RESULT_NFIELD]; // nframe x width
    int nframe, room;
    double *save; // the last checkpoint; NULL: none
    int save_frames;
    bool ended;
    snw_result_state state;
    char message[512];
} run;

// A file, being written or read.
struct snw_result {
    snw_pool *pool;
    const char *path, *model;
    char created[32];
    int nrun, uses; // uses: writer, readers, the list of files
    run *run;
    bool listed;
    snw_result *next;
};

struct snw_results {
    snw_result *file;
};

static snw_result *files; // those that can be opened

static snw_status results_no_memory(snw_error *err) {
    return snw_fail(err, SNW_E_MEMORY, "no memory left for results");
}

static void release(snw_result *f) {
    if (--f->uses > 0) return;
    for (int i = 0; i < f->nrun; i++) {
        for (int k = 0; k < SNW_RESULT_NFIELD; k++) {
            stored_bytes -= (size_t)f->run[i].room * f->run[i].width[k] * sizeof(double);
            snw_free(f->run[i].field[k]);
        }
    }
    snw_pool_destroy(f->pool);
    snw_free(f);
}

// ---- the list of files --------------------------------------------------------------------------

static snw_result *find_file(const char *path) {
    for (snw_result *f = files; f; f = f->next) {
        if (strcmp(f->path, path) == 0) return f;
    }
    return NULL;
}

static void unlist(snw_result *f) {
    for (snw_result **at = &files; *at; at = &(*at)->next) {
        if (*at != f) continue;
        *at = f->next;
        f->listed = false;
        release(f);
        return;
    }
}

static snw_status publish(snw_result *f, snw_error *err) {
    if (f->listed) return SNW_OK;
    FILE *mark = fopen(f->path, "w");
    if (!mark) return snw_fail(err, SNW_E_IO, "'%.200s' cannot be written", f->path);
    (void)fclose(mark);
    snw_result *old = find_file(f->path);
    if (old) unlist(old);
    f->listed = true;
    f->uses++;
    f->next = files;
    files = f;
    return SNW_OK;
}

// ---- descriptions -------------------------------------------------------------------------------

static bool copy_text(snw_pool *pool, const char **text) {
    if (*text) *text = snw_pool_text(pool, *text, strlen(*text));
    return *text != NULL;
}

static bool copy_texts(snw_pool *pool, int n, const char *const **list) {
    const char **copy = snw_pool_array(pool, (size_t)n, sizeof *copy);
    for (int i = 0; copy && i < n; i++) {
        copy[i] = (*list)[i];
        if (!copy_text(pool, &copy[i])) return false;
    }
    *list = copy;
    return copy != NULL;
}

static void *copy_array(snw_pool *pool, int n, size_t size, const void *from) {
    void *to = snw_pool_array(pool, (size_t)n, size);
    if (to && n > 0) memcpy(to, from, (size_t)n * size);
    return to;
}

// info <- what a reader of a result file has; texts for `sinew check` are left out
static bool copy_info(snw_pool *pool, const snw_run_info *from, snw_run_info *info) {
    *info = *from;
    info->loop_note = info->loop_warning = info->contact_warning = info->field_warning = NULL;
    info->linear = NULL, info->nlinear = 0; // linear models are not kept
    info->locomotion = NULL;
    info->rod_error = NULL;
    snw_column *column = copy_array(pool, from->ncolumn, sizeof *column, from->column);
    snw_fold_column *fold = copy_array(pool, from->nfold, sizeof *fold, from->fold);
    snw_override_desc *set = copy_array(pool, from->noverride, sizeof *set, from->override);
    bool good = column && fold && set && copy_text(pool, &info->run) &&
                copy_texts(pool, from->nstage, &info->stage) &&
                copy_texts(pool, from->nq, &info->q_name) &&
                copy_texts(pool, from->nnode, &info->node_link);
    if (info->title) good = good && copy_text(pool, &info->title);
    if (info->scene) good = good && copy_text(pool, &info->scene);
    info->node_x = copy_array(pool, from->nnode, sizeof *info->node_x, from->node_x);
    for (int i = 0; good && i < from->ncolumn; i++) {
        good = copy_text(pool, &column[i].probe) && copy_text(pool, &column[i].component);
    }
    for (int i = 0; good && i < from->nfold; i++) good = copy_text(pool, &fold[i].by);
    for (int i = 0; good && i < from->noverride; i++) {
        good = copy_text(pool, &set[i].path) && copy_text(pool, &set[i].text);
        if (set[i].unit) good = good && copy_text(pool, &set[i].unit);
    }
    info->column = column;
    info->fold = fold;
    info->override = set;
    return good && info->node_x;
}

static bool fill_file(snw_result *f, const char *path, int nrun, const snw_run_info *const *info,
                      const char *model_text) {
    f->path = snw_pool_text(f->pool, path, strlen(path));
    f->model = snw_pool_text(f->pool, model_text, strlen(model_text));
    f->run = snw_pool_array(f->pool, (size_t)nrun, sizeof *f->run);
    if (!f->path || !f->model || !f->run) return false;
    f->nrun = nrun;
    for (int i = 0; i < nrun; i++) {
        run *u = &f->run[i];
        *u = (run){.file = f, .state = SNW_RESULT_PENDING};
        if (!copy_info(f->pool, info[i], &u->info)) return false;
        for (int k = 0; k < SNW_RESULT_NFIELD; k++) {
            u->width[k] = snw_result_width(&u->info, (snw_result_field)k);
        }
    }
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) {
        (void)strftime(f->created, sizeof f->created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    return true;
}

// ---- writing ------------------------------------------------------------------------------------

snw_status snw_results_create(const char *path, int nrun, const snw_run_info *const *info,
                              const char *model_text, snw_results **out, snw_error *err) {
    snw_results *r = *out = snw_alloc(sizeof *r);
    snw_result *f = snw_alloc(sizeof *f);
    if (f) f->pool = snw_pool_create(POOL_BYTES);
    if (!r || !f || !f->pool || !fill_file(f, path, nrun, info, model_text)) {
        if (f) snw_pool_destroy(f->pool);
        snw_free(f);
        snw_free(r);
        *out = NULL;
        return results_no_memory(err);
    }
    f->uses = 1;
    r->file = f;
    return SNW_OK;
}

// room for one more frame
static snw_status grow(run *u, snw_error *err) {
    if (u->nframe < u->room) return SNW_OK;
    const int room = u->room > 0 ? u->room + u->room / 2 + 1 : 16;
    size_t more = 0;
    for (int k = 0; k < SNW_RESULT_NFIELD; k++) {
        more += (size_t)(room - u->room) * u->width[k] * sizeof(double);
    }
    if (stored_bytes + more > most_bytes) {
        return snw_fail(
            err, SNW_E_MEMORY,
            "the frames need more than the %d MiB of this engine; record fewer of them, "
            "or use the command on your machine",
            (int)(most_bytes >> 20));
    }
    double *wide[SNW_RESULT_NFIELD];
    bool good = true;
    for (int k = 0; k < SNW_RESULT_NFIELD; k++) {
        const size_t old = (size_t)u->nframe * u->width[k] * sizeof(double);
        wide[k] = snw_alloc((size_t)room * u->width[k] * sizeof(double));
        if (wide[k] && old > 0) memcpy(wide[k], u->field[k], old);
        good = good && wide[k];
    }
    for (int k = 0; k < SNW_RESULT_NFIELD; k++) {
        snw_free(good ? u->field[k] : wide[k]);
        if (good) u->field[k] = wide[k];
    }
    if (!good) return results_no_memory(err);
    u->room = room;
    stored_bytes += more;
    return SNW_OK;
}

static snw_status keep_checkpoint(run *u, const double *save, snw_error *err) {
    if (!save || u->info.nsave == 0) return SNW_OK;
    const size_t n = (size_t)u->info.nsave;
    if (!u->save) u->save = snw_pool_array(u->file->pool, n, sizeof *u->save);
    if (!u->save) return results_no_memory(err);
    memcpy(u->save, save, n * sizeof *save);
    u->save_frames = u->nframe;
    return SNW_OK;
}

static snw_status record_frame(void *user, const snw_frame *f, snw_error *err) {
    run *u = user;
    SNW_ASSERT(!u->ended);
    SNW_TRY(grow(u, err));
    double *row[SNW_RESULT_NFIELD];
    for (int k = 0; k < SNW_RESULT_NFIELD; k++) {
        row[k] = u->field[k] + (size_t)u->nframe * u->width[k];
    }
    snw_result_rows(f, u->width, row);
    u->nframe++;
    u->state = SNW_RESULT_RUNNING;
    SNW_TRY(keep_checkpoint(u, f->save, err));
    return publish(u->file, err);
}

static snw_status record_end(void *user, snw_status status, const char *message, snw_error *err) {
    (void)err;
    run *u = user;
    u->ended = true;
    u->state = status == SNW_OK          ? SNW_RESULT_FINISHED
               : status == SNW_E_STOPPED ? SNW_RESULT_STOPPED
                                         : SNW_RESULT_FAILED;
    (void)snprintf(u->message, sizeof u->message, "%s", status != SNW_OK && message ? message : "");
    return SNW_OK;
}

snw_recorder snw_results_recorder(snw_results *r, int index) {
    SNW_ASSERT(index >= 0 && index < r->file->nrun);
    return (snw_recorder){&r->file->run[index], record_frame, record_end};
}

snw_status snw_results_copy(snw_results *r, int index, snw_result *from, int which, int nframe,
                            const double *save, bool whole, snw_error *err) {
    run *u = &r->file->run[index];
    const run *v = &from->run[which];
    if (memcmp(u->width, v->width, sizeof u->width) != 0) {
        return snw_fail(err, SNW_E_ARGUMENT, "run '%.100s' has other columns or sizes",
                        v->info.run);
    }
    while (u->room < nframe) {
        u->nframe = u->room;
        const snw_status s = grow(u, err);
        u->nframe = 0;
        SNW_TRY(s);
    }
    for (int k = 0; nframe > 0 && k < SNW_RESULT_NFIELD; k++) {
        memcpy(u->field[k], v->field[k], (size_t)nframe * u->width[k] * sizeof(double));
    }
    u->nframe = nframe;
    SNW_TRY(keep_checkpoint(u, save, err));
    if (whole) return record_end(u, SNW_OK, "", err);
    return SNW_OK;
}

snw_status snw_results_flush(snw_results *r, double age, snw_error *err) {
    (void)r, (void)age, (void)err;
    return SNW_OK;
}

bool snw_results_in_place(const snw_results *r) { return r->file->listed; }

snw_status snw_results_close(snw_results *r, snw_error *err) {
    if (!r) return SNW_OK;
    snw_result *f = r->file;
    bool finished = true;
    for (int i = 0; i < f->nrun; i++) {
        run *u = &f->run[i];
        finished = finished && u->state == SNW_RESULT_FINISHED;
        if (!u->ended && u->nframe > 0) {
            (void)record_end(u, SNW_E_STOPPED, "closed before its end", err);
        }
    }
    const snw_status s = finished ? publish(f, err) : SNW_OK;
    release(f);
    snw_free(r);
    return s;
}

// ---- reading ------------------------------------------------------------------------------------

snw_status snw_result_open(const char *path, snw_result **out, snw_error *err) {
    snw_result *f = *out = find_file(path);
    if (!f) {
        return snw_fail(err, SNW_E_IO,
                        "results '%.200s': there are none in memory; this sinew reads those of its "
                        "own runs, not HDF5 files",
                        path);
    }
    f->uses++;
    return SNW_OK;
}

void snw_result_close(snw_result *r) {
    if (r) release(r);
}

const char *snw_result_model(const snw_result *r) { return r->model; }
const char *snw_result_version(const snw_result *r) { return r ? SNW_VERSION : ""; }
const char *snw_result_created(const snw_result *r) { return r->created; }
int snw_result_runs(const snw_result *r) { return r->nrun; }
snw_status snw_result_linear(snw_result *r, int run, int stage, const struct snw_linear_model **out,
                             snw_error *err) {
    (void)r, (void)run, (void)stage, (void)err;
    *out = NULL;
    return SNW_OK;
}

const snw_run_info *snw_result_info(const snw_result *r, int index) { return &r->run[index].info; }
int snw_result_frames(const snw_result *r, int index) { return r->run[index].nframe; }

snw_result_state snw_result_state_of(const snw_result *r, int index, const char **message) {
    if (message) *message = r->run[index].message;
    return r->run[index].state;
}

snw_status snw_result_read(snw_result *r, int index, snw_result_field field, int first, int nframe,
                           double *out, snw_error *err) {
    (void)err;
    const run *u = &r->run[index];
    const size_t width = u->width[field];
    SNW_ASSERT(first >= 0 && nframe >= 0 && first + nframe <= u->nframe);
    if (nframe > 0 && width > 0) {
        memcpy(out, u->field[field] + (size_t)first * width, (size_t)nframe * width * sizeof *out);
    }
    return SNW_OK;
}

snw_status snw_result_checkpoint(snw_result *r, int index, int *nframe, double *save,
                                 snw_error *err) {
    (void)err;
    const run *u = &r->run[index];
    *nframe = u->save ? u->save_frames : 0;
    if (u->save) memcpy(save, u->save, (size_t)u->info.nsave * sizeof *save);
    return SNW_OK;
}

snw_status snw_result_read_column(snw_result *r, int index, int column, int first, int nframe,
                                  double *out, snw_error *err) {
    (void)err;
    const run *u = &r->run[index];
    const size_t width = u->width[SNW_RESULT_COLUMNS];
    for (int i = 0; i < nframe; i++) {
        out[i] = u->field[SNW_RESULT_COLUMNS][(size_t)(first + i) * width + (size_t)column];
    }
    return SNW_OK;
}
