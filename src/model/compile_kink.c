// SPDX-License-Identifier: MIT
//
// Kinks of tendons that rub: between straight parts, where these meet a rod, and between rods that follow each other.
#include "model/compile.h"

#include "base/fail.h"

#include <math.h>

// the duct of spot p where its rod's part of the path ends, or begins
static snw_status duct_of(snw_build *b, const snw_measure_desc *d, const snw_spot *p, bool ends,
                          double *phi, int *nphi, snw_duct *out, snw_error *err) {
    *out = (snw_duct){.end = *p, .seg = -1};
    if (p->span >= 0) return SNW_OK;
    const snw_rod *rod = &b->rod[p->rod];
    snw_spot *end = &out->end;
    end->x = ends ? fmin(p->x + p->after, rod->L) : fmax(p->x - p->before, 0);
    end->w = end->before = end->after = 0;
    end->phi = *nphi;
    // in the element of the spot
    *nphi += snw_rod_basis(rod, end->x, p->x, end->first, end->count, phi + *nphi);
    snw_build_reference(b, end);
    out->seg = snw_build_site(b, &(snw_site){.kind = SNW_SITE_AT, .link = rod->link, .x = end->x});
    return snw_build_place(d, rod, end, err);
}

static bool carries(const snw_build *b, int a, int s) {
    while (s > a) s = b->seg[s].parent;
    return s == a;
}

// What carries the end of one rod and with it the root of the next turns both alike.
static void set_places(snw_build *b, snw_duct duct[2], int *dof, int *n) {
    const int a = duct[0].seg, s = duct[1].seg;
    const int skip = a >= 0 && s >= 0 && carries(b, a, s) ? b->path[b->seg[a].path].n : 0;
    for (int k = 0; k < 2; k++) {
        if (duct[k].seg < 0) continue;
        const snw_path *path = &b->path[b->seg[duct[k].seg].path];
        const snw_path rest = {.n = path->n - skip, .dof = path->dof + skip};
        duct[k].skip = skip;
        duct[k].of = snw_build_places(b, &rest, dof, n);
    }
}

snw_status snw_build_kinks(snw_build *b, const snw_measure_desc *d, int spot0, snw_spot *spot,
                           snw_kink *kink, double *phi, int *nphi, int *dof, int *n,
                           snw_error *err) {
    for (int k = spot0 + 1; k < b->m->nspot; k++) {
        const snw_spot *p = &spot[k - 1];
        if (p->span < 0 && spot[k].span < 0 && p->rod == spot[k].rod) continue;
        snw_kink *it = &kink[b->m->nkink];
        it->spot = k;
        SNW_TRY(duct_of(b, d, p, true, phi, nphi, &it->duct[0], err));
        SNW_TRY(duct_of(b, d, &spot[k], false, phi, nphi, &it->duct[1], err));
        set_places(b, it->duct, dof, n);
        spot[k].kink = b->m->nkink++;
    }
    return SNW_OK;
}
