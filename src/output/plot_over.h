// SPDX-License-Identifier: MIT
//
// plot_over.h: probes of runs over the values of the file in which the runs differ, as the table of
// a sweep, which figures over parameters are drawn from.
#pragma once

#include "output/plot_data.h"
#include "results/sweep_file.h"

// Rows are runs, parameters the overrides in which they differ, results the columns selected in the
// first run, at the end or at time *at. In `out` are head.rows, parameters, results and their
// values. SNW_E_ARGUMENT: the runs differ in nothing, or one lacks a value, a probe or the time.
SNW_NODISCARD snw_status snw_plot_over(snw_pool *pool, int nrun, const snw_plot_run *run,
                                       const double *at, snw_sweep_table *out, snw_error *err);
