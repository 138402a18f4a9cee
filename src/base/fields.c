// SPDX-License-Identifier: MIT
//
// Places the arrays of an object in one block: a first pass adds up their sizes, a second one sets
// the pointers.
#include "base/fields.h"

#include "base/alloc.h"
#include "base/scratch.h"

void *snw_fields_next(snw_fields *f, size_t count, size_t size, size_t boundary) {
    f->used = (f->used + boundary - 1) / boundary * boundary;
    void *at = f->block ? f->block + f->used : NULL;
    f->used += count * size;
    return at;
}

static void *fields_create(void (*place)(void *object, snw_fields *f), void *object,
                           void *(*alloc)(size_t), size_t *size) {
    snw_fields f = {NULL, 0};
    place(object, &f);
    if (size) *size = f.used;
    f.block = alloc(f.used);
    if (!f.block) return NULL;
    f.used = 0;
    place(object, &f);
    return f.block;
}

void *snw_fields_create_sized(void (*place)(void *object, snw_fields *f), void *object,
                              size_t *size) {
    return fields_create(place, object, snw_alloc, size);
}

void *snw_fields_create_scratch(void (*place)(void *object, snw_fields *f), void *object) {
    return fields_create(place, object, snw_alloc_scratch, NULL);
}
