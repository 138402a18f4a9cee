// SPDX-License-Identifier: MIT
//
// Minimum degree on the quotient graph (George and Liu 1989; Amestoy, Davis and Duff 1996), with
// exact degrees. An eliminated unknown becomes an element: the set of unknowns that it couples. An
// unknown i is coupled with the members of its elements, and with the unknowns of its own list that
// no element of it has. A new element takes in the elements of its unknown (they are absorbed), so
// that the lists of i never grow: in place of what is removed comes the new element. The degree of
// an unknown with many elements, as of a plate on many legs, is counted when it would come next;
// until then it has a lower bound, which does not change the order. For sparse.h.

#include "solve/minimum_degree.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <string.h>

enum { LONG_LIST = 64 }; // unknowns of a list that is not searched at each change

// Lists of unknown i begin at start[i]: elements[i] elements, then unknowns[i] unknowns.
typedef struct quotient_graph {
    int n;
    const int *first, *row; // the pattern
    const bool *bound;
    int *start, *elements, *unknowns, *list;
    int *degree;         // or a lower bound of it
    bool *is_bound;      // it is one
    int **member, *size; // of element e: its members, eliminated ones included; size -1: absorbed
    int *left;           // of element e: members that are not in the newest element
    int *mark, stamp;    // unknowns seen
    int *seen, count_stamp;
    int *mark_element;
    bool *eliminated, *assigned, *aside;
    // unknowns that are not bound, with the same couplings and consecutive numbers, as those of one
    // rod, form a group: group of each, and how many of it are left
    int *group, *remaining;
    // heap of unknowns by degree, then number; place -1: not in it
    int *heap, *place, count;
} quotient_graph;

// ---- heap ---------------------------------------------------------------------------------------

static bool degree_before(const quotient_graph *g, int a, int b) {
    return g->degree[a] != g->degree[b] ? g->degree[a] < g->degree[b] : a < b;
}

static void heap_set(quotient_graph *g, int k, int i) {
    g->heap[k] = i;
    g->place[i] = k;
}

static void heap_up(quotient_graph *g, int k) {
    const int i = g->heap[k];
    for (; k > 0 && degree_before(g, i, g->heap[(k - 1) / 2]); k = (k - 1) / 2)
        heap_set(g, k, g->heap[(k - 1) / 2]);
    heap_set(g, k, i);
}

static void heap_down(quotient_graph *g, int k) {
    const int i = g->heap[k];
    for (;;) {
        int next = 2 * k + 1;
        if (next >= g->count) break;
        if (next + 1 < g->count && degree_before(g, g->heap[next + 1], g->heap[next])) next++;
        if (!degree_before(g, g->heap[next], i)) break;
        heap_set(g, k, g->heap[next]);
        k = next;
    }
    heap_set(g, k, i);
}

static void heap_insert(quotient_graph *g, int i) {
    heap_set(g, g->count, i);
    heap_up(g, g->count++);
}

static int heap_take(quotient_graph *g) {
    const int i = g->heap[0];
    g->place[i] = -1;
    if (--g->count > 0) {
        heap_set(g, 0, g->heap[g->count]);
        heap_down(g, 0);
    }
    return i;
}

// ---- choice -------------------------------------------------------------------------------------

// An eliminated unknown in the constraint of bound i that is not assigned to another; -1: none. Its
// whole group must be eliminated: a constraint may contain some of the group only (a row of twist
// none of the bending), and the pivot of its multiplier would be zero before.
static int find_partner(const quotient_graph *g, int i) {
    for (int p = g->first[i]; p < g->first[i + 1]; p++) {
        const int j = g->row[p];
        if (!g->bound[j] && g->eliminated[j] && !g->assigned[j] && g->remaining[g->group[j]] == 0)
            return j;
    }
    return -1;
}

// The degree of i from the union of its lists.
static void count_degree(quotient_graph *g, int i) {
    const int *list = g->list + g->start[i];
    int n = 0;
    g->seen[i] = ++g->count_stamp;
    for (int k = 0; k < g->elements[i] + g->unknowns[i]; k++) {
        const bool element = k < g->elements[i];
        const int *member = element ? g->member[list[k]] : &list[k];
        for (int p = 0; p < (element ? g->size[list[k]] : 1); p++) {
            const int j = member[p];
            if (g->seen[j] == g->count_stamp || g->eliminated[j]) continue;
            g->seen[j] = g->count_stamp;
            n++;
        }
    }
    g->degree[i] = n;
    g->is_bound[i] = false;
}

// The next unknown: bound ones without a partner wait until an unknown of theirs is eliminated; if
// all wait, that with the largest number.
static int choose_next(quotient_graph *g) {
    while (g->count > 0) {
        const int top = g->heap[0];
        if (g->is_bound[top]) {
            count_degree(g, top);
            heap_down(g, 0);
            continue;
        }
        const int i = heap_take(g);
        if (!g->bound || !g->bound[i] || find_partner(g, i) >= 0) return i;
        g->aside[i] = true;
    }
    int i = g->n - 1;
    while (!g->aside[i]) i--;
    g->aside[i] = false;
    if (g->is_bound[i]) count_degree(g, i);
    return i;
}

static void assign_partner(quotient_graph *g, int v) {
    if (!g->bound) return;
    if (g->bound[v]) {
        const int partner = find_partner(g, v);
        if (partner >= 0) g->assigned[partner] = true;
        return;
    }
    g->remaining[g->group[v]]--;
    for (int p = g->first[v]; p < g->first[v + 1]; p++) { // bound unknowns that waited for v
        const int i = g->row[p];
        if (!g->aside[i]) continue;
        g->aside[i] = false;
        heap_insert(g, i);
    }
}

// ---- elimination --------------------------------------------------------------------------------

static void absorb(quotient_graph *g, int e) {
    snw_free(g->member[e]);
    g->member[e] = NULL;
    g->size[e] = -1;
}

// Element v <- the unknowns that v couples, marked; its elements are absorbed.
static snw_status make_element(quotient_graph *g, int v) {
    int *list = g->list + g->start[v], n = 0;
    g->member[v] = snw_alloc((size_t)(g->degree[v] + 1) * sizeof *g->member[v]);
    if (!g->member[v]) return SNW_E_MEMORY;
    g->mark[v] = ++g->stamp;
    for (int k = 0; k < g->elements[v]; k++) {
        const int e = list[k];
        for (int p = 0; p < g->size[e]; p++) {
            const int i = g->member[e][p];
            if (g->mark[i] == g->stamp || g->eliminated[i]) continue;
            g->mark[i] = g->stamp;
            g->member[v][n++] = i;
        }
        absorb(g, e);
    }
    for (int k = 0; k < g->unknowns[v]; k++) {
        const int i = list[g->elements[v] + k];
        if (g->mark[i] == g->stamp || g->eliminated[i]) continue;
        g->mark[i] = g->stamp;
        g->member[v][n++] = i;
    }
    SNW_ASSERT(n == g->degree[v]);
    g->size[v] = n;
    return SNW_OK;
}

// g->left[e] <- members of each element beside v, of unknowns of v, that are not in element v
static void count_left(quotient_graph *g, int v) {
    for (int p = 0; p < g->size[v]; p++) {
        const int i = g->member[v][p];
        for (int k = 0; k < g->elements[i]; k++) {
            const int e = g->list[g->start[i] + k];
            if (g->size[e] < 0) continue;
            if (g->mark_element[e] != v + 1) {
                int n = 0, *member = g->member[e];
                for (int q = 0; q < g->size[e]; q++) { // drop those that are eliminated
                    if (!g->eliminated[member[q]]) member[n++] = member[q];
                }
                g->size[e] = g->left[e] = n;
                g->mark_element[e] = v + 1;
            }
            g->left[e]--;
        }
    }
}

// A long list of unknowns takes in v and loses it, or an element; what else has become superfluous
// stays, and is counted once.
static void exchange(quotient_graph *g, int v, int i, int elements, int all, int *list) {
    int last = all - 1;
    if (elements == g->elements[i]) { // v itself is in the list
        int k = elements;
        for (; list[k] != v; k++) SNW_ASSERT(k + 1 < all);
        list[k] = list[elements];
    } else {
        for (int k = elements + 1; k < g->elements[i]; k++) list[k] = list[last--];
    }
    list[elements] = v;
    g->elements[i] = elements + 1;
    g->unknowns[i] = last - elements;
}

// Lists of i, of element v: without absorbed elements and those that v contains, without unknowns
// that v has; with v.
static void prune(quotient_graph *g, int v, int i) {
    int *list = g->list + g->start[i], n = 0, unknowns = 0;
    const int elements = g->elements[i], all = elements + g->unknowns[i];
    for (int k = 0; k < elements; k++) {
        if (g->size[list[k]] >= 0 && g->left[list[k]] > 0) list[n++] = list[k];
    }
    if (g->unknowns[i] > LONG_LIST) {
        exchange(g, v, i, n, all, list);
        return;
    }
    g->elements[i] = n;
    for (int k = elements; k < all; k++) {
        if (list[k] != v && g->mark[list[k]] != g->stamp && !g->eliminated[list[k]])
            list[n + unknowns++] = list[k];
    }
    // v or one of its elements was in the lists: there is room
    SNW_ASSERT(n + unknowns < all);
    for (int k = n + unknowns; k > n; k--) list[k] = list[k - 1];
    list[n] = v;
    g->elements[i] = n + 1;
    g->unknowns[i] = unknowns;
}

// Number of unknowns that i couples with, or a lower bound: all but one of those before, and those
// of its newest element v, the last one.
static void update_degree(quotient_graph *g, int v, int i) {
    const int others = g->elements[i] - 1, in_v = g->size[v] - 1, before = g->degree[i] - 1;
    const int at_least = in_v > before ? in_v : before;
    g->is_bound[i] =
        others > 1 || (others == 1 && g->unknowns[i] > 0) || g->unknowns[i] >= LONG_LIST;
    g->degree[i] = g->is_bound[i] ? at_least
                   : others == 0  ? in_v + g->unknowns[i]
                                  : in_v + g->left[g->list[g->start[i]]];
}

static snw_status eliminate_unknown(quotient_graph *g, int v) {
    g->eliminated[v] = true;
    SNW_TRY(make_element(g, v));
    count_left(g, v);
    for (int p = 0; p < g->size[v]; p++) prune(g, v, g->member[v][p]);
    for (int p = 0; p < g->size[v]; p++) {
        const int i = g->member[v][p];
        const int before = g->degree[i];
        update_degree(g, v, i);
        if (g->place[i] < 0) continue;
        if (g->degree[i] < before) heap_up(g, g->place[i]);
        if (g->degree[i] > before) heap_down(g, g->place[i]);
    }
    return SNW_OK;
}

// ---- all ----------------------------------------------------------------------------------------

static void find_groups(quotient_graph *g) {
    for (int j = 0; j < g->n; j++) {
        const size_t size = (size_t)(g->first[j + 1] - g->first[j]) * sizeof *g->row;
        const bool same = j > 0 && !g->bound[j] && !g->bound[j - 1] &&
                          g->first[j + 1] - g->first[j] == g->first[j] - g->first[j - 1] &&
                          memcmp(g->row + g->first[j], g->row + g->first[j - 1], size) == 0;
        g->group[j] = same ? g->group[j - 1] : j;
        g->remaining[g->group[j]]++;
    }
}

static void fill_lists(quotient_graph *g) {
    g->start[0] = 0;
    for (int j = 0; j < g->n; j++) {
        int n = 0;
        for (int p = g->first[j]; p < g->first[j + 1]; p++) {
            if (g->row[p] != j) g->list[g->start[j] + n++] = g->row[p];
        }
        g->unknowns[j] = g->degree[j] = n;
        g->start[j + 1] = g->start[j] + n;
        g->place[j] = -1;
    }
    for (int j = 0; j < g->n; j++) heap_insert(g, j);
}

snw_status snw_minimum_degree(int n, const int *start, const int *row, const bool *bound,
                              int *order, int *degree) {
    const size_t N = (size_t)n, entries = n > 0 ? (size_t)start[n] : 0;
    quotient_graph g = {.n = n, .first = start, .row = row, .bound = bound};
    int *block = snw_alloc((13 * N + 1 + entries) * sizeof *block);
    bool *flags = snw_alloc((4 * N + 1) * sizeof *flags);
    g.member = snw_alloc((N + 1) * sizeof *g.member);
    snw_status s = block && flags && g.member ? SNW_OK : SNW_E_MEMORY;
    if (s == SNW_OK) {
        int **const part[] = {&g.elements, &g.unknowns, &g.degree,       &g.size,
                              &g.left,     &g.mark,     &g.mark_element, &g.heap,
                              &g.place,    &g.group,    &g.remaining};
        for (size_t k = 0; k < 11; k++) *part[k] = block + k * N;
        g.seen = block + 11 * N;
        g.start = g.seen + N;
        g.list = g.start + N + 1;
        g.eliminated = flags, g.assigned = flags + N, g.aside = g.assigned + N,
        g.is_bound = g.aside + N;
        fill_lists(&g);
        if (bound) find_groups(&g);
        for (int k = 0; s == SNW_OK && k < n; k++) {
            const int v = choose_next(&g);
            order[k] = v;
            degree[k] = g.degree[v];
            s = eliminate_unknown(&g, v);
            if (s == SNW_OK) assign_partner(&g, v);
        }
    }
    for (int i = 0; g.member && i < n; i++) snw_free(g.member[i]);
    snw_free(g.member);
    snw_free(block);
    snw_free(flags);
    return s;
}
