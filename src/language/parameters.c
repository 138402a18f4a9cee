// SPDX-License-Identifier: MIT
//
// Collects the map `parameters` of a file, applies the overrides that concern it, and defines the
// scope in which expressions look up parameters.
#include "language/source.h"

#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

const snw_entry *snw_parameters_find(const snw_node *parameters, const char *name) {
    const size_t n = snw_name_word(name);
    if (!parameters || n == 0 || (name[n] && !strchr(".(", name[n]))) return NULL;
    for (int i = 0; i < parameters->n; i++) {
        const char *key = parameters->entry[i].key;
        if (strncmp(key, name, n) == 0 && snw_name_word(key) == n) return &parameters->entry[i];
    }
    return NULL;
}

// location of the text of a scalar, after an opening quote
static snw_source_location text_location(const snw_node *node) {
    snw_source_location p = node->location;
    if (node->quoted) p.column++;
    return p;
}

static bool all_are(const snw_node *list, snw_node_kind kind) {
    for (int i = 0; i < list->n; i++) {
        if (list->entry[i].value->kind != kind) return false;
    }
    return true;
}

static snw_status check_rows(snw_builder *b, const snw_entry *e) {
    for (int i = 0; i < e->value->n; i++) {
        const snw_node *row = e->value->entry[i].value;
        if (row->kind != SNW_NODE_LIST || !all_are(row, SNW_NODE_TEXT)) {
            return snw_fail_at(b->err, row->location,
                               "parameter '%s': a list holds values, or lists of values, not both",
                               e->key);
        }
    }
    return SNW_OK;
}

static snw_status define_list(snw_builder *b, snw_scope *scope, const snw_entry *e) {
    const snw_node *list = e->value;
    if (list->n == 0) return snw_fail_at(b->err, list->location, "parameter '%s' is empty", e->key);
    if (e->key[snw_name_word(e->key)] == '(') {
        return snw_fail_at(b->err, e->location, "function '%s' must be an expression, not a list",
                           e->key);
    }
    // rows are copied from the tree when named; expressions cannot refer to them
    if (!all_are(list, SNW_NODE_TEXT)) return check_rows(b, e);
    const size_t n = (size_t)list->n;
    const char **text = snw_pool_array(b->pool, n, sizeof *text);
    const char **file = snw_pool_array(b->pool, n, sizeof *file);
    int *line = snw_pool_array(b->pool, n, sizeof *line);
    int *column = snw_pool_array(b->pool, n, sizeof *column);
    if (!text || !file || !line || !column) return snw_builder_memory(b);
    for (int i = 0; i < list->n; i++) {
        const snw_source_location p = text_location(list->entry[i].value);
        text[i] = list->entry[i].value->text;
        file[i] = p.file;
        line[i] = p.line;
        column[i] = p.column;
    }
    const snw_status s =
        snw_scope_define_list(scope, e->key, list->n, text, file, line, column, b->err);
    return snw_builder_locate(b, s, e->location);
}

static snw_status define(snw_builder *b, snw_scope *scope, const snw_entry *e) {
    if (snw_name_word(e->key) == 0 || strchr(e->key, '=')) {
        return snw_fail_at(b->err, e->location,
                           "'%s' is not a parameter's name: write 'C: 2 N', 'a: [1, 2]' or 'B(u): "
                           "u^2'",
                           e->key);
    }
    const snw_source_location p = text_location(e->value);
    switch (e->value->kind) {
    case SNW_NODE_NULL:
        return snw_fail_at(b->err, e->location, "parameter '%s' has no value", e->key);
    case SNW_NODE_MAP:
        return snw_fail_at(b->err, e->location,
                           "parameter '%s' must be a value, a list or a function, not a map",
                           e->key);
    case SNW_NODE_LIST:
        return define_list(b, scope, e);
    case SNW_NODE_TEXT:
        break;
    }
    return snw_builder_locate(
        b, snw_scope_define(scope, e->key, e->value->text, p.file, p.line, p.column, b->err),
        e->location);
}

static int by_key(const void *a, const void *b) {
    const snw_entry *const p = *(const snw_entry *const *)a, *const q =
                                                                 *(const snw_entry *const *)b;
    return strcmp(p->key, q->key);
}

static snw_status gather_lists(snw_builder *b) {
    b->list = snw_pool_array(b->pool, (size_t)b->parameters->n + 1, sizeof(void *));
    if (!b->list) return snw_builder_memory(b);
    for (int i = 0; i < b->parameters->n; i++) {
        const snw_entry *e = &b->parameters->entry[i];
        if (e->value->kind == SNW_NODE_LIST) b->list[b->nlist++] = e;
    }
    qsort(b->list, (size_t)b->nlist, sizeof(void *), by_key);
    return SNW_OK;
}

static snw_status parameters_check_distinct(snw_builder *b) {
    const snw_node *map = b->parameters;
    const snw_entry *first, *second;
    SNW_TRY(snw_node_duplicate(map, &first, &second, b->err));
    if (second) {
        return snw_fail_at(b->err, second->location, "parameter '%s' is given twice, first in %s",
                           second->key, snw_location_text(first->location, second->location).text);
    }
    return SNW_OK;
}

static snw_status apply_overrides(snw_builder *b, int n, const snw_entry *override) {
    for (int i = 0; i < n; i++) {
        if (!snw_parameters_find(b->parameters, override[i].key)) continue;
        SNW_TRY(snw_override_parameter(b, &override[i]));
    }
    return SNW_OK;
}

snw_status snw_parameters_make(snw_builder *b, const snw_source *s, const snw_run_plan *run) {
    const snw_node *given = snw_node_get(s->root, "parameters");
    if (given && given->kind != SNW_NODE_MAP && given->kind != SNW_NODE_NULL) {
        return snw_fail_at(b->err, given->location, "'parameters' is a map of names and values");
    }
    const snw_node none = {.kind = SNW_NODE_MAP, .location = s->root->location, .text = ""};
    const bool empty = !given || given->kind == SNW_NODE_NULL;
    snw_scope *scope = snw_scope_create(b->pool, b->run);
    if (!scope) return snw_builder_memory(b);
    if (s->table) snw_scope_tables(scope, s->table, s->table_user);
    SNW_TRY(snw_node_copy(b, empty ? &none : given, scope, &b->parameters));
    SNW_TRY(snw_override_rank(b, s, run));
    for (int i = 0; i < b->nranked; i++) {
        b->layer = b->ranked[i].layer;
        SNW_TRY(apply_overrides(b, 1, b->ranked[i].override));
    }
    b->changing = true;
    SNW_TRY(apply_overrides(b, b->nchange, b->change));
    b->changing = false;
    SNW_TRY(parameters_check_distinct(b));
    for (int i = 0; i < b->parameters->n; i++) {
        SNW_TRY(define(b, scope, &b->parameters->entry[i]));
    }
    b->scope = scope;
    return gather_lists(b);
}
