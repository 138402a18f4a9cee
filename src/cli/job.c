// SPDX-License-Identifier: MIT
//
// Opens the model file of a command with its options.
#include "cli/job.h"

#include "base/fail.h"
#include "cli/stop.h"

static bool job_stop(void *user) {
    (void)user;
    return snw_stop_asked();
}

static snw_status open_args(const char *path, const snw_args *args, bool one_by_one, snw_job *job,
                            snw_error *err) {
    snw_job_choice choice = {.stop = job_stop, .one_by_one = one_by_one};
    choice.nset = snw_args_values(args, "set", &choice.set);
    choice.nrun = snw_args_values(args, "run", &choice.run);
    snw_stop_defer();
    return snw_job_open(path, &choice, job, err);
}

snw_status snw_job_open_args(const char *path, const snw_args *args, snw_job *job, snw_error *err) {
    return open_args(path, args, false, job, err);
}

snw_status snw_job_open_one_by_one(const char *path, const snw_args *args, snw_job *job,
                                   snw_error *err) {
    return open_args(path, args, true, job, err);
}

snw_status snw_job_one_run(const snw_job *job, const snw_args *args, const char *what,
                           snw_error *err) {
    if (job->n < 2 || !snw_args_has(args, "run")) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "%s is that of one run, and --run selects %d; choose one, e.g. --run %.100s",
                    what, job->n, job->run[0].name);
}
