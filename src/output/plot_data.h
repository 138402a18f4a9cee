// SPDX-License-Identifier: MIT
//
// plot_data.h: figures from result files. Mode shapes are omitted, since they are not instants of a
// motion. Figures are allocated in the pool; the caller sets their size on paper.
#pragma once

#include "language/table.h"
#include "output/plot.h"
#include "results/result.h"

// One run to be shown.
typedef struct snw_plot_run {
    snw_result *file;
    int run;
    const char *name;  // in the legend; NULL: the only run
    int ncolumn;       // columns to be shown
    const int *column; // two for a phase plot
    bool family;       // pens by the values in which the runs differ (plot_family.h)
    double shade;      // of the gradient, 0 to 1
    int dash;
} snw_plot_run;

// Columns over time, one panel per quantity; over the frame number when all frames have the same
// time (equilibria).
SNW_NODISCARD snw_status snw_plot_probes(snw_pool *pool, int nrun, const snw_plot_run *run,
                                         snw_figure *out, snw_error *err);

// Add measurements from `file`, in SI units, as dots to the panels of the equally named columns of
// this run.
SNW_NODISCARD snw_status snw_plot_measured(snw_pool *pool, const snw_plot_run *run,
                                           const snw_data_table *m, const char *file, snw_figure *f,
                                           snw_error *err);

// The second column over the first.
SNW_NODISCARD snw_status snw_plot_phase(snw_pool *pool, int nrun, const snw_plot_run *run,
                                        snw_figure *out, snw_error *err);

// Energies over time, and the balance (theory.md 6.4) in a second panel. Energies that stay zero
// are omitted.
SNW_NODISCARD snw_status snw_plot_energy(snw_pool *pool, int nrun, const snw_plot_run *run,
                                         snw_figure *out, snw_error *err);

// Errors of runs that differ in one parameter.
typedef struct snw_converge_opts {
    const char *quantity, *unit; // the parameter: its name and SI unit
    const double *x;             // nrun: its values
    int against;                 // the reference run; -1: the reference is `value`
    double value;
    bool at_end; // errors at the end, else at time `t`
    double t;
} snw_converge_opts;

// error: nrun x ncolumn of the first run, NaN for the reference run. slope: ncolumn, observed
// order, the slope of the least-squares line through the logarithms; NaN where runs of several
// names before the dot make several curves.
typedef struct snw_converge_table {
    double *error, *slope;
} snw_converge_table;

// Do two runs belong to one curve of errors? Those with different names before the dot do not.
bool snw_plot_same_curve(const snw_plot_run *a, const snw_plot_run *b);

// Errors of the columns against the reference over the parameter, on logarithmic axes. The columns
// are those of the first run; the other runs must have them too.
SNW_NODISCARD snw_status snw_plot_convergence(snw_pool *pool, int nrun, const snw_plot_run *run,
                                              const snw_converge_opts *opts,
                                              snw_converge_table *table, snw_figure *out,
                                              snw_error *err);

typedef struct snw_shape_opts {
    int nlink; // 0: all
    const char *const *link;
    int ntime; // 0: `count` instants, evenly in time
    const double *time;
    int count;
    int plane[2]; // axes of the projection, 0 1 2 for x y z; -1: the two of largest extent
} snw_shape_opts;

// Rods and rigid parts at some instants, projected to a plane. SNW_E_ARGUMENT for unknown links and
// times outside the run.
SNW_NODISCARD snw_status snw_plot_shape(snw_pool *pool, int nrun, const snw_plot_run *run,
                                        const snw_shape_opts *opts, snw_figure *out,
                                        snw_error *err);

// ---- shared ------------------------------------------------------------------------------------

// Copy of an untrusted text that is safe for any canvas: valid UTF-8 without control characters.
// NULL when memory is out.
const char *snw_plot_text(snw_pool *pool, const char *text);

// Panel of a quantity, added when there is none; f->panel must have room for it.
snw_panel *snw_plot_panel(snw_figure *f, const char *quantity, const char *unit);

// Frames of a run without mode shapes.
typedef struct snw_plot_frames {
    int n;
    int *frame; // indices
    double *t;
    bool timeless; // all at one time
} snw_plot_frames;

SNW_NODISCARD snw_status snw_plot_frames_read(snw_pool *pool, const snw_plot_run *run,
                                              snw_plot_frames *out, snw_error *err);

// *out <- value of the column of this name, "tip.x", at time *at; NULL: at the end.
SNW_NODISCARD snw_status snw_plot_value(snw_pool *pool, const snw_plot_run *run, const char *column,
                                        const double *at, double *out, snw_error *err);
