// SPDX-License-Identifier: MIT
//
// element.h: the elements of an XML file as a tree, for the readers of robot formats.
#pragma once

#include "base/pool.h"
#include "sinew/status.h"

#include <stddef.h>

typedef struct snw_attribute {
    const char *name, *value;
} snw_attribute;

typedef struct snw_element {
    const char *name;
    const char *path; // of its file
    int line;
    int nattribute;
    const snw_attribute *attribute;
    const char *text;                 // between its tags, without that of children; "" for none
    struct snw_element *child, *next; // first child, next sibling; NULL: none
} snw_element;

enum { SNW_ELEMENT_DEPTH = 64, SNW_ELEMENT_MOST = 200000 };

// Tree of a file, from the pool. Names of a namespace keep their prefix. Errors have the file and
// the line. Refused: document type declarations, with which a small file could become a large one;
// more than SNW_ELEMENT_DEPTH levels or SNW_ELEMENT_MOST elements.
SNW_NODISCARD snw_status snw_element_parse(snw_pool *pool, const char *path, const char *bytes,
                                           size_t length, snw_element **root, snw_error *err);

// First child of that name, and the next sibling of the same name; NULL: none.
const snw_element *snw_element_child(const snw_element *e, const char *name);
const snw_element *snw_element_again(const snw_element *e);

// Value of an attribute; NULL: not given.
const char *snw_element_attribute(const snw_element *e, const char *name);
// The same, required and not empty.
SNW_NODISCARD snw_status snw_element_required(const snw_element *e, const char *name,
                                              const char **out, snw_error *err);
// out (n) <- the numbers of an attribute, separated by blanks; unchanged if it is not given. Each
// must be finite.
SNW_NODISCARD snw_status snw_element_numbers(const snw_element *e, const char *name, int n,
                                             double *out, snw_error *err);
// *found <- how many numbers a text has, at most `most`; the first ones are stored in out. -1: it
// has more, or something else than finite decimal numbers separated by blanks.
void snw_text_numbers(const char *text, int most, double *out, int *found);

// Children and all below that are named so.
int snw_element_count(const snw_element *e, const char *name);
