// SPDX-License-Identifier: MIT
//
// source.h: what the makers of a run's tree share (include, parameters, repeat, expand, override,
// runs, tree). Private to io/.
#pragma once

#include "language/tree.h"

enum {
    SNW_INCLUDE_DEPTH = 16,
    SNW_INCLUDE_FILES = 64,
    SNW_RUNS_MAX = 1000,
    SNW_REPEAT_MAX = 10000,  // things written out of repetitions, in one run
    SNW_REPEAT_INDICES = 8,  // indices of one name
    SNW_TREE_NODES = 500000, // values in the tree of one run
    SNW_CHANGES_MAX = 200    // changes in a study
};

typedef struct snw_binding { // an index of a repetition and its value
    const char *name;
    long value;
} snw_binding;

typedef struct snw_run_plan {
    const char *name;
    snw_source_location location;
    int nbind;
    const snw_binding *bind; // indices of the run's own name
    int n;
    const snw_entry *override; // path and value, in the order written
} snw_run_plan;

struct snw_source {
    snw_pool *pool;
    const char *text;
    int nfile;
    const char **file;    // that were read
    const snw_node *root; // includes merged, `x-` keys gone; still with `runs`
    int nset;
    const snw_entry *set; // overrides of the command line
    int nrun;
    const snw_run_plan *run;
    snw_table_fn *table; // NULL: none
    void *table_user;
};

// An override of the run or of the command line, with its rank in the order of application.
typedef struct snw_ranked {
    const snw_entry *override;
    int layer; // 0: of the run, 1: of the command line, which lies above
    int depth; // of the part that is replaced, twice its keys from the root
    int order; // as written
} snw_ranked;

// One place of the tree that an override has set.
typedef struct snw_set_place {
    const char *keys; // from the root, each ended by '\x1f'
    const snw_entry *by;
    int layer;
    int order; // of application
} snw_set_place;

// The making of one run's tree.
typedef struct snw_builder {
    snw_pool *pool; // of the tree
    snw_error *err;
    int nchange;
    const snw_entry *change; // overrides of the study so far, above all others
    bool changing;           // those are being put in
    int nranked, layer;
    snw_ranked
        *ranked; // overrides of run and command line, as they are applied; layer of the present
    int nplace, place_room;
    snw_set_place *place;   // set by them
    snw_node *parameters;   // map, overridden
    const snw_entry **list; // those of them that are lists, by name
    int nlist;
    const snw_scope *run;      // indices of the run's name, may be NULL
    snw_scope *scope;          // parameters
    int repeats, nodes;        // so far
    const char *file, *copied; // the last file name copied into the pool, from and to
} snw_builder;

snw_status snw_builder_memory(snw_builder *b); // the failure for a NULL of the pool
// Give a failure without place one.
snw_status snw_builder_placed(snw_builder *b, snw_status s, snw_source_location at);

// ---- include.c: files ---------------------------------------------------------------------------

snw_status snw_source_load(snw_source *s, const char *path, snw_error *err);
// `kept`: includes stand in the text, as snw_source_text has it, and no file is read.
snw_status snw_source_load_text(snw_source *s, const char *name, const char *text, size_t length,
                                bool kept, snw_error *err);

// ---- runs.c -------------------------------------------------------------------------------------

snw_status snw_runs_parse_set(snw_source *s, int nset, const char *const *set, snw_error *err);
snw_status snw_runs_plan(snw_source *s, snw_error *err);

// ---- parameters.c -------------------------------------------------------------------------------

// b->parameters <- those of the file, overridden; b->scope and b->list from them.
snw_status snw_parameters_make(snw_builder *b, const snw_source *s, const snw_run_plan *run);
// The parameter a path or name begins with, NULL when there is none.
const snw_entry *snw_parameters_find(const snw_node *parameters, const char *name);
// Length of the word at the beginning of text, 0 when it does not begin with a word.
size_t snw_name_word(const char *text);

// ---- repeat.c: names with indices ---------------------------------------------------------------

typedef snw_status snw_name_fn(void *user, const char *name, const snw_scope *scope, int nbind,
                               const snw_binding *bind);

// Is there an index range, `leg(k=1..6)`, in this text?
bool snw_name_has_range(const char *text);

// Call fn for every name that `text` stands for, indices evaluated; just once unless there are
// ranges, which only count when allowed. `scope` of fn has the ranges' indices.
snw_status snw_name_each(snw_builder *b, const char *text, snw_source_location at,
                         const snw_scope *scope, bool ranges, snw_name_fn *fn, void *user);

// A constant whole number, `length` characters at text + skip; `at` is where text begins.
snw_status snw_name_whole(snw_builder *b, const snw_scope *scope, const char *text, size_t skip,
                          size_t length, snw_source_location at, long *out);

// ---- expand.c -----------------------------------------------------------------------------------

// A copy in the pool, as it is.
snw_status snw_node_copy(snw_builder *b, const snw_node *from, const snw_scope *scope,
                         snw_node **out);
// A copy with repetitions written out and lists put in for the parameters that name them.
snw_status snw_expand(snw_builder *b, const snw_node *from, const snw_scope *scope, snw_node **out);
// Add an entry or replace the value of the one that has this key.
snw_status snw_node_set(snw_builder *b, snw_node *map, const char *key,
                        snw_source_location location, snw_node *value);
void snw_node_remove(snw_node *map, const char *key);

// ---- override_order.c ---------------------------------------------------------------------------

// b->ranked <- overrides of the run (may be NULL) and the command line in the order in which none
// is lost: whole parts before keys inside them; then the run's before those of the command line.
snw_status snw_override_rank(snw_builder *b, const snw_source *s, const snw_run_plan *run);
// The same for the overrides of one change, in place.
void snw_override_sort(const snw_node *parameters, int n, snw_entry *override);
// Refuse two overrides of one layer that set the same place.
snw_status snw_override_conflicts(snw_builder *b);
// Remember that `by` has set the place with these keys of the file; `item` may be empty.
snw_status snw_override_note(snw_builder *b, const snw_entry *by, const char *section,
                             const char *item, int n, const char *const *key);

// ---- override.c ---------------------------------------------------------------------------------

// Is this a key of the file?
bool snw_override_top_key(const char *name, size_t length);
snw_status snw_override_parameter(snw_builder *b, const snw_entry *override);
snw_status snw_override_thing(snw_builder *b, const snw_entry *override, snw_node *root);
// *out <- the value that an override with this path would replace, NULL when there is none yet.
snw_status snw_override_find(snw_builder *b, const char *text, snw_source_location at,
                             snw_node *root, const snw_node **out);
// Things, steps and parameters have names of their own, probes no parameter's.
snw_status snw_check_names(snw_builder *b, const snw_node *root);
