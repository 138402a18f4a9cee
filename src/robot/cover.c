// SPDX-License-Identifier: MIT
//
// Adaptive cover of a box. Nodes and edges are found by hashing, so that neighbouring cells share
// them.
#include "robot/cover.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <string.h>

// ---- tables -------------------------------------------------------------------------------------

static size_t slot_of(const snw_cover_table *t, uint64_t key) {
    size_t at = (size_t)((key * 0x9e3779b97f4a7c15U) >> 20) & (t->room - 1);
    while (t->key[at] != 0 && t->key[at] != key + 1) at = (at + 1) & (t->room - 1);
    return at;
}

// room for one more than n entries, half of it free
static snw_status table_reserve(snw_cover_table *t, int n) {
    if (2 * ((size_t)n + 1) <= t->room) return SNW_OK;
    snw_cover_table more = {.room = t->room ? 2 * t->room : 1024};
    more.key = snw_alloc(more.room * sizeof *more.key);
    more.value = snw_alloc(more.room * sizeof *more.value);
    if (!more.key || !more.value) {
        snw_free(more.key);
        snw_free(more.value);
        return SNW_E_MEMORY;
    }
    for (size_t i = 0; i < t->room; i++) {
        if (t->key[i] == 0) continue;
        const size_t at = slot_of(&more, t->key[i] - 1);
        more.key[at] = t->key[i];
        more.value[at] = t->value[i];
    }
    snw_free(t->key);
    snw_free(t->value);
    *t = more;
    return SNW_OK;
}

// The number of a key; `next`, which is then stored, if there is none.
static snw_status table_number(snw_cover_table *t, uint64_t key, int next, int *out) {
    SNW_TRY(table_reserve(t, next));
    const size_t at = slot_of(t, key);
    if (t->key[at] == 0) {
        t->key[at] = key + 1;
        t->value[at] = next;
    }
    *out = t->value[at];
    return SNW_OK;
}

// The number of a key; -1: none.
static int find_number(const snw_cover_table *t, uint64_t key) {
    const size_t at = slot_of(t, key);
    return t->key[at] == 0 ? -1 : t->value[at];
}

// array of elements of `size` bytes <- with room for one more than n
static snw_status reserve(void **array, int n, int *room, size_t size) {
    if (n < *room) return SNW_OK;
    const int more = *room ? 2 * *room : 256;
    void *larger = snw_alloc((size_t)more * size);
    if (!larger) return SNW_E_MEMORY;
    if (n) memcpy(larger, *array, (size_t)n * size);
    snw_free(*array);
    *array = larger;
    *room = more;
    return SNW_OK;
}

// ---- nodes, edges, cells ------------------------------------------------------------------------

static uint64_t key_of_place(const int at[3]) {
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) key = key << 21 | (uint64_t)at[k];
    return key;
}

static uint64_t key_of_edge(int a, int b) { return (uint64_t)a << 32 | (uint64_t)b; }

static snw_status add_node(snw_cover *c, const int at[3], int level, int *out) {
    SNW_TRY(table_number(&c->nodes, key_of_place(at), c->nnode, out));
    if (*out < c->nnode) return SNW_OK;
    void *array = c->node;
    SNW_TRY(reserve(&array, c->nnode, &c->node_room, sizeof *c->node));
    c->node = array;
    c->node[c->nnode++] = (snw_cover_node){.at = {at[0], at[1], at[2]}, .level = level};
    return SNW_OK;
}

static snw_status add_edge(snw_cover *c, int a, int b, int level, int *out) {
    SNW_TRY(table_number(&c->edges, key_of_edge(a, b), c->nedge, out));
    if (*out < c->nedge) return SNW_OK;
    void *array = c->edge;
    SNW_TRY(reserve(&array, c->nedge, &c->edge_room, sizeof *c->edge));
    c->edge = array;
    c->edge[c->nedge++] = (snw_cover_edge){.node = {a, b}, .level = level};
    return SNW_OK;
}

int snw_cover_corners(const snw_cover *c) { return 1 << c->n; }
int snw_cover_edges(const snw_cover *c) { return c->n << (c->n - 1); }

static snw_status add_cell(snw_cover *c, const int at[3], int level) {
    snw_cover_cell cell = {.at = {at[0], at[1], at[2]}, .level = level};
    const int h = 1 << (c->levels - level);
    for (int k = 0; k < snw_cover_corners(c); k++) {
        int corner[3] = {0};
        for (int j = 0; j < c->n; j++) corner[j] = at[j] + (k >> j & 1) * h;
        SNW_TRY(add_node(c, corner, level, &cell.node[k]));
    }
    int n = 0;
    for (int j = 0; j < c->n; j++) {
        for (int k = 0; k < snw_cover_corners(c); k++) {
            if (k >> j & 1) continue;
            SNW_TRY(add_edge(c, cell.node[k], cell.node[k | 1 << j], level, &cell.edge[n++]));
        }
    }
    void *array = c->cell;
    SNW_TRY(reserve(&array, c->ncell, &c->cell_room, sizeof *c->cell));
    c->cell = array;
    c->cell[c->ncell++] = cell;
    return SNW_OK;
}

snw_status snw_cover_create(int n, const int cells[3], int levels, snw_cover *out) {
    *out = (snw_cover){.n = n, .levels = levels};
    int number[3] = {1, 1, 1};
    for (int k = 0; k < n; k++) {
        number[k] = cells[k];
        out->size[k] = cells[k] << levels;
    }
    for (int k = 0; k < number[2]; k++) {
        for (int j = 0; j < number[1]; j++) {
            for (int i = 0; i < number[0]; i++) {
                const int at[3] = {i << levels, j << levels, k << levels};
                SNW_TRY(add_cell(out, at, 0));
            }
        }
    }
    return SNW_OK;
}

void snw_cover_free(snw_cover *c) {
    snw_free(c->node);
    snw_free(c->edge);
    snw_free(c->cell);
    snw_free(c->nodes.key);
    snw_free(c->nodes.value);
    snw_free(c->edges.key);
    snw_free(c->edges.value);
}

snw_status snw_cover_split(snw_cover *c, int cell) {
    const snw_cover_cell whole = c->cell[cell];
    const int half = 1 << (c->levels - whole.level - 1);
    c->cell[cell].split = true;
    for (int k = 0; k < snw_cover_corners(c); k++) {
        int at[3] = {0};
        for (int j = 0; j < c->n; j++) at[j] = whole.at[j] + (k >> j & 1) * half;
        SNW_TRY(add_cell(c, at, whole.level + 1));
    }
    return SNW_OK;
}

bool snw_cover_outside(const snw_cover *c, int edge) {
    const int *a = c->node[c->edge[edge].node[0]].at, *b = c->node[c->edge[edge].node[1]].at;
    for (int k = 0; k < c->n; k++) {
        if (a[k] == b[k] && (a[k] == 0 || a[k] == c->size[k])) return true;
    }
    return false;
}

int snw_cover_outline_most(const snw_cover *c) { return 4 << c->levels; }

// The smallest edges from one end of an edge to the other, behind those that are there.
static int walk_edge(const snw_cover *c, int e, bool backward, int n, int *edge, bool *back) {
    const int *node = c->edge[e].node;
    int middle[3];
    for (int k = 0; k < 3; k++) middle[k] = (c->node[node[0]].at[k] + c->node[node[1]].at[k]) / 2;
    const int between = find_number(&c->nodes, key_of_place(middle));
    int half[2] = {-1, -1};
    if (between >= 0 && between != node[0]) {
        half[0] = find_number(&c->edges, key_of_edge(node[0], between));
        half[1] = find_number(&c->edges, key_of_edge(between, node[1]));
    }
    if (half[0] >= 0 && half[1] >= 0) {
        n = walk_edge(c, half[backward], backward, n, edge, back);
        return walk_edge(c, half[!backward], backward, n, edge, back);
    }
    edge[n] = e;
    back[n] = backward;
    return n + 1;
}

int snw_cover_outline(const snw_cover *c, int cell, int *edge, bool *backward) {
    // edges along the first axis are 0 and 1, along the second 2 and 3 (add_cell)
    static const int around[4] = {0, 3, 1, 2};
    int n = 0;
    for (int k = 0; k < 4; k++)
        n = walk_edge(c, c->cell[cell].edge[around[k]], k > 1, n, edge, backward);
    return n;
}
