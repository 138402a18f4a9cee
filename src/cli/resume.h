// SPDX-License-Identifier: MIT
//
// resume.h: going on with the runs of a result file that was left unfinished.
#pragma once

#include "cli/job.h"
#include "results/result.h"

// What a run had when it was interrupted.
typedef struct snw_left {
    bool whole; // it has ended well
    int frames; // kept of it
    double t;   // of the last of them
} snw_left;

// *out <- the results at `path`, NULL when there is no such file. Refused, with SNW_E_MODEL, when
// they are not of this model, these runs and this version of the program.
SNW_NODISCARD snw_status snw_resume_open(const char *path, const snw_job *job, snw_result **out,
                                         snw_error *err);

// Have all runs ended well?
bool snw_resume_complete(const snw_result *old);

// Take over run `index` of the job: what it has goes to `results` (NULL: nowhere), it will go on
// from there when it is executed, and value <- the columns of its last frame.
SNW_NODISCARD snw_status snw_resume_take(snw_result *old, const snw_job *job, int index,
                                         snw_results *results, snw_left *left, double *value,
                                         snw_error *err);
