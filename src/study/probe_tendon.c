// SPDX-License-Identifier: MIT
#include "study/probe_tendon.h"

#include <math.h>

// How much of the loss from spot k - 1 to k there is at a way from the former, of `rest` to the end
// of its rod and `whole` in all: by equal parts, as where the path bends evenly, and at a kink at
// once.
static double lost_at(const snw_model *m, int k, double way, double rest, double whole,
                      const snw_work *w) {
    const snw_tendon_point_work *at = &w->tendon_point[k];
    if (m->tendon_point[k].corner < 0) return way / whole;
    const double before = m->tendon_point[k - 1].after * at[-1].turning;
    const double behind = m->tendon_point[k].before * at->turning,
                 angle = before + at->corner + behind;
    if (!(angle > 0)) return 0;
    if (way < rest) return before / angle * way / rest;
    return (before + at->corner + behind * (way - rest) / (whole - rest)) / angle;
}

// along a straight part tensions are equal
double snw_tendon_tension(const snw_model *m, int tendon, double fraction, const snw_work *w) {
    const snw_tendon *x = &m->tendon[tendon];
    const double e = w->tendon[tendon].effort;
    const double way = fraction * (x->reference - w->tendon[tendon].value);
    double at = 0, rest = 0, share = 1; // the last place known, and what of its rod is behind it
    for (int k = x->point_adr; k < x->point_adr + x->npoint; k++) {
        const snw_tendon_point_work *point = &w->tendon_point[k];
        const bool straight = m->tendon_point[k].segment >= 0;
        const double next = at + rest + m->tendon_point[k].before * point->f;
        if (way < next) {
            return e * share *
                   pow(point->tension_fraction / share,
                       lost_at(m, k, way - at, rest, next - at, w));
        }
        at = straight ? next + point->f : next;
        rest = m->tendon_point[k].after * point->f;
        share = point->tension_fraction;
        if (way < at) return e * share;
    }
    // from the last spot to where it is tied
    const double part = rest > 0 ? fmin((way - at) / rest, 1) : 1;
    return e * share * pow(w->tendon[tendon].tied_fraction / share, part);
}

// unit tangent of the path at x in the section's frame, and where it is
static snw_vec3 tangent_at(const snw_model *m, const snw_tendon_desc *d, int link, double x,
                           double t, const snw_state *s, snw_vec3 *D) {
    const snw_rod *rod = &m->rod[m->link_rod[link]];
    const snw_at at = {.x = x, .L = rod->L};
    const snw_jet y = d->at[0] ? snw_expr_jet_x(d->at[0], at) : (snw_jet){0};
    const snw_jet z = d->at[1] ? snw_expr_jet_x(d->at[1], at) : (snw_jet){0};
    const snw_twist xi = snw_rod_strain(m, rod, s->q, t, x);
    *D = (snw_vec3){{0, y.v, z.v}};
    const snw_vec3 u = snw_add(snw_add(xi.v, snw_cross(xi.w, *D)), (snw_vec3){{0, y.d, z.d}});
    return snw_scale(1 / snw_norm(u), u);
}

snw_wrench snw_tendon_pull(const snw_model *m, int tendon, bool tied, snw_se3 g, double t,
                           const snw_state *s, const snw_work *w) {
    const snw_tendon *x = &m->tendon[tendon];
    const snw_tendon_desc *d = &m->desc->tendon[tendon];
    const int k = tied ? x->point_adr + x->npoint - 1 : x->point_adr;
    // towards the rest of the tendon
    const double e = w->tendon[tendon].effort, T = tied ? -e * w->tendon[tendon].tied_fraction : e;
    snw_wrench F = {0};
    if (m->tendon_point[k].segment >= 0) {
        F.f = snw_rotate_inv(g.R, snw_scale(T, w->tendon_point[k].n));
        return F;
    }
    snw_vec3 D;
    const int link = d->link[tied ? d->nlink - 1 : 0];
    F.f = snw_scale(T, tangent_at(m, d, link, tied ? d->to : d->from, t, s, &D));
    F.m = snw_cross(D, F.f);
    return F;
}
