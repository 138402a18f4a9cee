// SPDX-License-Identifier: MIT
//
// scratch.h: heap memory that is written before it is read, and so need not be zeroed: what a row
// of a sweep makes anew costs mostly the zeroing of its large blocks.
#pragma once

#include "base/fields.h"

#include <stddef.h>

// As snw_alloc, not zeroed. Builds with asserts fill it with 0xff, NaN and -1, up to 16 MB.
void *snw_alloc_scratch(size_t bytes);

// As snw_fields_create, not zeroed.
void *snw_fields_create_scratch(void (*place)(void *object, snw_fields *f), void *object);
