// SPDX-License-Identifier: MIT
//
// expr_bench.h: fixture that the tests of expressions have in common.
#pragma once

#include "base/alloc.h"
#include "math/expr.h"

#include "near.h"

#include <stdio.h>
#include <string.h>

enum { TIME = SNW_VAR_T, ALL = SNW_VAR_T | SNW_VAR_X | SNW_VAR_L };

// A pool, a scope and the latest error, for one test each.
typedef struct bench {
    snw_pool *pool;
    snw_scope *scope;
    snw_error err;
} bench;

static inline int set_up(void **state) {
    bench *b = snw_alloc(sizeof *b);
    b->pool = snw_pool_create((size_t)256 << 20);
    b->scope = snw_scope_create(b->pool, NULL);
    *state = b;
    return 0;
}

static inline int tear_down(void **state) {
    bench *b = *state;
    snw_pool_destroy(b->pool);
    snw_free(b);
    return 0;
}

static inline void define(bench *b, const char *head, const char *text) {
    if (snw_scope_define(b->scope, head, text, "model.yaml", 3, 10, &b->err) != SNW_OK) {
        fail_msg("%s: %s: %s", head, text, b->err.text);
    }
}

static inline const snw_expr *parse(bench *b, const char *text, int vars) {
    const snw_expr *e = NULL;
    const snw_expr_rules rules = {.vars = vars};
    if (snw_expr_parse(b->pool, b->scope, text, &rules, "model.yaml", 7, 5, &e, &b->err) !=
        SNW_OK) {
        fail_msg("%s: column %d: %s", text, b->err.column, b->err.text);
    }
    return e;
}

static inline const snw_expr *parse_condition(bench *b, const char *text) {
    const snw_expr *e = NULL;
    const snw_expr_rules rules = {.vars = ALL, .condition = true};
    if (snw_expr_parse(b->pool, b->scope, text, &rules, NULL, 1, 1, &e, &b->err) != SNW_OK) {
        fail_msg("%s: %s", text, b->err.text);
    }
    return e;
}

static inline double value(bench *b, const char *text) {
    return snw_expr_value(parse(b, text, ALL), (snw_at){.t = 0.3, .x = 0.2, .L = 0.5});
}

// The text must be refused at a column, counted from 1 (0: any column), with a message that
// contains `says`.
static inline void refused_as(bench *b, const char *text, const snw_expr_rules *rules, int column,
                              const char *says) {
    const snw_expr *e = NULL;
    b->err = (snw_error){0};
    const snw_status s =
        snw_expr_parse(b->pool, b->scope, text, rules, "model.yaml", 7, 1, &e, &b->err);
    if (s != SNW_E_PARSE) fail_msg("'%.60s' was accepted", text);
    if ((column && b->err.column != column) || !strstr(b->err.text, says)) {
        fail_msg("'%.60s': column %d: %s; wanted %d: %s", text, b->err.column, b->err.text, column,
                 says);
    }
}

static inline void refused(bench *b, const char *text, int column, const char *says) {
    refused_as(b, text, &(snw_expr_rules){.vars = ALL}, column, says);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
