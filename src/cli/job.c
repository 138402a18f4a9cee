// SPDX-License-Identifier: MIT
#include "cli/job.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "io/node.h"

#include <stdio.h>
#include <string.h>

// the run itself, or the stem of an `each`: "load" means load.1, load.2, ...
static bool is_chosen_by(const char *name, const char *wanted) {
    const size_t length = strlen(wanted);
    if (strncmp(name, wanted, length) != 0) return false;
    return !name[length] || (name[length] == '.' && length > 0);
}

static bool is_chosen(const char *name, int n, const char *const *wanted) {
    for (int i = 0; i < n; i++) {
        if (is_chosen_by(name, wanted[i])) return true;
    }
    return n == 0;
}

static snw_status unknown_run(const snw_job *job, const char *wanted, snw_error *err) {
    const int n = snw_document_runs(job->document);
    const char **known = snw_alloc((size_t)n * sizeof *known);
    if (!known) return snw_fail(err, SNW_E_MEMORY, "out of memory");
    for (int i = 0; i < n; i++) known[i] = snw_document_run_name(job->document, i);
    const char *near = snw_nearest(wanted, n, known);
    snw_free(known);
    if (near) {
        return snw_fail(err, SNW_E_ARGUMENT, "there is no run '%s' (did you mean '%s'?)", wanted,
                        near);
    }
    return snw_fail(err, SNW_E_ARGUMENT, "there is no run '%s'; 'sinew check %s' lists the runs",
                    wanted, job->path);
}

static snw_status choose(snw_job *job, int n, const char *const *wanted, snw_error *err) {
    const int total = snw_document_runs(job->document);
    for (int i = 0; i < n; i++) {
        int found = 0;
        for (int r = 0; r < total; r++) {
            found += is_chosen_by(snw_document_run_name(job->document, r), wanted[i]);
        }
        if (!found) return unknown_run(job, wanted[i], err);
    }
    job->run = snw_alloc((size_t)total * sizeof *job->run);
    if (!job->run) return snw_fail(err, SNW_E_MEMORY, "out of memory");
    for (int r = 0; r < total; r++) {
        const char *name = snw_document_run_name(job->document, r);
        if (!is_chosen(name, n, wanted)) continue;
        job->run[job->n++] = (snw_job_run){.index = r, .name = name};
    }
    return SNW_OK;
}

static snw_status open_job(snw_job *job, const snw_args *args, snw_error *err) {
    const char *const *set, *const *wanted;
    const int nset = snw_args_values(args, "set", &set);
    const int nwanted = snw_args_values(args, "run", &wanted);
    SNW_TRY(snw_document_read(job->path, nset, set, &job->document, err));
    SNW_TRY(choose(job, nwanted, wanted, err));
    for (int i = 0; i < job->n; i++) {
        snw_job_run *r = &job->run[i];
        SNW_TRY(snw_document_describe(job->document, r->index, &r->desc, err));
        SNW_TRY(snw_run_create(r->desc, r->name, &r->run, err));
    }
    return SNW_OK;
}

snw_status snw_job_open(const char *path, const snw_args *args, snw_job *job, snw_error *err) {
    *job = (snw_job){.path = path};
    const snw_status status = open_job(job, args, err);
    // a message without a place is still about this file
    if (status != SNW_OK && !err->file[0]) {
        (void)snprintf(err->file, sizeof err->file, "%s", path);
    }
    return status;
}

void snw_job_close(snw_job *job) {
    for (int i = 0; i < job->n; i++) {
        snw_run_destroy(job->run[i].run);
        snw_desc_destroy(job->run[i].desc);
    }
    snw_free(job->run);
    snw_document_destroy(job->document);
    *job = (snw_job){0};
}
