// SPDX-License-Identifier: MIT
//
// write.h: executes the runs of a model file and writes them to a result file, as `sinew run` does.
#pragma once

#include "job/job.h"
#include "results/result.h"

// Result of one run.
typedef struct snw_job_outcome {
    snw_status status;
    bool kept; // continued results: the run was already finished
    snw_run_totals totals;
    int frames;
    double t;      // time of the last frame, s
    double *value; // columns of the last frame
} snw_job_outcome;

// Hooks, called from the threads that execute the runs, one at a time; each may be NULL. With
// several threads `begin` has the index 0, and the fraction of `progress` is the sum of all runs.
typedef struct snw_job_hooks {
    void *user;
    void (*begin)(void *user, int index, const char *name); // a run of the job begins
    void (*progress)(void *user, const snw_progress *p);    // of that run
    bool (*stop)(void *user);                               // true: end between two increments
    void (*warn)(void *user, const char *text);
    void (*note)(void *user, const char *text);
    void (*fail)(void *user, const snw_error *err); // a run failed, or the file cannot be written
} snw_job_hooks;

// Execute all runs of the job and write them to `output`, in sequence, or by so many threads, each
// of which takes the next run; the results have the same bits. The others continue after a failed
// run. increments: limit of each run, after which it ends as a stopped one; 0: none. old:
// results to continue (snw_resume_open), closed here; NULL: none. Finished runs of them are kept.
// *outcomes (one for each run; NULL when the file cannot be begun) <- what became of the runs; the
// caller frees them by snw_job_outcomes_free. Returns the status of the first failure, whose
// message is in err; SNW_E_STOPPED when a hook asked for it.
SNW_NODISCARD snw_status snw_job_write(const snw_job *job, const char *output, int workers,
                                       int increments, snw_result *old, const snw_job_hooks *hooks,
                                       snw_job_outcome **outcomes, snw_error *err);
void snw_job_outcomes_free(const snw_job *job, snw_job_outcome *outcomes); // NULL is fine
