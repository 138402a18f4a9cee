// SPDX-License-Identifier: MIT
//
// tree.h: from files to the tree of one run: YAML read safely, includes laid beneath, merges and
// aliases followed, parameters gathered, repetitions written out, overrides applied.
#pragma once

#include "language/signals.h"

// What was read, before any run is chosen.
typedef struct snw_source snw_source;

// Read `path` and what it includes; `set` are overrides `path=value` of the command line, laid over
// those of every run. Syntax, version, includes and the list of runs are checked here. A failure to
// open the first file is SNW_E_IO with the path as file, everything else SNW_E_PARSE with a place;
// the command line is called `--set` there.
SNW_NODISCARD snw_status snw_source_read(const char *path, int nset, const char *const *set,
                                         snw_source **out, snw_error *err);
// The same from memory; `name` stands in messages, includes are relative to the current folder.
SNW_NODISCARD snw_status snw_source_parse(const char *name, const char *text, size_t length,
                                          int nset, const char *const *set, snw_source **out,
                                          snw_error *err);
// The same from a text as snw_source_text gives it: included files are found there, none is opened.
SNW_NODISCARD snw_status snw_source_parse_kept(const char *name, const char *text, int nset,
                                               const char *const *set, snw_source **out,
                                               snw_error *err);
void snw_source_destroy(snw_source *s); // NULL is fine

// The text as read, included files after the first, each headed by a comment line with its name.
const char *snw_source_text(const snw_source *s);

// The file itself and those it includes, as they were opened.
int snw_source_files(const snw_source *s);
const char *snw_source_file(const snw_source *s, int i);

// Who reads the files of `table(..)`; to be said before the first snw_source_tree. `file` comes as
// written in the model.
void snw_source_tables(snw_source *s, snw_table_fn *fn, void *user);

// Runs, ranges of their names and `each` written out; without `runs:` there is one, "main".
int snw_source_runs(const snw_source *s);
const char *snw_source_run_name(const snw_source *s, int run);

// The whole tree of one run in `pool`, which may outlive the source. Keys `runs` and `include` are
// gone, `x-` keys dropped. Every `name(k=1..n)` is written out as name(1) .. name(n) with the index
// bound in the scope of its node; a text with a range becomes several items of its list (or a list
// of its own), indices in keys are evaluated. A text that names a parameter that is a list, or a
// row of a list of lists, is replaced by that list; a step `change: {..}` of the study stays as it
// is written. Overrides are applied: of the run, then of the command line. Every node has a scope;
// root->scope is the scope of the parameters. Names of things, steps and parameters are distinct,
// and no probe has a parameter's.
SNW_NODISCARD snw_status snw_source_tree(const snw_source *s, int run, snw_pool *pool,
                                         snw_node **root, snw_error *err);

// The same as it is in the course of a study: with the overrides of its changes so far, in their
// order, above all others. They come from the `change` steps of the run's tree, where they stand as
// written, and name parameters, things or gravity. `signals` is for laws that read probes, NULL:
// none can.
SNW_NODISCARD snw_status snw_source_tree_changed(const snw_source *s, int run, int nchange,
                                                 const snw_entry *change, snw_signals *signals,
                                                 snw_pool *pool, snw_node **root, snw_error *err);

// Overrides of a run: those of the run itself, then those of the command line.
int snw_source_overrides(const snw_source *s, int run);
const snw_entry *snw_source_override(const snw_source *s, int run, int i);

// *out <- the value that an override with this path would replace in the tree of a run, as it is
// now; NULL when it is not given. Fails at `at` when the path names nothing at all.
SNW_NODISCARD snw_status snw_source_find(const snw_source *s, int run, const char *path,
                                         snw_source_location at, snw_pool *pool,
                                         const snw_node **out, snw_error *err);

// Text such as `leg(k-1).tip` with its indices evaluated, `leg(2).tip`, by the scope of the node,
// which must be a text. From an '@' on it is left as it is.
SNW_NODISCARD snw_status snw_name_resolve(const snw_node *node, snw_pool *pool, const char **out,
                                          snw_error *err);
