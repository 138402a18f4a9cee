// SPDX-License-Identifier: MIT
//
// job.h: a model file with its selected runs: read, checked and compiled.
#pragma once

#include "base/pool.h"
#include "cli/args.h"
#include "language/document.h"
#include "study/run.h"

typedef struct snw_job_run {
    int index; // in the document
    const char *name;
    snw_desc *desc;
    snw_run *run;
} snw_job_run;

typedef struct snw_job {
    const char *path;
    snw_document *document;
    char *text; // of the model as stored in results: with --set and a hash of its tables appended
    int n;
    snw_job_run *run;
} snw_job;

// Read `path` with the overrides of --set, select runs by --run, check and compile each of them.
// Installs the deferred handling of Ctrl-C (cli/stop.h) and returns SNW_E_STOPPED when it was
// pressed meanwhile. `job` may be closed whatever is returned.
SNW_NODISCARD snw_status snw_job_open(const char *path, const snw_args *args, snw_job *job,
                                      snw_error *err);
void snw_job_close(snw_job *job);

// *set (n, in the pool) <- the values of --set stored in such a text.
SNW_NODISCARD snw_status snw_job_sets(snw_pool *pool, const char *text, int *n, const char ***set,
                                      snw_error *err);

// *out (from snw_alloc) <- text of a model as stored in results, with `set` and a hash of its
// tables appended as comments.
SNW_NODISCARD snw_status snw_job_text(const snw_document *d, int nset, const char *const *set,
                                      char **out, snw_error *err);
