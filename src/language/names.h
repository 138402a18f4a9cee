// SPDX-License-Identifier: MIT
//
// names.h: a table of names for duplicate checks, lookup and suggestions.
#pragma once

#include "base/pool.h"
#include "model/desc.h" // snw_source_location

typedef struct snw_name {
    const char *text;             // owned by the caller; must live as long as the table
    int kind, index;              // meaning defined by the caller
    snw_source_location location; // of the definition
} snw_name;

typedef struct snw_names {
    int n, capacity, nslot;
    snw_name *name;    // n, in the order added
    const char **text; // n, the texts of `name`
    int *slot;         // hash table of 1 + index in name; 0: empty
} snw_names;

// Allocate room for `capacity` names; false when memory is exhausted.
bool snw_names_init(snw_names *s, snw_pool *pool, int capacity);

const snw_name *snw_names_find(const snw_names *s, const char *text); // NULL: none
void snw_names_add(snw_names *s, snw_name name); // the name must be new, and n < capacity

// The name nearest to `text` if that may be a misspelling, else NULL.
const char *snw_names_nearest(const snw_names *s, const char *text);
