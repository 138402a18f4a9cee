// SPDX-License-Identifier: MIT
//
// Hash table of names with open addressing; names are kept in the order added.
#include "language/names.h"

#include "base/fail.h"
#include "language/node.h"

#include <stdint.h>
#include <string.h>

bool snw_names_init(snw_names *s, snw_pool *pool, int capacity) {
    int nslot = 16;
    while (nslot / 2 < capacity && nslot < INT32_MAX / 2) nslot *= 2;
    *s = (snw_names){.capacity = capacity, .nslot = nslot};
    s->name = snw_pool_array(pool, (size_t)capacity + 1, sizeof *s->name);
    s->text = snw_pool_array(pool, (size_t)capacity + 1, sizeof *s->text);
    s->slot = snw_pool_array(pool, (size_t)nslot, sizeof *s->slot);
    return s->name && s->text && s->slot;
}

// FNV-1a
static uint32_t names_hash(const char *text) {
    uint32_t h = 2166136261U;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619U;
    return h;
}

static int slot_of(const snw_names *s, const char *text) {
    int i = (int)(names_hash(text) & (uint32_t)(s->nslot - 1));
    while (s->slot[i] && strcmp(s->text[s->slot[i] - 1], text) != 0) i = (i + 1) & (s->nslot - 1);
    return i;
}

const snw_name *snw_names_find(const snw_names *s, const char *text) {
    if (s->nslot == 0) return NULL;
    const int i = s->slot[slot_of(s, text)];
    return i ? &s->name[i - 1] : NULL;
}

void snw_names_add(snw_names *s, snw_name name) {
    SNW_ASSERT(s->n < s->capacity);
    const int i = slot_of(s, name.text);
    SNW_ASSERT(s->slot[i] == 0);
    s->name[s->n] = name;
    s->text[s->n] = name.text;
    s->slot[i] = ++s->n;
}

const char *snw_names_nearest(const snw_names *s, const char *text) {
    return snw_nearest(text, s->n, s->text);
}
