// SPDX-License-Identifier: MIT
//
// replace.h: check before an older result file is replaced.
#pragma once

#include "cli/job.h"
#include "cli/reply.h"

// Fails when `output` holds results made with another --set or with runs that --run excludes now,
// or is not a result file, and its name is the default one. When the name was given by -o (named),
// a warning is printed instead. force: no check.
SNW_NODISCARD snw_status snw_replace_check(const char *output, bool named, bool force,
                                           const snw_args *args, const snw_job *job,
                                           snw_reply *reply, snw_error *err);
