// SPDX-License-Identifier: MIT
//
// Convergence figures: errors of runs against a reference over a parameter, and observed orders.
#include "base/fail.h"
#include "output/plot_data.h"
#include "output/plot_scene.h"
#include "output/scene_read.h"
#include "study/series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double WIDTH = 0.3; // of lines, mm

// error (nrun) <- errors of column k of the first run, found by name in the others
static snw_status column_errors(snw_pool *pool, int nrun, const snw_plot_run *run, int k,
                                const snw_converge_opts *opts, double *error, snw_error *err) {
    double right = opts->value;
    char name[256];
    snw_column_name(&snw_result_info(run->file, run->run)->column[run->column[k]], name,
                    sizeof name);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < nrun; i++) {
            const bool is_right = i == opts->against;
            if (is_right != (pass == 0)) continue;
            double value;
            SNW_TRY(
                snw_plot_value(pool, &run[i], name, opts->at_end ? NULL : &opts->t, &value, err));
            if (is_right) right = value;
            error[i] = is_right ? NAN : fabs(value - right);
        }
    }
    return SNW_OK;
}

// Slope of the least-squares line through the logarithms; NaN for fewer than two points.
static double convergence_slope(int n, const double *x, const double *y) {
    double count = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < n; i++) {
        if (!(x[i] > 0 && y[i] > 0) || !isfinite(x[i]) || !isfinite(y[i])) continue;
        const double a = log10(x[i]), b = log10(y[i]);
        count++;
        sx += a;
        sy += b;
        sxx += a * a;
        sxy += a * b;
    }
    const double spread = count * sxx - sx * sx;
    return count >= 2 && spread > 0 ? (count * sxy - sx * sy) / spread : NAN;
}

// Sort points by x.
static void converge_sort(int n, double *x, double *y) {
    for (int i = 1; i < n; i++) {
        for (int k = i; k > 0 && x[k - 1] > x[k]; k--) {
            const double a = x[k], b = y[k];
            x[k] = x[k - 1], y[k] = y[k - 1];
            x[k - 1] = a, y[k - 1] = b;
        }
    }
}

// Length of the name before the dot, which the runs of an `each` have in common; 0: no dot.
static int group_length(const snw_plot_run *run) {
    const char *name = snw_result_info(run->file, run->run)->run, *dot = strchr(name, '.');
    return dot ? (int)(dot - name) : 0;
}

bool snw_plot_same_curve(const snw_plot_run *a, const snw_plot_run *b) {
    const int n = group_length(a);
    return n == group_length(b) && strncmp(snw_result_info(a->file, a->run)->run,
                                           snw_result_info(b->file, b->run)->run, (size_t)n) == 0;
}

// error (nrun) <- those of the group of run i, others NaN; false: a run before i has the same
// group, or no error of this group can be drawn
static bool errors_of_group(int nrun, const snw_plot_run *run, int i, const double *x,
                            const double *all, double *error) {
    bool any = false;
    for (int k = 0; k < nrun; k++) {
        const bool same = snw_plot_same_curve(&run[i], &run[k]);
        if (same && k < i) return false;
        error[k] = same ? all[k] : NAN;
        any = any || (same && x[k] > 0 && all[k] > 0);
    }
    return any;
}

static snw_status add_curve(snw_pool *pool, int nrun, const snw_plot_run *run,
                            const snw_converge_opts *opts, const snw_node *scene, int k,
                            const char *group, const double *error, double slope, snw_figure *out,
                            snw_error *err) {
    const snw_run_info *info = snw_result_info(run->file, run->run);
    const snw_column *column = &info->column[run->column[k]];
    const char *quantity, *unit;
    char name[256], shown[640], whole[600];
    snw_plot_quantity(scene, column, &quantity, &unit);
    snw_column_name(column, name, sizeof name);
    (void)snprintf(whole, sizeof whole, "%s%s%s", group, group[0] ? ": " : "", name);
    const char *sign = slope < -0.005 ? "\u2212" : "";
    (void)snprintf(shown, sizeof shown, "%s", whole);
    if (isfinite(slope)) {
        (void)snprintf(shown, sizeof shown, "%s, slope %s%.2f", whole, sign, fabs(slope));
    }
    const char *title = snw_pool_format(pool, "error of %s", quantity);
    snw_panel *p = title ? snw_plot_panel(out, title, unit) : NULL;
    if (!p) return snw_fail_memory(err);
    if (!p->curve)
        p->curve = snw_pool_array(pool, (size_t)run->ncolumn * (size_t)nrun, sizeof *p->curve);
    if (!p->curve) return snw_fail_memory(err);
    snw_curve *c = &p->curve[p->ncurve];
    *c = (snw_curve){.name = snw_plot_text(pool, shown),
                     .n = nrun,
                     .x = snw_pool_array(pool, (size_t)nrun, sizeof *c->x),
                     .y = snw_pool_array(pool, (size_t)nrun, sizeof *c->y),
                     .pen = {snw_plot_colour(p->ncurve), WIDTH, p->ncurve / SNW_PLOT_COLOURS},
                     .marks = true};
    if (!c->name || !c->x || !c->y) return snw_fail_memory(err);
    p->ncurve++;
    memcpy(c->x, opts->x, (size_t)nrun * sizeof *c->x);
    memcpy(c->y, error, (size_t)nrun * sizeof *c->y);
    // remove the reference run, so that it makes no gap
    for (int i = 0; i < c->n;) {
        if (c->x[i] > 0 && c->y[i] > 0) {
            i++;
            continue;
        }
        c->n--;
        c->x[i] = c->x[c->n];
        c->y[i] = c->y[c->n];
    }
    converge_sort(c->n, c->x, c->y);
    return SNW_OK;
}

snw_status snw_plot_convergence(snw_pool *pool, int nrun, const snw_plot_run *run,
                                const snw_converge_opts *opts, snw_converge_table *table,
                                snw_figure *out, snw_error *err) {
    const int ncolumn = run->ncolumn;
    const size_t n = (size_t)nrun;
    double *error = snw_pool_array(pool, 2 * n, sizeof *error), *own = error ? error + n : NULL;
    table->error = snw_pool_array(pool, n * (size_t)ncolumn, sizeof *table->error);
    table->slope = snw_pool_array(pool, (size_t)ncolumn, sizeof *table->slope);
    *out = (snw_figure){.quantity = snw_plot_text(pool, opts->quantity),
                        .unit = opts->unit,
                        .log_x = true,
                        .log_y = true,
                        .panel = snw_pool_array(pool, (size_t)ncolumn, sizeof *out->panel)};
    if (!error || !table->error || !table->slope || !out->quantity || !out->panel) {
        return snw_fail_memory(err);
    }
    snw_node *scene;
    SNW_TRY(snw_scene_tree(pool, snw_result_info(run->file, run->run), &scene, err));
    for (int k = 0; k < ncolumn; k++) {
        SNW_TRY(column_errors(pool, nrun, run, k, opts, error, err));
        for (int i = 0; i < nrun; i++) {
            table->error[i * ncolumn + k] = error[i];
        }
        int groups = 0;
        for (int i = 0; i < nrun; i++) groups += errors_of_group(nrun, run, i, opts->x, error, own);
        table->slope[k] = groups > 1 ? NAN : convergence_slope(nrun, opts->x, error);
        for (int i = 0; i < nrun; i++) {
            char group[256] = "";
            if (!errors_of_group(nrun, run, i, opts->x, error, own)) continue;
            if (groups > 1)
                (void)snprintf(group, sizeof group, "%.*s", group_length(&run[i]),
                               snw_result_info(run[i].file, run[i].run)->run);
            SNW_TRY(add_curve(pool, nrun, run, opts, scene, k, group, own,
                              convergence_slope(nrun, opts->x, own), out, err));
        }
    }
    if (out->npanel > 0) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "there is no error to show: the runs agree, or '%s' is never positive",
                    opts->quantity);
}
