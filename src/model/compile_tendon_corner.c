// SPDX-License-Identifier: MIT
//
// Corners of tendons with friction: between straight segments, between a straight segment and a
// rod, and between consecutive rods (theory.md (3.11.9)).
#include "model/compile.h"

#include "base/fail.h"

#include <math.h>

// *out <- end (`ends`) or start of the part of the tendon along the rod of point p.
static snw_status duct_of(snw_build *b, const snw_tendon_desc *d, const snw_tendon_point *p,
                          bool ends, double *phi, int *nphi, snw_duct *out, snw_error *err) {
    *out = (snw_duct){.end = *p, .seg = -1};
    if (p->segment >= 0) return SNW_OK;
    const snw_rod *rod = &b->rod[p->rod];
    snw_tendon_point *end = &out->end;
    end->x = ends ? fmin(p->x + p->after, rod->L) : fmax(p->x - p->before, 0);
    end->w = end->before = end->after = 0;
    end->phi = *nphi;
    // shape functions of the element of p
    *nphi += snw_rod_basis(rod, end->x, p->x, end->first, end->count, phi + *nphi);
    snw_build_tendon_rest_strain(b, end);
    out->seg = snw_build_site(b, &(snw_site){.kind = SNW_SITE_AT, .link = rod->link, .x = end->x});
    return snw_build_tendon_position(d, rod, end, err);
}

// Is segment a an ancestor of s, or s itself?
static bool tendon_corner_is_ancestor(const snw_build *b, int a, int s) {
    while (s > a) s = b->seg[s].parent;
    return s == a;
}

// Positions of the coordinates on which the angle at the corner depends. When the segment in front
// of the corner is an ancestor of the one behind it, the coordinates of its path rotate both sides
// alike and are skipped.
static void set_duct_positions(snw_build *b, snw_duct duct[2], int *dof, int *n) {
    const int a = duct[0].seg, s = duct[1].seg;
    const int skip =
        a >= 0 && s >= 0 && tendon_corner_is_ancestor(b, a, s) ? b->path[b->seg[a].path].n : 0;
    for (int k = 0; k < 2; k++) {
        if (duct[k].seg < 0) continue;
        const snw_path *path = &b->path[b->seg[duct[k].seg].path];
        const snw_path remaining = {.n = path->n - skip, .dof = path->dof + skip};
        duct[k].skip = skip;
        duct[k].of = snw_build_positions(b, &remaining, dof, n);
    }
}

snw_status snw_build_tendon_corners(snw_build *b, const snw_tendon_desc *d, int point0,
                                    snw_tendon_point *point, snw_tendon_corner *corner, double *phi,
                                    int *nphi, int *dof, int *n, snw_error *err) {
    for (int k = point0 + 1; k < b->m->ntendon_point; k++) {
        const snw_tendon_point *p = &point[k - 1];
        if (p->segment < 0 && point[k].segment < 0 && p->rod == point[k].rod) continue;
        snw_tendon_corner *c = &corner[b->m->ntendon_corner];
        c->point = k;
        SNW_TRY(duct_of(b, d, p, true, phi, nphi, &c->duct[0], err));
        SNW_TRY(duct_of(b, d, &point[k], false, phi, nphi, &c->duct[1], err));
        set_duct_positions(b, c->duct, dof, n);
        point[k].corner = b->m->ntendon_corner++;
    }
    return SNW_OK;
}
