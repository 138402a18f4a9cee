// SPDX-License-Identifier: MIT
//
// Nodes whose poses results record: all segments but the world; of a long rod about a thousand, so
// that result files and pages grow with the drawn robot, not with its elements.
#include "model/compile.h"

// kept (nseg) <- segments at which other things are than the next slice of their rod
static void keep_joined(const snw_model *m, bool *kept) {
    for (int i = 1; i < m->nseg; i++) {
        const int parent = m->seg[i].parent;
        const bool continues = m->seg[i].kind == SNW_SEG_ROD &&
                               m->seg[parent].kind == SNW_SEG_ROD &&
                               m->slice[m->seg[i].item].rod == m->slice[m->seg[parent].item].rod;
        if (m->seg[i].kind != SNW_SEG_ROD) kept[i] = true;
        if (!continues) kept[parent] = true;
    }
    for (int i = 0; i < m->nloop; i++) kept[m->loop[i].a] = kept[m->loop[i].b] = true;
    for (int i = 0; i < 2 * m->nforce_element; i++) kept[m->force_element[i / 2].end[i % 2]] = true;
    for (int i = 0; i < m->nforce_field; i++) kept[m->force_field[i].carrier] = true;
}

// kept <- all slices of short rods, of long ones those that follow each other evenly, and both ends
static void keep_evenly(const snw_model *m, bool *kept) {
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        const bool is_long = m->local && rod->nseg > 2 * SNW_STATIONS;
        const int every = is_long ? (rod->nseg + SNW_STATIONS - 1) / SNW_STATIONS : 1;
        for (int k = 0; k < rod->nseg; k++)
            kept[rod->seg0 + k] |= (k + 1) % every == 0 || k + 1 == rod->nseg;
    }
}

snw_status snw_build_nodes(snw_build *b) {
    snw_model *m = b->m;
    bool *kept = snw_build_array(b, (size_t)m->nseg, sizeof *kept);
    int *of_seg = snw_build_array(b, (size_t)m->nseg, sizeof *of_seg);
    if (b->memory_out) return SNW_E_MEMORY;
    keep_joined(m, kept);
    keep_evenly(m, kept);
    for (int i = 1; i < m->nseg; i++) m->nnode += kept[i];
    int *seg = snw_build_array(b, (size_t)m->nnode, sizeof *seg);
    if (b->memory_out) return SNW_E_MEMORY;
    of_seg[0] = -1;
    for (int i = 1, n = 0; i < m->nseg; i++) {
        of_seg[i] = n; // one that is not kept has the next node: the last slice of a rod is kept
        if (kept[i]) seg[n++] = i;
    }
    m->node_seg = seg;
    m->node_of_seg = of_seg;
    return SNW_OK;
}

int snw_node_parent(const snw_model *m, int node) {
    int i = m->seg[m->node_seg[node]].parent;
    while (i > 0 && m->node_seg[m->node_of_seg[i]] != i) i = m->seg[i].parent;
    return m->node_of_seg[i];
}
