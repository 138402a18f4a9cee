// SPDX-License-Identifier: MIT
//
// pool.h: pool allocator: memory grows while an object is read or built and is freed all at once.
// For descriptions, documents and expressions; not used in steps.
#pragma once

#include <stddef.h>

typedef struct snw_pool snw_pool;

// A pool of at most `limit` bytes, so that no input can exhaust the memory of the machine. NULL
// when out of memory.
snw_pool *snw_pool_create(size_t limit);
void snw_pool_destroy(snw_pool *p); // NULL is fine

// Zeroed block, aligned for any type; NULL beyond the limit or when out of memory.
void *snw_pool_take(snw_pool *p, size_t bytes);

// n elements of `size` bytes; NULL also when the product overflows.
void *snw_pool_array(snw_pool *p, size_t n, size_t size);

// Copy of `length` bytes of text, NUL terminated.
char *snw_pool_text(snw_pool *p, const char *text, size_t length);

// Text formatted as by printf.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
char *
snw_pool_format(snw_pool *p, const char *format, ...);

// Calls `visit` for each block of memory in use. Tests use it to check that nothing writes to it.
void snw_pool_visit(const snw_pool *p, void (*visit)(void *user, void *at, size_t bytes),
                    void *user);
