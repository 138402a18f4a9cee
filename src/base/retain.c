// SPDX-License-Identifier: MIT
//
// Thresholds of the allocator of glibc, above which memory goes back to the system.
#include "base/retain.h"

#include <stdlib.h> // defines __GLIBC__
#ifdef __GLIBC__
#include <malloc.h>
#endif

void snw_retain_memory(void) {
#ifdef __GLIBC__
    // blocks up to 32 MB, the most that glibc takes, come from the heap, whose end is given back
    // when 256 MB of it are free
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}
