// SPDX-License-Identifier: MIT
//
// Report of the results of a sweep: counts, statistics, sensitivity, Pareto front.
#include "cli/sweep_report.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/cells.h"
#include "cli/grid.h"
#include "cli/output.h"
#include "job/choice.h"
#include "language/node.h"
#include "results/sweep_file.h"
#include "sweep/plan.h"
#include "sweep/row.h"
#include "sweep/sensitivity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN_FRONT = 40, SHOWN_MESSAGES = 5 };

typedef struct report {
    snw_sweep_table t;
    const char *path;
    snw_pool *pool;
    bool quiet; // only what an option asks for: the front, the table in its file
    snw_reply *reply;
    snw_error *err;
} report;

static const double *result_of(const report *r, int i) {
    return r->t.result + (size_t)i * (size_t)r->t.head.rows;
}

static const double *parameter_of(const report *r, int i) {
    return r->t.parameter + (size_t)i * (size_t)r->t.head.rows;
}

// ---- statistics ---------------------------------------------------------------------------------

// Statistics of a result: identifier, key in JSON, heading.
#define STATISTICS(X)                                                                              \
    X(LEAST, "least", "least")                                                                     \
    X(Q05, "q05", "5 %")                                                                           \
    X(MEDIAN, "median", "median")                                                                  \
    X(Q95, "q95", "95 %")                                                                          \
    X(MOST, "most", "most")                                                                        \
    X(MEAN, "mean", "mean")                                                                        \
    X(DEVIATION, "deviation", "deviation")
#define X(code, key, head) code,
enum { STATISTICS(X) NSTATISTIC };
#undef X

static int by_number(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Quantile of n sorted numbers, linear between them.
static double quantile_of(int64_t n, const double *sorted, double share) {
    const double at = share * (double)(n - 1);
    const int64_t i = (int64_t)at;
    if (i + 1 >= n) return sorted[n - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

// *n <- rows with a number, out <- their statistics; NaN where there are too few
static snw_status summarise(int64_t rows, const double *f, int64_t *n, double out[NSTATISTIC],
                            snw_error *err) {
    double *number = snw_alloc((size_t)rows * sizeof *number), sum = 0, square = 0;
    if (!number) return snw_fail_memory(err);
    *n = 0;
    for (int k = 0; k < NSTATISTIC; k++) out[k] = NAN;
    for (int64_t i = 0; i < rows; i++) {
        if (!isfinite(f[i])) continue;
        number[(*n)++] = f[i];
        sum += f[i];
    }
    if (*n > 0) {
        qsort(number, (size_t)*n, sizeof *number, by_number);
        out[LEAST] = number[0];
        out[Q05] = quantile_of(*n, number, 0.05);
        out[MEDIAN] = quantile_of(*n, number, 0.5);
        out[Q95] = quantile_of(*n, number, 0.95);
        out[MOST] = number[*n - 1];
        out[MEAN] = sum / (double)*n;
    }
    for (int64_t i = 0; i < *n; i++) square += pow(number[i] - out[MEAN], 2);
    if (*n > 1) out[DEVIATION] = sqrt(square / (double)(*n - 1));
    snw_free(number);
    return SNW_OK;
}

// Is message a told before b? Those of rows that are not done come before warnings, by their rows.
static bool told_before(const snw_sweep_table *t, int a, int b) {
    static const char warning[] = "warning: ";
    const bool wa = strncmp(t->message[a], warning, sizeof warning - 1) == 0,
               wb = strncmp(t->message[b], warning, sizeof warning - 1) == 0;
    return wa != wb ? wb : t->message_row[a] < t->message_row[b];
}

// The message that is told after `last`, -1: the first. -1: there is none.
static int next_message(const snw_sweep_table *t, int last) {
    int best = -1;
    for (int i = 0; i < t->nmessage; i++) {
        if (last >= 0 && !told_before(t, last, i)) continue;
        if (best < 0 || told_before(t, i, best)) best = i;
    }
    return best;
}

// Rows that packs have stepped; each row by itself is not worth a word.
static void report_engines(const report *r) {
    const snw_sweep_table *t = &r->t;
    snw_json *j = r->reply->json;
    if (!t->engine) return;
    if (j) snw_field_object(j, "engines");
    for (int k = 0; k < t->engines.n; k++) {
        int64_t count = 0;
        for (int64_t i = 0; i < t->head.rows; i++) count += t->state[i] > 0 && t->engine[i] == k;
        if (j) snw_field_integer(j, t->engines.name[k], count);
        if (!j && k > 0 && count)
            printf("; %lld of them in %s", (long long)count, t->engines.name[k]);
    }
    if (j) snw_json_close(j);
}

// Rows of an interrupted or running sweep that are not in the file yet.
static void report_parts(const report *r) {
    char folder[1100];
    bool waits = false;
    for (int64_t i = 0; !waits && i < r->t.head.rows; i++)
        waits = r->t.state[i] == SNW_SWEEP_ROW_WAITING;
    (void)snprintf(folder, sizeof folder, "%.1000s.parts", r->path);
    if (!waits || access(folder, F_OK) != 0) return;
    if (r->reply->json) {
        snw_field_text(r->reply->json, "parts", folder);
        return;
    }
    printf(
        "  rows computed since may be in '%s': the sweep runs, or was interrupted and goes on by "
        "--resume\n",
        folder);
}

static void report_states(const report *r) {
    const snw_sweep_table *t = &r->t;
    snw_json *j = r->reply->json;
    if (j) {
        snw_field_integer(j, "rows", t->head.rows);
        snw_field_text(j, "method", t->head.method);
        snw_field_object(j, "states");
    } else {
        printf("%lld rows by method %s:", (long long)t->head.rows, t->head.method);
    }
    bool before = false;
    for (int k = 0; k < t->states.n; k++) {
        int64_t count = 0;
        for (int64_t i = 0; i < t->head.rows; i++) count += t->state[i] == k;
        if (j) snw_field_integer(j, t->states.name[k], count);
        if (!j && count)
            printf("%s %lld %s", before ? "," : "", (long long)count, t->states.name[k]);
        before = before || count;
    }
    if (j) snw_json_close(j);
    report_engines(r);
    if (!j) printf("\n");
    report_parts(r);
    for (int i = 0, last = -1; !j && i < SHOWN_MESSAGES; i++) {
        last = next_message(t, last);
        if (last < 0) break;
        printf("  row %lld: %s\n", (long long)t->message_row[last], t->message[last]);
    }
    if (!j && t->nmessage > SHOWN_MESSAGES) printf("  ... %d messages in all\n", t->nmessage);
}

// Rows that are done and yet have no number, as that of a square root of a negative one.
static void report_no_numbers(const report *r, int result) {
    const double *y = result_of(r, result);
    int64_t done = 0, without = 0;
    for (int64_t i = 0; i < r->t.head.rows; i++) {
        if (r->t.state[i] != SNW_SWEEP_ROW_DONE) continue;
        done++;
        without += !isfinite(y[i]);
    }
    if (without > 0)
        printf("  %s is not a number in %lld of the %lld rows that are done\n",
               r->t.head.result[result].name, (long long)without, (long long)done);
}

static snw_status report_results(const report *r, int n, const int *chosen) {
#define X(code, key, head) key,
    static const char *const keys[] = {STATISTICS(X)};
#undef X
#define X(code, key, head) head,
    static const char *const heads[] = {STATISTICS(X)};
#undef X
    snw_json *j = r->reply->json;
    snw_grid *g = NULL;
    if (j) snw_field_list(j, "results");
    if (!j) {
        SNW_TRY(snw_grid_create("lrrrrrrrr", &g, r->err));
        snw_grid_cell(g, "result");
        snw_grid_cell(g, "rows");
        for (int k = 0; k < NSTATISTIC; k++) snw_grid_cell(g, "%s", heads[k]);
    }
    snw_status status = SNW_OK;
    for (int i = 0; i < n; i++) {
        const snw_sweep_column *c = &r->t.head.result[chosen[i]];
        int64_t rows = 0;
        double number[NSTATISTIC];
        status = summarise(r->t.head.rows, result_of(r, chosen[i]), &rows, number, r->err);
        if (status != SNW_OK) break;
        if (j) {
            snw_field_object(j, NULL);
            snw_field_text(j, "name", c->name);
            snw_field_text(j, "unit", c->unit);
            snw_field_integer(j, "rows", rows);
            for (int k = 0; k < NSTATISTIC; k++) snw_field_number(j, keys[k], number[k]);
            snw_json_close(j);
        } else {
            snw_grid_cell(g, c->unit[0] ? "%s (%s)" : "%s", c->name, c->unit);
            snw_grid_cell(g, "%lld", (long long)rows);
            for (int k = 0; k < NSTATISTIC; k++) snw_grid_number(g, 5, number[k]);
        }
    }
    if (j) {
        snw_json_close(j);
        return status;
    }
    printf("\n");
    if (status == SNW_OK) status = snw_grid_print(g, stdout, r->err);
    snw_grid_destroy(g);
    for (int i = 0; i < n; i++) report_no_numbers(r, chosen[i]);
    return status;
}

// ---- sensitivity --------------------------------------------------------------------------------

// A table of numbers with intervals for one result: columns by parameter.
typedef struct index_table {
    const char *name; // key in JSON
    int n;            // columns
    const char *const *head;
    bool interval[4];    // the column has one
    snw_interval *value; // nparameter x n
} index_table;

static snw_status print_index_table(const report *r, const char *result, const index_table *t,
                                    int64_t used, const char *of) {
    snw_grid *g;
    char align[16] = "l";
    int columns = 1;
    for (int k = 0; k < t->n; k++) columns += t->interval[k] ? 2 : 1;
    memset(align + 1, 'r', (size_t)columns - 1);
    SNW_TRY(snw_grid_create(align, &g, r->err));
    snw_grid_cell(g, "%s", result);
    for (int k = 0; k < t->n; k++) {
        snw_grid_cell(g, "%s", t->head[k]);
        if (t->interval[k]) snw_grid_cell(g, "95 %%");
    }
    for (int i = 0; i < r->t.head.nparameter; i++) {
        snw_grid_cell(g, "%s", r->t.head.parameter[i].name);
        for (int k = 0; k < t->n; k++) {
            const snw_interval x = t->value[i * t->n + k];
            snw_grid_number(g, 4, x.value);
            if (!t->interval[k]) continue;
            if (isfinite(x.low) && isfinite(x.high))
                snw_grid_cell(g, "%.3g .. %.3g", x.low, x.high);
            else
                snw_grid_cell(g, "-");
        }
    }
    printf("\n");
    const snw_status s = snw_grid_print(g, stdout, r->err);
    snw_grid_destroy(g);
    if (of) printf("  from %lld complete %s\n", (long long)used, of);
    return s;
}

static void json_index_table(const report *r, const index_table *t, int64_t used, const char *of) {
    snw_json *j = r->reply->json;
    if (of) snw_field_integer(j, of, used);
    snw_field_list(j, t->name);
    for (int i = 0; i < r->t.head.nparameter; i++) {
        snw_field_object(j, NULL);
        snw_field_text(j, "parameter", r->t.head.parameter[i].name);
        for (int k = 0; k < t->n; k++) {
            const snw_interval x = t->value[i * t->n + k];
            snw_field_number(j, t->head[k], x.value);
            if (!t->interval[k]) continue;
            char key[64];
            (void)snprintf(key, sizeof key, "%s_low", t->head[k]);
            snw_field_number(j, key, x.low);
            (void)snprintf(key, sizeof key, "%s_high", t->head[k]);
            snw_field_number(j, key, x.high);
        }
        snw_json_close(j);
    }
    snw_json_close(j);
}

static snw_status sobol_table(const report *r, const double *f, index_table *t, int64_t *used) {
    static const char *const head[] = {"first", "total"};
    const snw_sweep_head *d = &r->t.head;
    const int k = d->nparameter;
    snw_interval *part = snw_pool_array(r->pool, 2 * (size_t)k, sizeof *part);
    if (!part) return snw_fail_memory(r->err);
    SNW_TRY(snw_sensitivity_sobol(k, d->count, f, d->seed, part, part + k, used, r->err));
    *t = (index_table){
        .name = "sobol", .n = 2, .head = head, .interval = {true, true}, .value = t->value};
    for (int i = 0; i < k; i++) t->value[2 * i] = part[i], t->value[2 * i + 1] = part[k + i];
    return SNW_OK;
}

static snw_status morris_table(const report *r, const double *f, index_table *t, int64_t *used) {
    static const char *const head[] = {"size", "mean", "deviation"};
    const snw_sweep_head *d = &r->t.head;
    const int k = d->nparameter;
    double *mean = snw_pool_array(r->pool, 2 * (size_t)k, sizeof *mean);
    snw_interval *size = snw_pool_array(r->pool, (size_t)k, sizeof *size);
    if (!mean || !size) return snw_fail_memory(r->err);
    SNW_TRY(snw_sensitivity_morris(k, d->count, r->t.parameter, f, d->seed, mean, mean + k, size,
                                   used, r->err));
    *t = (index_table){
        .name = "morris", .n = 3, .head = head, .interval = {true}, .value = t->value};
    for (int i = 0; i < k; i++) {
        t->value[3 * i] = size[i];
        t->value[3 * i + 1] = (snw_interval){.value = mean[i]};
        t->value[3 * i + 2] = (snw_interval){.value = mean[k + i]};
    }
    return SNW_OK;
}

static snw_status correlation_table(const report *r, const double *f, index_table *t) {
    static const char *const head[] = {"correlation", "ranks"};
    *t = (index_table){
        .name = "correlations", .n = 2, .head = head, .interval = {true, false}, .value = t->value};
    for (int i = 0; i < r->t.head.nparameter; i++) {
        const double *x = parameter_of(r, i);
        t->value[2 * i] = snw_sensitivity_correlation(r->t.head.rows, x, f);
        SNW_TRY(
            snw_sensitivity_rank_correlation(r->t.head.rows, x, f, &t->value[2 * i + 1], r->err));
    }
    return SNW_OK;
}

static snw_status report_sensitivity(const report *r, int result) {
    const snw_sweep_head *d = &r->t.head;
    const double *f = result_of(r, result);
    const char *name = d->result[result].name;
    const bool sobol = strcmp(d->method, snw_sweep_method_name[SNW_SWEEP_SALTELLI]) == 0,
               morris = strcmp(d->method, snw_sweep_method_name[SNW_SWEEP_MORRIS]) == 0;
    index_table t = {.value = snw_pool_array(r->pool, 3 * (size_t)d->nparameter, sizeof *t.value)};
    if (!t.value) return snw_fail_memory(r->err);
    int64_t used = 0;
    snw_status s = sobol    ? sobol_table(r, f, &t, &used)
                   : morris ? morris_table(r, f, &t, &used)
                            : correlation_table(r, f, &t);
    const char *of = sobol ? "pairs" : morris ? "paths" : NULL;
    if (r->reply->json) {
        snw_field_object(r->reply->json, NULL);
        snw_field_text(r->reply->json, "result", name);
        if (s == SNW_OK) json_index_table(r, &t, used, of);
        snw_json_close(r->reply->json);
        return s == SNW_E_ARGUMENT ? SNW_OK : s;
    }
    if (s == SNW_E_ARGUMENT) { // of this result only
        printf("\n%s: no indices, %s\n", name, r->err->text);
        *r->err = (snw_error){0};
        return SNW_OK;
    }
    SNW_TRY(s);
    return print_index_table(r, name, &t, used, of);
}

// ---- Pareto front -------------------------------------------------------------------------------

static snw_status find_result(const report *r, const char *name, size_t length, int *out) {
    const snw_sweep_head *d = &r->t.head;
    for (*out = 0; *out < d->nresult; ++*out) {
        if (strlen(d->result[*out].name) == length &&
            strncmp(d->result[*out].name, name, length) == 0)
            return SNW_OK;
    }
    const char **known = snw_pool_array(r->pool, (size_t)d->nresult + 1, sizeof *known);
    char *word = snw_pool_text(r->pool, name, length);
    if (!known || !word) return snw_fail_memory(r->err);
    for (int i = 0; i < d->nresult; i++) known[i] = d->result[i].name;
    return snw_fail(r->err, SNW_E_ARGUMENT, "the sweep has no result '%.80s'%s", word,
                    snw_hint_text(snw_nearest(word, d->nresult, known)).text);
}

static snw_status report_pareto(const report *r, const char *text) {
    const snw_sweep_head *d = &r->t.head;
    const char *comma = strchr(text, ',');
    if (!comma || strchr(comma + 1, ','))
        return snw_fail(r->err, SNW_E_ARGUMENT, "--pareto takes two results, A,B; got '%.80s'",
                        text);
    const size_t n = (size_t)d->rows;
    double *value = snw_pool_array(r->pool, 2 * n, sizeof *value);
    int64_t *front = snw_pool_array(r->pool, n, sizeof *front), size = 0;
    if (!value || !front) return snw_fail_memory(r->err);
    int of[2];
    for (int k = 0; k < 2; k++) {
        const char *from = k == 0 ? text : comma + 1, *end = k == 0 ? comma : text + strlen(text);
        const double sign = *from == '-' ? -1 : 1;
        from += *from == '-';
        SNW_TRY(find_result(r, from, (size_t)(end - from), &of[k]));
        for (size_t i = 0; i < n; i++) value[(size_t)k * n + i] = sign * result_of(r, of[k])[i];
    }
    SNW_TRY(snw_sensitivity_pareto(d->rows, value, value + n, front, &size, r->err));
    snw_json *j = r->reply->json;
    if (j) {
        snw_field_list(j, "pareto");
        for (int64_t i = 0; i < size; i++) snw_field_integer(j, NULL, front[i]);
        snw_json_close(j);
        return SNW_OK;
    }
    snw_grid *g;
    char align[64] = "r";
    const int columns = d->nparameter < 8 ? d->nparameter : 8;
    memset(align + 1, 'r', (size_t)columns + 2);
    SNW_TRY(snw_grid_create(align, &g, r->err));
    snw_grid_cell(g, "row");
    for (int k = 0; k < 2; k++) snw_grid_cell(g, "%s", d->result[of[k]].name);
    for (int k = 0; k < columns; k++) snw_grid_cell(g, "%s", d->parameter[k].name);
    for (int64_t i = 0; i < size && i < SHOWN_FRONT; i++) {
        snw_grid_cell(g, "%lld", (long long)front[i]);
        for (int k = 0; k < 2; k++) snw_grid_number(g, 6, result_of(r, of[k])[front[i]]);
        for (int k = 0; k < columns; k++) snw_grid_number(g, 6, parameter_of(r, k)[front[i]]);
    }
    printf("%sPareto front, %lld rows\n", r->quiet ? "" : "\n", (long long)size);
    const snw_status s = snw_grid_print(g, stdout, r->err);
    snw_grid_destroy(g);
    if (size > SHOWN_FRONT) printf("  ... the first %d of %lld\n", SHOWN_FRONT, (long long)size);
    return s;
}

// ---- table --------------------------------------------------------------------------------------

static void write_all_rows(const report *r, const snw_sink *to) {
    const snw_sweep_head *d = &r->t.head;
    snw_cell_text(to, "row");
    snw_cell_comma(to);
    snw_cell_text(to, "state");
    for (int k = 0; k < d->nparameter + d->nresult; k++) {
        snw_cell_comma(to);
        snw_cell_text(to,
                      k < d->nparameter ? d->parameter[k].name : d->result[k - d->nparameter].name);
    }
    snw_cell_end(to);
    for (int64_t i = 0; i < d->rows; i++) {
        char number[32];
        (void)snprintf(number, sizeof number, "%lld", (long long)i);
        snw_cell_text(to, number);
        snw_cell_comma(to);
        snw_cell_text(to, r->t.states.name[r->t.state[i]]);
        for (int k = 0; k < d->nparameter; k++) {
            const snw_sweep_column *c = &d->parameter[k];
            const double x = parameter_of(r, k)[i];
            if (c->nlabel && x >= 0 && x < c->nlabel) {
                snw_cell_comma(to);
                snw_cell_text(to, c->label[(int)x]);
            } else {
                snw_cell_number(to, x);
            }
        }
        for (int k = 0; k < d->nresult; k++) snw_cell_number(to, result_of(r, k)[i]);
        snw_cell_end(to);
    }
}

static snw_status report_csv(const report *r, const char *path) {
    snw_output out;
    SNW_TRY(snw_output_open(path, &out, r->err));
    const snw_sink to = snw_output_sink(&out);
    write_all_rows(r, &to);
    SNW_TRY(snw_output_close(&out, SNW_OK, r->err));
    if (r->reply->json)
        snw_field_text(r->reply->json, "table", path);
    else if (!r->quiet)
        printf("table in %s\n", path);
    return SNW_OK;
}

// ---- the report ---------------------------------------------------------------------------------

// *chosen <- indices of the results of --result; all when it is not given
static snw_status choose_results(const report *r, const snw_args *args, int *n, int **chosen) {
    const char *const *text;
    const int given = snw_args_values(args, "result", &text);
    size_t room = (size_t)r->t.head.nresult + 1;
    for (int i = 0; i < given; i++) room += strlen(text[i]);
    *chosen = snw_pool_array(r->pool, room, sizeof **chosen);
    if (!*chosen) return snw_fail_memory(r->err);
    *n = 0;
    for (int i = 0; given == 0 && i < r->t.head.nresult; i++) (*chosen)[(*n)++] = i;
    for (int i = 0; i < given; i++) {
        for (const char *at = text[i]; *at; at += *at == ',') {
            const size_t length = strcspn(at, ",");
            SNW_TRY(find_result(r, at, length, &(*chosen)[(*n)++]));
            at += length;
        }
    }
    return SNW_OK;
}

static snw_status make_report(const report *r, const snw_args *args) {
    int n, *chosen;
    SNW_TRY(choose_results(r, args, &n, &chosen));
    const char *csv = snw_args_value(args, "csv"), *pareto = snw_args_value(args, "pareto");
    if (!r->quiet) {
        report_states(r);
        SNW_TRY(report_results(r, n, chosen));
        if (r->reply->json) snw_field_list(r->reply->json, "sensitivity");
        for (int i = 0; i < n; i++) SNW_TRY(report_sensitivity(r, chosen[i]));
        if (r->reply->json) snw_json_close(r->reply->json);
    }
    if (pareto) SNW_TRY(report_pareto(r, pareto));
    return csv ? report_csv(r, csv) : SNW_OK;
}

snw_status snw_sweep_print_report(const snw_args *args, const char *path, snw_reply *reply,
                                  snw_error *err) {
    report r = {.pool = snw_pool_create((size_t)16 << 30),
                .path = path,
                .quiet = snw_args_has(args, "quiet") && !reply->json,
                .reply = reply,
                .err = err};
    if (!r.pool) return snw_fail_memory(err);
    snw_status s = snw_sweep_table_read(path, r.pool, &r.t, err);
    if (s == SNW_OK) s = make_report(&r, args);
    snw_pool_destroy(r.pool);
    return s;
}
