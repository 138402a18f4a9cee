// SPDX-License-Identifier: MIT
//
// Pool allocator: a list of blocks of at least 64 KiB, for descriptions, documents and expressions.
#include "base/pool.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 64 * 1024, ALIGN = 16 };

typedef struct block {
    struct block *next;
    size_t size, used; // bytes behind this header
} block;

// bytes of the header, rounded up
#define HEAD ((sizeof(block) + ALIGN - 1) / ALIGN * ALIGN)

struct snw_pool {
    block *top;
    size_t total, limit;
};

snw_pool *snw_pool_create(size_t limit) {
    snw_pool *p = snw_alloc(sizeof *p);
    if (p) p->limit = limit;
    return p;
}

void snw_pool_destroy(snw_pool *p) {
    if (!p) return;
    for (block *b = p->top; b;) {
        block *next = b->next;
        snw_free(b);
        b = next;
    }
    snw_free(p);
}

void *snw_pool_take(snw_pool *p, size_t bytes) {
    if (bytes > p->limit) return NULL;
    const size_t want = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (!p->top || p->top->size - p->top->used < want) {
        const size_t size = want > BLOCK ? want : BLOCK;
        if (size > p->limit - p->total) return NULL;
        block *b = snw_alloc(HEAD + size);
        if (!b) return NULL;
        b->size = size;
        b->next = p->top;
        p->top = b;
        p->total += size;
    }
    void *at = (unsigned char *)p->top + HEAD + p->top->used;
    p->top->used += want;
    return at;
}

void *snw_pool_array(snw_pool *p, size_t n, size_t size) {
    if (size && n > SIZE_MAX / size) return NULL;
    return snw_pool_take(p, n * size);
}

char *snw_pool_text(snw_pool *p, const char *text, size_t length) {
    if (length == SIZE_MAX) return NULL;
    char *copy = snw_pool_take(p, length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *snw_pool_format(snw_pool *p, const char *format, ...) {
    char most[96]; // of names; longer texts are formatted again
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(most, sizeof most, format, args);
    va_end(args);
    if (length < 0) return NULL;
    char *text = snw_pool_take(p, (size_t)length + 1);
    if (!text) return NULL;
    if ((size_t)length < sizeof most) return memcpy(text, most, (size_t)length + 1);
    va_start(args, format);
    (void)vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

void snw_pool_visit(const snw_pool *p, void (*visit)(void *user, void *at, size_t bytes),
                    void *user) {
    for (block *b = p->top; b; b = b->next) visit(user, (unsigned char *)b + HEAD, b->used);
}
