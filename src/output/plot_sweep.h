// SPDX-License-Identifier: MIT
//
// plot_sweep.h: figures of the results of a sweep over its parameters: lines over one, maps over
// two, a scatter matrix over more.
#pragma once

#include "output/plot_row.h"
#include "results/sweep_file.h"

// Results and parameters to be shown, by name; none: all results, all parameters that vary.
typedef struct snw_sweep_figure {
    int nresult, nover;
    const char *const *result, *const *over;
} snw_sweep_figure;

// One panel for each result. Over one parameter: a curve for each combination of the others, or
// dots where these are many. Over two: dots coloured by the result, and contours where the rows are
// a grid. Over more: dots, a column of panels for each parameter. Allocated in the pool.
// SNW_E_ARGUMENT: there is no such name, nothing varies, or there are too many panels.
SNW_NODISCARD snw_status snw_plot_sweep(snw_pool *pool, const snw_sweep_table *t,
                                        const snw_sweep_figure *how, snw_figure_row *out,
                                        snw_error *err);
