// SPDX-License-Identifier: MIT
//
// resume.h: continuation of the runs of an unfinished result file.
#pragma once

#include "job/job.h"
#include "results/result.h"

// State in which a run was interrupted.
typedef struct snw_resume_state {
    bool finished;
    int frames; // number of frames that are kept
    double t;   // time of the last of them, s
} snw_resume_state;

// *out <- the results at `path`, NULL when there is no such file. SNW_E_MODEL when they are not of
// this model, these runs and this version of the program.
SNW_NODISCARD snw_status snw_resume_open(const char *path, const snw_job *job, snw_result **out,
                                         snw_error *err);

// Are all runs finished?
bool snw_resume_complete(const snw_result *old);

// Restore run `index` of the job: its frames are copied to `results` (NULL: not copied), and it
// continues from its checkpoint when it is executed. value (ncolumn) <- columns of its last frame.
SNW_NODISCARD snw_status snw_resume_run(snw_result *old, const snw_job *job, int index,
                                        snw_results *results, snw_resume_state *left, double *value,
                                        snw_error *err);
