// SPDX-License-Identifier: MIT
//
// Tension along the routing of a tendon with capstan friction (theory.md 3.11), from the tension
// ratios at its quadrature points, and the end wrenches; for probes.
#include "study/probe_tendon.h"

#include <math.h>

// Exponent, 0 to 1, of the tension ratio between points k - 1 and k at a distance from the former;
// `remaining`: distance from it to the end of its rod; `total`: to point k. Proportional to the
// distance, as with constant curvature, and with a jump at a corner.
static double loss_fraction(const snw_model *m, int k, double distance, double remaining,
                            double total, const snw_work *w) {
    const snw_tendon_point_work *at = &w->tendon_point[k];
    if (m->tendon_point[k].corner < 0) return distance / total;
    const double before = m->tendon_point[k - 1].after * at[-1].turning;
    const double after = m->tendon_point[k].before * at->turning,
                 angle = before + at->corner + after;
    if (!(angle > 0)) return 0;
    if (distance < remaining) return before / angle * distance / remaining;
    return (before + at->corner + after * (distance - remaining) / (total - remaining)) / angle;
}

// The tension is constant along a straight segment.
double snw_tendon_tension(const snw_model *m, int tendon, double fraction, const snw_work *w) {
    const snw_tendon *x = &m->tendon[tendon];
    const double e = w->tendon[tendon].effort;
    const double distance = fraction * (x->reference - w->tendon[tendon].value);
    double at = 0, remaining = 0,
           ratio = 1; // at the last point: position, rest of its rod, tension
    for (int k = x->point_adr; k < x->point_adr + x->npoint; k++) {
        const snw_tendon_point_work *point = &w->tendon_point[k];
        const bool straight = m->tendon_point[k].segment >= 0;
        const double next = at + remaining + m->tendon_point[k].before * point->f;
        if (distance < next) {
            return e * ratio *
                   pow(point->tension_fraction / ratio,
                       loss_fraction(m, k, distance - at, remaining, next - at, w));
        }
        at = straight ? next + point->f : next;
        remaining = m->tendon_point[k].after * point->f;
        ratio = point->tension_fraction;
        if (distance < at) return e * ratio;
    }
    // from the last point to the fixed end
    const double part = remaining > 0 ? fmin((distance - at) / remaining, 1) : 1;
    return e * ratio * pow(w->tendon[tendon].tied_fraction / ratio, part);
}

// Unit tangent of the routing at x, and *D its position, both in the frame of the section.
static snw_vec3 tangent_at(const snw_model *m, const snw_tendon_desc *d, int link, double x,
                           double t, const snw_state *s, snw_vec3 *D) {
    const snw_rod *rod = &m->rod[m->link_rod[link]];
    const snw_at at = {.x = x, .L = rod->L};
    const snw_jet y = d->at[0] ? snw_expr_jet_x(d->at[0], at) : (snw_jet){0};
    const snw_jet z = d->at[1] ? snw_expr_jet_x(d->at[1], at) : (snw_jet){0};
    const snw_twist xi = snw_rod_strain(rod, s->q, t, x);
    *D = (snw_vec3){{0, y.v, z.v}};
    const snw_vec3 u = snw_add(snw_add(xi.v, snw_cross(xi.w, *D)), (snw_vec3){{0, y.d, z.d}});
    return snw_scale(1 / snw_norm(u), u);
}

snw_wrench snw_tendon_pull(const snw_model *m, int tendon, bool tied, snw_se3 g, double t,
                           const snw_state *s, const snw_work *w) {
    const snw_tendon *x = &m->tendon[tendon];
    const snw_tendon_desc *d = &m->desc->tendon[tendon];
    const int k = tied ? x->point_adr + x->npoint - 1 : x->point_adr;
    // directed along the tendon, away from the end
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
