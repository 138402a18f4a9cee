// SPDX-License-Identifier: MIT
//
// plot_data.h: figures of what result files hold. Shapes of modes are left out: they are no
// instants of a motion. Figures live in the pool; their size on paper is left to the caller.
#pragma once

#include "language/table.h"
#include "output/plot.h"
#include "results/result.h"

// One run to be shown.
typedef struct snw_plot_run {
    snw_result *file;
    int run;
    const char *name;  // in the legend; NULL when there is no other
    int ncolumn;       // of its columns: those to be shown
    const int *column; // for a phase plot two
} snw_plot_run;

// Columns over time, a panel a quantity. Of a run that knows no time (equilibria all at one
// instant) over its frames.
SNW_NODISCARD snw_status snw_plot_probes(snw_pool *pool, int nrun, const snw_plot_run *run,
                                         snw_figure *out, snw_error *err);

// Measurements from `file`, in SI, as dots in the panels of the columns of this run that they are
// named after.
SNW_NODISCARD snw_status snw_plot_measured(snw_pool *pool, const snw_plot_run *run,
                                           const snw_data_table *m, const char *file, snw_figure *f,
                                           snw_error *err);

// The second column over the first.
SNW_NODISCARD snw_status snw_plot_phase(snw_pool *pool, int nrun, const snw_plot_run *run,
                                        snw_figure *out, snw_error *err);

// Energies over time, and below what they do not account for. Those that stay zero are left out.
SNW_NODISCARD snw_status snw_plot_energy(snw_pool *pool, int nrun, const snw_plot_run *run,
                                         snw_figure *out, snw_error *err);

// Errors of runs that differ in one number.
typedef struct snw_converge_opts {
    const char *quantity, *unit; // the number: its name, and its SI unit
    const double *x;             // of each run
    int against;                 // the run that is taken for right; -1: `value` is
    double value;
    bool at_end; // errors are those at the end, else at `t`
    double t;
} snw_converge_opts;

// What it comes to: `error` has ncolumn (of the first run) numbers for each run, NaN where there is
// none; `slope` is that of the line that fits the logarithms of each column best.
typedef struct snw_converge_table {
    double *error, *slope;
} snw_converge_table;

// How far the columns of runs are from those of the one that is right, over the number, on
// logarithmic axes. Columns are those of the first run, which the others must have, too.
SNW_NODISCARD snw_status snw_plot_convergence(snw_pool *pool, int nrun, const snw_plot_run *run,
                                              const snw_converge_opts *opts,
                                              snw_converge_table *table, snw_figure *out,
                                              snw_error *err);

typedef struct snw_shape_opts {
    int nlink; // 0: all
    const char *const *link;
    int ntime; // 0: `count` instants, even in time
    const double *time;
    int count;
    int plane[2]; // axes of the paper, 0 1 2 for x y z; -1: the two along which most happens
} snw_shape_opts;

// Rods and rigid parts at some instants, projected. SNW_E_ARGUMENT for unknown links and times that
// were not recorded.
SNW_NODISCARD snw_status snw_plot_shape(snw_pool *pool, int nrun, const snw_plot_run *run,
                                        const snw_shape_opts *opts, snw_figure *out,
                                        snw_error *err);

// ---- shared by those ---------------------------------------------------------------------------

// A text of a file, which may be anybody's, as it may stand in any drawing: UTF-8 without control
// characters. NULL when memory is out.
const char *snw_plot_text(snw_pool *pool, const char *text);

// The panel of a quantity, made when there is none; the figure has room for it.
snw_panel *snw_plot_panel(snw_figure *f, const char *quantity, const char *unit);

// The frames of a run that are instants of a motion.
typedef struct snw_plot_frames {
    int n;
    int *frame; // which
    double *t;
    bool timeless; // all at one time
} snw_plot_frames;

SNW_NODISCARD snw_status snw_plot_frames_read(snw_pool *pool, const snw_plot_run *run,
                                              snw_plot_frames *out, snw_error *err);
