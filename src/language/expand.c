// SPDX-License-Identifier: MIT
//
// expand.c: copying nodes into the tree of a run, with scopes, repetitions written out, and lists
// in the place of the parameters that name them.
#include "language/source.h"

#include "base/fail.h"

#include <string.h>

// ---- building blocks ----------------------------------------------------------------------------

snw_status snw_builder_memory(snw_builder *b) {
    return snw_fail(b->err, SNW_E_MEMORY, "no memory left for the tree of the model");
}

snw_status snw_builder_placed(snw_builder *b, snw_status s, snw_source_location at) {
    if (s == SNW_OK || s == SNW_E_MEMORY || !b->err || b->err->line > 0) return s;
    const snw_error fault = *b->err;
    return snw_fail_at(b->err, at, "%s", fault.text);
}

// the source may be gone before the tree, so file names are copied too, once in a row
static snw_status copy_place(snw_builder *b, snw_source_location from, snw_source_location *out) {
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

// a copy without what is inside
static snw_status shell(snw_builder *b, const snw_node *from, const snw_scope *scope,
                        snw_node **out) {
    if (++b->nodes > SNW_TREE_NODES) {
        return snw_fail_at(b->err, from->location, "more than %d values, repetitions written out",
                           SNW_TREE_NODES);
    }
    snw_node *n = snw_pool_take(b->pool, sizeof *n);
    if (!n) return snw_builder_memory(b);
    n->kind = from->kind;
    n->quoted = from->quoted;
    n->scope = scope;
    SNW_TRY(copy_place(b, from->location, &n->location));
    *out = n;
    return copy_text(b, from->text ? from->text : "", &n->text);
}

// a list or map while it grows
typedef struct growth {
    snw_node *node;
    int room;
} growth;

static snw_status expand_push(snw_builder *b, growth *g, const char *key,
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
    SNW_TRY(copy_place(b, location, &e->location));
    e->value = value;
    n->n++;
    return SNW_OK;
}

snw_status snw_node_set(snw_builder *b, snw_node *map, const char *key,
                        snw_source_location location, snw_node *value) {
    for (int i = 0; i < map->n; i++) {
        if (strcmp(map->entry[i].key, key) != 0) continue;
        map->entry[i].value = value;
        return copy_place(b, location, &map->entry[i].location);
    }
    growth g = {.node = map, .room = map->n};
    return expand_push(b, &g, key, location, value);
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
    SNW_TRY(shell(b, from, scope, out));
    growth g = {.node = *out};
    for (int i = 0; i < from->n; i++) {
        const snw_entry *e = &from->entry[i];
        snw_node *value = NULL;
        SNW_TRY(snw_node_copy(b, e->value, scope, &value));
        SNW_TRY(expand_push(b, &g, e->key, e->location, value));
    }
    return SNW_OK;
}

// ---- what the values of a key may be ------------------------------------------------------------

typedef enum treat {
    TREAT_WORDS, // words for people, copied as they are
    TREAT_PATHS, // names, also of parameters: ranges are written out, parameters stay
    TREAT_VALUES
} treat;

static treat treat_of(const char *key) {
    static const char *const words[] = {"title", "about", "source", "name"};
    static const char *const paths[] = {"find", "probe", "only"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(key, words[i]) == 0) return TREAT_WORDS;
    }
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (strcmp(key, paths[i]) == 0) return TREAT_PATHS;
    }
    return TREAT_VALUES;
}

// ---- lists in the place of their names ----------------------------------------------------------

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

// `along` or `along(j)`, where it names a list or a row; *out NULL when it does not
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
        SNW_TRY(snw_name_whole(b, scope, from->text, word + 1, length - word - 2, at, &row));
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
    return copy_place(b, from->location, &copy->location);
}

// ---- expansion ----------------------------------------------------------------------------------

static snw_status expand_expand(snw_builder *b, const snw_node *from, const snw_scope *scope,
                                treat how, snw_node **out);

// one name or item of those a range stands for
typedef struct spread {
    snw_builder *b;
    growth *into;
    const snw_entry *from;
    treat how;
} spread;

static snw_status spread_entry(void *user, const char *name, const snw_scope *scope, int nbind,
                               const snw_binding *bind) {
    (void)nbind, (void)bind;
    const spread *s = user;
    snw_node *value = NULL;
    SNW_TRY(expand_expand(s->b, s->from->value, scope, s->how, &value));
    return expand_push(s->b, s->into, name, s->from->location, value);
}

static snw_status spread_item(void *user, const char *name, const snw_scope *scope, int nbind,
                              const snw_binding *bind) {
    (void)nbind, (void)bind;
    const spread *s = user;
    snw_node item = *s->from->value;
    item.text = name;
    snw_node *value = NULL;
    SNW_TRY(shell(s->b, &item, scope, &value));
    return expand_push(s->b, s->into, NULL, s->from->location, value);
}

static snw_status expand_item(snw_builder *b, const snw_entry *e, const snw_scope *scope, treat how,
                              growth *into) {
    const snw_node *v = e->value;
    if (v->kind == SNW_NODE_TEXT && how != TREAT_WORDS && snw_name_has_range(v->text)) {
        spread s = {.b = b, .into = into, .from = e};
        snw_source_location at = v->location;
        if (v->quoted) at.column++;
        return snw_name_each(b, v->text, at, scope, true, spread_item, &s);
    }
    // overrides wait for what they are laid over
    const bool change = v->kind == SNW_NODE_MAP && v->n == 1 && !strcmp(v->entry[0].key, "change");
    snw_node *value = NULL;
    SNW_TRY(change ? snw_node_copy(b, v, scope, &value) : expand_expand(b, v, scope, how, &value));
    return expand_push(b, into, NULL, e->location, value);
}

static snw_status expand_text(snw_builder *b, const snw_node *from, const snw_scope *scope,
                              treat how, growth *into) {
    snw_node item = *from;
    const snw_entry e = {.location = from->location, .value = &item};
    return expand_item(b, &e, scope, how, into);
}

static snw_status expand_entry(snw_builder *b, const snw_entry *e, const snw_scope *scope,
                               growth *into) {
    const treat how = treat_of(e->key);
    spread s = {.b = b, .into = into, .from = e, .how = how};
    if (!strchr(e->key, '(')) return spread_entry(&s, e->key, scope, 0, NULL);
    return snw_name_each(b, e->key, e->location, scope, true, spread_entry, &s);
}

static snw_status expand_map(snw_builder *b, const snw_node *from, const snw_scope *scope,
                             snw_node *map) {
    growth g = {.node = map};
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
                       snw_location_of_path(first->location, second->location).text);
}

static snw_status expand_expand(snw_builder *b, const snw_node *from, const snw_scope *scope,
                                treat how, snw_node **out) {
    if (how == TREAT_WORDS && from->kind == SNW_NODE_TEXT) return shell(b, from, scope, out);
    if (from->kind == SNW_NODE_TEXT && how == TREAT_VALUES) {
        SNW_TRY(named_list(b, from, scope, out));
        if (*out) return SNW_OK;
    }
    snw_node *made = NULL;
    SNW_TRY(shell(b, from, scope, &made));
    if (!made) return snw_builder_memory(b);
    *out = made;
    growth g = {.node = made};
    switch (from->kind) {
    case SNW_NODE_NULL:
        return SNW_OK;
    case SNW_NODE_TEXT: // with a range it stands for a list
        if (!snw_name_has_range(from->text)) return SNW_OK;
        made->kind = SNW_NODE_LIST;
        made->text = "";
        return expand_text(b, from, scope, how, &g);
    case SNW_NODE_LIST:
        for (int i = 0; i < from->n; i++) {
            SNW_TRY(expand_item(b, &from->entry[i], scope, how, &g));
        }
        return SNW_OK;
    case SNW_NODE_MAP:
        return expand_map(b, from, scope, made);
    }
    return SNW_OK;
}

snw_status snw_expand(snw_builder *b, const snw_node *from, const snw_scope *scope,
                      snw_node **out) {
    return expand_expand(b, from, scope, TREAT_VALUES, out);
}
