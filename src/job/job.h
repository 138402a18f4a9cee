// SPDX-License-Identifier: MIT
//
// job.h: a model file with its selected runs: read, checked and compiled.
#pragma once

#include "base/pool.h"
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
    bool (*stop)(void *user); // of the choice
    void *user;
} snw_job;

// Selection of runs and overrides of a model file.
typedef struct snw_job_choice {
    int nset, nrun;
    const char *const *set;   // overrides "path=value"
    const char *const *run;   // selected runs (job/choice.h); none: all
    bool one_by_one;          // compile none: the caller does, by snw_job_compile
    bool (*stop)(void *user); // asked between the runs; true ends with SNW_E_STOPPED; NULL: never
    void *user;
} snw_job_choice;

// Read `path` with the overrides, select runs, check and compile each of them. `path` must outlive
// the job. `job` may be closed whatever is returned.
SNW_NODISCARD snw_status snw_job_open(const char *path, const snw_job_choice *choice, snw_job *job,
                                      snw_error *err);
void snw_job_close(snw_job *job);

// Compile run i of the job; let it go again.
SNW_NODISCARD snw_status snw_job_compile(snw_job *job, int i, snw_error *err);
void snw_job_release(snw_job *job, int i);

// SNW_E_ARGUMENT when `output` is the same file as `input`; what: "model", "data", for the message.
SNW_NODISCARD snw_status snw_job_refuse_output(const char *what, const char *input,
                                               const char *output, snw_error *err);
// The same for all files from which a model was read, including tables.
SNW_NODISCARD snw_status snw_job_refuse_output_model(const snw_document *model, const char *output,
                                                     snw_error *err);

// *set (n, in the pool) <- the values of --set stored in such a text.
SNW_NODISCARD snw_status snw_job_sets(snw_pool *pool, const char *text, int *n, const char ***set,
                                      snw_error *err);

// *out (from snw_alloc) <- text of a model as stored in results, with `set` and a hash of its
// tables appended as comments.
SNW_NODISCARD snw_status snw_job_text(const snw_document *d, int nset, const char *const *set,
                                      char **out, snw_error *err);
