// SPDX-License-Identifier: MIT
#include "cli/compare.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/choice.h"
#include "cli/grid.h"
#include "io/expect.h"
#include "study/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 15, NAME = 128 }; // a grid has sixteen, one is for the name of the run

// what is asked of every column
typedef struct question {
    bool statistic, end;
    snw_expect_is is;
    double t;
} question;

typedef struct table {
    int ncolumn, left; // columns shown, and how many there would be beside
    char name[MOST_COLUMNS][NAME];
} table;

bool snw_compare_asked(const snw_args *args) {
    return snw_args_has(args, "at") || snw_args_has(args, "is");
}

static snw_status read_question(const snw_args *args, question *q, snw_error *err) {
    const char *at = snw_args_value(args, "at"), *is = snw_args_value(args, "is");
    *q = (question){.statistic = is != NULL};
    if (at && is) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "--at is a moment and --is all time, give one of them");
    }
    for (int i = 0; is && i < SNW_EXPECT_IS_COUNT; i++) {
        q->is = (snw_expect_is)i;
        if (!strcmp(is, snw_expect_is_word[i])) return SNW_OK;
    }
    if (is) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "--is %.40s: what is taken over time is min max mean range period size",
                        is);
    }
    if ((q->end = !strcmp(at, "end"))) return SNW_OK;
    char *rest;
    q->t = strtod(at, &rest);
    if (rest == at || *rest || !isfinite(q->t)) {
        return snw_fail(err, SNW_E_ARGUMENT, "--at %.40s: a time in seconds is wanted, or 'end'",
                        at);
    }
    return SNW_OK;
}

static snw_status choose_columns(const snw_run_info *info, const snw_args *args, table *t,
                                 snw_error *err) {
    const char *const *probe;
    const int nprobe = snw_args_values(args, "probe", &probe);
    int n;
    int *chosen = snw_alloc((size_t)info->ncolumn * sizeof *chosen);
    if (!chosen) return snw_fail(err, SNW_E_MEMORY, "out of memory");
    const snw_status status = snw_choose_columns(info, nprobe, probe, chosen, &n, err);
    *t = (table){0};
    for (int i = 0; status == SNW_OK && i < n; i++) {
        const snw_column *c = &info->column[chosen[i]];
        if (nprobe == 0 && !snw_column_is_brief(c)) continue;
        if (t->ncolumn == MOST_COLUMNS) {
            t->left++;
        } else {
            snw_column_name(c, t->name[t->ncolumn++], NAME);
        }
    }
    snw_free(chosen);
    return status;
}

static int find_column(const snw_run_info *info, const char *wanted) {
    for (int i = 0; i < info->ncolumn; i++) {
        char name[NAME];
        snw_column_name(&info->column[i], name, sizeof name);
        if (!strcmp(name, wanted)) return i;
    }
    return -1;
}

// a time that no run reaches has no value in any, which is hardly what was asked; programs get their nulls
static snw_status within_time(snw_result *file, int n, const int *run, double t, snw_error *err) {
    double first = INFINITY, last = -INFINITY;
    for (int i = 0; i < n; i++) {
        const int nframe = snw_result_frames(file, run[i]);
        double at[2];
        if (nframe == 0) continue;
        SNW_TRY(snw_result_read(file, run[i], SNW_RESULT_T, 0, 1, &at[0], err));
        SNW_TRY(snw_result_read(file, run[i], SNW_RESULT_T, nframe - 1, 1, &at[1], err));
        first = fmin(first, at[0]), last = fmax(last, at[1]);
    }
    if (!(first <= last) || (t >= first - 1e-9 * fabs(first) && t <= last + 1e-9 * fabs(last))) {
        return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT, "--at %g: these runs go from %g to %g s", t, first, last);
}

// the answer of one column; NaN where there is none
static double answer(const question *q, const snw_series *s) {
    double value;
    if (s->nframe == 0) return NAN;
    if (q->end) return s->value[s->nframe - 1];
    const bool known = q->statistic ? snw_expect_statistic(s, 0, q->is, -INFINITY, INFINITY, &value)
                                    : snw_series_at(s, 0, q->t, &value);
    return known ? value : NAN;
}

static snw_status ask_run(snw_result *file, int run, const question *q, const table *t,
                          double *value, snw_error *err) {
    const snw_run_info *info = snw_result_info(file, run);
    const int nframe = snw_result_frames(file, run);
    snw_series s = {.nframe = nframe, .ncolumn = 1};
    s.t = snw_alloc((size_t)nframe * sizeof *s.t);
    s.value = snw_alloc((size_t)nframe * sizeof *s.value);
    snw_status status = s.t && s.value ? SNW_OK : snw_fail(err, SNW_E_MEMORY, "out of memory");
    if (status == SNW_OK && nframe > 0) {
        status = snw_result_read(file, run, SNW_RESULT_T, 0, nframe, s.t, err);
    }
    for (int i = 0; status == SNW_OK && i < t->ncolumn; i++) {
        const int column = find_column(info, t->name[i]);
        value[i] = NAN;
        if (column < 0 || nframe == 0) continue;
        status = snw_result_read_column(file, run, column, 0, nframe, s.value, err);
        if (status == SNW_OK) value[i] = answer(q, &s);
    }
    snw_free(s.t);
    snw_free(s.value);
    return status;
}

// ---- three ways to print a line --------------------------------------------------------------------

static void csv_line(const char *run, const table *t, const double *value) {
    printf("%s", run);
    for (int i = 0; i < t->ncolumn; i++) printf(",%.17g", value[i]);
    printf("\n");
}

static void json_line(snw_json *j, const char *run, const table *t, const double *value) {
    snw_field_object(j, NULL);
    snw_field_text(j, "run", run);
    snw_field_object(j, "values");
    for (int i = 0; i < t->ncolumn; i++) snw_field_number(j, t->name[i], value[i]);
    snw_json_close(j);
    snw_json_close(j);
}

static void grid_line(snw_grid *g, const char *run, const table *t, const double *value) {
    snw_grid_cell(g, "%s", run);
    for (int i = 0; i < t->ncolumn; i++) snw_grid_number(g, 9, value[i]);
}

snw_status snw_compare_runs(snw_result *file, int n, const int *run, const snw_args *args,
                            snw_reply *reply, snw_error *err) {
    question q;
    table t;
    if (n == 0) return SNW_OK;
    SNW_TRY(read_question(args, &q, err));
    SNW_TRY(choose_columns(snw_result_info(file, run[0]), args, &t, err));
    char align[MOST_COLUMNS + 2] = "l";
    memset(align + 1, 'r', (size_t)t.ncolumn);
    const bool csv = snw_args_has(args, "csv"), people = !csv && !reply->json;
    if (people && !q.end && !q.statistic) SNW_TRY(within_time(file, n, run, q.t, err));
    snw_grid *g;
    SNW_TRY(snw_grid_create(align, &g, err));
    snw_grid_cell(g, "run");
    for (int i = 0; i < t.ncolumn; i++) snw_grid_cell(g, "%s", t.name[i]);
    if (csv && !reply->json) {
        printf("run");
        for (int i = 0; i < t.ncolumn; i++) printf(",%s", t.name[i]);
        printf("\n");
    }
    snw_status status = SNW_OK;
    for (int i = 0; status == SNW_OK && i < n; i++) {
        double value[MOST_COLUMNS];
        const char *name = snw_result_info(file, run[i])->run;
        status = ask_run(file, run[i], &q, &t, value, err);
        if (status != SNW_OK) break;
        if (reply->json) {
            json_line(reply->json, name, &t, value);
        } else if (csv) {
            csv_line(name, &t, value);
        } else {
            grid_line(g, name, &t, value);
        }
    }
    if (status == SNW_OK && people) status = snw_grid_print(g, stdout, err);
    if (status == SNW_OK && people && t.left > 0) {
        printf("  ... and %d more columns, see --probe and --csv\n", t.left);
    }
    snw_grid_destroy(g);
    return status;
}
