// SPDX-License-Identifier: MIT
//
// tree.h: from files to the tree of one run: YAML read safely, includes laid beneath, merges and aliases
// followed, parameters gathered, repetitions written out, overrides applied.
#pragma once

#include "io/node.h"

// What was read, before any run is chosen.
typedef struct snw_source snw_source;

SNW_NODISCARD snw_status snw_source_read(const char *path, int nset, const char *const *set,
                                         snw_source **out, snw_error *err);
SNW_NODISCARD snw_status snw_source_parse(const char *name, const char *text, size_t length,
                                          int nset, const char *const *set, snw_source **out,
                                          snw_error *err);
void snw_source_destroy(snw_source *s); // NULL is fine
const char *snw_source_text(const snw_source *s);

int snw_source_runs(const snw_source *s);
const char *snw_source_run_name(const snw_source *s, int run);

// The whole tree of one run in `pool`: keys `runs` and `include` gone, every `name(k=1..n)` written out as
// name(1) .. name(n) with the index bound in the scope of its node, overrides applied, `x-` keys
// dropped. root->scope is the scope of the parameters.
SNW_NODISCARD snw_status snw_source_tree(const snw_source *s, int run, snw_pool *pool,
                                         snw_node **root, snw_error *err);

// Text such as `leg(k-1).tip` with its indices evaluated, `leg(2).tip`.
SNW_NODISCARD snw_status snw_name_resolve(const snw_node *node, snw_pool *pool, const char **out,
                                          snw_error *err);
