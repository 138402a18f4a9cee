// SPDX-License-Identifier: MIT
//
// tree.h: builds the tree of one run from model files. It parses YAML under limits on size and
// depth, merges includes, resolves aliases and merge keys, collects parameters, expands repetitions
// and applies overrides.
#pragma once

#include "language/signals.h"

// Parsed model files, before a run is selected.
typedef struct snw_source snw_source;

// Read `path` and the files it includes. `set` are overrides `path=value` from the command line;
// they take precedence over those of every run. Syntax, version, includes and the list of runs are
// checked here. A failure to open the first file is SNW_E_IO with the path as file; every other
// failure is SNW_E_PARSE with a source location, whose file is `--set` for the command line.
SNW_NODISCARD snw_status snw_source_read(const char *path, int nset, const char *const *set,
                                         snw_source **out, snw_error *err);
// The same from memory. `name` is the file name in messages; includes are relative to the current
// folder.
SNW_NODISCARD snw_status snw_source_parse(const char *name, const char *text, size_t length,
                                          int nset, const char *const *set, snw_source **out,
                                          snw_error *err);
// The same from a text in the form of snw_source_text: included files are taken from it, none is
// opened.
SNW_NODISCARD snw_status snw_source_parse_kept(const char *name, const char *text, int nset,
                                               const char *const *set, snw_source **out,
                                               snw_error *err);
void snw_source_destroy(snw_source *s); // NULL is fine

// The text as read: the first file, then the included files, each after a comment line with its
// name.
const char *snw_source_text(const snw_source *s);

// The model file and the files it includes, by the names under which they were opened.
int snw_source_files(const snw_source *s);
const char *snw_source_file(const snw_source *s, int i);

// Set the reader of `table(..)` files, before the first call of snw_source_tree. `file` is passed
// to it as written in the model.
void snw_source_tables(snw_source *s, snw_table_fn *fn, void *user);

// Runs, with index ranges and `each` expanded. A file without `runs:` has one run, "main".
int snw_source_runs(const snw_source *s);
const char *snw_source_run_name(const snw_source *s, int run);

// Build the tree of one run in `pool`; the tree may outlive the source. Keys `runs`, `include` and
// `x-...` are removed. Every `name(k=1..n)` is written out as name(1) .. name(n) with the index
// bound in the scope of its node. A text with a range becomes several items of its list (or a new
// list); indices in keys are evaluated. A text that names a list parameter, or a row of a list of
// lists, is replaced by that list. A step `change: {..}` of the study is copied as written.
// Overrides are applied, first those of the run, then those of the command line. Every node has a
// scope; root->scope is the scope of the parameters. Names of things, steps and parameters are
// checked to be distinct, and no probe may have the name of a parameter.
SNW_NODISCARD snw_status snw_source_tree(const snw_source *s, int run, snw_pool *pool,
                                         snw_node **root, snw_error *err);

// The same during a study: the overrides of its change steps so far are applied last, in their
// order. They come from the `change` steps of the run's tree, where they are as written, and name
// parameters, things or gravity. `signals` numbers the probes that laws read; NULL: they may read
// none.
SNW_NODISCARD snw_status snw_source_tree_changed(const snw_source *s, int run, int nchange,
                                                 const snw_entry *change, snw_signals *signals,
                                                 snw_pool *pool, snw_node **root, snw_error *err);

// Overrides of a run, then those of the command line.
int snw_source_overrides(const snw_source *s, int run);
const snw_entry *snw_source_override(const snw_source *s, int run, int i);

// Set *out to the value that an override with this path would replace in the tree of a run; NULL
// when it is not given. Fails at location `at` when the path names nothing.
SNW_NODISCARD snw_status snw_source_find(const snw_source *s, int run, const char *path,
                                         snw_source_location at, snw_pool *pool,
                                         const snw_node **out, snw_error *err);
// The same in a tree that has been made.
SNW_NODISCARD snw_status snw_tree_find(snw_node *root, const char *path, snw_source_location at,
                                       snw_pool *pool, const snw_node **out, snw_error *err);

// Evaluate the indices in the text of a node with its scope: `leg(k-1).tip` becomes `leg(2).tip`.
// The part from an '@' on is not changed.
SNW_NODISCARD snw_status snw_name_resolve(const snw_node *node, snw_pool *pool, const char **out,
                                          snw_error *err);
