// SPDX-License-Identifier: MIT
//
// expr_scope.h: contents of a scope, for the expression parser.
#pragma once

#include "math/expr_node.h"
#include "math/expr_quantity.h"

// A parsed subexpression: its node, its dimension, and its offset in the text.
typedef struct snw_term {
    snw_expr_node *node;
    snw_quantity q;
    int at;
    bool unit; // ends with a unit
} snw_term;

typedef enum snw_expr_entry_kind {
    SNW_EXPR_ENTRY_VALUE,
    SNW_EXPR_ENTRY_FUNCTION,
    SNW_EXPR_ENTRY_LIST
} snw_expr_entry_kind;

// Definition of a name. Its text is parsed at the first use.
typedef struct snw_expr_entry {
    snw_expr_entry_kind kind;
    const char *name, *text;
    snw_source_location location;
    snw_scope *scope; // scope of the names in text
    int nargs;        // of a function
    char **args;
    int nitems;                   // of a list
    struct snw_expr_entry *items; // values, named a(1), a(2), ..
    bool busy, done;              // being parsed; parsed
    snw_term term;                // result, when done
    const char *unit_clash;       // a parameter whose name was read as a unit in text, NULL: none
    struct snw_expr_entry *next;  // next definition of the same scope
} snw_expr_entry;

struct snw_scope {
    snw_pool *pool;
    const snw_scope *outer;
    snw_table_fn *table;
    void *table_user;
    const snw_signal_source *signals;
    snw_expr_entry **slot; // hash table with open addressing; nslot is a power of two
    int nslot, nentry;
    snw_expr_entry *first, *last; // in order of definition
};

enum { SNW_ARGS_MAX = 16 };

// Search this scope and the outer ones; NULL when the name is unknown.
snw_expr_entry *snw_scope_find(const snw_scope *s, const char *word, size_t length);

// Parse an entry; a function is parsed with unknown arguments (expr_name.c).
SNW_NODISCARD snw_status snw_expr_entry_check(snw_expr_entry *e, snw_error *err);
