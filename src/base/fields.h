// SPDX-License-Identifier: MIT
//
// fields.h: the arrays of an object in one block, from one list.
//
// A list is a macro with one line for each array, (type, name, count, meaning). The line gives the
// pointer in the struct, its part of the block and its place there, so that size and pointer cannot
// disagree. Arrays of lines AT begin at a 64-byte boundary, those of lines PACK directly behind the
// array before:
//
//   #define THING_FIELDS(AT, PACK) AT(double, x, nv, "position") PACK(double, v, nv, "velocity")
//
//   struct thing {
//       THING_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
//       void *block;
//   };
//
//   static void thing_place(void *object, snw_fields *f) {
//       thing *o = object;
//       const int nv = ..;
//       THING_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
//   }
//
//   o->block = snw_fields_create(thing_place, o);
//
// Sums of BLAS depend on the alignment of their vectors, so an array that changes between AT and
// PACK, or moves behind another one, changes results by rounding.
#pragma once

#include <stdalign.h>
#include <stddef.h>

// Position in a block. Without a block only the size adds up.
typedef struct snw_fields {
    unsigned char *block;
    size_t used; // bytes
} snw_fields;

enum { SNW_FIELD_BOUNDARY = 64 };

#define SNW_FIELD_POINTER(type, name, count, meaning) type *name;
// In a function with the object `o` and the position `f`.
#define SNW_FIELD_PLACE(type, name, count, meaning)                                                \
    o->name = (type *)snw_fields_next(f, (size_t)(count), sizeof(type), SNW_FIELD_BOUNDARY);
#define SNW_FIELD_PACK(type, name, count, meaning)                                                 \
    o->name = (type *)snw_fields_next(f, (size_t)(count), sizeof(type), alignof(type));

// The next array, at a multiple of `boundary`; NULL without a block.
void *snw_fields_next(snw_fields *f, size_t count, size_t size, size_t boundary);

// The block behind the arrays that `place` lists for the object, zeroed; the caller frees it with
// snw_free. NULL when out of memory; then the pointers are NULL. `size`: its bytes, unless NULL.
void *snw_fields_create_sized(void (*place)(void *object, snw_fields *f), void *object,
                              size_t *size);
static inline void *snw_fields_create(void (*place)(void *object, snw_fields *f), void *object) {
    return snw_fields_create_sized(place, object, NULL);
}
