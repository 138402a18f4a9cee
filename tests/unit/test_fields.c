// SPDX-License-Identifier: MIT
//
// Arrays of an object in one block: places, sizes, empty lists.
#include "base/fields.h"

#include "base/alloc.h"
#include "base/scratch.h"
#include "near.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define THING_FIELDS(AT, PACK)                                                                     \
    AT(double, x, n, "numbers")                                                                    \
    PACK(char, flag, 3, "flags")                                                                   \
    PACK(double, y, 1, "a number")                                                                 \
    AT(int, none, 0, "nothing")                                                                    \
    AT(int, order, 2 * n, "whole numbers")

typedef struct thing {
    int n;
    THING_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
} thing;

static void thing_place(void *object, snw_fields *f) {
    thing *o = object;
    const int n = o->n;
    THING_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

static bool on_boundary(const void *p) { return (uintptr_t)p % 64 == 0; }

// every array has its size, begins where its line says and is zero; no two overlap
static void arrays_are_apart(void **state) {
    (void)state;
    for (int n = 0; n < 20; n++) {
        thing o = {.n = n};
        size_t size;
        o.block = snw_fields_create_sized(thing_place, &o, &size);
        assert_non_null(o.block);
        assert_true(on_boundary(o.x) && on_boundary(o.none) && on_boundary(o.order));
        assert_ptr_equal(o.x, o.block);
        assert_ptr_equal(o.flag, o.x + n);
        assert_ptr_equal(o.y, o.x + n + 1);
        assert_true((char *)(o.y + 1) <= (char *)o.none && o.none <= o.order);
        assert_true((char *)(o.order + 2 * (ptrdiff_t)n) <= (char *)o.block + size);
        for (size_t i = 0; i < size; i++) assert_int_equal(((char *)o.block)[i], 0);
        memset(o.x, 1, (size_t)n * sizeof *o.x);
        memset(o.flag, 2, 3);
        memset(o.order, 3, 2 * (size_t)n * sizeof *o.order);
        for (int i = 0; i < n; i++) assert_int_equal(((char *)o.x)[i], 1);
        for (int i = 0; i < 3; i++) assert_int_equal(o.flag[i], 2);
        snw_free(o.block);
    }
}

// scratch has the same places, and in builds with asserts no number that was not written
static void scratch_is_laid_out_alike(void **state) {
    (void)state;
    thing o = {.n = 7};
    o.block = snw_fields_create_scratch(thing_place, &o);
    assert_non_null(o.block);
    assert_true(on_boundary(o.x) && on_boundary(o.order));
    assert_ptr_equal(o.flag, o.x + 7);
#ifndef NDEBUG
    for (int i = 0; i < 7; i++) assert_true(isnan(o.x[i]));
    for (int i = 0; i < 14; i++) assert_int_equal(o.order[i], -1);
#endif
    snw_free(o.block);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_apart),
        cmocka_unit_test(scratch_is_laid_out_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
