// SPDX-License-Identifier: MIT
//
// fields.h: the arrays of an object in one block, from one list.
//
// A list is a macro with one line for each array, X(type, name, count, meaning). The line gives the
// pointer in the struct, its part of the block and its place there, so that size and pointer cannot
// disagree:
//
//   #define THING_FIELDS(X) X(double, x, nv, "position") X(int, order, nr, "pivots")
//
//   struct thing {
//       THING_FIELDS(SNW_FIELD_POINTER)
//       void *block;
//   };
//
//   static void thing_fields(void *object, snw_fields *f) {
//       thing *o = object;
//       const int nv = .., nr = ..;
//       THING_FIELDS(SNW_FIELD_PLACE)
//   }
//
//   o->block = snw_fields_create(thing_fields, o);
#pragma once

#include <stddef.h>

// Position in a block. Without a block only the size adds up.
typedef struct snw_fields {
    unsigned char *block;
    size_t used; // bytes
} snw_fields;

#define SNW_FIELD_POINTER(type, name, count, meaning) type *name;
// In a function with the object `o` and the position `f`.
#define SNW_FIELD_PLACE(type, name, count, meaning)                                                \
    o->name = (type *)snw_fields_next(f, (size_t)(count), sizeof(type));

// The next array, at a 64-byte boundary; NULL without a block.
void *snw_fields_next(snw_fields *f, size_t count, size_t size);

// The block behind the arrays that `place` lists for the object, zeroed; the caller frees it with
// snw_free. NULL when out of memory; then the pointers are NULL. `size`: its bytes, unless NULL.
void *snw_fields_create_sized(void (*place)(void *object, snw_fields *f), void *object,
                              size_t *size);
static inline void *snw_fields_create(void (*place)(void *object, snw_fields *f), void *object) {
    return snw_fields_create_sized(place, object, NULL);
}
