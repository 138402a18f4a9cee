// SPDX-License-Identifier: MIT
//
// Copies nodes into the tree of a run, sets their scopes, writes out repetitions, and replaces
// names of list parameters by the lists.
#include "language/source.h"

#include "base/fail.h"

#include <string.h>

// ---- building blocks ----------------------------------------------------------------------------

snw_status snw_builder_memory(snw_builder *b) {
    return snw_fail(b->err, SNW_E_MEMORY, "no memory left for the tree of the model");
}

snw_status snw_builder_locate(snw_builder *b, snw_status s, snw_source_location at) {
    if (s == SNW_OK || s == SNW_E_MEMORY || !b->err || b->err->line > 0) return s;
    const snw_error fault = *b->err;
    return snw_fail_at(b->err, at, "%s", fault.text);
}

// the tree may outlive the source, so the file name is copied too, once per sequence of equal names
static snw_status copy_location(snw_builder *b, snw_source_location from,
                                snw_source_location *out) {
    if (!from.file || from.file == b->copied) {
        *out = from;
        return SNW_OK;
    }
    if (from.file != b->file) {
        b->copied = snw_pool_text(b->pool, from.file, strlen(from.file));
        if (!b->copied) return snw_builder_memory(b);
        b->file = from.file;
    }
    from.file = b->copied;
    *out = from;
    return SNW_OK;
}

static snw_status copy_text(snw_builder *b, const char *from, const char **out) {
    *out = snw_pool_text(b->pool, from, strlen(from));
    return *out ? SNW_OK : snw_builder_memory(b);
}

// copy a node without its entries
static snw_status copy_shallow(snw_builder *b, const snw_node *from, const snw_scope *scope,
                               snw_node **out) {
    if (++b->nodes > SNW_TREE_NODES) {
        return snw_fail_at(b->err, from->location, "more than %d values, repetitions included",
                           SNW_TREE_NODES);
    }
    snw_node *n = snw_pool_take(b->pool, sizeof *n);
    if (!n) return snw_builder_memory(b);
    n->kind = from->kind;
    n->quoted = from->quoted;
    n->scope = scope;
    SNW_TRY(copy_location(b, from->location, &n->location));
    *out = n;
    return copy_text(b, from->text ? from->text : "", &n->text);
}

// a list or map with its capacity while entries are appended
typedef struct growing_node {
    snw_node *node;
    int room;
} growing_node;

static snw_status append_entry(snw_builder *b, growing_node *g, const char *key,
                               snw_source_location location, snw_node *value) {
    snw_node *n = g->node;
    if (n->n == g->room) {
        const int room = g->room ? 2 * g->room : 4;
        snw_entry *grown = snw_pool_array(b->pool, (size_t)room, sizeof *grown);
        if (!grown) return snw_builder_memory(b);
        if (n->n) memcpy(grown, n->entry, (size_t)n->n * sizeof *grown);
        n->entry = grown;
        g->room = room;
    }
    snw_entry *e = &n->entry[n->n];
    e->key = NULL;
    if (key) SNW_TRY(copy_text(b, key, &e->key));
    SNW_TRY(copy_location(b, location, &e->location));
    e->value = value;
    n->n++;
    return SNW_OK;
}

snw_status snw_node_set(snw_builder *b, snw_node *map, const char *key,
                        snw_source_location location, snw_node *value) {
    for (int i = 0; i < map->n; i++) {
        if (strcmp(map->entry[i].key, key) != 0) continue;
        map->entry[i].value = value;
        return copy_location(b, location, &map->entry[i].location);
    }
    growing_node g = {.node = map, .room = map->n};
    return append_entry(b, &g, key, location, value);
}

void snw_node_remove(snw_node *map, const char *key) {
    int kept = 0;
    for (int i = 0; i < map->n; i++) {
        if (strcmp(map->entry[i].key, key) != 0) map->entry[kept++] = map->entry[i];
    }
    map->n = kept;
}

snw_status snw_node_copy(snw_builder *b, const snw_node *from, const snw_scope *scope,
                         snw_node **out) {
    SNW_TRY(copy_shallow(b, from, scope, out));
    growing_node g = {.node = *out};
    for (int i = 0; i < from->n; i++) {
        const snw_entry *e = &from->entry[i];
        snw_node *value = NULL;
        SNW_TRY(snw_node_copy(b, e->value, scope, &value));
        SNW_TRY(append_entry(b, &g, e->key, e->location, value));
    }
    return SNW_OK;
}

// ---- interpretation of values by key ------------------------------------------------------------

typedef enum value_style {
    STYLE_TEXT,  // free text, copied unchanged
    STYLE_PATHS, // names and paths: ranges are expanded, list parameters are not replaced
    STYLE_VALUES
} value_style;

static value_style value_style_of(const char *key) {
    static const char *const words[] = {"title", "about", "source", "name"};
    static const char *const paths[] = {"find", "probe", "only"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(key, words[i]) == 0) return STYLE_TEXT;
    }
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (strcmp(key, paths[i]) == 0) return STYLE_PATHS;
    }
    return STYLE_VALUES;
}

// ---- list parameters ----------------------------------------------------------------------------

static const snw_entry *find_list(const snw_builder *b, const char *word, size_t length) {
    int lo = 0, hi = b->nlist;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        const char *key = b->list[mid]->key;
        int order = strncmp(key, word, length);
        if (order == 0) order = key[length] != '\0';
        if (order == 0) return b->list[mid];
        if (order < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return NULL;
}

// replace `along` or `along(j)` if it names a list parameter or a row of one; *out NULL otherwise
static snw_status named_list(snw_builder *b, const snw_node *from, const snw_scope *scope,
                             snw_node **out) {
    *out = NULL;
    const size_t word = snw_name_word(from->text);
    const snw_entry *e = word && b->nlist ? find_list(b, from->text, word) : NULL;
    if (!e) return SNW_OK;
    const snw_node *list = e->value;
    if (from->text[word]) {
        const size_t length = strlen(from->text);
        const bool whole = from->text[word] == '(' &&
                           strchr(from->text, ')') == from->text + length - 1 &&
                           !strchr(from->text + word + 1, '(');
        if (!whole || list->entry[0].value->kind != SNW_NODE_LIST) return SNW_OK;
        snw_source_location at = from->location;
        if (from->quoted) at.column++;
        long row = 0;
        SNW_TRY(snw_name_integer(b, scope, from->text, word + 1, length - word - 2, at, &row));
        if (row < 1 || row > list->n) {
            return snw_fail_at(b->err, at, "'%s' has rows 1 to %d, there is no row %ld", e->key,
                               list->n, row);
        }
        list = list->entry[row - 1].value;
    }
    snw_node *copy = NULL;
    SNW_TRY(snw_node_copy(b, list, b->scope, &copy));
    if (!copy) return snw_builder_memory(b);
    *out = copy;
    return copy_location(b, from->location, &copy->location);
}

// ---- expansion ----------------------------------------------------------------------------------

static snw_status expand_node(snw_builder *b, const snw_node *from, const snw_scope *scope,
                              value_style style, snw_node **out);

// callback data for the names or items of a range
typedef struct range_expansion {
    snw_builder *b;
    growing_node *into;
    const snw_entry *from;
    value_style style;
} range_expansion;

static snw_status add_range_entry(void *user, const char *name, const snw_scope *scope, int nbind,
                                  const snw_binding *bind) {
    (void)nbind, (void)bind;
    const range_expansion *s = user;
    snw_node *value = NULL;
    SNW_TRY(expand_node(s->b, s->from->value, scope, s->style, &value));
    return append_entry(s->b, s->into, name, s->from->location, value);
}

static snw_status add_range_item(void *user, const char *name, const snw_scope *scope, int nbind,
                                 const snw_binding *bind) {
    (void)nbind, (void)bind;
    const range_expansion *s = user;
    snw_node item = *s->from->value;
    item.text = name;
    snw_node *value = NULL;
    SNW_TRY(copy_shallow(s->b, &item, scope, &value));
    return append_entry(s->b, s->into, NULL, s->from->location, value);
}

static snw_status expand_item(snw_builder *b, const snw_entry *e, const snw_scope *scope,
                              value_style style, growing_node *into) {
    const snw_node *v = e->value;
    if (v->kind == SNW_NODE_TEXT && style != STYLE_TEXT && snw_name_has_range(v->text)) {
        range_expansion s = {.b = b, .into = into, .from = e};
        snw_source_location at = v->location;
        if (v->quoted) at.column++;
        return snw_name_each(b, v->text, at, scope, true, add_range_item, &s);
    }
    // the paths of a change are resolved when the change is applied
    const bool change = v->kind == SNW_NODE_MAP && v->n == 1 && !strcmp(v->entry[0].key, "change");
    snw_node *value = NULL;
    SNW_TRY(change ? snw_node_copy(b, v, scope, &value) : expand_node(b, v, scope, style, &value));
    return append_entry(b, into, NULL, e->location, value);
}

static snw_status expand_text(snw_builder *b, const snw_node *from, const snw_scope *scope,
                              value_style style, growing_node *into) {
    snw_node item = *from;
    const snw_entry e = {.location = from->location, .value = &item};
    return expand_item(b, &e, scope, style, into);
}

static snw_status expand_entry(snw_builder *b, const snw_entry *e, const snw_scope *scope,
                               growing_node *into) {
    const value_style style = value_style_of(e->key);
    range_expansion s = {.b = b, .into = into, .from = e, .style = style};
    if (!strchr(e->key, '(')) return add_range_entry(&s, e->key, scope, 0, NULL);
    return snw_name_each(b, e->key, e->location, scope, true, add_range_entry, &s);
}

static snw_status expand_map(snw_builder *b, const snw_node *from, const snw_scope *scope,
                             snw_node *map) {
    growing_node g = {.node = map};
    bool indices = false;
    for (int i = 0; i < from->n; i++) {
        SNW_TRY(expand_entry(b, &from->entry[i], scope, &g));
        indices = indices || strchr(from->entry[i].key, '(');
    }
    if (!indices) return SNW_OK;
    const snw_entry *first, *second;
    SNW_TRY(snw_node_duplicate(map, &first, &second, b->err));
    if (!second) return SNW_OK;
    return snw_fail_at(b->err, second->location, "'%s' is given twice, first in %s", second->key,
                       snw_location_text(first->location, second->location).text);
}

static snw_status expand_node(snw_builder *b, const snw_node *from, const snw_scope *scope,
                              value_style style, snw_node **out) {
    if (style == STYLE_TEXT && from->kind == SNW_NODE_TEXT)
        return copy_shallow(b, from, scope, out);
    if (from->kind == SNW_NODE_TEXT && style == STYLE_VALUES) {
        SNW_TRY(named_list(b, from, scope, out));
        if (*out) return SNW_OK;
    }
    snw_node *made = NULL;
    SNW_TRY(copy_shallow(b, from, scope, &made));
    if (!made) return snw_builder_memory(b);
    *out = made;
    growing_node g = {.node = made};
    switch (from->kind) {
    case SNW_NODE_NULL:
        return SNW_OK;
    case SNW_NODE_TEXT: // a text with a range expands to a list
        if (!snw_name_has_range(from->text)) return SNW_OK;
        made->kind = SNW_NODE_LIST;
        made->text = "";
        return expand_text(b, from, scope, style, &g);
    case SNW_NODE_LIST:
        for (int i = 0; i < from->n; i++) {
            SNW_TRY(expand_item(b, &from->entry[i], scope, style, &g));
        }
        return SNW_OK;
    case SNW_NODE_MAP:
        return expand_map(b, from, scope, made);
    }
    return SNW_OK;
}

snw_status snw_expand(snw_builder *b, const snw_node *from, const snw_scope *scope,
                      snw_node **out) {
    return expand_node(b, from, scope, STYLE_VALUES, out);
}
