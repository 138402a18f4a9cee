// SPDX-License-Identifier: MIT
//
// device_cache.h: compiled kernels kept on disk, in $XDG_CACHE_HOME/sinew or ~/.cache/sinew.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct snw_device_image {
    void *image; // snw_free
    size_t bytes;
} snw_device_image;

// Key of the text compiled with these options.
uint64_t snw_device_cache_key(const char *text, int n, const char *const *option);
// *out <- image of the key; false: there is none, or the file is damaged.
bool snw_device_cache_read(uint64_t key, snw_device_image *out);
// Keep it; a failure is ignored, since it costs time only.
void snw_device_cache_write(uint64_t key, const snw_device_image *image);
