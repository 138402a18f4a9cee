// SPDX-License-Identifier: MIT
//
// Memory of batches on a graphics processor, or of the host that takes its place.
#include "robot/device_batch_private.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <string.h>
#include <unistd.h>

snw_status snw_device_alloc(snw_device_batch *b, size_t bytes, void **out, snw_error *err) {
    if (b->cuda) {
        snw_cuda_address p = 0;
        SNW_TRY(snw_cuda_alloc(b->cuda, bytes, &p, err));
        *out = (void *)(uintptr_t)p;
    } else if (!(*out = snw_alloc(bytes + 1))) {
        return snw_fail_memory(err);
    }
    b->bytes += bytes;
    return SNW_OK;
}

void snw_device_free(snw_device_batch *b, void *p) {
    if (b->cuda) {
        snw_cuda_free(b->cuda, (snw_cuda_address)(uintptr_t)p);
    } else {
        snw_free(p);
    }
}

snw_status snw_device_write(snw_device_batch *b, const void *from, size_t bytes, void *to,
                            snw_error *err) {
    if (b->cuda) return snw_cuda_write(b->cuda, (snw_cuda_address)(uintptr_t)to, from, bytes, err);
    if (bytes) memcpy(to, from, bytes);
    return SNW_OK;
}

snw_status snw_device_read(snw_device_batch *b, const void *from, size_t bytes, void *to,
                           snw_error *err) {
    if (b->cuda) return snw_cuda_read(b->cuda, to, (snw_cuda_address)(uintptr_t)from, bytes, err);
    if (bytes) memcpy(to, from, bytes);
    return SNW_OK;
}

static size_t device_free_bytes(const snw_device_batch *b) {
    if (b->cuda) return snw_cuda_free_bytes(b->cuda);
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGE_SIZE);
}

snw_status snw_device_check_room(const snw_device_batch *b, size_t each, size_t common,
                                 snw_error *err) {
    const size_t unused = device_free_bytes(b), n = (size_t)b->n;
    if (common < unused && n <= (unused - common) / each) return SNW_OK;
    const size_t most = common < unused ? (unused - common) / each : 0;
    return snw_fail(err, SNW_E_MEMORY,
                    "%d robots need %zu MB on device '%s', which has %zu MB%s: enough for %zu "
                    "robots of this model",
                    b->n, (n * each + common) >> 20, snw_device_batch_name(b), unused >> 20,
                    b->cuda ? " free" : "", most);
}

snw_status snw_device_fill(snw_device_batch *b, device_room *room, const void *from, size_t bytes,
                           snw_error *err) {
    if (room->bytes < bytes) {
        snw_device_free(b, room->at);
        b->bytes -= room->bytes;
        *room = (device_room){0};
        SNW_TRY(snw_device_alloc(b, bytes, &room->at, err));
        room->bytes = bytes;
    }
    return snw_device_write(b, from, bytes, room->at, err);
}
