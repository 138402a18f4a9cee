// SPDX-License-Identifier: MIT
//
// replace.h: may results take the place of the file that has their name?
#pragma once

#include "cli/job.h"
#include "cli/reply.h"

// Results made with another --set, or with runs that --run leaves out now, and files that are no
// results are not replaced under the name that follows from the model's; where the name was given
// by -o, a word is said. `force`: neither.
SNW_NODISCARD snw_status snw_replace_check(const char *output, bool named, bool force,
                                           const snw_args *args, const snw_job *job,
                                           snw_reply *reply, snw_error *err);
