// SPDX-License-Identifier: MIT
//
// Numbers of nodes and points along rods of the last rows that were compiled by themselves.
#include "sweep/reuse.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "language/document.h"
#include "model/layout_reuse.h"

#include <string.h>

enum { KEPT = 8 }; // rows that are remembered

// The rod of a link in a row that is remembered.
typedef struct kept_rod {
    int nodes, points; // quadrature nodes, points per element for functions of the strain
    int n;             // nodes with attachments; 0: the link has no rod that can be reused
    double *x;         // n: their arc lengths, m
} kept_rod;

typedef struct kept_row {
    snw_desc *desc; // NULL: none
    kept_rod *rod;  // nlink
    double *x;
} kept_row;

// A rod whose numbers a row that is under way has taken.
typedef struct taken_rod {
    int row;                  // of the kept rows; -1: none
    int nodes, strain_points; // that the description had before
} taken_rod;

typedef struct taken_row {
    int nlink;
    taken_rod *rod; // nlink
} taken_row;

struct snw_sweep_reuse {
    kept_row kept[KEPT];
    int next; // to be replaced
    int nlane;
    taken_row *taken; // nlane
};

snw_status snw_sweep_reuse_create(int lanes, snw_sweep_reuse **out, snw_error *err) {
    snw_sweep_reuse *r = *out = snw_alloc(sizeof *r);
    if (!r) return snw_fail_memory(err);
    r->nlane = lanes;
    r->taken = snw_alloc((size_t)lanes * sizeof *r->taken);
    return r->taken ? SNW_OK : snw_fail_memory(err);
}

static void forget(kept_row *k) {
    snw_desc_destroy(k->desc);
    snw_free(k->rod);
    snw_free(k->x);
    *k = (kept_row){0};
}

void snw_sweep_reuse_destroy(snw_sweep_reuse *r) {
    if (!r) return;
    for (int i = 0; i < KEPT; i++) forget(&r->kept[i]);
    for (int i = 0; r->taken && i < r->nlane; i++) snw_free(r->taken[i].rod);
    snw_free(r->taken);
    snw_free(r);
}

// Steps that compile descriptions of their own take nodes as the file has them.
static bool study_allows(const snw_desc *d) {
    for (int i = 0; i < d->nstep; i++) {
        const snw_step_kind kind = d->step[i].kind;
        if (kind != SNW_STEP_STATIC && kind != SNW_STEP_DYNAMIC && kind != SNW_STEP_MODES)
            return false;
    }
    return d->ntube == 0;
}

static int find_row(const snw_sweep_reuse *r, const snw_desc *d, int l) {
    for (int i = 0; i < KEPT; i++) {
        const kept_row *k = &r->kept[i];
        if (k->desc && k->desc->nlink == d->nlink && k->rod[l].n > 0 &&
            snw_layout_reusable(k->desc, d, l))
            return i;
    }
    return -1;
}

bool snw_sweep_reuse_take(snw_sweep_reuse *r, int lane, snw_desc *desc, bool *all) {
    taken_row *taken = &r->taken[lane];
    *all = false;
    if (desc->nlink > taken->nlink) {
        snw_free(taken->rod);
        taken->rod = snw_alloc((size_t)desc->nlink * sizeof *taken->rod);
        taken->nlink = taken->rod ? desc->nlink : 0;
        if (!taken->rod) return false;
    }
    bool any = false;
    for (int l = 0; l < taken->nlink; l++) taken->rod[l].row = -1;
    if (!study_allows(desc)) return false;
    *all = true;
    for (int l = 0; l < desc->nlink; l++) {
        const int row = desc->link[l].has_rod ? find_row(r, desc, l) : -1;
        *all = *all && (row >= 0 || !desc->link[l].has_rod);
        if (row < 0) continue;
        snw_rod_desc *d = &desc->link[l].rod;
        taken->rod[l] =
            (taken_rod){.row = row, .nodes = d->nodes, .strain_points = d->strain_points};
        d->nodes = r->kept[row].rod[l].nodes;
        d->strain_points = r->kept[row].rod[l].points;
        any = true;
    }
    return any;
}

bool snw_sweep_reuse_holds(const snw_sweep_reuse *r, int lane, const snw_model *m) {
    const taken_rod *taken = r->taken[lane].rod;
    for (int l = 0; l < m->nlink; l++) {
        if (taken[l].row < 0) continue;
        const kept_rod *k = &r->kept[taken[l].row].rod[l];
        const snw_rod *rod = &m->rod[m->link_rod[l]];
        if (rod->nseg != k->n || rod->nodes != k->nodes ||
            memcmp(m->seg_x + rod->seg0, k->x, (size_t)k->n * sizeof *k->x) != 0)
            return false;
    }
    return true;
}

void snw_sweep_reuse_restore(snw_sweep_reuse *r, int lane, snw_desc *desc) {
    for (int l = 0; l < desc->nlink && l < r->taken[lane].nlink; l++) {
        taken_rod *t = &r->taken[lane].rod[l];
        if (t->row < 0) continue;
        desc->link[l].rod.nodes = t->nodes;
        desc->link[l].rod.strain_points = t->strain_points;
        t->row = -1;
    }
}

bool snw_sweep_reuse_keep(snw_sweep_reuse *r, snw_desc *desc, const snw_model *m) {
    size_t n = 1;
    for (int i = 0; i < m->nrod; i++) n += (size_t)m->rod[i].nseg;
    kept_rod *rods = snw_alloc((size_t)desc->nlink * sizeof *rods);
    double *x = snw_alloc(n * sizeof *x);
    if (!rods || !x) {
        snw_free(rods);
        snw_free(x);
        return false;
    }
    kept_row *k = &r->kept[r->next];
    r->next = (r->next + 1) % KEPT;
    forget(k);
    *k = (kept_row){.desc = desc, .rod = rods, .x = x};
    for (int i = 0; i < m->nrod; i++) {
        const snw_rod *rod = &m->rod[i];
        if (rod->link < 0 || m->link_rod[rod->link] != i || rod->tolerance > 0) continue;
        rods[rod->link] = (kept_rod){
            .nodes = rod->nodes, .points = rod->npoint / rod->nelem, .n = rod->nseg, .x = x};
        memcpy(x, m->seg_x + rod->seg0, (size_t)rod->nseg * sizeof *x);
        x += rod->nseg;
    }
    return true;
}
