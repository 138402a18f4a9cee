// SPDX-License-Identifier: MIT
//
// Recordings of a live simulation: result files as written by runs, with the values of the controls
// after the probes.
#include "cli/play_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/output.h"
#include "job/job.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FILES = 10000 };

// out <- FILE.play.h5 in the current folder, FILE.play-2.h5 if that exists; with -o OUT.h5, then
// OUT-2.h5
static snw_status choose_path(snw_play *p, char *out, size_t size, snw_error *err) {
    const char *path = p->opts.output ? p->opts.output : p->opts.path;
    const char *slash = p->opts.output ? NULL : strrchr(path, '/');
    const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    if (dot && strchr(dot, '/')) dot = NULL;
    const int stem = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    const char *end = p->opts.output ? (dot ? dot : "") : ".h5";
    const char *own = p->opts.output ? "" : ".play";
    for (int i = p->record.count + 1; i < MOST_FILES; i++) {
        char number[16] = "";
        if (i > 1) (void)snprintf(number, sizeof number, "-%d", i);
        (void)snprintf(out, size, "%.*s%s%s%s", stem, name, own, number, end);
        // the file given by -o replaces an older one, as in `sinew run`
        if ((p->opts.output && i == 1) || access(out, F_OK) != 0) return SNW_OK;
    }
    return snw_fail(err, SNW_E_IO, "there is no free name for a recording beside %s", path);
}

// columns of the probes, then those of the controls
static snw_status list_columns(snw_play *p, snw_error *err) {
    snw_play_record *r = &p->record;
    r->info = *snw_live_describe(p->live);
    const int n = r->info.ncolumn, nc = snw_live_controls(p->live);
    r->column = snw_alloc((size_t)(n + nc + 1) * sizeof *r->column);
    r->value = snw_alloc((size_t)(n + nc + 1) * sizeof *r->value);
    if (!r->column || !r->value) return snw_fail_memory(err);
    bool taken = false;
    for (int i = 0; i < n; i++) {
        r->column[i] = r->info.column[i];
        taken |= strcmp(r->column[i].probe, "live") == 0;
    }
    for (int i = 0; i < nc && !taken; i++) {
        r->column[n + i] = (snw_column){
            .probe = "live", .component = snw_live_control(p->live, i)->name, .station = -1};
    }
    r->info.ncolumn = taken ? n : n + nc;
    r->info.column = r->column;
    r->info.scene = p->scene;
    return SNW_OK;
}

static void record_clear(snw_play_record *r) {
    snw_free(r->column);
    snw_free(r->value);
    *r = (snw_play_record){.count = r->count};
}

// record a frame with the values of the controls appended
static snw_status add_controls(void *user, const snw_frame *f, snw_error *err) {
    snw_play *p = user;
    snw_play_record *r = &p->record;
    const int n = snw_live_describe(p->live)->ncolumn;
    snw_frame with = *f;
    memcpy(r->value, f->column, (size_t)n * sizeof *r->value);
    for (int i = n; i < r->info.ncolumn; i++) r->value[i] = snw_live_value(p->live, i - n);
    with.column = r->value;
    return r->recorder.frame(r->recorder.user, &with, err);
}

snw_status snw_play_record_begin(snw_play *p, snw_error *err) {
    snw_play_record *r = &p->record;
    if (r->file) return SNW_OK;
    snw_status s = list_columns(p, err);
    if (s == SNW_OK) s = choose_path(p, r->path, sizeof r->path, err);
    if (s == SNW_OK) s = snw_job_refuse_output_model(p->document, r->path, err);
    const snw_run_info *info = &r->info;
    if (s == SNW_OK) s = snw_results_create(r->path, 1, &info, p->text, &r->file, err);
    if (s != SNW_OK) {
        record_clear(r);
        return s;
    }
    r->recorder = snw_results_recorder(r->file, 0);
    r->every = p->desc->record_every > 0 ? p->desc->record_every : 1.0 / SNW_PLAY_RATE;
    r->next = snw_live_time(p->live);
    r->count++;
    p->totals.recordings++;
    return snw_play_record_frame(p, err);
}

snw_status snw_play_record_frame(snw_play *p, snw_error *err) {
    snw_play_record *r = &p->record;
    const double t = snw_live_time(p->live);
    if (!r->file || t < r->next - 1e-9) return SNW_OK;
    while (r->next <= t + 1e-9) r->next += r->every;
    r->frames++;
    const snw_recorder with = {.user = p, .frame = add_controls};
    return snw_live_frame(p->live, &with, err);
}

snw_status snw_play_record_end(snw_play *p, snw_error *err) {
    snw_play_record *r = &p->record;
    if (!r->file) return SNW_OK;
    char note[700];
    (void)snprintf(note, sizeof note, "%d frames in %s", r->frames, r->path);
    snw_status s = r->recorder.end(r->recorder.user, SNW_OK, "", err);
    snw_error second = {0};
    const snw_status closed = snw_results_close(r->file, s == SNW_OK ? err : &second);
    if (s == SNW_OK) s = closed;
    record_clear(r);
    if (s == SNW_OK) snw_play_notify(p, note);
    p->state++;
    return s;
}
