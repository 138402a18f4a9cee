// SPDX-License-Identifier: MIT
//
// Rows of a sweep as runs of a result file: the stored model with the values of each row.
#include "sweep/show.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "job/write.h"
#include "language/node.h"
#include "language/yaml.h"
#include "sweep/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 256 };

// ---- choice -------------------------------------------------------------------------------------

static int compare_rows(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void add_row(int64_t row, int most, int *n, int64_t *rows) {
    if (row < 0 || *n >= most) return;
    for (int i = 0; i < *n; i++) {
        if (rows[i] == row) return;
    }
    rows[(*n)++] = row;
}

// Rows with the least and the greatest value of result k; -1: none is done.
static void find_extremes(const snw_sweep_table *t, int k, int64_t *least, int64_t *greatest) {
    const double *y = t->result + (size_t)k * (size_t)t->head.rows;
    *least = *greatest = -1;
    for (int64_t i = 0; i < t->head.rows; i++) {
        if (t->state[i] != SNW_SWEEP_ROW_DONE || !isfinite(y[i])) continue;
        if (*least < 0 || y[i] < y[*least]) *least = i;
        if (*greatest < 0 || y[i] > y[*greatest]) *greatest = i;
    }
}

int snw_sweep_show_choose(const snw_sweep_table *t, int most, int64_t *rows) {
    int64_t done = 0, seen = 0;
    int n = 0;
    for (int64_t i = 0; i < t->head.rows; i++) done += t->state[i] == SNW_SWEEP_ROW_DONE;
    for (int k = 0; done > most && k < t->head.nresult; k++) {
        int64_t least, greatest;
        find_extremes(t, k, &least, &greatest);
        add_row(least, most / 2, &n, rows);
        add_row(greatest, most / 2, &n, rows);
    }
    // row number floor(j done/left) of those that are done, j = 0 .. left - 1
    const int64_t left = done < most ? done : most - n;
    for (int64_t i = 0, j = 0; i < t->head.rows && j < left; i++) {
        if (t->state[i] != SNW_SWEEP_ROW_DONE) continue;
        if (seen++ != j * done / left) continue;
        add_row(i, most, &n, rows);
        j++;
    }
    qsort(rows, (size_t)n, sizeof *rows, compare_rows);
    return n;
}

// ---- the model ----------------------------------------------------------------------------------

// *run <- index of the run that the stored plan names
static snw_status find_run(const snw_sweep_table *t, snw_pool *pool, const snw_document *d,
                           int *run, snw_error *err) {
    snw_node *root;
    const char *plan = t->head.plan;
    SNW_TRY(snw_yaml_parse(pool, "plan", plan, strlen(plan), &root, err));
    const snw_node *name = snw_node_get(root, "run");
    for (*run = 0; name && name->text && *run < snw_document_runs(d); (*run)++) {
        if (strcmp(snw_document_run_name(d, *run), name->text) == 0) return SNW_OK;
    }
    *run = 0;
    if (!name) return SNW_OK;
    return snw_fail(err, SNW_E_PARSE, "its model has no run as its plan names one");
}

static void write_override(const snw_sweep_table *t, int k, int64_t row, char out[NAME]) {
    const snw_sweep_column *p = &t->head.parameter[k];
    const double value = t->parameter[(size_t)k * (size_t)t->head.rows + (size_t)row];
    if (p->nlabel > 0) {
        const int word = (int)value;
        (void)snprintf(out, NAME, "%s=%s", p->name,
                       word >= 0 && word < p->nlabel ? p->label[word] : "");
    } else {
        (void)snprintf(out, NAME, "%s=%.17g %s", p->name, value, p->unit);
    }
}

static snw_status describe_row(const snw_sweep_table *t, snw_pool *pool, snw_job *job, int run,
                               int64_t row, snw_job_run *out, snw_error *err) {
    const int n = t->head.nparameter;
    if (row < 0 || row >= t->head.rows || t->state[row] != SNW_SWEEP_ROW_DONE)
        return snw_fail(err, SNW_E_PARSE, "row %lld is not among its rows that are done",
                        (long long)row);
    const char **stored;
    int nstored;
    SNW_TRY(snw_job_sets(pool, job->text, &nstored, &stored, err));
    const char **set = snw_pool_array(pool, (size_t)(nstored + n) + 1, sizeof *set);
    char(*text)[NAME] = snw_pool_array(pool, (size_t)n + 1, sizeof *text);
    if (!set || !text) return snw_fail_memory(err);
    for (int i = 0; i < nstored; i++) set[i] = stored[i];
    for (int i = 0; i < n; i++) {
        write_override(t, i, row, text[i]);
        set[nstored + i] = text[i];
    }
    SNW_TRY(
        snw_document_describe_with(job->document, run, nstored + n, set, NULL, &out->desc, err));
    char name[40];
    (void)snprintf(name, sizeof name, "row %lld", (long long)row);
    out->name = snw_pool_text(pool, name, strlen(name));
    out->index = run;
    if (!out->name) return snw_fail_memory(err);
    return snw_run_create(out->desc, out->name, &out->run, err);
}

static snw_status open_rows(const snw_sweep_table *t, const char *path, snw_pool *pool, int n,
                            const int64_t *rows, snw_job *job, snw_error *err) {
    int run;
    job->path = path;
    job->text = snw_alloc(strlen(t->head.model) + 1);
    job->run = snw_alloc((size_t)n * sizeof *job->run);
    if (!job->text || !job->run) return snw_fail_memory(err);
    memcpy(job->text, t->head.model, strlen(t->head.model) + 1);
    SNW_TRY(snw_document_parse_kept(path, job->text, 0, NULL, &job->document, err));
    SNW_TRY(find_run(t, pool, job->document, &run, err));
    for (; job->n < n; job->n++) {
        snw_job_run *to = &job->run[job->n];
        const snw_status s = describe_row(t, pool, job, run, rows[job->n], to, err);
        if (s == SNW_OK) continue;
        snw_run_destroy(to->run);
        snw_desc_destroy(to->desc);
        return s;
    }
    return SNW_OK;
}

snw_status snw_sweep_show_write(const snw_sweep_table *t, const char *path, int n,
                                const int64_t *rows, int workers, bool (*stop)(void *user),
                                void *user, const char *output, snw_error *err) {
    snw_pool *pool = snw_pool_create((size_t)1 << 30);
    if (!pool) return snw_fail_memory(err);
    snw_job job = {0};
    snw_job_outcome *outcomes = NULL;
    const snw_job_hooks hooks = {.user = user, .stop = stop};
    snw_error why = {0};
    snw_status s = open_rows(t, path, pool, n, rows, &job, &why);
    const bool opened = s == SNW_OK;
    if (opened) s = snw_job_write(&job, output, workers, 0, NULL, &hooks, &outcomes, &why);
    // rows that fail have frames as well; what cannot be written or was stopped ends it
    const bool ended = !opened || !outcomes || s == SNW_E_STOPPED || s == SNW_E_IO;
    if (outcomes) snw_job_outcomes_free(&job, outcomes);
    snw_job_close(&job);
    snw_pool_destroy(pool);
    if (!ended || s == SNW_OK) return SNW_OK;
    if (err) *err = why;
    return s;
}
