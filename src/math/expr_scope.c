// SPDX-License-Identifier: MIT
//
// Scopes of the expression language: hash tables of parameters, functions, lists and indices.
#include "math/expr_scope.h"

#include "base/fail.h"
#include "math/expr_words.h"

#include <stdio.h>
#include <string.h>

snw_scope *snw_scope_create(snw_pool *pool, const snw_scope *outer) {
    snw_scope *s = snw_pool_take(pool, sizeof *s);
    if (!s) return NULL;
    s->pool = pool;
    s->outer = outer;
    return s;
}

void snw_scope_tables(snw_scope *s, snw_table_fn *fn, void *user) {
    s->table = fn;
    s->table_user = user;
}

void snw_scope_signals(snw_scope *s, const snw_signal_source *source) { s->signals = source; }

// ---- names -------------------------------------------------------------------------------------

static uint32_t expr_scope_hash(const char *word, size_t length) {
    uint32_t h = 2166136261U;
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)word[i]) * 16777619U;
    return h;
}

// Slot of the name, or the empty slot in which it would be inserted.
static snw_expr_entry **find_slot(snw_expr_entry **slot, int nslot, const char *word,
                                  size_t length) {
    uint32_t i = expr_scope_hash(word, length) & (uint32_t)(nslot - 1);
    while (slot[i] && !snw_word_is(word, length, slot[i]->name))
        i = (i + 1) & (uint32_t)(nslot - 1);
    return &slot[i];
}

snw_expr_entry *snw_scope_find(const snw_scope *s, const char *word, size_t length) {
    for (; s; s = s->outer) {
        if (s->nslot == 0) continue;
        snw_expr_entry *e = *find_slot(s->slot, s->nslot, word, length);
        if (e) return e;
    }
    return NULL;
}

bool snw_scope_has(const snw_scope *s, const char *name) {
    return snw_scope_find(s, name, strlen(name)) != NULL;
}

static snw_status expr_scope_out_of_memory(snw_error *err) {
    (void)snw_fail(err, SNW_E_MEMORY, "no memory for the parameters");
    return SNW_E_MEMORY;
}

static snw_status expr_scope_grow(snw_scope *s, snw_error *err) {
    if (s->nentry < s->nslot / 2) return SNW_OK;
    const int nslot = s->nslot ? 2 * s->nslot : 8;
    snw_expr_entry **slot = snw_pool_array(s->pool, (size_t)nslot, sizeof(void *));
    if (!slot) return expr_scope_out_of_memory(err);
    for (int i = 0; i < s->nslot; i++) {
        const snw_expr_entry *e = s->slot[i];
        if (e) *find_slot(slot, nslot, e->name, strlen(e->name)) = s->slot[i];
    }
    s->slot = slot;
    s->nslot = nslot;
    return SNW_OK;
}

static snw_status expr_scope_refuse(snw_error *err, snw_source_location location,
                                    const char *format, const char *name, size_t length) {
    char text[256];
    (void)snprintf(text, sizeof text, format, (int)(length > 60 ? 60 : length), name);
    (void)snw_expr_fail(err, SNW_E_PARSE, location, text);
    return SNW_E_PARSE;
}

static snw_status check_name(const char *name, snw_source_location location, snw_error *err) {
    const size_t length = strlen(name);
    if (length == 0 || snw_word_length(name) != length) {
        return expr_scope_refuse(err, location, "'%.*s' is not a name (letters, digits and _ only)",
                                 name, length);
    }
    if (snw_word_reserved(name)) {
        return expr_scope_refuse(
            err, location, "'%.*s' is a word of the language, choose another name", name, length);
    }
    return SNW_OK;
}

// Insert a new entry after checks of its name.
static snw_status expr_scope_add(snw_scope *s, const char *name, snw_source_location location,
                                 snw_expr_entry **out, snw_error *err) {
    SNW_TRY(check_name(name, location, err));
    SNW_TRY(expr_scope_grow(s, err));
    snw_expr_entry **slot = find_slot(s->slot, s->nslot, name, strlen(name));
    if (*slot)
        return expr_scope_refuse(err, location, "'%.*s' is defined twice", name, strlen(name));
    snw_expr_entry *e = snw_pool_take(s->pool, sizeof *e);
    char *copy = snw_pool_text(s->pool, name, strlen(name));
    char *file =
        location.file ? snw_pool_text(s->pool, location.file, strlen(location.file)) : NULL;
    if (!e || !copy || (location.file && !file)) return expr_scope_out_of_memory(err);
    e->name = copy;
    e->location = (snw_source_location){file, location.line, location.column};
    e->scope = s;
    *slot = e;
    s->nentry++;
    if (s->last) s->last->next = e;
    if (!s->first) s->first = e;
    s->last = e;
    *out = e;
    return SNW_OK;
}

// ---- definitions -------------------------------------------------------------------------------

// Split `f(a, b)` into name and arguments, copied to the pool; without bracket only a name.
static snw_status expr_scope_read_head(snw_pool *pool, const char *head,
                                       snw_source_location location, char **name, char ***args,
                                       int *nargs, snw_error *err) {
    const size_t total = strlen(head);
    const char *open = strchr(head, '(');
    *nargs = 0;
    size_t length = open ? (size_t)(open - head) : total;
    while (length > 0 && snw_is_blank(head[length - 1])) length--;
    *name = snw_pool_text(pool, head, length);
    if (!*name) return expr_scope_out_of_memory(err);
    if (!open) return SNW_OK;
    if (head[total - 1] != ')') {
        return expr_scope_refuse(err, location, "'%.*s': a function is written f(a, b)", head,
                                 total);
    }
    *args = snw_pool_array(pool, SNW_ARGS_MAX, sizeof **args);
    if (!*args) return expr_scope_out_of_memory(err);
    for (const char *p = open + 1, *end = head + total - 1;;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        const char *stop = comma ? comma : end;
        while (p < stop && snw_is_blank(*p)) p++;
        length = (size_t)(stop - p);
        while (length > 0 && snw_is_blank(p[length - 1])) length--;
        if (*nargs == SNW_ARGS_MAX) {
            return expr_scope_refuse(err, location, "'%.*s' has too many arguments", head, total);
        }
        char *arg = snw_pool_text(pool, p, length);
        if (!arg) return expr_scope_out_of_memory(err);
        SNW_TRY(check_name(arg, location, err));
        for (int i = 0; i < *nargs; i++) {
            if (strcmp((*args)[i], arg) == 0) {
                return expr_scope_refuse(err, location, "'%.*s' has two arguments of one name",
                                         head, total);
            }
        }
        (*args)[(*nargs)++] = arg;
        if (!comma) return SNW_OK;
        p = comma + 1;
    }
}

snw_status snw_scope_define(snw_scope *s, const char *head, const char *text, const char *file,
                            int line, int column, snw_error *err) {
    const snw_source_location location = {file, line, column};
    char *name = NULL, **args = NULL;
    int nargs = 0;
    SNW_TRY(expr_scope_read_head(s->pool, head, location, &name, &args, &nargs, err));
    char *copy = snw_pool_text(s->pool, text, strlen(text));
    if (!copy) return expr_scope_out_of_memory(err);
    snw_expr_entry *e = NULL;
    SNW_TRY(expr_scope_add(s, name, location, &e, err));
    e->kind = nargs ? SNW_EXPR_ENTRY_FUNCTION : SNW_EXPR_ENTRY_VALUE;
    e->text = copy;
    e->args = args;
    e->nargs = nargs;
    return SNW_OK;
}

snw_status snw_scope_define_list(snw_scope *s, const char *name, int n, const char *const *text,
                                 const char *const *file, const int *line, const int *column,
                                 snw_error *err) {
    const snw_source_location location = {n > 0 ? file[0] : NULL, n > 0 ? line[0] : 0,
                                          n > 0 ? column[0] : 0};
    snw_expr_entry *e = NULL;
    SNW_TRY(expr_scope_add(s, name, location, &e, err));
    e->kind = SNW_EXPR_ENTRY_LIST;
    e->items = snw_pool_array(s->pool, n > 0 ? (size_t)n : 1, sizeof *e->items);
    if (!e->items) return expr_scope_out_of_memory(err);
    for (int i = 0; i < n; i++) {
        snw_expr_entry *item = &e->items[i];
        item->name = snw_pool_format(s->pool, "%s(%d)", name, i + 1); // for messages
        item->text = snw_pool_text(s->pool, text[i], strlen(text[i]));
        item->location = (snw_source_location){file[i], line[i], column[i]};
        item->scope = s;
        if (!item->name || !item->text) return expr_scope_out_of_memory(err);
    }
    e->nitems = n;
    return SNW_OK;
}

snw_status snw_scope_index(snw_scope *s, const char *name, long value, snw_error *err) {
    snw_expr_entry *e = NULL;
    snw_expr_node *node = snw_expr_node_constant(s->pool, (double)value);
    if (!node) return expr_scope_out_of_memory(err);
    // an index is a plain number and fits every dimension, so a hidden parameter would not be
    // noticed
    const snw_expr_entry *hidden = s->outer ? snw_scope_find(s->outer, name, strlen(name)) : NULL;
    if (hidden && hidden->location.line > 0) {
        return snw_fail(
            err, SNW_E_PARSE,
            "index '%.40s' has the name of a parameter, line %d%s%.100s, which it would "
            "hide; choose another",
            name, hidden->location.line, hidden->location.file ? " of " : "",
            hidden->location.file ? hidden->location.file : "");
    }
    SNW_TRY(expr_scope_add(s, name, (snw_source_location){0}, &e, err));
    e->kind = SNW_EXPR_ENTRY_VALUE;
    e->term = (snw_term){.node = node, .q = snw_quantity_plain()};
    e->done = true;
    return SNW_OK;
}

snw_status snw_scope_check(snw_scope *s, snw_error *err) {
    for (snw_expr_entry *e = s->first; e; e = e->next) SNW_TRY(snw_expr_entry_check(e, err));
    return SNW_OK;
}
