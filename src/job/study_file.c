// SPDX-License-Identifier: MIT
//
// Public call that does the study of a model file and writes its results.
#include "base/fail.h"
#include "job/resume.h"
#include "job/write.h"
#include "sinew/study.h"

#include <stdio.h>

typedef struct file_session {
    const snw_study_hooks *hooks;
    const char *run; // name of the present run
    int index, n;    // its number, and how many there are
} file_session;

static void file_begin(void *user, int index, const char *name) {
    file_session *s = user;
    s->index = index;
    s->run = name;
}

static void file_progress(void *user, const snw_progress *p) {
    const file_session *s = user;
    char name[200];
    (void)snprintf(name, sizeof name, "%.90s%s%.90s", s->n > 1 ? s->run : "", s->n > 1 ? " " : "",
                   p->stage_name);
    s->hooks->progress(s->hooks->user, name, p->t, (s->index + p->fraction) / s->n);
}

static bool file_stop(void *user) {
    const file_session *s = user;
    return s->hooks->cancel(s->hooks->user) != 0;
}

static void file_warn(void *user, const char *text) {
    const file_session *s = user;
    s->hooks->warn(s->hooks->user, text);
}

static snw_status write_job(const snw_job *job, const char *output, const snw_study_choice *choice,
                            file_session *s, snw_error *err) {
    snw_result *old = NULL;
    SNW_TRY(snw_job_refuse_output_model(job->document, output, err));
    if (choice->resume) SNW_TRY(snw_resume_open(output, job, &old, err));
    const snw_study_hooks *h = s->hooks;
    const snw_job_hooks hooks = {.user = s,
                                 .begin = file_begin,
                                 .progress = h->progress ? file_progress : NULL,
                                 .stop = h->cancel ? file_stop : NULL,
                                 .warn = h->warn ? file_warn : NULL,
                                 .note = h->warn ? file_warn : NULL};
    snw_job_outcome *outcomes = NULL;
    s->n = job->n;
    const snw_status status =
        snw_job_write(job, output, 1, choice->increments, old, &hooks, &outcomes, err);
    snw_job_outcomes_free(job, outcomes);
    return status;
}

static snw_status check_choice(const snw_study_choice *c, snw_error *err) {
    if (c->nset < 0 || c->nrun < 0 || c->increments < 0) {
        return snw_fail(err, SNW_E_ARGUMENT, "a count of the choice is negative");
    }
    for (int i = 0; i < c->nset + c->nrun; i++) {
        const char *const *list = i < c->nset ? c->set : c->run;
        if (list && list[i < c->nset ? i : i - c->nset]) continue;
        return snw_fail(err, SNW_E_ARGUMENT, "%s of the choice is NULL",
                        i < c->nset ? "set" : "run");
    }
    return SNW_OK;
}

snw_status snw_study_write(const char *path, const char *output, const snw_study_choice *choice,
                           const snw_study_hooks *hooks, snw_error *err) {
    static const snw_study_choice all = {0};
    static const snw_study_hooks none = {0};
    if (!path || !output) {
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", path ? "output" : "path");
    }
    if (!choice) choice = &all;
    SNW_TRY(check_choice(choice, err));
    file_session s = {.hooks = hooks ? hooks : &none};
    const snw_job_choice selected = {.nset = choice->nset,
                                     .nrun = choice->nrun,
                                     .set = choice->set,
                                     .run = choice->run,
                                     .stop = s.hooks->cancel ? file_stop : NULL,
                                     .user = &s};
    snw_error failed = {0}; // with a location, also where the caller wants none
    snw_job job;
    snw_status status = snw_job_open(path, &selected, &job, &failed);
    if (status == SNW_OK) status = write_job(&job, output, choice, &s, &failed);
    snw_job_close(&job);
    if (status != SNW_OK && err) *err = failed;
    return status;
}
