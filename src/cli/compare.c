// SPDX-License-Identifier: MIT
//
// Comparison of the runs of a result file at one time or by a statistic over time, as a text table,
// CSV or JSON.
#include "cli/compare.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/grid.h"
#include "job/choice.h"
#include "language/expect.h"
#include "study/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A grid has sixteen columns; one is for the name of the run.
enum { MOST_COLUMNS = 15, MOST_SWEPT = 6, NAME = 128 };

// Value to print for every column: at a time, at the end, or a statistic over an interval.
typedef struct query {
    bool statistic, end;
    snw_expect_is is;
    double t, from, to; // from, to: of a statistic, infinite unless given
} query;

typedef struct table {
    int nswept; // overrides in which the runs differ
    const char **swept;
    int ncolumn;
    char (*name)[NAME];
    int swept_shown, shown; // numbers of each that a text table shows
} table;

bool snw_compare_asked(const snw_args *args) {
    return snw_args_has(args, "at") || snw_args_has(args, "is") || snw_args_has(args, "over");
}

// FROM..TO in seconds, either of which may be missing
static snw_status read_interval(const char *text, query *q, snw_error *err) {
    const char *dots = strstr(text, "..");
    bool valid = dots != NULL;
    char *rest;
    if (valid && dots > text) {
        q->from = strtod(text, &rest);
        valid = rest == dots || rest == dots + 1; // of 5..6 the number takes the first dot
    }
    if (valid && dots[2]) {
        q->to = strtod(dots + 2, &rest);
        valid = *rest == 0;
    }
    if (valid && q->from < q->to) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "--over takes an interval in seconds, such as 5..6, not '%.40s'", text);
}

static snw_status read_query(const snw_args *args, query *q, snw_error *err) {
    const char *at = snw_args_value(args, "at"), *is = snw_args_value(args, "is");
    const char *over = snw_args_value(args, "over");
    *q = (query){.statistic = is != NULL, .from = -INFINITY, .to = INFINITY};
    if (over && !is) {
        return snw_fail(err, SNW_E_ARGUMENT, "--over is the interval of --is, such as --is mean");
    }
    if (over) SNW_TRY(read_interval(over, q, err));
    if (at && is) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "--at is for one time and --is for many; give one of them");
    }
    for (int i = 0; is && i < SNW_EXPECT_IS_COUNT; i++) {
        q->is = (snw_expect_is)i;
        if (!strcmp(is, snw_expect_is_word[i])) return SNW_OK;
    }
    if (is) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "--is takes min max mean range period size, not '%.40s'", is);
    }
    if ((q->end = !strcmp(at, "end"))) return SNW_OK;
    char *rest;
    q->t = strtod(at, &rest);
    if (rest == at || *rest || !isfinite(q->t)) {
        return snw_fail(err, SNW_E_ARGUMENT, "--at takes a time in seconds, or 'end', not '%.40s'",
                        at);
    }
    return SNW_OK;
}

static const snw_override_desc *find_override(const snw_run_info *info, const char *path) {
    for (int i = 0; i < info->noverride; i++) {
        if (strcmp(info->override[i].path, path) == 0) return &info->override[i];
    }
    return NULL;
}

// Do the runs differ in this override, or has one of them none?
static bool compare_differs(snw_result *file, int n, const int *run, const char *path) {
    const snw_override_desc *first = find_override(snw_result_info(file, run[0]), path);
    for (int i = 1; i < n; i++) {
        const snw_override_desc *o = find_override(snw_result_info(file, run[i]), path);
        if (!o || !first || strcmp(o->text, first->text) != 0) return true;
        // equal texts may have different values, through the index of a run
        if (isfinite(o->value) && o->value != first->value) return true;
    }
    return false;
}

// Paths of the overrides in which the runs differ, in the order of the runs.
static snw_status choose_swept(snw_result *file, int n, const int *run, table *t, snw_error *err) {
    int most = 0;
    for (int i = 0; i < n; i++) most += snw_result_info(file, run[i])->noverride;
    t->swept = snw_alloc((size_t)most * sizeof *t->swept);
    if (!t->swept) return snw_fail_memory(err);
    for (int i = 0; i < n; i++) {
        const snw_run_info *info = snw_result_info(file, run[i]);
        for (int k = 0; k < info->noverride; k++) {
            const char *path = info->override[k].path;
            bool known = false;
            for (int j = 0; j < t->nswept && !known; j++) known = !strcmp(t->swept[j], path);
            if (!known && compare_differs(file, n, run, path)) t->swept[t->nswept++] = path;
        }
    }
    return SNW_OK;
}

static snw_status choose_columns(const snw_run_info *info, const snw_args *args, bool text_table,
                                 table *t, snw_error *err) {
    const char *const *probe;
    const int nprobe = snw_args_values(args, "probe", &probe);
    int n;
    int *chosen = snw_alloc((size_t)info->ncolumn * sizeof *chosen);
    t->name = snw_alloc((size_t)info->ncolumn * sizeof *t->name);
    if (!chosen || !t->name) {
        snw_free(chosen);
        return snw_fail_memory(err);
    }
    const snw_status status = snw_choose_columns(info, nprobe, probe, chosen, &n, err);
    for (int i = 0; status == SNW_OK && i < n; i++) {
        const snw_column *c = &info->column[chosen[i]];
        if (text_table && nprobe == 0 && !snw_column_is_brief(c)) continue;
        snw_column_name(c, t->name[t->ncolumn++], NAME);
    }
    snw_free(chosen);
    return status;
}

static int compare_find_column(const snw_run_info *info, const char *wanted) {
    for (int i = 0; i < info->ncolumn; i++) {
        char name[NAME];
        snw_column_name(&info->column[i], name, sizeof name);
        if (!strcmp(name, wanted)) return i;
    }
    return -1;
}

// fail if no run reaches the time; only for text tables, CSV and JSON have blanks and nulls
static snw_status compare_check_time(snw_result *file, int n, const int *run, const char *option,
                                     double t, snw_error *err) {
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
    return snw_fail(err, SNW_E_ARGUMENT, "--%s %g: these runs go from %g to %g s", option, t, first,
                    last);
}

// value of one column; NaN when there is none
static double evaluate_query(const query *q, const snw_series *s) {
    double value;
    if (s->nframe == 0) return NAN;
    if (q->end) return s->value[s->nframe - 1];
    const bool known = q->statistic ? snw_expect_statistic(s, 0, q->is, q->from, q->to, &value)
                                    : snw_series_at(s, 0, q->t, &value);
    return known ? value : NAN;
}

static snw_status evaluate_run(snw_result *file, int run, const query *q, const table *t,
                               double *value, snw_error *err) {
    const snw_run_info *info = snw_result_info(file, run);
    const int nframe = snw_result_frames(file, run);
    snw_series s = {.nframe = nframe, .ncolumn = 1};
    s.t = snw_alloc((size_t)nframe * sizeof *s.t);
    s.value = snw_alloc((size_t)nframe * sizeof *s.value);
    snw_status status = s.t && s.value ? SNW_OK : snw_fail_memory(err);
    if (status == SNW_OK && nframe > 0) {
        status = snw_result_read(file, run, SNW_RESULT_T, 0, nframe, s.t, err);
    }
    for (int i = 0; status == SNW_OK && i < t->ncolumn; i++) {
        const int column = compare_find_column(info, t->name[i]);
        value[i] = NAN;
        if (column < 0 || nframe == 0) continue;
        status = snw_result_read_column(file, run, column, 0, nframe, s.value, err);
        if (status == SNW_OK) value[i] = evaluate_query(q, &s);
    }
    snw_free(s.t);
    snw_free(s.value);
    return status;
}

// ---- output as CSV, JSON or text ---------------------------------------------------------------

// print a CSV field, in quotes if it contains a comma, a quote or a line break
static void csv_text(const char *text) {
    if (!strpbrk(text, ",\"\n")) {
        printf("%s", text);
        return;
    }
    printf("\"");
    for (; *text; text++) printf(*text == '"' ? "\"\"" : "%c", *text);
    printf("\"");
}

static void csv_head(const table *t) {
    printf("run");
    for (int i = 0; i < t->nswept; i++) {
        printf(",");
        csv_text(t->swept[i]);
    }
    for (int i = 0; i < t->ncolumn; i++) printf(",%s", t->name[i]);
    printf("\n");
}

static void csv_line(const snw_run_info *info, const table *t, const double *value) {
    csv_text(info->run);
    for (int i = 0; i < t->nswept; i++) {
        const snw_override_desc *o = find_override(info, t->swept[i]);
        printf(",");
        if (o && isfinite(o->value)) {
            printf("%.17g", o->value);
        } else if (o) {
            csv_text(o->text);
        }
    }
    for (int i = 0; i < t->ncolumn; i++) printf(",%.17g", value[i]);
    printf("\n");
}

void snw_compare_json_overrides(snw_json *j, const snw_run_info *info) {
    snw_field_object(j, "overrides");
    for (int i = 0; i < info->noverride; i++) {
        const snw_override_desc *o = &info->override[i];
        if (isfinite(o->value)) {
            snw_field_number(j, o->path, o->value);
        } else {
            snw_field_text(j, o->path, o->text);
        }
    }
    snw_json_close(j);
}

static void json_line(snw_json *j, const snw_run_info *info, const table *t, const double *value) {
    snw_field_object(j, NULL);
    snw_field_text(j, "run", info->run);
    snw_compare_json_overrides(j, info);
    snw_field_object(j, "values");
    for (int i = 0; i < t->ncolumn; i++) snw_field_number(j, t->name[i], value[i]);
    snw_json_close(j);
    snw_json_close(j);
}

static void grid_line(snw_grid *g, const snw_run_info *info, const table *t, const double *value) {
    snw_grid_cell(g, "%s", info->run);
    for (int i = 0; i < t->swept_shown; i++) {
        const snw_override_desc *o = find_override(info, t->swept[i]);
        if (o && isfinite(o->value)) {
            snw_grid_number(g, 9, o->value);
        } else {
            snw_grid_cell(g, "%.40s", o ? o->text : "-"); // as written in the file
        }
    }
    for (int i = 0; i < t->shown; i++) snw_grid_number(g, 9, value[i]);
}

static const char *override_unit(snw_result *file, int n, const int *run, const char *path) {
    for (int i = 0; i < n; i++) {
        const snw_override_desc *o = find_override(snw_result_info(file, run[i]), path);
        if (o && *o->unit) return o->unit;
    }
    return "";
}

static snw_status compare_print_lines(snw_result *file, int n, const int *run, const query *q,
                                      const table *t, bool csv, snw_grid *g, snw_reply *reply,
                                      snw_error *err) {
    double *value = snw_alloc((size_t)t->ncolumn * sizeof *value);
    snw_status status = value ? SNW_OK : snw_fail_memory(err);
    for (int i = 0; status == SNW_OK && i < n; i++) {
        const snw_run_info *info = snw_result_info(file, run[i]);
        status = evaluate_run(file, run[i], q, t, value, err);
        if (status != SNW_OK) break;
        if (reply->json) {
            json_line(reply->json, info, t, value);
        } else if (csv) {
            csv_line(info, t, value);
        } else {
            grid_line(g, info, t, value);
        }
    }
    snw_free(value);
    return status;
}

static snw_status print_table(snw_result *file, int n, const int *run, const query *q, table *t,
                              bool csv, snw_reply *reply, snw_error *err) {
    char align[MOST_COLUMNS + 2] = "l";
    t->swept_shown = t->nswept < MOST_SWEPT ? t->nswept : MOST_SWEPT;
    const int room = MOST_COLUMNS - t->swept_shown;
    t->shown = t->ncolumn < room ? t->ncolumn : room;
    memset(align + 1, 'r', (size_t)(t->swept_shown + t->shown));
    snw_grid *g;
    SNW_TRY(snw_grid_create(align, &g, err));
    snw_grid_cell(g, "run");
    for (int i = 0; i < t->swept_shown; i++) {
        const char *unit = override_unit(file, n, run, t->swept[i]);
        snw_grid_cell(g, "%s%s%s%s", t->swept[i], *unit ? " (" : "", unit, *unit ? ")" : "");
    }
    for (int i = 0; i < t->shown; i++) snw_grid_cell(g, "%s", t->name[i]);
    if (csv && !reply->json) csv_head(t);
    snw_status status = compare_print_lines(file, n, run, q, t, csv, g, reply, err);
    const bool text_table = !csv && !reply->json;
    if (status == SNW_OK && text_table) status = snw_grid_print(g, stdout, err);
    const int left = t->nswept - t->swept_shown + t->ncolumn - t->shown;
    if (status == SNW_OK && text_table && left > 0) {
        printf("  ... and %d more columns, see --probe and --csv\n", left);
    }
    snw_grid_destroy(g);
    return status;
}

snw_status snw_compare_runs(snw_result *file, int n, const int *run, const snw_args *args,
                            snw_reply *reply, snw_error *err) {
    query q;
    table t = {0};
    if (n == 0) return SNW_OK;
    SNW_TRY(read_query(args, &q, err));
    const bool csv = snw_args_has(args, "csv"), text_table = !csv && !reply->json;
    snw_status status = choose_columns(snw_result_info(file, run[0]), args, text_table, &t, err);
    if (status == SNW_OK) status = choose_swept(file, n, run, &t, err);
    if (status == SNW_OK && text_table && !q.end && !q.statistic) {
        status = compare_check_time(file, n, run, "at", q.t, err);
    }
    if (status == SNW_OK && text_table && isfinite(q.from)) {
        status = compare_check_time(file, n, run, "over", q.from, err);
    }
    if (status == SNW_OK && text_table && isfinite(q.to)) {
        status = compare_check_time(file, n, run, "over", q.to, err);
    }
    if (status == SNW_OK) status = print_table(file, n, run, &q, &t, csv, reply, err);
    snw_free(t.swept);
    snw_free(t.name);
    return status;
}
