// SPDX-License-Identifier: MIT
//
// compare.h: runs of a result file beside each other, one line each.
#pragma once

#include "cli/args.h"
#include "cli/reply.h"
#include "results/result.h"

// Options of the command that ask for it, beside --probe and --csv.
#define SNW_OPTION_COMPARE                                                                         \
    {"at", 0, "TIME", false, "one line a run: the values at this time in seconds, or at the end"}, \
    {                                                                                              \
        "is", 0, "WHAT", false, "one line a run: min max mean range period size over all its time" \
    }

// "overrides": {path: value ..} of a run.
void snw_compare_json_overrides(snw_json *j, const snw_run_info *info);

bool snw_compare_asked(const snw_args *args);

// Print the lines of the n runs chosen. First come the overrides in which they differ; columns are
// those of the first run, by name; a run that lacks one, or does not reach the time, has a gap
// there. SNW_E_ARGUMENT when a time, a word or a probe is not to be understood.
SNW_NODISCARD snw_status snw_compare_runs(snw_result *file, int n, const int *run,
                                          const snw_args *args, snw_reply *reply, snw_error *err);
