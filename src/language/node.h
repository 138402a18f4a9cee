// SPDX-License-Identifier: MIT
//
// node.h: a document as a tree of nodes with source locations, independent of YAML. Readers and
// overrides work on it. Nodes live in a pool and are freed with it.
#pragma once

#include "base/pool.h"
#include "model/desc.h" // snw_source_location
#include "sinew/status.h"

typedef enum snw_node_kind {
    SNW_NODE_NULL, // key without value, plain `~` or `null`
    SNW_NODE_TEXT,
    SNW_NODE_LIST,
    SNW_NODE_MAP
} snw_node_kind;

typedef struct snw_node snw_node;

typedef struct snw_entry {
    const char *key;              // of a map entry; NULL in a list
    snw_source_location location; // of the key; in a list, of the item
    snw_node *value;              // never NULL
} snw_entry;

struct snw_node {
    snw_node_kind kind;
    snw_source_location location; // of the first character, including an opening quote
    const char *text; // of a scalar, without quotes; for SNW_NODE_NULL "" when empty, else "~"
    bool quoted;
    int n;
    snw_entry *entry;       // of a list or map, in the order written
    const snw_scope *scope; // meaning of names in this node: parameters, indices of repetitions
};

// True for `~` or `null`, which removes the key from the map of lower precedence.
static inline bool snw_node_removes(const snw_node *n) {
    return n->kind == SNW_NODE_NULL && n->text[0] == '~';
}

// Value of a key; NULL when the map does not have it, or `map` is NULL or not a map.
snw_node *snw_node_get(const snw_node *map, const char *key);

// Entries of a map sorted by key, equal keys in the order written, for snw_node_find. Allocated by
// snw_alloc; the caller frees it. NULL when memory is exhausted.
const snw_entry **snw_node_sorted(const snw_node *map);
const snw_entry *snw_node_find(const snw_entry *const *sorted, int n,
                               const char *key); // NULL: not found

// The first entry that repeats an earlier key, and that earlier entry; both NULL when all keys
// differ.
SNW_NODISCARD snw_status snw_node_duplicate(const snw_node *map, const snw_entry **first,
                                            const snw_entry **second, snw_error *err);

// Fail with SNW_E_PARSE at a source location; fills file, line and column besides the text. A macro
// for the same reason as snw_fail.
#define snw_fail_at(err, location, ...) (snw_fail_at_text(err, location, __VA_ARGS__), SNW_E_PARSE)

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void snw_fail_at_text(snw_error *err, snw_source_location location, const char *format, ...);

// "line 3", or "line 3 of base.yaml" if `at` is in another file than `from`, the location of the
// message.
typedef struct snw_location_string {
    char text[160];
} snw_location_string;
snw_location_string snw_location_text(snw_source_location at, snw_source_location from);

// The known word nearest to `word` if it may be a misspelling ("did you mean"), else NULL. One edit
// is a letter missing, added or wrong, or two adjacent letters swapped; at most a third of the
// letters may be edited. NULLs among the known words are skipped; of equally near words the first
// is returned.
const char *snw_nearest(const char *word, int n, const char *const *known);
// " (did you mean 'near'?)" for the end of a message; empty if near is NULL.
typedef struct snw_hint_string {
    char text[160];
} snw_hint_string;
snw_hint_string snw_hint_text(const char *near);
