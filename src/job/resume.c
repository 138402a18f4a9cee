// SPDX-License-Identifier: MIT
//
// Continuation of interrupted runs from the checkpoints of a result file.
#include "job/resume.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "sinew/version.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static snw_status resume_refuse(const char *path, const char *why, snw_error *err) {
    return snw_fail(err, SNW_E_MODEL, "cannot resume '%.150s': %s", path, why);
}

static bool same_run(const snw_run_info *a, const snw_run_info *b) {
    return strcmp(a->run, b->run) == 0 && a->nq == b->nq && a->nv == b->nv &&
           a->nnode == b->nnode && a->ncolumn == b->ncolumn && a->nstage == b->nstage;
}

static snw_status resume_check(const char *path, const snw_job *job, const snw_result *old,
                               snw_error *err) {
    if (strcmp(snw_result_version(old), SNW_VERSION) != 0) {
        return resume_refuse(path, "another version of sinew wrote it; run without --resume", err);
    }
    if (strcmp(snw_result_model(old), job->text) != 0) {
        return resume_refuse(
            path,
            "the model has changed since, its text, an included file or --set; see "
            "'sinew show --model', or run without --resume",
            err);
    }
    bool same = snw_result_runs(old) == job->n;
    for (int i = 0; same && i < job->n; i++) {
        same = same_run(snw_result_info(old, i), snw_run_describe(job->run[i].run));
    }
    return same ? SNW_OK
                : resume_refuse(path, "it has other runs; give the same --run as then", err);
}

snw_status snw_resume_open(const char *path, const snw_job *job, snw_result **out, snw_error *err) {
    *out = NULL;
    struct stat s;
    if (stat(path, &s) != 0 && errno == ENOENT) return SNW_OK;
    snw_result *old;
    SNW_TRY(snw_result_open(path, &old, err));
    const snw_status status = resume_check(path, job, old, err);
    if (status == SNW_OK) {
        *out = old;
    } else {
        snw_result_close(old);
    }
    return status;
}

bool snw_resume_complete(const snw_result *old) {
    for (int i = 0; i < snw_result_runs(old); i++) {
        if (snw_result_state_of(old, i, NULL) != SNW_RESULT_FINISHED) return false;
    }
    return true;
}

static snw_status restore_run(snw_result *old, const snw_job *job, int index, snw_results *results,
                              double *checkpoint, snw_resume_state *left, double *value,
                              snw_error *err) {
    snw_run *run = job->run[index].run;
    left->finished = snw_result_state_of(old, index, NULL) == SNW_RESULT_FINISHED;
    // a finished run keeps all its frames, an interrupted one those up to its checkpoint
    int saved = 0;
    if (snw_result_info(old, index)->nsave == snw_run_describe(run)->nsave) {
        SNW_TRY(snw_result_checkpoint(old, index, &saved, checkpoint, err));
    }
    left->frames = left->finished ? snw_result_frames(old, index) : saved;
    if (!left->finished && saved > 0) SNW_TRY(snw_run_resume(run, checkpoint, err));
    if (results) {
        SNW_TRY(snw_results_copy(results, index, old, index, left->frames,
                                 saved == left->frames ? checkpoint : NULL, left->finished, err));
    }
    if (left->frames == 0) return SNW_OK;
    const int last = left->frames - 1;
    SNW_TRY(snw_result_read(old, index, SNW_RESULT_T, last, 1, &left->t, err));
    return snw_result_read(old, index, SNW_RESULT_COLUMNS, last, 1, value, err);
}

snw_status snw_resume_run(snw_result *old, const snw_job *job, int index, snw_results *results,
                          snw_resume_state *left, double *value, snw_error *err) {
    *left = (snw_resume_state){0};
    const int nsave = snw_run_describe(job->run[index].run)->nsave;
    double *checkpoint = snw_alloc((size_t)nsave * sizeof *checkpoint);
    if (!checkpoint) return snw_fail_memory(err);
    const snw_status s = restore_run(old, job, index, results, checkpoint, left, value, err);
    snw_free(checkpoint);
    return s;
}
