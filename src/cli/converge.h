// SPDX-License-Identifier: MIT
//
// converge.h: convergence study of `sinew plot --convergence`: errors of runs that differ in one
// parameter, as a figure and a table.
#pragma once

#include "cli/args.h"
#include "output/plot_data.h"

// Options of `sinew plot` for it.
#define SNW_OPTION_CONVERGENCE                                                                     \
    {"convergence", 0, "PATH", false,                                                              \
     "errors of the probes over a number in which the runs differ, on logarithmic axes, with "     \
     "slopes, and a table: swing.step, arm.rod.nodes, or h=4,2,1 to give the numbers, one per "    \
     "run. Runs with different names before the dot, as of two `each`, are drawn as several "      \
     "curves"},                                                                                    \
    {                                                                                              \
        "against", 0, "RUN", false,                                                                \
            "with --convergence: the run taken as reference (default: the last one), or a number"  \
    }

typedef struct snw_converge {
    snw_converge_opts opts;
    snw_converge_table table;
} snw_converge;

// Make the figure of runs whose columns are selected. `at`: time at which the errors are taken, s;
// NULL: the end.
SNW_NODISCARD snw_status snw_converge_make(snw_pool *pool, const snw_args *args, int nrun,
                                           const snw_plot_run *run, const double *at,
                                           snw_converge *c, snw_figure *out, snw_error *err);

// Print its table, one line per run: the parameter, and for each column the error and the observed
// order from the previous run.
SNW_NODISCARD snw_status snw_converge_print(const snw_converge *c, int nrun,
                                            const snw_plot_run *run, snw_reply *reply,
                                            snw_error *err);
