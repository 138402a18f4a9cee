// SPDX-License-Identifier: MIT
//
// yaml.h: parses YAML 1.2 (and therefore JSON) text into a tree of nodes. Time and memory are
// bounded for every input; the result is a tree or an error with a source location.
#pragma once

#include "language/node.h"

enum {
    SNW_YAML_NODES = 200000, // values in one text, including those copied by aliases
    SNW_YAML_DEPTH = 64,     // nesting of lists and maps
    SNW_YAML_KEYS = 10000,   // keys of one map; the length of a list has no separate limit
    SNW_YAML_ANCHORS = 1000,
    SNW_YAML_BLANKS = 300,  // consecutive blanks and line ends
    SNW_YAML_MARKS = 500000 // brackets, commas, colons, quotes and similar characters
};

// Parse the single document in `text`. `name` is the file name in messages and, copied, in every
// source location. Aliases are replaced by copies that keep the locations of the original; `<<` is
// merged, and the map's own keys take precedence. Errors: duplicate keys, keys that are not
// scalars, tags other than YAML's own scalars and collections, directives, several documents, an
// empty document. Scopes are left NULL.
SNW_NODISCARD snw_status snw_yaml_parse(snw_pool *pool, const char *name, const char *text,
                                        size_t length, snw_node **root, snw_error *err);

// Refuse text that libfyaml does not handle safely, even if YAML allows it; yaml_guard.c lists the
// cases. Called by snw_yaml_parse after snw_text_check.
SNW_NODISCARD snw_status snw_yaml_guard(const char *name, const char *text, size_t length,
                                        snw_error *err);
