// SPDX-License-Identifier: MIT
//
// view_sweep.h: the results of a sweep for `sinew view`: its rows for the chart, and a result file
// with the robots of some of them, which are computed again.
#pragma once

#include "cli/args.h"
#include "output/page.h"

typedef struct snw_view_sweep {
    snw_pool *pool;
    snw_sweep_table table;
    snw_page_sweep page;
    int nrobot; // rows whose robots are shown: the runs of the result file, in their order
    int64_t *robot;
} snw_view_sweep;

// Read the sweep `path`, choose rows by --rows, compute them, and open them as *file. The sweep may
// be closed whatever is returned.
SNW_NODISCARD snw_status snw_view_sweep_open(snw_view_sweep *v, const char *path,
                                             const snw_args *args, snw_result **file,
                                             snw_error *err);
void snw_view_sweep_close(snw_view_sweep *v);
