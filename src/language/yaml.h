// SPDX-License-Identifier: MIT
//
// yaml.h: YAML 1.2 (and so JSON) text to a tree of nodes, safely: whatever the text, this ends
// soon, in little memory, with a tree or with a message that has a place.
#pragma once

#include "language/node.h"

enum {
    SNW_YAML_NODES = 200000, // values in one text, aliases followed
    SNW_YAML_DEPTH = 64,     // lists and maps inside each other
    SNW_YAML_KEYS = 10000,   // keys of one map; items of a list have no limit of their own
    SNW_YAML_ANCHORS = 1000,
    SNW_YAML_BLANKS = 300,  // blanks and line ends in a row
    SNW_YAML_MARKS = 500000 // brackets, commas, colons, quotes and the like
};

// The one document in `text`. `name` stands in messages and, copied, in every place. Aliases are
// followed (each becomes a copy with the places of its original) and `<<` merged, own keys win.
// Duplicate keys, keys that are no scalars, tags beyond YAML's own scalars and collections,
// directives, several documents and an empty one are errors. Scopes are left NULL.
SNW_NODISCARD snw_status snw_yaml_parse(snw_pool *pool, const char *name, const char *text,
                                        size_t length, snw_node **root, snw_error *err);

// Refuse text that the parser below cannot be trusted with, though YAML may allow it: see
// yaml_guard.c. Called by snw_yaml_parse, after snw_text_check.
SNW_NODISCARD snw_status snw_yaml_guard(const char *name, const char *text, size_t length,
                                        snw_error *err);
