// SPDX-License-Identifier: MIT
//
// Orders overrides so that none is lost by the order in which they are written: a whole value is
// set before the keys inside it. Two overrides that set the same value are refused.
#include "language/source.h"

#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_NAME = 1 << 20 }; // larger than any path

// Number of keys of a path: dots outside of parentheses, plus one.
static int count_keys(const char *text) {
    int n = 1, depth = 0;
    for (; *text; text++) {
        depth += (*text == '(') - (*text == ')');
        n += *text == '.' && depth <= 0;
    }
    return n;
}

// Start and length of key number k of a path.
static const char *key_at(const char *text, int k, size_t *length) {
    int depth = 0;
    for (; k > 0 && *text; text++) {
        depth += (*text == '(') - (*text == ')');
        k -= *text == '.' && depth <= 0;
    }
    depth = 0;
    for (*length = 0; text[*length] && (text[*length] != '.' || depth > 0); ++*length) {
        depth += (text[*length] == '(') - (text[*length] == ')');
    }
    return text;
}

static bool key_is(const char *text, int k, const char *word) {
    size_t length;
    const char *key = key_at(text, k, &length);
    return length == strlen(word) && strncmp(key, word, length) == 0;
}

static bool key_is_number(const char *text, int k) {
    size_t length;
    const char *key = key_at(text, k, &length);
    return length > 0 && strspn(key, "0123456789") >= length;
}

static bool first_is_top(const char *text) {
    size_t length;
    const char *key = key_at(text, 0, &length);
    return snw_override_top_key(key, length);
}

static bool override_order_is_on_off(const snw_node *n) {
    return n->kind == SNW_NODE_TEXT && !n->quoted &&
           (!strcmp(n->text, "on") || !strcmp(n->text, "off"));
}

// Twice the number of keys from the root of the tree to the value that an override sets. It is
// needed before the tree exists; a name that is not a top-level key is an entry of a section, one
// level down.
static int depth_of(const snw_node *parameters, const snw_entry *e) {
    const int n = count_keys(e->key);
    const snw_entry *parameter = snw_parameters_find(parameters, e->key);
    if (parameter) { // a parameter, or an item of a list: `part(2)`, `part.2`
        return parameter->value->kind == SNW_NODE_LIST && (n > 1 || strchr(e->key, '(')) ? 6 : 4;
    }
    // rename a step last, after all other overrides have found it by its old name
    if (n > 1 && !first_is_top(e->key) && key_is(e->key, n - 1, "name")) return DEPTH_NAME;
    if (key_is(e->key, 0, "study")) return n == 2 ? 3 : n == 1 ? 2 : 2 * (n - 1);
    if (first_is_top(e->key)) return 2 * n;
    if (n == 1) return override_order_is_on_off(e->value) ? 6 : 4; // on and off set the key `when`
    return 2 * (key_is_number(e->key, 1) ? n : n + 1);
}

// At equal depth, paths with a range come before paths without.
static int by_rank(const void *a, const void *b) {
    const snw_ranked *p = a, *q = b;
    if (p->depth != q->depth) return p->depth < q->depth ? -1 : 1;
    if (p->layer != q->layer) return p->layer - q->layer;
    const bool many = snw_name_has_range(p->override->key);
    if (many != snw_name_has_range(q->override->key)) return many ? -1 : 1;
    return p->order - q->order;
}

snw_status snw_override_rank(snw_builder *b, const snw_source *s, const snw_run_plan *run) {
    const int nrun = run ? run->n : 0;
    b->ranked = snw_pool_array(b->pool, (size_t)nrun + (size_t)s->nset + 1, sizeof *b->ranked);
    if (!b->ranked) return snw_builder_memory(b);
    for (int i = 0; i < nrun + s->nset; i++) {
        const snw_entry *e = i < nrun ? &run->override[i] : &s->set[i - nrun];
        b->ranked[i] = (snw_ranked){
            .override = e, .layer = i >= nrun, .depth = depth_of(b->parameters, e), .order = i};
    }
    b->nranked = nrun + s->nset;
    qsort(b->ranked, (size_t)b->nranked, sizeof *b->ranked, by_rank);
    return SNW_OK;
}

// insertion sort: stable, and a change has few paths
void snw_override_sort(const snw_node *parameters, int n, snw_entry *override) {
    for (int i = 1; i < n; i++) {
        const snw_entry e = override[i];
        const snw_ranked here = {.override = &e, .depth = depth_of(parameters, &e), .order = i};
        int k = i;
        for (; k > 0; k--) {
            const snw_ranked before = {.override = &override[k - 1],
                                       .depth = depth_of(parameters, &override[k - 1]),
                                       .order = k - 1};
            if (by_rank(&before, &here) <= 0) break;
            override[k] = override[k - 1];
        }
        override[k] = e;
    }
}

snw_status snw_override_record(snw_builder *b, const snw_entry *by, const char *section,
                               const char *item, int n, const char *const *key) {
    if (b->changing)
        return SNW_OK; // change steps are applied one after the other; the later takes precedence
    if (b->nset_value == b->set_value_room) {
        const int room = b->set_value_room ? 2 * b->set_value_room : 16;
        snw_set_value *grown = snw_pool_array(b->pool, (size_t)room, sizeof *grown);
        if (!grown) return snw_builder_memory(b);
        if (b->nset_value) memcpy(grown, b->set_value, (size_t)b->nset_value * sizeof *grown);
        b->set_value = grown;
        b->set_value_room = room;
    }
    const char *keys = snw_pool_format(b->pool, "%s\x1f%s%s", section, item, *item ? "\x1f" : "");
    for (int k = 0; keys && k < n; k++) {
        keys = snw_pool_format(b->pool, "%s%s\x1f", keys, key[k]);
    }
    if (!keys) return snw_builder_memory(b);
    b->set_value[b->nset_value] =
        (snw_set_value){.keys = keys, .by = by, .layer = b->layer, .order = b->nset_value};
    b->nset_value++;
    return SNW_OK;
}

static int by_keys(const void *a, const void *b) {
    const snw_set_value *p = a, *q = b;
    const int order = strcmp(p->keys, q->keys);
    return order ? order : p->order - q->order;
}

// Sorted by keys, overrides of the same value are adjacent and in order of application.
snw_status snw_override_conflicts(snw_builder *b) {
    if (b->nset_value < 2) return SNW_OK;
    qsort(b->set_value, (size_t)b->nset_value, sizeof *b->set_value, by_keys);
    for (int i = 1; i < b->nset_value; i++) {
        const snw_set_value *p = &b->set_value[i - 1], *q = &b->set_value[i];
        if (p->layer != q->layer || strcmp(p->keys, q->keys) != 0) continue;
        if (snw_name_has_range(p->by->key) && !snw_name_has_range(q->by->key)) continue;
        if (strcmp(p->by->key, q->by->key) == 0) {
            return snw_fail_at(b->err, q->by->location,
                               "'%s' is overridden twice; keep one of them", q->by->key);
        }
        return snw_fail_at(b->err, q->by->location,
                           "'%s' and '%s' override the same value; keep one of them", p->by->key,
                           q->by->key);
    }
    return SNW_OK;
}
