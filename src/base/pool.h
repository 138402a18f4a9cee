// SPDX-License-Identifier: MIT
//
// pool.h: memory that grows while something is read or built and is given back all at once. For
// descriptions, documents and expressions; never used in a step.
#pragma once

#include <stddef.h>

typedef struct snw_pool snw_pool;

// A pool refuses to grow beyond `limit` bytes, so that no input can exhaust the machine.
// NULL when there is no memory.
snw_pool *snw_pool_create(size_t limit);
void snw_pool_destroy(snw_pool *p); // NULL is fine

// Zeroed, aligned for any type; NULL beyond the limit or when memory is out.
void *snw_pool_take(snw_pool *p, size_t bytes);

// n elements of `size` bytes; the product is checked.
void *snw_pool_array(snw_pool *p, size_t n, size_t size);

// A copy of `length` bytes of text, NUL terminated.
char *snw_pool_text(snw_pool *p, const char *text, size_t length);

// Formatted text.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
char *
snw_pool_format(snw_pool *p, const char *format, ...);
