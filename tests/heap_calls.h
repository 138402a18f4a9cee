// SPDX-License-Identifier: MIT
//
// heap_calls.h: counts all calls of malloc, calloc, realloc and free in the process, those of
// libraries included, and the blocks in use. Include it in one file of a program, after near.h;
// call count_heap_calls() first.
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

// volatile: compilers assume that malloc does not change a plain variable
static volatile long heap_calls;
static volatile long heap_blocks; // taken and not yet freed, since the beginning of the count

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED

// The sanitizer replaces the heap functions and offers hooks instead.
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static void seen_malloc(const volatile void *p, size_t size) {
    (void)p;
    (void)size;
    heap_calls = heap_calls + 1;
    heap_blocks = heap_blocks + 1;
}

static void seen_free(const volatile void *p) {
    heap_calls = heap_calls + 1;
    if (p) heap_blocks = heap_blocks - 1;
}

static void count_heap_calls(void) {
    assert_true(__sanitizer_install_malloc_and_free_hooks(seen_malloc, seen_free) > 0);
}

#else

// These definitions replace those of the C library in the whole process; glibc has its own under
// these names.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *p);
void *memalign(size_t align, size_t size);

void *malloc(size_t size) {
    heap_calls = heap_calls + 1;
    heap_blocks = heap_blocks + 1;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    heap_calls = heap_calls + 1;
    heap_blocks = heap_blocks + 1;
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size) {
    heap_calls = heap_calls + 1;
    if (!p) heap_blocks = heap_blocks + 1;
    return __libc_realloc(p, size);
}

void free(void *p) {
    heap_calls = heap_calls + 1;
    if (p) heap_blocks = heap_blocks - 1;
    __libc_free(p);
}

void *memalign(size_t align, size_t size) {
    heap_calls = heap_calls + 1;
    heap_blocks = heap_blocks + 1;
    return __libc_memalign(align, size);
}

void *aligned_alloc(size_t align, size_t size) {
    heap_calls = heap_calls + 1;
    heap_blocks = heap_blocks + 1;
    return __libc_memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size) {
    heap_calls = heap_calls + 1;
    heap_blocks = heap_blocks + 1;
    *out = __libc_memalign(align, size);
    return *out ? 0 : 12; // ENOMEM
}

static void count_heap_calls(void) {}

#endif
