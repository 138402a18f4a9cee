// SPDX-License-Identifier: MIT
//
// Entry points that read model files and build the tree of one run: parameters first, then
// expansion of the file's tree, then overrides in order of rank, then the change steps of a study.
#include "language/tree.h"

#include "base/fail.h"
#include "language/source.h"

#include <string.h>

enum { SOURCE_BYTES = 512 << 20 }; // covers texts, nodes of all files and plans of the runs

// ---- sources ------------------------------------------------------------------------------------

static snw_status tree_finish(snw_source *s, int nset, const char *const *set, snw_error *err) {
    SNW_TRY(snw_runs_parse_set(s, nset, set, err));
    return snw_runs_plan(s, err);
}

static snw_status tree_create(snw_source **out, snw_error *err) {
    snw_pool *pool = snw_pool_create(SOURCE_BYTES);
    snw_source *s = pool ? snw_pool_take(pool, sizeof *s) : NULL;
    if (!s) {
        snw_pool_destroy(pool);
        return snw_fail(err, SNW_E_MEMORY, "no memory left to read the model");
    }
    s->pool = pool;
    *out = s;
    return SNW_OK;
}

snw_status snw_source_read(const char *path, int nset, const char *const *set, snw_source **out,
                           snw_error *err) {
    snw_source *s = NULL;
    SNW_TRY(tree_create(&s, err));
    snw_status status = snw_source_load(s, path, err);
    if (status == SNW_OK) status = tree_finish(s, nset, set, err);
    if (status == SNW_OK) {
        *out = s;
    } else {
        snw_source_destroy(s);
    }
    return status;
}

static snw_status tree_parse(const char *name, const char *text, size_t length, bool kept, int nset,
                             const char *const *set, snw_source **out, snw_error *err) {
    snw_source *s = NULL;
    SNW_TRY(tree_create(&s, err));
    snw_status status = snw_source_load_text(s, name, text, length, kept, err);
    if (status == SNW_OK) status = tree_finish(s, nset, set, err);
    if (status == SNW_OK) {
        *out = s;
    } else {
        snw_source_destroy(s);
    }
    return status;
}

snw_status snw_source_parse(const char *name, const char *text, size_t length, int nset,
                            const char *const *set, snw_source **out, snw_error *err) {
    return tree_parse(name, text, length, false, nset, set, out, err);
}

snw_status snw_source_parse_kept(const char *name, const char *text, int nset,
                                 const char *const *set, snw_source **out, snw_error *err) {
    return tree_parse(name, text, strlen(text), true, nset, set, out, err);
}

void snw_source_destroy(snw_source *s) {
    if (s) snw_pool_destroy(s->pool); // holds s itself
}

void snw_source_tables(snw_source *s, snw_table_fn *fn, void *user) {
    s->table = fn;
    s->table_user = user;
}

const char *snw_source_text(const snw_source *s) { return s->text; }
int snw_source_files(const snw_source *s) { return s->nfile; }
const char *snw_source_file(const snw_source *s, int i) { return s->file[i]; }

int snw_source_runs(const snw_source *s) { return s->nrun; }

const char *snw_source_run_name(const snw_source *s, int run) {
    SNW_ASSERT(run >= 0 && run < s->nrun);
    return s->run[run].name;
}

int snw_source_overrides(const snw_source *s, int run) { return s->run[run].n + s->nset; }

const snw_entry *snw_source_override(const snw_source *s, int run, int i) {
    const int own = s->run[run].n;
    return i < own ? &s->run[run].override[i] : &s->set[i - own];
}

// ---- the tree of a run --------------------------------------------------------------------------

// indices in the name of the run, in the outermost scope
static snw_status bind_run(snw_builder *b, const snw_run_plan *run) {
    if (run->nbind == 0) return SNW_OK;
    snw_scope *scope = snw_scope_create(b->pool, NULL);
    if (!scope) return snw_builder_memory(b);
    for (int i = 0; i < run->nbind; i++) {
        const char *name = snw_pool_text(b->pool, run->bind[i].name, strlen(run->bind[i].name));
        if (!name) return snw_builder_memory(b);
        const snw_status s = snw_scope_index(scope, name, run->bind[i].value, b->err);
        SNW_TRY(snw_builder_locate(b, s, run->location));
    }
    b->run = scope;
    return SNW_OK;
}

// the file's tree without `runs`, with parameters as overridden
static snw_status expand_root(snw_builder *b, const snw_source *s, snw_node **root) {
    snw_node remaining = *s->root;
    remaining.entry = snw_pool_array(b->pool, (size_t)remaining.n + 1, sizeof *remaining.entry);
    if (!remaining.entry) return snw_builder_memory(b);
    remaining.n = 0;
    for (int i = 0; i < s->root->n; i++) {
        const snw_entry *e = &s->root->entry[i];
        if (strcmp(e->key, "runs") == 0 || strcmp(e->key, "parameters") == 0) continue;
        remaining.entry[remaining.n++] = *e;
    }
    SNW_TRY(snw_expand(b, &remaining, b->scope, root));
    if (b->parameters->n == 0) return SNW_OK;
    return snw_node_set(b, *root, "parameters", b->parameters->location, b->parameters);
}

static snw_status override_things(snw_builder *b, int n, const snw_entry *override,
                                  snw_node *root) {
    for (int i = 0; i < n; i++) {
        if (snw_parameters_find(b->parameters, override[i].key)) continue;
        SNW_TRY(snw_override_thing(b, &override[i], root));
    }
    return SNW_OK;
}

snw_status snw_source_tree(const snw_source *s, int run, snw_pool *pool, snw_node **root,
                           snw_error *err) {
    snw_signals *signals = snw_signals_create(pool); // parameters may read probes
    if (!signals) return snw_fail(err, SNW_E_MEMORY, "no memory for the tree of a run");
    return snw_source_tree_changed(s, run, 0, NULL, signals, pool, root, err);
}

snw_status snw_source_tree_changed(const snw_source *s, int run, int nchange,
                                   const snw_entry *change, snw_signals *signals, snw_pool *pool,
                                   snw_node **root, snw_error *err) {
    SNW_ASSERT(run >= 0 && run < s->nrun);
    const snw_run_plan *plan = &s->run[run];
    snw_error fault = {0}; // has no location until snw_builder_locate adds one
    snw_builder b = {.pool = pool, .err = err ? err : &fault, .nchange = nchange, .change = change};
    *b.err = fault;
    SNW_TRY(bind_run(&b, plan));
    SNW_TRY(snw_parameters_make(&b, s, plan));
    snw_node *made = NULL;
    SNW_TRY(expand_root(&b, s, &made));
    for (int i = 0; i < b.nranked; i++) {
        b.layer = b.ranked[i].layer;
        SNW_TRY(override_things(&b, 1, b.ranked[i].override, made));
    }
    SNW_TRY(snw_override_conflicts(&b));
    b.changing = true;
    SNW_TRY(override_things(&b, nchange, change, made));
    SNW_TRY(snw_servos_expand(&b, made));
    SNW_TRY(snw_check_names(&b, made));
    if (signals) {
        SNW_TRY(snw_signals_begin(signals, made, b.err));
        snw_scope_signals(b.scope, &signals->source);
    }
    SNW_TRY(snw_scope_check(b.scope, b.err));
    *root = made;
    return SNW_OK;
}

snw_status snw_source_find(const snw_source *s, int run, const char *path, snw_source_location at,
                           snw_pool *pool, const snw_node **out, snw_error *err) {
    snw_node *root = NULL;
    SNW_TRY(snw_source_tree(s, run, pool, &root, err));
    return snw_tree_find(root, path, at, pool, out, err);
}

snw_status snw_tree_find(snw_node *root, const char *path, snw_source_location at, snw_pool *pool,
                         const snw_node **out, snw_error *err) {
    snw_node none = {.kind = SNW_NODE_MAP, .text = ""}, *given = snw_node_get(root, "parameters");
    snw_builder b = {.pool = pool, .err = err, .parameters = given ? given : &none};
    return snw_override_find(&b, path, at, root, out);
}
