// SPDX-License-Identifier: MIT
//
// Before the C library, for cli/test_memory.py: from call SNW_STARVE_AT of aligned_alloc on, which
// is the library's only door to the heap, there is no memory; with SNW_STARVE_ONCE that one call
// only. How many calls there were goes to SNW_STARVE_COUNT.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *alloc_fn(size_t, size_t);

static long calls;

void *aligned_alloc(size_t alignment, size_t size) {
    static alloc_fn *original;
    static long at;
    static bool once;
    if (!original) {
        const char *text = getenv("SNW_STARVE_AT");
        *(void **)&original = dlsym(RTLD_NEXT, "aligned_alloc");
        at = text ? strtol(text, NULL, 10) : 0;
        once = getenv("SNW_STARVE_ONCE") != NULL;
    }
    calls++;
    const bool none = at > 0 && (once ? calls == at : calls >= at);
    return none ? NULL : original(alignment, size);
}

__attribute__((destructor)) static void count(void) {
    const char *path = getenv("SNW_STARVE_COUNT");
    FILE *to = path ? fopen(path, "w") : NULL;
    if (!to) return;
    (void)fprintf(to, "%ld", calls);
    (void)fclose(to);
}
