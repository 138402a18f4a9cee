// SPDX-License-Identifier: MIT
//
// Elimination order of Newton's matrix for packs of robots: minimum degree on sets of unknowns that
// are bits of words, coordinates before constraint rows.
#include "integrate/pack_order.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fields.h"
#include "constraint/bordered_matrix.h"

#include <stdint.h>
#include <string.h>

enum { BITS = 64 };

// Sets of unknowns, one for each unknown: those with which it couples, itself excluded.
typedef struct coupled_sets {
    int n, words; // words of 64 unknowns
    uint64_t *set;
} coupled_sets;

static uint64_t *set_of(const coupled_sets *s, int i) {
    return s->set + (size_t)i * (size_t)s->words;
}
static bool has(const uint64_t *set, int i) { return set[i / BITS] >> (i % BITS) & 1; }
static void put(uint64_t *set, int i) { set[i / BITS] |= (uint64_t)1 << (i % BITS); }
static void drop(uint64_t *set, int i) { set[i / BITS] &= ~((uint64_t)1 << (i % BITS)); }

static int size_of(const coupled_sets *s, int i) {
    const uint64_t *set = set_of(s, i);
    int n = 0;
    for (int k = 0; k < s->words; k++) n += __builtin_popcountll(set[k]);
    return n;
}

static snw_status read_pattern(const snw_model *m, coupled_sets *s) {
    int *start, *row;
    SNW_TRY(snw_pattern_columns(m, &start, &row));
    for (int j = 0; j < s->n; j++) {
        for (int k = start[j]; k < start[j + 1]; k++) {
            if (row[k] == j) continue;
            put(set_of(s, j), row[k]);
            put(set_of(s, row[k]), j);
        }
    }
    snw_free(start);
    snw_free(row);
    for (int i = 0; m->nlive && i < m->nv; i++) { // laws may couple all coordinates
        for (int j = 0; j < m->nv; j++) {
            if (i != j) put(set_of(s, i), j);
        }
    }
    return SNW_OK;
}

// The unknown that is eliminated next; a constraint row only when no coordinate is left. Of equal
// ones the first.
static int next_unknown(const coupled_sets *s, int nv, const bool *gone) {
    int best = -1, least = 0;
    for (int i = 0; i < s->n; i++) {
        if (gone[i]) continue;
        if (i >= nv) return best >= 0 ? best : i;
        const int size = size_of(s, i);
        if (best < 0 || size < least) best = i, least = size;
    }
    return best;
}

// Eliminating i couples all unknowns that are left and couple with it.
static void eliminate(coupled_sets *s, int i) {
    const uint64_t *own = set_of(s, i);
    for (int j = 0; j < s->n; j++) {
        if (!has(own, j)) continue;
        uint64_t *to = set_of(s, j);
        for (int k = 0; k < s->words; k++) to[k] |= own[k];
        drop(to, i);
        drop(to, j);
    }
}

// unknown <- the order; the set of each unknown <- those after it in its column of the factors
static void find_order(coupled_sets *s, int nv, bool *gone, int *unknown) {
    for (int k = 0; k < s->n; k++) {
        unknown[k] = next_unknown(s, nv, gone);
        gone[unknown[k]] = true;
        eliminate(s, unknown[k]);
    }
}

// s <- rows below the diagonal of each column, as positions, from those of `by_unknown`
static void number_by_position(const coupled_sets *by_unknown, const int *unknown, const int *place,
                               coupled_sets *s) {
    for (int k = 0; k < s->n; k++) {
        const uint64_t *own = set_of(by_unknown, unknown[k]);
        for (int i = 0; i < s->n; i++) {
            if (has(own, i)) put(set_of(s, k), place[i]);
        }
    }
}

// ---- laws that read signals ---------------------------------------------------------------------

// seg (nseg) <- segments whose motion laws read, or on which loads of laws act
static void mark_frames(const snw_model *m, bool *seg) {
    for (int k = 0; k < m->nlive; k++) {
        const snw_signal *signal = &m->signal[m->live[k]];
        if (!snw_signal_reads_frame(signal)) continue;
        int at = m->station[signal->station].seg;
        while (at >= m->nseg) at = m->seg[at].parent; // observers
        seg[at] = true;
    }
    for (int i = 0; m->nlive && i < m->nload_point; i++) {
        if (m->load[m->load_point[i].load].reads_signals) seg[m->load_point[i].seg] = true;
    }
}

// Counts them; with arrays, lists them.
static void list_laws(const snw_model *m, const bool *seg, int *nframe, snw_pack_frame *frame,
                      int *nload, int *load, int *ntendon, int *tendon) {
    *nframe = *nload = *ntendon = 0;
    for (int i = 0; i < m->nseg; i++) {
        if (!seg[i]) continue;
        if (frame)
            frame[*nframe] = (snw_pack_frame){
                .seg = i, .ld = m->path[m->seg[i].path].ld, .at = (size_t)m->seg_store[i]};
        ++*nframe;
    }
    for (int i = 0; m->nlive && i < m->nload_point; i++) {
        if (!m->load[m->load_point[i].load].reads_signals) continue;
        if (load) load[*nload] = i;
        ++*nload;
    }
    for (int i = 0; m->nlive && i < m->ntendon; i++) {
        if (!m->tendon[i].reads_signals) continue;
        if (tendon) tendon[*ntendon] = i;
        ++*ntendon;
    }
}

// ---- order --------------------------------------------------------------------------------------

#define ORDER_FIELDS(X)                                                                            \
    X(size_t, from, nentry, "entries in the matrix")                                               \
    X(int, unknown, n, "by position")                                                              \
    X(int, entry, n + 1, "first entries of columns")                                               \
    X(int, diagonal, n, "diagonal entries")                                                        \
    X(int, run_of, n + 1, "first runs of columns")                                                 \
    X(int, run_below, n, "first runs below the diagonal")                                          \
    X(snw_pack_run, run, nrun, "rows")                                                             \
    X(int, together, n, "columns with the same rows")                                              \
    X(snw_pack_frame, frame, nframe, "segments that laws read")                                    \
    X(int, load, nload, "load points of laws that read signals")                                   \
    X(int, tendon, ntendon, "tendons of such laws")

typedef struct order_arrays {
    int n, nentry, nrun, nframe, nload, ntendon;
    ORDER_FIELDS(SNW_FIELD_POINTER)
} order_arrays;

static void place_order(void *object, snw_fields *f) {
    order_arrays *o = object;
    const int n = o->n, nentry = o->nentry, nrun = o->nrun;
    const int nframe = o->nframe, nload = o->nload, ntendon = o->ntendon;
    ORDER_FIELDS(SNW_FIELD_PLACE)
}

// Entries and runs of all columns; without arrays they are counted.
static void list_columns(const coupled_sets *below, const int *unknown, order_arrays *o) {
    const int n = o->n;
    int nentry = 0, nrun = 0;
    for (int k = 0; k < n; k++) {
        int last = -2; // row of the last entry of a run
        if (o->entry) o->entry[k] = nentry, o->run_of[k] = nrun;
        for (int i = 0; i < n; i++) {
            if (i == k) {
                if (o->entry) o->diagonal[k] = nentry, o->run_below[k] = nrun;
            } else if (!(i < k ? has(set_of(below, i), k) : has(set_of(below, k), i))) {
                continue;
            } else {
                const bool begins = i != last + 1 || last == k;
                if (o->entry && begins) o->run[nrun] = (snw_pack_run){.first = i};
                nrun += begins;
                if (o->entry) o->run[nrun - 1].count++;
            }
            if (o->entry) o->from[nentry] = (size_t)unknown[k] * (size_t)n + (size_t)unknown[i];
            last = i;
            nentry++;
        }
    }
    if (o->entry) o->entry[n] = nentry, o->run_of[n] = nrun;
    o->nentry = nentry, o->nrun = nrun;
}

static void find_together(const coupled_sets *below, int n, int *together) {
    for (int k = n - 1; k >= 0; k--) {
        together[k] = 1;
        if (k + 1 == n || !has(set_of(below, k), k + 1)) continue;
        bool same = true;
        for (int w = 0; w < below->words; w++) {
            uint64_t own = set_of(below, k)[w];
            if (w == (k + 1) / BITS) own &= ~((uint64_t)1 << ((k + 1) % BITS));
            same &= own == set_of(below, k + 1)[w];
        }
        if (same) together[k] = together[k + 1] + 1;
    }
}

static snw_status fill_order(const snw_model *m, const bool *frame, const coupled_sets *below,
                             const int *unknown, snw_pack_order *out) {
    order_arrays o = {.n = below->n};
    list_columns(below, unknown, &o);
    list_laws(m, frame, &o.nframe, NULL, &o.nload, NULL, &o.ntendon, NULL);
    out->block = snw_fields_create(place_order, &o);
    if (!out->block) return SNW_E_MEMORY;
    list_columns(below, unknown, &o);
    list_laws(m, frame, &o.nframe, o.frame, &o.nload, o.load, &o.ntendon, o.tendon);
    memcpy(o.unknown, unknown, (size_t)o.n * sizeof *unknown);
    find_together(below, o.n, o.together);
    *out = (snw_pack_order){.n = o.n,
                            .nentry = o.nentry,
                            .nrun = o.nrun,
                            .unknown = o.unknown,
                            .entry = o.entry,
                            .diagonal = o.diagonal,
                            .run_of = o.run_of,
                            .run_below = o.run_below,
                            .run = o.run,
                            .together = o.together,
                            .from = o.from,
                            .nframe = o.nframe,
                            .nload = o.nload,
                            .ntendon = o.ntendon,
                            .frame = o.frame,
                            .load = o.load,
                            .tendon = o.tendon,
                            .block = out->block};
    return SNW_OK;
}

snw_status snw_pack_order_create(const snw_model *m, snw_pack_order **out) {
    const int n = m->nv + m->nconstraint, words = n / BITS + 1;
    const size_t size = (size_t)n * (size_t)words * sizeof(uint64_t);
    coupled_sets sets = {n, words, snw_alloc(size)}, below = {n, words, snw_alloc(size)};
    bool *gone = snw_alloc((size_t)n * sizeof *gone);
    bool *frame = snw_alloc((size_t)m->nseg * sizeof *frame);
    int *unknown = snw_alloc(2 * (size_t)n * sizeof *unknown), *place = unknown + n;
    snw_pack_order *o = *out = snw_alloc(sizeof *o);
    snw_status s = SNW_E_MEMORY;
    if (sets.set && below.set && gone && frame && unknown && o) s = read_pattern(m, &sets);
    if (s == SNW_OK) {
        find_order(&sets, m->nv, gone, unknown);
        for (int k = 0; k < n; k++) place[unknown[k]] = k;
        number_by_position(&sets, unknown, place, &below);
        mark_frames(m, frame);
        s = fill_order(m, frame, &below, unknown, o);
    }
    snw_free(sets.set);
    snw_free(below.set);
    snw_free(gone);
    snw_free(frame);
    snw_free(unknown);
    if (s == SNW_OK) return SNW_OK;
    snw_pack_order_destroy(o);
    *out = NULL;
    return s;
}

void snw_pack_order_destroy(snw_pack_order *o) {
    if (!o) return;
    snw_free(o->block);
    snw_free(o);
}
