// SPDX-License-Identifier: MIT
//
// Kinks of tendons that rub: between straight parts, where these meet a rod, and between rods that
// follow each other.
#include "model/compile.h"

#include "base/fail.h"

#include <math.h>

// the duct of spot p where its rod's part of the path ends, or begins
static snw_status duct_of(snw_build *b, const snw_tendon_desc *d, const snw_tendon_point *p,
                          bool ends, double *phi, int *nphi, snw_duct *out, snw_error *err) {
    *out = (snw_duct){.end = *p, .seg = -1};
    if (p->segment >= 0) return SNW_OK;
    const snw_rod *rod = &b->rod[p->rod];
    snw_tendon_point *end = &out->end;
    end->x = ends ? fmin(p->x + p->after, rod->L) : fmax(p->x - p->before, 0);
    end->w = end->before = end->after = 0;
    end->phi = *nphi;
    // in the element of the spot
    *nphi += snw_rod_basis(rod, end->x, p->x, end->first, end->count, phi + *nphi);
    snw_build_reference(b, end);
    out->seg = snw_build_site(b, &(snw_site){.kind = SNW_SITE_AT, .link = rod->link, .x = end->x});
    return snw_build_place(d, rod, end, err);
}

static bool tendon_corner_carries(const snw_build *b, int a, int s) {
    while (s > a) s = b->seg[s].parent;
    return s == a;
}

// What carries the end of one rod and with it the root of the next turns both alike.
static void set_places(snw_build *b, snw_duct duct[2], int *dof, int *n) {
    const int a = duct[0].seg, s = duct[1].seg;
    const int skip =
        a >= 0 && s >= 0 && tendon_corner_carries(b, a, s) ? b->path[b->seg[a].path].n : 0;
    for (int k = 0; k < 2; k++) {
        if (duct[k].seg < 0) continue;
        const snw_path *path = &b->path[b->seg[duct[k].seg].path];
        const snw_path rest = {.n = path->n - skip, .dof = path->dof + skip};
        duct[k].skip = skip;
        duct[k].of = snw_build_places(b, &rest, dof, n);
    }
}

snw_status snw_build_tendon_corners(snw_build *b, const snw_tendon_desc *d, int spot0,
                                    snw_tendon_point *point, snw_tendon_corner *corner, double *phi,
                                    int *nphi, int *dof, int *n, snw_error *err) {
    for (int k = spot0 + 1; k < b->m->ntendon_point; k++) {
        const snw_tendon_point *p = &point[k - 1];
        if (p->segment < 0 && point[k].segment < 0 && p->rod == point[k].rod) continue;
        snw_tendon_corner *it = &corner[b->m->ntendon_corner];
        it->point = k;
        SNW_TRY(duct_of(b, d, p, true, phi, nphi, &it->duct[0], err));
        SNW_TRY(duct_of(b, d, &point[k], false, phi, nphi, &it->duct[1], err));
        set_places(b, it->duct, dof, n);
        point[k].corner = b->m->ntendon_corner++;
    }
    return SNW_OK;
}
