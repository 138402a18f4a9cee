// SPDX-License-Identifier: MIT
//
// Puts the rows of all parts into the result file of a sweep.
#include "sweep/merge.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 1 << 18, TEXT = 200 }; // rows of a block

typedef struct merge_block {
    const snw_sweep_plan *plan;
    const snw_sweep_parts *parts;
    snw_sweep_writer *writer;
    snw_sweep_count *count;
    int64_t at; // first row
    int n;
    double *parameter, *result, *seconds, *value;
    int8_t *state, *engine;
    int64_t *first;
    int32_t *frames; // negative: its series are written
} merge_block;

static snw_status create_block(merge_block *b, snw_error *err) {
    const size_t n = b->plan->rows < BLOCK ? (size_t)b->plan->rows : BLOCK;
    b->parameter = snw_alloc(n * (size_t)b->plan->nparameter * sizeof *b->parameter);
    b->result = snw_alloc(n * (size_t)b->plan->nresult * sizeof *b->result);
    b->seconds = snw_alloc(n * sizeof *b->seconds);
    b->value = snw_alloc((size_t)b->plan->nparameter * sizeof *b->value);
    b->state = snw_alloc(n * sizeof *b->state);
    b->engine = snw_alloc(n * sizeof *b->engine);
    b->first = snw_alloc(n * sizeof *b->first);
    b->frames = snw_alloc(n * sizeof *b->frames);
    if (b->parameter && b->result && b->seconds && b->value && b->state && b->engine && b->first &&
        b->frames)
        return SNW_OK;
    return snw_fail_memory(err);
}

static void free_block(merge_block *b) {
    snw_free(b->parameter);
    snw_free(b->result);
    snw_free(b->seconds);
    snw_free(b->value);
    snw_free(b->state);
    snw_free(b->engine);
    snw_free(b->first);
    snw_free(b->frames);
}

static void note_bad(snw_sweep_count *count, const snw_sweep_row *row) {
    if (row->state == SNW_SWEEP_ROW_DONE || (count->bad >= 0 && count->bad < row->row)) return;
    count->bad = row->row;
    (void)snprintf(count->message, sizeof count->message, "%.250s", row->message);
}

static snw_status take_row(void *user, const snw_sweep_row *row, snw_error *err) {
    merge_block *b = user;
    if (row->row < b->at || row->row >= b->at + b->n) return SNW_OK;
    const size_t i = (size_t)(row->row - b->at), n = (size_t)b->n;
    if (b->state[i] != SNW_SWEEP_ROW_WAITING) return SNW_OK; // another part has it
    b->state[i] = (int8_t)row->state;
    b->engine[i] = (int8_t)row->engine;
    b->count->engine[row->engine]++;
    b->seconds[i] = row->seconds;
    b->frames[i] = row->nframe;
    for (size_t k = 0; k < (size_t)b->plan->nresult; k++) b->result[k * n + i] = row->result[k];
    b->count->seconds += row->seconds;
    note_bad(b->count, row);
    if (!row->message[0]) return SNW_OK;
    return snw_sweep_writer_message(b->writer, row->row, row->message, err);
}

static snw_status take_series(void *user, const snw_sweep_row *row, snw_error *err) {
    merge_block *b = user;
    if (row->row < b->at || row->row >= b->at + b->n) return SNW_OK;
    const size_t i = (size_t)(row->row - b->at);
    if (b->frames[i] != row->nframe) return SNW_OK; // written, or of another part
    b->frames[i] = -1;
    return snw_sweep_writer_series(b->writer, b->first[i], row->nframe, row->series, err);
}

static snw_status merge_rows(merge_block *b, int64_t *frames, snw_error *err) {
    const size_t n = (size_t)b->n;
    for (size_t i = 0; i < n; i++) {
        b->state[i] = SNW_SWEEP_ROW_WAITING;
        b->engine[i] = SNW_SWEEP_ALONE;
        b->seconds[i] = 0;
        b->frames[i] = 0;
        snw_sweep_plan_values(b->plan, b->at + (int64_t)i, b->value);
        for (size_t k = 0; k < (size_t)b->plan->nparameter; k++)
            b->parameter[k * n + i] = b->value[k];
    }
    for (size_t i = 0; i < n * (size_t)b->plan->nresult; i++) b->result[i] = NAN;
    SNW_TRY(snw_sweep_parts_visit(b->parts, take_row, b, err));
    for (size_t i = 0; i < n; i++) {
        b->first[i] = *frames;
        *frames += b->frames[i];
        b->count->state[b->state[i]]++;
    }
    const snw_sweep_block block = {.at = b->at,
                                   .n = b->n,
                                   .parameter = b->parameter,
                                   .seconds = b->seconds,
                                   .result = b->result,
                                   .state = b->state,
                                   .engine = b->engine,
                                   .first = b->first,
                                   .frames = b->frames};
    SNW_TRY(snw_sweep_writer_block(b->writer, &block, err));
    if (b->parts->nseries == 0) return SNW_OK;
    return snw_sweep_parts_visit(b->parts, take_series, b, err);
}

// ---- description --------------------------------------------------------------------------------

static void spread_text(const snw_sweep_parameter *p, char out[TEXT]) {
    switch (p->spread) {
    case SNW_SPREAD_VALUES:
        (void)snprintf(out, TEXT, "%d values", p->n);
        return;
    case SNW_SPREAD_COLUMN:
        (void)snprintf(out, TEXT, "column of a table");
        return;
    case SNW_SPREAD_UNIFORM:
        (void)snprintf(out, TEXT, "uniform from %.9g to %.9g", p->a, p->b);
        return;
    case SNW_SPREAD_LOGARITHM:
        (void)snprintf(out, TEXT, "logarithm uniform from %.9g to %.9g", p->a, p->b);
        return;
    case SNW_SPREAD_NORMAL:
        (void)snprintf(out, TEXT, "normal, mean %.9g, deviation %.9g", p->a, p->b);
        return;
    case SNW_SPREAD_LOG_NORMAL:
        (void)snprintf(out, TEXT, "log-normal, median %.9g, deviation %.9g of the logarithm", p->a,
                       p->b);
        return;
    }
}

// head (in the pool) <- description of the sweep for its file
static snw_status describe(const snw_sweep_plan *p, const snw_sweep_row_computer *c, snw_pool *pool,
                           snw_sweep_head *head, snw_error *err) {
    const int nseries = snw_sweep_row_columns(c);
    snw_sweep_column *parameter = snw_pool_array(pool, (size_t)p->nparameter, sizeof *parameter);
    snw_sweep_column *result = snw_pool_array(pool, (size_t)p->nresult, sizeof *result);
    const char **series = snw_pool_array(pool, (size_t)nseries + 1, sizeof *series);
    if (!parameter || !result || !series) return snw_fail_memory(err);
    for (int i = 0; i < p->nparameter; i++) {
        const snw_sweep_parameter *x = &p->parameter[i];
        char about[TEXT];
        spread_text(x, about);
        parameter[i] = (snw_sweep_column){.name = x->path,
                                          .unit = x->angle && !x->unit[0] ? "rad" : x->unit,
                                          .about = snw_pool_text(pool, about, strlen(about)),
                                          .nlabel = x->label ? x->n : 0,
                                          .label = x->label};
        if (!parameter[i].about) return snw_fail_memory(err);
    }
    for (int i = 0; i < p->nresult; i++)
        result[i] = (snw_sweep_column){.name = p->result[i].name,
                                       .unit = snw_sweep_row_unit(c, i),
                                       .about = p->result[i].text};
    for (int i = 0; i < nseries; i++) series[i] = snw_sweep_row_column(c, i);
    *head = (snw_sweep_head){.title = p->title,
                             .plan = p->text,
                             .model = snw_sweep_row_model_text(c),
                             .method = snw_sweep_method_name[p->method],
                             .seed = p->seed,
                             .identity = snw_sweep_row_identity(c),
                             .rows = p->rows,
                             .count = p->count > 0 ? p->count : p->rows,
                             .levels = p->levels,
                             .nparameter = p->nparameter,
                             .nresult = p->nresult,
                             .nseries = nseries,
                             .parameter = parameter,
                             .result = result,
                             .series = series};
    return SNW_OK;
}

static snw_status merge_all(merge_block *b, snw_error *err) {
    int64_t frames = 0;
    SNW_TRY(create_block(b, err));
    for (b->at = 0; b->at < b->plan->rows; b->at += b->n) {
        const int64_t left = b->plan->rows - b->at;
        b->n = left < BLOCK ? (int)left : BLOCK;
        SNW_TRY(merge_rows(b, &frames, err));
    }
    return SNW_OK;
}

snw_status snw_sweep_merge(const snw_sweep_plan *plan, const snw_sweep_row_computer *c,
                           const snw_sweep_parts *parts, const char *output, snw_sweep_count *count,
                           snw_error *err) {
    *count = (snw_sweep_count){.bad = -1};
    merge_block b = {.plan = plan, .parts = parts, .count = count};
    const snw_sweep_words states = {.n = SNW_SWEEP_ROW_STATE_COUNT,
                                    .name = snw_sweep_row_state_name};
    const snw_sweep_words engines = {.n = SNW_SWEEP_ENGINE_COUNT, .name = snw_sweep_engine_name};
    snw_sweep_head head;
    snw_pool *pool = snw_pool_create((size_t)64 << 20);
    snw_status s = pool ? describe(plan, c, pool, &head, err) : snw_fail_memory(err);
    if (s == SNW_OK) s = snw_sweep_writer_create(output, &head, states, engines, &b.writer, err);
    if (s == SNW_OK) {
        s = merge_all(&b, err);
        s = snw_sweep_writer_close(b.writer, s, err);
    }
    free_block(&b);
    snw_pool_destroy(pool);
    return s;
}
