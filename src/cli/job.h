// SPDX-License-Identifier: MIT
//
// job.h: opens the model file of a command with its options.
#pragma once

#include "cli/args.h"
#include "job/job.h"

// Read `path` with the overrides of --set, select runs by --run, check and compile each of them.
// Installs the deferred handling of Ctrl-C (cli/stop.h) and returns SNW_E_STOPPED when it was
// pressed meanwhile. `job` may be closed whatever is returned.
SNW_NODISCARD snw_status snw_job_open_args(const char *path, const snw_args *args, snw_job *job,
                                           snw_error *err);
// The same, but no run is compiled: by snw_job_compile, one after the other.
SNW_NODISCARD snw_status snw_job_open_one_by_one(const char *path, const snw_args *args,
                                                 snw_job *job, snw_error *err);
// SNW_E_ARGUMENT: --run selects several runs, and `what` is that of one.
SNW_NODISCARD snw_status snw_job_one_run(const snw_job *job, const snw_args *args, const char *what,
                                         snw_error *err);
