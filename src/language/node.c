// SPDX-License-Identifier: MIT
//
// Lookup in nodes, failures with a source location, and the edit distance behind "did you mean".
#include "language/node.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

snw_node *snw_node_get(const snw_node *map, const char *key) {
    if (!map || map->kind != SNW_NODE_MAP) return NULL;
    for (int i = 0; i < map->n; i++) {
        if (strcmp(map->entry[i].key, key) == 0) return map->entry[i].value;
    }
    return NULL;
}

static int by_key_then_order(const void *a, const void *b) {
    const snw_entry *const p = *(const snw_entry *const *)a, *const q =
                                                                 *(const snw_entry *const *)b;
    const int order = strcmp(p->key, q->key);
    return order ? order : (p > q) - (p < q);
}

const snw_entry **snw_node_sorted(const snw_node *map) {
    const snw_entry **s = snw_alloc((size_t)map->n * sizeof(void *));
    if (!s) return NULL;
    for (int i = 0; i < map->n; i++) s[i] = &map->entry[i];
    qsort(s, (size_t)map->n, sizeof(void *), by_key_then_order);
    return s;
}

const snw_entry *snw_node_find(const snw_entry *const *sorted, int n, const char *key) {
    int lo = 0, hi = n;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        const int order = strcmp(sorted[mid]->key, key);
        if (order == 0) return sorted[mid];
        if (order < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return NULL;
}

snw_status snw_node_duplicate(const snw_node *map, const snw_entry **first,
                              const snw_entry **second, snw_error *err) {
    *first = *second = NULL;
    if (map->n < 2) return SNW_OK;
    const snw_entry **s = snw_node_sorted(map);
    if (!s) return snw_fail(err, SNW_E_MEMORY, "no memory left to read the model");
    for (int i = 1; i < map->n; i++) {
        if (strcmp(s[i - 1]->key, s[i]->key) != 0) continue;
        if (*second && s[i] > *second) continue;
        *first = s[i - 1];
        *second = s[i];
    }
    snw_free(s);
    return SNW_OK;
}

void snw_fail_at_text(snw_error *err, snw_source_location location, const char *format, ...) {
    if (!err) return;
    err->status = SNW_E_PARSE;
    (void)snprintf(err->file, sizeof err->file, "%s", location.file ? location.file : "");
    err->line = location.line;
    err->column = location.column;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
}

snw_location_string snw_location_text(snw_source_location at, snw_source_location from) {
    snw_location_string w;
    const bool same = !at.file || !from.file || strcmp(at.file, from.file) == 0;
    (void)snprintf(w.text, sizeof w.text, "line %d%s%.120s", at.line, same ? "" : " of ",
                   same ? "" : at.file);
    return w;
}

// ---- nearest word -------------------------------------------------------------------------------

enum { WORD_MAX = 64 };

static int least(int a, int b) { return a < b ? a : b; }

// optimal string alignment distance: insert, delete, replace, swap neighbours; three rows suffice
static int node_distance(const char *a, int na, const char *b, int nb) {
    int row[3][WORD_MAX + 1];
    int *before = row[0], *above = row[1], *here = row[2];
    for (int j = 0; j <= nb; j++) above[j] = j;
    for (int i = 1; i <= na; i++) {
        here[0] = i;
        for (int j = 1; j <= nb; j++) {
            const int replace = above[j - 1] + (a[i - 1] != b[j - 1]);
            here[j] = least(replace, least(above[j], here[j - 1]) + 1);
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) here[j] = least(here[j], before[j - 2] + 1);
        }
        int *spare = before;
        before = above;
        above = here;
        here = spare;
    }
    return above[nb];
}

const char *snw_nearest(const char *word, int n, const char *const *known) {
    const size_t length = strlen(word);
    if (length == 0 || length > WORD_MAX) return NULL;
    // allow one edit, or one per three letters in longer words, but never as many as there are
    // letters
    int best = length < 6 ? 1 : (int)length / 3;
    if (best >= (int)length) best = (int)length - 1;
    const char *found = NULL;
    for (int i = 0; i < n; i++) {
        if (!known[i]) continue;
        const size_t other = strlen(known[i]);
        if (other > WORD_MAX) continue;
        const int d = node_distance(word, (int)length, known[i], (int)other);
        if (d > best || (found && d == best)) continue;
        best = d;
        found = known[i];
    }
    return found;
}

snw_hint_string snw_hint_text(const char *near) {
    snw_hint_string hint = {""};
    if (near) (void)snprintf(hint.text, sizeof hint.text, " (did you mean '%.120s'?)", near);
    return hint;
}
