// SPDX-License-Identifier: MIT
//
// Convergence of runs that differ in one parameter: values of the parameter from the results or
// the model, the reference, and the table of errors and orders.
#include "cli/converge.h"

#include "base/fail.h"
#include "cli/grid.h"
#include "cli/job.h"
#include "language/document.h"
#include "study/series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 6 }; // shown in the table

static const char OPTION[] = "--convergence";

// ---- the parameter in which runs differ --------------------------------------------------------

// x <- values given on the command line, "h=4,2,1"
static snw_status converge_read_values(snw_pool *pool, const char *text, const char *equals,
                                       int nrun, double *x, snw_converge_opts *o, snw_error *err) {
    o->quantity = snw_pool_text(pool, text, (size_t)(equals - text));
    if (!o->quantity) return snw_fail_memory(err);
    const char *at = equals + 1;
    int n = 0;
    for (; n < nrun; n++) {
        char *end;
        errno = 0;
        x[n] = strtod(at, &end);
        if (end == at || errno || (*end && *end != ',')) break;
        at = *end ? end + 1 : end;
        if (!*end) {
            n++;
            break;
        }
    }
    if (n == nrun && !*at) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "%s %s: give one number for each of the %d runs", OPTION,
                    text, nrun);
}

// Value of a parameter in a run: from the overrides stored in the results, else by evaluation of
// the model text stored there.
static snw_status find_in_model(snw_pool *pool, const snw_plot_run *run, const char *path,
                                snw_quantity_read *out, snw_error *err) {
    const snw_run_info *info = snw_result_info(run->file, run->run);
    const char *text = snw_result_model(run->file), *name = info->run;
    for (int i = 0; i < info->noverride; i++) {
        const snw_override_desc *o = &info->override[i];
        if (strcmp(o->path, path) != 0 || !isfinite(o->value)) continue;
        out->value = o->value;
        (void)snprintf(out->unit, sizeof out->unit, "%s", o->unit);
        return SNW_OK;
    }
    const char **set = NULL;
    int nset = 0;
    SNW_TRY(snw_job_sets(pool, text, &nset, &set, err));
    snw_document *d = NULL;
    bool given = false;
    snw_error why = {0};
    snw_status s = snw_document_parse_kept("model", text, nset, set, &d, &why);
    if (s != SNW_OK) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the model of these results cannot be read again (%.200s); give the "
                        "numbers, e.g. %s h=4,2,1",
                        why.text, OPTION);
    }
    for (int i = 0; s == SNW_OK && i < snw_document_runs(d); i++) {
        if (strcmp(snw_document_run_name(d, i), name) != 0) continue;
        s = snw_document_find(d, i, path, OPTION, &given, out, err);
    }
    snw_document_destroy(d);
    if (s != SNW_OK || given) return s;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "run '%s' gives no '%s'; give the numbers, e.g. %s h=4,2,1", name, path,
                    OPTION);
}

static snw_status find_values(snw_pool *pool, const char *path, int nrun, const snw_plot_run *run,
                              double *x, snw_converge_opts *o, snw_error *err) {
    for (int i = 0; i < nrun; i++) {
        snw_quantity_read q = {0};
        SNW_TRY(find_in_model(pool, &run[i], path, &q, err));
        x[i] = q.value;
        if (i == 0) o->unit = snw_pool_text(pool, q.unit, strlen(q.unit));
    }
    o->quantity = path;
    return o->unit ? SNW_OK : snw_fail_memory(err);
}

// ---- the reference -----------------------------------------------------------------------------

static snw_status choose_reference(const snw_args *args, int nrun, const snw_plot_run *run,
                                   snw_converge_opts *o, snw_error *err) {
    const char *text = snw_args_value(args, "against");
    o->against = nrun - 1;
    for (int i = 0; text && i < nrun; i++) {
        o->against = i;
        const char *own = snw_result_info(run[i].file, run[i].run)->run;
        if (strcmp(text, own) == 0 || (run[i].name && strcmp(text, run[i].name) == 0)) {
            return SNW_OK;
        }
    }
    if (!text) return SNW_OK;
    char *end;
    o->value = strtod(text, &end);
    o->against = -1;
    if (end == text || *end || !isfinite(o->value)) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "--against takes one of the runs shown, or a number; '%s' is neither",
                        text);
    }
    if (run->ncolumn == 1) return SNW_OK;
    return snw_fail(
        err, SNW_E_ARGUMENT,
        "--against %s is a reference for one probe, and there are %d; choose with --probe", text,
        run->ncolumn);
}

snw_status snw_converge_make(snw_pool *pool, const snw_args *args, int nrun,
                             const snw_plot_run *run, const double *at, snw_converge *c,
                             snw_figure *out, snw_error *err) {
    const char *path = snw_args_value(args, "convergence"), *equals = strchr(path, '=');
    double *x = snw_pool_array(pool, (size_t)nrun, sizeof *x);
    if (!x) return snw_fail_memory(err);
    *c = (snw_converge){.opts = {.unit = "", .at_end = !at, .t = at ? *at : 0, .x = x}};
    SNW_TRY(choose_reference(args, nrun, run, &c->opts, err));
    if (nrun - (c->opts.against >= 0) < 2) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "%s compares runs with a reference: it needs at least three runs, or two "
                        "and a number --against",
                        OPTION);
    }
    SNW_TRY(equals ? converge_read_values(pool, path, equals, nrun, x, &c->opts, err)
                   : find_values(pool, path, nrun, run, x, &c->opts, err));
    return snw_plot_convergence(pool, nrun, run, &c->opts, &c->table, out, err);
}

// ---- the table ---------------------------------------------------------------------------------

// observed order of convergence from the previous run of the same curve that has an error
static double observed_order(const snw_converge *c, const snw_plot_run *run, int ncolumn, int i,
                             int k) {
    for (int before = i - 1; before >= 0; before--) {
        if (!snw_plot_same_curve(&run[before], &run[i])) continue;
        const double a = c->table.error[before * ncolumn + k], b = c->table.error[i * ncolumn + k];
        if (a > 0 && b > 0) return log(b / a) / log(c->opts.x[i] / c->opts.x[before]);
    }
    return NAN;
}

static void converge_json_table(const snw_converge *c, int nrun, const snw_plot_run *run,
                                snw_json *j) {
    const snw_run_info *info = snw_result_info(run->file, run->run);
    const int n = run->ncolumn;
    snw_field_text(j, "over", c->opts.quantity);
    snw_field_list(j, "convergence");
    for (int i = 0; i < nrun; i++) {
        snw_field_object(j, NULL);
        snw_field_text(j, "run", snw_result_info(run[i].file, run[i].run)->run);
        snw_field_number(j, "x", c->opts.x[i]);
        for (int k = 0; k < n; k++) {
            char name[256];
            snw_column_name(&info->column[run->column[k]], name, sizeof name);
            snw_field_number(j, name, c->table.error[i * n + k]);
        }
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_object(j, "slopes");
    for (int k = 0; k < n; k++) {
        char name[256];
        snw_column_name(&info->column[run->column[k]], name, sizeof name);
        snw_field_number(j, name, c->table.slope[k]);
    }
    snw_json_close(j);
}

snw_status snw_converge_print(const snw_converge *c, int nrun, const snw_plot_run *run,
                              snw_reply *reply, snw_error *err) {
    const snw_run_info *info = snw_result_info(run->file, run->run);
    const int n = run->ncolumn, shown = n < MOST_COLUMNS ? n : MOST_COLUMNS;
    if (reply->json) {
        converge_json_table(c, nrun, run, reply->json);
        return SNW_OK;
    }
    char align[2 * MOST_COLUMNS + 3] = "lr";
    memset(align + 2, 'r', 2 * (size_t)shown);
    snw_grid *g;
    SNW_TRY(snw_grid_create(align, &g, err));
    snw_grid_cell(g, "run");
    snw_grid_cell(g, "%s%s%s%s", c->opts.quantity, c->opts.unit[0] ? " (" : "", c->opts.unit,
                  c->opts.unit[0] ? ")" : "");
    for (int k = 0; k < shown; k++) {
        char name[256];
        snw_column_name(&info->column[run->column[k]], name, sizeof name);
        snw_grid_cell(g, "error of %s", name);
        snw_grid_cell(g, "slope");
    }
    for (int i = 0; i < nrun; i++) {
        snw_grid_cell(g, "%s", run[i].name ? run[i].name : info->run);
        snw_grid_number(g, 6, c->opts.x[i]);
        for (int k = 0; k < shown; k++) {
            snw_grid_number(g, 4, c->table.error[i * n + k]);
            snw_grid_number(g, 3, observed_order(c, run, n, i, k));
        }
    }
    const snw_status s = snw_grid_print(g, stdout, err);
    snw_grid_destroy(g);
    if (s == SNW_OK && n > shown) printf("  ... and %d more probes, see --probe\n", n - shown);
    return s;
}
