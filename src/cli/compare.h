// SPDX-License-Identifier: MIT
//
// compare.h: comparison of the runs of a result file, one line per run.
#pragma once

#include "cli/args.h"
#include "cli/reply.h"
#include "results/result.h"

// Options of `sinew show` that select the comparison; --probe and --csv apply to it as well.
#define SNW_OPTION_COMPARE                                                                         \
    {"at", 0, "TIME", false,                                                                       \
     "one line per run: the values at this time in seconds, or at the end"},                       \
        {"is", 0, "WHAT", false,                                                                   \
         "one line per run: min max mean range period size over its whole time, or --over"},       \
    {                                                                                              \
        "over", 0, "FROM..TO", false,                                                              \
            "with --is: the interval in seconds, e.g. 5..6; either end may be left out"            \
    }

// Write "overrides": {path: value ..} of a run.
void snw_compare_json_overrides(snw_json *j, const snw_run_info *info);

// Is one of these options given?
bool snw_compare_asked(const snw_args *args);

// Print one line for each of the n runs: the overrides in which they differ, then the columns of
// the first run, matched by name. A column that a run does not have, and a time that it does not
// reach, are left blank. SNW_E_ARGUMENT when a time, a word or a probe is invalid.
SNW_NODISCARD snw_status snw_compare_runs(snw_result *file, int n, const int *run,
                                          const snw_args *args, snw_reply *reply, snw_error *err);
