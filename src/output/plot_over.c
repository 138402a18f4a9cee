// SPDX-License-Identifier: MIT
//
// Table of runs that differ in some values of the file, as those of an `each`.
#include "output/plot_over.h"

#include "base/fail.h"
#include "output/plot_scene.h"
#include "study/series.h"

#include <math.h>
#include <string.h>

static const snw_run_info *run_info(const snw_plot_run *run) {
    return snw_result_info(run->file, run->run);
}

static const snw_override_desc *find_override(const snw_plot_run *run, const char *path) {
    const snw_run_info *info = run_info(run);
    for (int i = 0; i < info->noverride; i++) {
        if (strcmp(info->override[i].path, path) == 0) return &info->override[i];
    }
    return NULL;
}

// label (nrun) <- distinct texts of an override, in their order; returns how many.
static int list_words(int nrun, const snw_plot_run *run, const char *path, const char **label) {
    int n = 0;
    for (int i = 0; i < nrun; i++) {
        const char *text = find_override(&run[i], path)->text;
        bool known = false;
        for (int k = 0; k < n; k++) known = known || strcmp(label[k], text) == 0;
        if (!known) label[n++] = text;
    }
    return n;
}

// value (nrun) <- numbers of an override; of words their places in the labels of *c. Returns
// whether the runs differ in it.
static bool read_parameter(int nrun, const snw_plot_run *run, const char *path, const char **label,
                           snw_sweep_column *c, double *value) {
    const snw_override_desc *first = find_override(run, path);
    *c = (snw_sweep_column){.name = path, .unit = first->unit, .about = ""};
    bool words = false, differs = false;
    for (int i = 0; i < nrun; i++) {
        value[i] = find_override(&run[i], path)->value;
        words = words || !isfinite(value[i]);
    }
    if (words) {
        c->label = label;
        c->nlabel = list_words(nrun, run, path, label);
        for (int i = 0; i < nrun; i++) {
            int k = 0;
            while (strcmp(label[k], find_override(&run[i], path)->text) != 0) k++;
            value[i] = k;
        }
    }
    for (int i = 1; i < nrun; i++) differs = differs || value[i] != value[0];
    return differs;
}

static snw_status read_parameters(snw_pool *pool, int nrun, const snw_plot_run *run,
                                  snw_sweep_table *out, snw_error *err) {
    const snw_run_info *first = run_info(run);
    const size_t n = (size_t)nrun, most = (size_t)first->noverride + 1;
    snw_sweep_column *column = snw_pool_array(pool, most, sizeof *column);
    double *value = snw_pool_array(pool, most * n, sizeof *value);
    if (!column || !value) return snw_fail_memory(err);
    for (int k = 0; k < first->noverride; k++) {
        const char *path = first->override[k].path;
        const char **label = snw_pool_array(pool, n, sizeof *label);
        if (!label) return snw_fail_memory(err);
        for (int i = 0; i < nrun; i++) {
            if (find_override(&run[i], path)) continue;
            return snw_fail(
                err, SNW_E_ARGUMENT,
                "run '%s' has no value of '%.80s', which others have; choose with --run",
                run_info(&run[i])->run, path);
        }
        const int at = out->head.nparameter;
        out->head.nparameter +=
            read_parameter(nrun, run, path, label, &column[at], value + (size_t)at * n);
    }
    out->head.parameter = column;
    out->parameter = value;
    if (out->head.nparameter > 0) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "--over draws runs over the values in which they differ, and these differ in "
                    "none; write them as an 'each', or make a sweep");
}

snw_status snw_plot_over(snw_pool *pool, int nrun, const snw_plot_run *run, const double *at,
                         snw_sweep_table *out, snw_error *err) {
    const snw_run_info *first = run_info(run);
    const size_t n = (size_t)nrun, ncolumn = (size_t)run->ncolumn;
    *out = (snw_sweep_table){.head = {.title = first->title, .rows = nrun}};
    SNW_TRY(read_parameters(pool, nrun, run, out, err));
    snw_node *scene;
    SNW_TRY(snw_scene_tree(pool, first, &scene, err));
    snw_sweep_column *column = snw_pool_array(pool, ncolumn, sizeof *column);
    double *value = snw_pool_array(pool, ncolumn * n, sizeof *value);
    if (!column || !value) return snw_fail_memory(err);
    for (size_t k = 0; k < ncolumn; k++) {
        const snw_column *c = &first->column[run->column[k]];
        char name[256];
        const char *quantity;
        snw_column_name(c, name, sizeof name);
        column[k].name = snw_pool_text(pool, name, strlen(name));
        column[k].about = "";
        snw_plot_quantity(scene, c, &quantity, &column[k].unit);
        if (!column[k].name) return snw_fail_memory(err);
        for (int i = 0; i < nrun; i++)
            SNW_TRY(snw_plot_value(pool, &run[i], name, at, &value[k * n + (size_t)i], err));
    }
    out->head.nresult = run->ncolumn;
    out->head.result = column;
    out->result = value;
    return SNW_OK;
}
