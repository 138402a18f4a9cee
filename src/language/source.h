// SPDX-License-Identifier: MIT
//
// source.h: types and functions shared by the files that build the tree of a run (include,
// parameters, repeat, expand, override, runs, tree). Private to language/.
#pragma once

#include "base/fail.h"
#include "language/tree.h"

enum {
    SNW_INCLUDE_DEPTH = 16,
    SNW_INCLUDE_FILES = 64,
    SNW_RUNS_MAX = 1000,
    SNW_REPEAT_MAX = 20000,  // elements written out from repetitions, in one run
    SNW_REPEAT_INDICES = 8,  // indices in one name
    SNW_TREE_NODES = 500000, // values in the tree of one run
    SNW_CHANGES_MAX = 200    // change steps in a study
};

typedef struct snw_binding { // index of a repetition and its value
    const char *name;
    long value;
} snw_binding;

typedef struct snw_run_plan {
    const char *name;
    snw_source_location location;
    int nbind;
    const snw_binding *bind; // indices in the name of the run
    int n;
    const snw_entry *override; // paths and values, in the order written
} snw_run_plan;

struct snw_source {
    snw_pool *pool;
    const char *text;
    int nfile;
    const char **file;    // files read
    const snw_node *root; // includes merged, `x-` keys removed; still has `runs`
    int nset;
    const snw_entry *set; // overrides from the command line
    int nrun;
    const snw_run_plan *run;
    snw_table_fn *table; // reader of `table(..)` files; NULL: none
    void *table_user;
};

// An override of the run or of the command line, with its rank in the order of application.
typedef struct snw_ranked {
    const snw_entry *override;
    int layer; // 0: run, 1: command line, which takes precedence
    int depth; // of the replaced value: twice its number of keys from the root
    int order; // order as written
} snw_ranked;

// One value of the tree that an override has set.
typedef struct snw_set_value {
    const char *keys; // path from the root, each key terminated by '\x1f'
    const snw_entry *by;
    int layer;
    int order; // order of application
} snw_set_value;

// State while the tree of one run is built.
typedef struct snw_builder {
    snw_pool *pool; // owns the tree
    snw_error *err;
    int nchange;
    const snw_entry *change; // overrides from change steps so far, applied last
    bool changing;           // true while the overrides of change steps are applied
    int nranked, layer;
    snw_ranked
        *ranked; // of run and command line, in order of application; layer: of the current one
    int nset_value, set_value_room;
    snw_set_value *set_value; // values set by them
    snw_node *parameters;     // map of parameters, overrides applied
    const snw_entry **list;   // parameters that are lists, sorted by name
    int nlist;
    const snw_scope *run;      // indices in the name of the run, may be NULL
    snw_scope *scope;          // scope of the parameters
    int repeats, nodes;        // counts so far
    const char *file, *copied; // last file name copied into the pool: original and copy
} snw_builder;

snw_status snw_builder_memory(snw_builder *b); // SNW_E_MEMORY, for a NULL from the pool
// Add the source location `at` to a failure that has none.
snw_status snw_builder_locate(snw_builder *b, snw_status s, snw_source_location at);

// Report that memory is exhausted.
static inline snw_status snw_source_no_memory(snw_error *err) {
    return snw_fail(err, SNW_E_MEMORY, "no memory left to read the model");
}

// ---- include.c ----------------------------------------------------------------------------------

snw_status snw_source_load(snw_source *s, const char *path, snw_error *err);
// `kept`: the included files are part of the text, in the form of snw_source_text; no file is
// opened.
snw_status snw_source_load_text(snw_source *s, const char *name, const char *text, size_t length,
                                bool kept, snw_error *err);

// ---- runs.c -------------------------------------------------------------------------------------

snw_status snw_runs_parse_set(snw_source *s, int nset, const char *const *set, snw_error *err);
snw_status snw_runs_plan(snw_source *s, snw_error *err);

// ---- parameters.c -------------------------------------------------------------------------------

// Set b->parameters to the parameters of the file with overrides applied, and b->scope and b->list
// from them.
snw_status snw_parameters_make(snw_builder *b, const snw_source *s, const snw_run_plan *run);
// The parameter whose name a path begins with, NULL when there is none.
const snw_entry *snw_parameters_find(const snw_node *parameters, const char *name);
// Length of the identifier at the start of text, 0 when there is none.
size_t snw_name_word(const char *text);

// ---- repeat.c: names with indices ---------------------------------------------------------------

typedef snw_status snw_name_fn(void *user, const char *name, const snw_scope *scope, int nbind,
                               const snw_binding *bind);

// True if the text contains an index range such as `leg(k=1..6)`.
bool snw_name_has_range(const char *text);

// Call fn for every name that `text` expands to, with indices evaluated. Without ranges this is one
// call. Ranges are an error unless `ranges` is true. The scope passed to fn contains the indices of
// the ranges.
snw_status snw_name_each(snw_builder *b, const char *text, snw_source_location at,
                         const snw_scope *scope, bool ranges, snw_name_fn *fn, void *user);

// Evaluate a constant integer expression, `length` characters at text + skip; `at` is the location
// of text.
snw_status snw_name_integer(snw_builder *b, const snw_scope *scope, const char *text, size_t skip,
                            size_t length, snw_source_location at, long *out);

// ---- expand.c -----------------------------------------------------------------------------------

// Deep copy into the pool of the builder.
snw_status snw_node_copy(snw_builder *b, const snw_node *from, const snw_scope *scope,
                         snw_node **out);
// Deep copy with repetitions written out and the names of list parameters replaced by the lists.
snw_status snw_expand(snw_builder *b, const snw_node *from, const snw_scope *scope, snw_node **out);
// Add an entry, or replace the value of the entry with this key.
snw_status snw_node_set(snw_builder *b, snw_node *map, const char *key,
                        snw_source_location location, snw_node *value);
void snw_node_remove(snw_node *map, const char *key);

// ---- servo.c
// -------------------------------------------------------------------------------------

// Write servos of actuators as laws of their efforts, with the probes that these read.
snw_status snw_servos_expand(snw_builder *b, snw_node *root);

// ---- override_order.c ---------------------------------------------------------------------------

// Set b->ranked to the overrides of the run (may be NULL) and of the command line, in an order in
// which no override is lost: a whole value before the keys inside it, then the run before the
// command line.
snw_status snw_override_rank(snw_builder *b, const snw_source *s, const snw_run_plan *run);
// Sort the overrides of one change step by the same order, in place.
void snw_override_sort(const snw_node *parameters, int n, snw_entry *override);
// Refuse two overrides of the same layer that set the same value.
snw_status snw_override_conflicts(snw_builder *b);
// Record that `by` has set the value with these keys of the file; `item` may be empty.
snw_status snw_override_record(snw_builder *b, const snw_entry *by, const char *section,
                               const char *item, int n, const char *const *key);

// ---- override.c ---------------------------------------------------------------------------------

// True if this is a top-level key of the file.
bool snw_override_top_key(const char *name, size_t length);
snw_status snw_override_parameter(snw_builder *b, const snw_entry *override);
snw_status snw_override_thing(snw_builder *b, const snw_entry *override, snw_node *root);
// Set *out to the value that an override with this path would replace, NULL when it is not given.
snw_status snw_override_find(snw_builder *b, const char *text, snw_source_location at,
                             snw_node *root, const snw_node **out);
// Check that the names of things, steps and parameters are distinct, and that no probe has the name
// of a parameter. A thing is an entry of a section: link, site, loop, actuator, load, contact,
// fluid or material.
snw_status snw_check_names(snw_builder *b, const snw_node *root);
