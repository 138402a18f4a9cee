// SPDX-License-Identifier: MIT
//
// node.h: a document as a plain tree with places, free of YAML: what readers and overrides work on.
// Nodes live in a pool and are freed with it.
#pragma once

#include "base/pool.h"
#include "model/desc.h" // snw_source_location
#include "sinew/status.h"

typedef enum snw_node_kind {
    SNW_NODE_NULL, // a key without value; also plain `~` and `null`
    SNW_NODE_TEXT,
    SNW_NODE_LIST,
    SNW_NODE_MAP
} snw_node_kind;

typedef struct snw_node snw_node;

typedef struct snw_entry {
    const char *key;              // of a map; NULL in a list
    snw_source_location location; // of the key; in a list of the item
    snw_node *value;              // never NULL
} snw_entry;

struct snw_node {
    snw_node_kind kind;
    snw_source_location location; // where it begins, an opening quote included
    const char *text; // of a scalar, unquoted; of SNW_NODE_NULL "" where nothing stands, else "~"
    bool quoted;
    int n;
    snw_entry *entry;       // of a list or map, in the order written
    const snw_scope *scope; // what names mean inside: parameters, indices of repetitions
};

// Is this `~` or `null`, which takes away the key of a map beneath?
static inline bool snw_node_takes_away(const snw_node *n) {
    return n->kind == SNW_NODE_NULL && n->text[0] == '~';
}

// Value of a key, NULL when the map has none or `map` is NULL or no map.
snw_node *snw_node_get(const snw_node *map, const char *key);

// Entries of a map by key, those of the same key in the order written, for finding many of them.
// From snw_alloc: the caller frees it. NULL when memory is out.
const snw_entry **snw_node_sorted(const snw_node *map);
const snw_entry *snw_node_find(const snw_entry *const *sorted, int n, const char *key); // or NULL

// The first entry that repeats an earlier one's key, and that earlier one; NULLs when there is
// none.
SNW_NODISCARD snw_status snw_node_duplicate(const snw_node *map, const snw_entry **first,
                                            const snw_entry **second, snw_error *err);

// Fail at a place with SNW_E_PARSE: fills file, line and column besides the text. A macro as
// snw_fail is.
#define snw_fail_at(err, place, ...) (snw_fail_at_text(err, place, __VA_ARGS__), SNW_E_PARSE)

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void snw_fail_at_text(snw_error *err, snw_source_location location, const char *format, ...);

// "line 3", or "line 3 of base.yaml" where that is another file than the one the message is about.
typedef struct snw_where {
    char text[160];
} snw_where;
snw_where snw_location_of_path(snw_source_location at, snw_source_location from);

// The known word nearest to `word` when it is near enough to be a slip ("did you mean"), else NULL.
// A slip is a letter missing, added, wrong, or two neighbours swapped; a third of the letters at
// most. NULLs among the known words are skipped; of equally near ones the first wins.
const char *snw_nearest(const char *word, int n, const char *const *known);
