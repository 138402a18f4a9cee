// SPDX-License-Identifier: MIT
//
// Tables of the special points of paths of equilibria, as text and JSON.
#include "cli/special_points.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/grid.h"

#include <math.h>
#include <stdio.h>

// One line for each fold and parameter: dt/dm, in SI units.
static snw_status print_derivatives(const snw_special_table *table, snw_error *err) {
    bool any = false;
    for (int i = 0; i < table->n; i++) any = any || table->point[i].kind == SNW_SPECIAL_FOLD;
    if (table->nparameter == 0 || !any) return SNW_OK;
    snw_grid *g;
    SNW_TRY(snw_grid_create("llr", &g, err));
    const char *const head[] = {"derivative", "by", "dt (SI units)"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) snw_grid_cell(g, "%s", head[i]);
    for (int i = 0; i < table->n; i++) {
        const snw_special_point *p = &table->point[i];
        for (int k = 0; p->kind == SNW_SPECIAL_FOLD && k < table->nparameter; k++) {
            snw_grid_cell(g, "%s %d", snw_special_name(p->kind), p->number);
            snw_grid_cell(g, "%s", table->parameter[k].name);
            snw_grid_number(g, 9, p->derivative[k]);
        }
    }
    printf("\n");
    const snw_status status = snw_grid_print(g, stdout, err);
    snw_grid_destroy(g);
    return status;
}

snw_status snw_special_print(const snw_special_table *table, const char *step, snw_error *err) {
    if (table->n == 0) return SNW_OK;
    bool moves = false; // names of coordinates are known
    for (int i = 0; i < table->n; i++) moves = moves || table->point[i].moves;
    snw_grid *g;
    SNW_TRY(snw_grid_create(moves ? "lrrrrrl" : "lrrrrr", &g, err));
    const char *const head[] = {step,         "path",     table->name ? table->name : "parameter",
                                "arc length", "unstable", "frequency",
                                "moves most"};
    const size_t columns = sizeof head / sizeof *head - !moves;
    for (size_t i = 0; i < columns; i++) snw_grid_cell(g, "%s", head[i]);
    for (int i = 0; i < table->n; i++) {
        const snw_special_point *p = &table->point[i];
        char times[32] = "";
        if (p->multiplicity > 1) (void)snprintf(times, sizeof times, ", %d-fold", p->multiplicity);
        snw_grid_cell(g, "%s %d%s", snw_special_name(p->kind), p->number, times);
        snw_grid_cell(g, "%d", p->path);
        snw_grid_number(g, 12, p->t);
        snw_grid_number(g, 6, p->arc);
        snw_grid_cell(g, "%d", p->negative);
        if (p->frequency > 0) {
            snw_grid_cell(g, "%.6g Hz", p->frequency);
        } else {
            snw_grid_cell(g, "-");
        }
        if (moves) snw_grid_cell(g, "%s", p->moves ? p->moves : "");
    }
    printf("\n");
    const snw_status status = snw_grid_print(g, stdout, err);
    snw_grid_destroy(g);
    return status == SNW_OK ? print_derivatives(table, err) : status;
}

void snw_special_json(snw_json *j, const snw_special_table *table, const char *step) {
    for (int i = 0; i < table->n; i++) {
        const snw_special_point *p = &table->point[i];
        snw_field_object(j, NULL);
        snw_field_text(j, "step", step);
        snw_field_text(j, "kind", snw_special_name(p->kind));
        snw_field_integer(j, "number", p->number);
        snw_field_integer(j, "path", p->path);
        snw_field_number(j, "t", p->t);
        snw_field_number(j, "arc", p->arc);
        snw_field_integer(j, "multiplicity", p->multiplicity);
        snw_field_integer(j, "unstable", p->negative);
        snw_field_number(j, "frequency", p->frequency);
        snw_field_text(j, "moves", p->moves);
        if (table->nparameter > 0 && p->kind == SNW_SPECIAL_FOLD) {
            snw_field_object(j, "by");
            for (int k = 0; k < table->nparameter; k++)
                snw_field_number(j, table->parameter[k].name, p->derivative[k]);
            snw_json_close(j);
        }
        snw_json_close(j);
    }
}

// out->parameter <- constants by which the folds of a stage are differentiated
static snw_status name_parameters(const snw_run_info *info, int stage, snw_special_table *out,
                                  snw_error *err) {
    snw_parameter_desc *parameter = snw_alloc(SNW_PARAMETERS * sizeof *parameter);
    out->parameter = parameter;
    if (!parameter) return snw_fail_memory(err);
    for (int i = 0; i < info->nfold && out->nparameter < SNW_PARAMETERS; i++) {
        if (info->fold[i].stage == stage)
            parameter[out->nparameter++] = (snw_parameter_desc){.name = info->fold[i].by};
    }
    return SNW_OK;
}

snw_status snw_special_read(snw_result *file, int run, int stage, snw_special_table *out,
                            snw_error *err) {
    const int n = snw_result_frames(file, run);
    const snw_run_info *info = snw_result_info(file, run);
    const size_t rows = (size_t)n + 1, nfold = (size_t)info->nfold;
    snw_special_point *point = snw_alloc(rows * sizeof *point);
    snw_stats *stats = snw_alloc(rows * sizeof *stats);
    double *of = snw_alloc(rows * sizeof *of);
    double *fold = snw_alloc((rows * nfold + 1) * sizeof *fold);
    *out = (snw_special_table){.point = point};
    snw_status s = point && stats && of && fold ? SNW_OK : snw_fail_memory(err);
    if (s == SNW_OK) s = name_parameters(info, stage, out, err);
    if (s == SNW_OK) s = snw_result_read(file, run, SNW_RESULT_STATS, 0, n, (double *)stats, err);
    if (s == SNW_OK) s = snw_result_read(file, run, SNW_RESULT_STAGE, 0, n, of, err);
    if (s == SNW_OK) s = snw_result_read(file, run, SNW_RESULT_FOLD, 0, n, fold, err);
    int number[SNW_SPECIAL_COUNT] = {0};
    for (int i = 0; s == SNW_OK && i < n; i++) {
        const int kind = (int)stats[i].special;
        if ((int)of[i] != stage || kind <= SNW_SPECIAL_NONE || kind >= SNW_SPECIAL_COUNT) continue;
        snw_special_point *to = &point[out->n++];
        *to = (snw_special_point){.kind = (snw_special)kind,
                                  .number = ++number[kind],
                                  .path = (int)stats[i].path,
                                  .t = stats[i].parameter,
                                  .arc = stats[i].arc,
                                  .multiplicity = (int)stats[i].multiplicity,
                                  .negative = (int)stats[i].negative,
                                  .frequency =
                                      kind == SNW_SPECIAL_FLUTTER ? stats[i].frequency : NAN};
        const double *row = fold + (size_t)i * nfold;
        for (int c = 0, k = 0; k < out->nparameter; c++)
            if (info->fold[c].stage == stage) to->derivative[k++] = row[c];
    }
    snw_free(stats);
    snw_free(of);
    snw_free(fold);
    return s;
}

void snw_special_free(snw_special_table *table) {
    snw_free((void *)table->point);
    snw_free((void *)table->parameter);
}
