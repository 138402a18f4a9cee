// SPDX-License-Identifier: MIT
//
// job.h: a model file with the runs that were asked for, read, checked and compiled, ready to be
// run.
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
    char *text; // of the model, then --set and a sum over its tables as comments: what the results
                // keep
    int n;
    snw_job_run *run;
} snw_job;

// Read `path` with the --set of the arguments, choose the runs by --run, check and compile each of
// them. From then on Ctrl-C only asks (cli/stop.h), and SNW_E_STOPPED comes back when it has asked
// meanwhile. `job` may be closed whatever comes back.
SNW_NODISCARD snw_status snw_job_open(const char *path, const snw_args *args, snw_job *job,
                                      snw_error *err);
void snw_job_close(snw_job *job);

// The --set of the command line that such a text was made with, in the pool.
SNW_NODISCARD snw_status snw_job_sets(snw_pool *pool, const char *text, int *n, const char ***set,
                                      snw_error *err);

// *out (from snw_alloc) <- the text of a model that results keep, `set` and a sum over its tables
// behind it as comments.
SNW_NODISCARD snw_status snw_job_text(const snw_document *d, int nset, const char *const *set,
                                      char **out, snw_error *err);
