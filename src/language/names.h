// SPDX-License-Identifier: MIT
//
// names.h: a directory of names, for duplicates, lookup and suggestions.
#pragma once

#include "base/pool.h"
#include "model/desc.h" // snw_source_location

typedef struct snw_name {
    const char *text;             // kept by the caller, as long as the directory
    int kind, index;              // the caller's
    snw_source_location location; // where it was given
} snw_name;

typedef struct snw_names {
    int n, capacity, nslot;
    snw_name *name;    // n, in the order added
    const char **text; // n, the same names bare
    int *slot;         // hash table of 1 + index in name; 0: empty
} snw_names;

// Room for `capacity` names; false when memory is out.
bool snw_names_init(snw_names *s, snw_pool *pool, int capacity);

const snw_name *snw_names_find(const snw_names *s, const char *text); // NULL: none
void snw_names_add(snw_names *s, snw_name name); // must be new, and there must be room

// The name nearest to `text` if it may be a slip, else NULL.
const char *snw_names_nearest(const snw_names *s, const char *text);
