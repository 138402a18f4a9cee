// SPDX-License-Identifier: MIT
//
// sweep_report.h: report of the results of a sweep.
#pragma once

#include "cli/args.h"

// Statistics of the results in the file, and their dependence on the parameters; options --result,
// --pareto, --csv.
SNW_NODISCARD snw_status snw_sweep_print_report(const snw_args *args, const char *path,
                                                snw_reply *reply, snw_error *err);
