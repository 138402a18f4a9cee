// SPDX-License-Identifier: MIT
//
// Kernels on disk: a file for each key with a head that has the key, the length and a checksum. It
// is written beside and renamed, so that others never see half of it.
#include "gpu/device_cache.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct cache_head {
    char name[8];
    uint64_t key, bytes, sum;
} cache_head;

static const char head_name[8] = "sinew 1";

// FNV-1a
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t n) {
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}
static const uint64_t hash_start = 0xcbf29ce484222325u;

uint64_t snw_device_cache_key(const char *text, int n, const char *const *option) {
    uint64_t hash = hash_bytes(hash_start, text, strlen(text));
    for (int i = 0; i < n; i++) hash = hash_bytes(hash, option[i], strlen(option[i]) + 1);
    return hash;
}

enum { PATH = 4096 };

// Folders are created with those above them, as the XDG base directory specification asks.
static void make_folders(char *path) {
    for (char *p = path + 1; *p; p++) {
        if (*p != '/') continue;
        *p = '\0';
        (void)mkdir(path, 0700);
        *p = '/';
    }
    (void)mkdir(path, 0700);
}

static bool cache_path(uint64_t key, const char *suffix, char path[PATH]) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char folder[PATH];
    if (cache && cache[0] == '/') {
        (void)snprintf(folder, sizeof folder, "%s", cache);
    } else if (home && home[0] == '/') {
        if (snprintf(folder, sizeof folder, "%s/.cache", home) >= PATH) return false;
    } else {
        return false;
    }
    if (snprintf(path, PATH, "%.3900s/sinew", folder) >= PATH) return false;
    make_folders(path);
    return snprintf(path, PATH, "%.3900s/sinew/kernels-%016llx%s", folder, (unsigned long long)key,
                    suffix) < PATH;
}

bool snw_device_cache_read(uint64_t key, snw_device_image *out) {
    char path[PATH];
    cache_head head;
    FILE *f = cache_path(key, ".cubin", path) ? fopen(path, "rb") : NULL;
    if (!f) return false;
    bool good = fread(&head, sizeof head, 1, f) == 1 && head.key == key &&
                memcmp(head.name, head_name, sizeof head_name) == 0 && head.bytes < 1u << 30;
    if (good) {
        out->bytes = (size_t)head.bytes;
        out->image = snw_alloc(out->bytes);
        good = out->image && fread(out->image, 1, out->bytes, f) == out->bytes &&
               hash_bytes(hash_start, out->image, out->bytes) == head.sum;
        if (!good) snw_free(out->image), *out = (snw_device_image){0};
    }
    (void)fclose(f);
    return good;
}

void snw_device_cache_write(uint64_t key, const snw_device_image *image) {
    char path[PATH], beside[PATH], suffix[40];
    cache_head head = {.key = key,
                       .bytes = image->bytes,
                       .sum = hash_bytes(hash_start, image->image, image->bytes)};
    memcpy(head.name, head_name, sizeof head.name);
    (void)snprintf(suffix, sizeof suffix, ".%ld", (long)getpid());
    if (!cache_path(key, ".cubin", path) || !cache_path(key, suffix, beside)) return;
    FILE *f = fopen(beside, "wb");
    if (!f) return;
    bool good = fwrite(&head, sizeof head, 1, f) == 1 &&
                fwrite(image->image, 1, image->bytes, f) == image->bytes;
    good = fclose(f) == 0 && good;
    if (!good || rename(beside, path) != 0) (void)remove(beside);
}
