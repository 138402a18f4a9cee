// SPDX-License-Identifier: MIT
//
// Stations of probes. Where the rod has no node, an observer is attached to the nearest node
// towards the root.
//
// The internal wrench at x balances inertia and loads beyond x. These are lumped at the quadrature
// points. The fraction of the lump of point i that lies beyond x is the integral from x on of its
// Lagrange polynomial, over its weight; the wrench is then as accurate as the quadrature rule
// (theory.md 3, internal wrench).
#include "model/compile.h"

#include "base/fail.h"
#include "math/pose_grid.h"
#include "math/quadrature.h"

#include <math.h>

// out[i] <- integral from u to 1 of the Lagrange polynomial of point i of the n Gauss points x with
// weights w, by the Gauss rule on [u, 1]; polynomials in barycentric form with the weights
// bary[i] = (-1)^i (x (1 - x) w)^(1/2) at x[i].
static void lagrange_tails(int n, const double *x, const double *w, double u, double *bary,
                           double *out) {
    for (int i = 0; i < n; i++) {
        bary[i] = (i % 2 ? -1 : 1) * sqrt(x[i] * (1 - x[i]) * w[i]);
        out[i] = 0;
    }
    for (int k = 0; k < n; k++) {
        const double at = u + (1 - u) * x[k], part = (1 - u) * w[k];
        double sum = 0;
        int hit = -1;
        for (int i = 0; i < n; i++) {
            if (at == x[i]) hit = i;
            sum += bary[i] / (at - x[i]);
        }
        for (int i = 0; i < n && hit < 0; i++) out[i] += part * bary[i] / ((at - x[i]) * sum);
        if (hit >= 0) out[hit] += part;
    }
}

void snw_rod_beyond(const snw_model *m, const snw_rod *rod, double x, double *scratch,
                    double *fraction) {
    const int n = rod->per_cell;
    double *px = scratch, *pw = px + n, *bary = pw + n, *tail = bary + n;
    if (rod->grid) {
        snw_grid_quadrature(n + 2, px, pw);
        for (int i = 0; i < n; i++) tail[i] = pw[i] - snw_lagrange_integral(n, px, i, x / rod->L);
    } else {
        snw_gauss(n, px, pw);
    }
    int cell = 0, point = 0, tail_cell = -1; // tail_cell: cell of the values in tail
    for (int k = 0; k < rod->nseg; k++) {
        const int i = rod->seg0 + k;
        // quadrature points follow each other cell by cell; those in reserve lie at the root
        if (!(m->seg_w[i] > 0) || m->seg_x[i] == 0) {
            fraction[k] = m->seg_x[i] >= x - 1e-12 * rod->L; // attachments are not divided
            continue;
        }
        const double from = rod->cell[cell], to = rod->cell[cell + 1];
        fraction[k] = x <= from;
        if (x > from && x < to) {
            if (cell != tail_cell && !rod->grid)
                lagrange_tails(n, px, pw, (x - from) / (to - from), bary, tail);
            tail_cell = cell;
            fraction[k] = tail[point] / pw[point];
        }
        if (++point == n) point = 0, cell++;
    }
}

// Fraction of each node of a rod (nseg) that lies beyond x.
static const double *fractions_beyond(snw_build *b, const snw_rod *rod, double x) {
    double *fraction = snw_build_array(b, (size_t)rod->nseg, sizeof *fraction);
    double *scratch = snw_build_array(b, 4 * (size_t)rod->per_cell, sizeof *scratch);
    if (b->memory_out) return NULL;
    snw_rod_beyond(b->m, rod, x, scratch, fraction);
    return fraction;
}

// Segment at x of a rod: a node, or a new observer.
static int station_observer(snw_build *b, const snw_rod *rod, int number, double x) {
    snw_model *m = b->m;
    const bool separate = rod->na > 0 && snw_basis_table[rod->basis[0].kind].separate;
    if (x <= 1e-12 * rod->L) return rod->root;
    int below = rod->root;
    double from = 0;
    for (int s = rod->seg0; s < rod->seg0 + rod->nseg; s++) {
        // quadrature nodes of rods with a tolerance may move, and all nodes of tubes
        const bool stays = !separate && (rod->tolerance == 0 || b->seg_w[s] == 0);
        if (stays && fabs(b->seg_x[s] - x) <= 1e-12 * rod->L) return s;
        if (b->seg_x[s] < x && !rod->grid) below = s, from = b->seg_x[s];
    }
    const int s = m->nseg + m->nobs++;
    b->seg[s] = (snw_seg){.kind = SNW_SEG_ROD,
                          .parent = below,
                          .item = m->nslice++,
                          .link = rod->link,
                          .path = b->seg[rod->seg0].path};
    b->seg_x[s] = x;
    snw_build_slice(b, b->seg[s].item, number, from, x);
    return s;
}

// Segment of a site, or a new observer; *rod <- its rod or -1.
static int station_seg(snw_build *b, const snw_site *site, double x, int *rod) {
    snw_model *m = b->m;
    *rod = site->link >= 0 ? b->link_rod[site->link] : -1;
    SNW_ASSERT(*rod >= 0 || site->kind == SNW_SITE_WORLD || site->kind == SNW_SITE_END);
    int s = 0;
    switch (site->kind) {
    case SNW_SITE_WORLD:
        break;
    case SNW_SITE_BASE:
        s = b->link_first[site->link];
        break;
    case SNW_SITE_END:
        s = b->link_end[site->link];
        break;
    case SNW_SITE_ROOT:
        s = b->rod[*rod].root;
        break;
    case SNW_SITE_AT:
        s = station_observer(b, &b->rod[*rod], *rod, x);
        break;
    }
    if (!site->offset) return s;
    const int o = m->nseg + m->nobs++;
    b->pose[m->npose] = snw_pose_desc_identity();
    b->pose[m->npose].R0 = site->pose.R;
    for (int i = 0; i < 3; i++) {
        b->pose[m->npose].xyz[i] = snw_expr_constant(m->pool, site->pose.p.e[i]);
        if (!b->pose[m->npose].xyz[i]) b->memory_out = true;
    }
    b->seg[o] = (snw_seg){.kind = SNW_SEG_POSE,
                          .parent = s,
                          .item = m->npose++,
                          .link = site->link,
                          .path = b->seg[s].path};
    return o;
}

// Arc length of a site on its rod, m.
static double station_x(const snw_site *site, const snw_rod *rod) {
    switch (site->kind) {
    case SNW_SITE_WORLD:
    case SNW_SITE_BASE:
    case SNW_SITE_ROOT:
        return 0;
    case SNW_SITE_END:
        return rod ? rod->L : 0;
    case SNW_SITE_AT:
        return site->x;
    }
    return 0;
}

snw_status snw_build_stations(snw_build *b, snw_error *err) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    int total = 0;
    for (int i = 0; i < d->nprobe; i++) {
        const bool two = snw_probe_table[d->probe[i].kind].subject == SNW_OF_SITES;
        total += d->probe[i].along > 0 ? d->probe[i].along : two ? 2 : 1;
    }
    snw_station *at = snw_build_array(b, (size_t)total, sizeof *at);
    int *first = snw_build_array(b, (size_t)d->nprobe, sizeof *first);
    int *count = snw_build_array(b, (size_t)d->nprobe, sizeof *count);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < d->nprobe; i++) {
        const snw_probe_desc *p = &d->probe[i];
        // of two sites the first is the station in front of the probe's own
        if (snw_probe_table[p->kind].subject == SNW_OF_SITES) {
            const int r = p->from.link >= 0 ? b->link_rod[p->from.link] : -1;
            snw_station *from = &at[m->nstation++];
            *from = (snw_station){.x = station_x(&p->from, r >= 0 ? &b->rod[r] : NULL)};
            from->seg = station_seg(b, &p->from, from->x, &from->rod);
        }
        first[i] = m->nstation;
        count[i] = p->along > 0 ? p->along : 1;
        for (int k = 0; k < count[i]; k++) {
            snw_site site = p->site;
            const int r = site.link >= 0 ? b->link_rod[site.link] : -1;
            const snw_rod *rod = r >= 0 ? &b->rod[r] : NULL;
            double x = station_x(&site, rod);
            if (p->along > 0 && rod) {
                x = p->along > 1 ? rod->L * k / (p->along - 1) : 0;
                site.kind = SNW_SITE_AT;
            }
            snw_station *w = &at[m->nstation++];
            *w = (snw_station){.x = x};
            w->seg = station_seg(b, &site, x, &w->rod);
            if (p->kind != SNW_PROBE_WRENCH || !rod) continue;
            w->beyond = fractions_beyond(b, rod, x);
            if (rod->fluid < 0) continue;
            snw_outline o;
            const snw_link_desc *link = &d->link[rod->link];
            SNW_TRY(snw_section_outline(&link->rod, link->name, x, &o, err));
            for (int c = 0; c < 2; c++) w->flux[c] = d->fluid[rod->fluid].density * o.added[c];
        }
    }
    m->station = at;
    m->probe_station = first;
    m->probe_count = count;
    return b->memory_out ? SNW_E_MEMORY : SNW_OK;
}
