// SPDX-License-Identifier: MIT
//
// Normal force and regularised Coulomb friction of a compliant contact, theory.md (3.13.3).
#include "dynamics/contact_law.h"

#include "math/positive_part.h"

#include <math.h>

// component of the axis of the rod along the surface
static snw_vec3 axis_along(const snw_contact_point_work *at) {
    return snw_sub(at->axis, snw_scale(snw_dot(at->axis, at->d), at->d));
}

// mu u
static snw_vec3 friction_product(const snw_contact *c, snw_vec3 e, snw_vec3 u) {
    return snw_add(snw_scale(c->across, u), snw_scale((c->along - c->across) * snw_dot(e, u), e));
}

static double regularised_slip(const snw_contact *c, snw_vec3 u) {
    return sqrt(snw_dot(u, u) + c->creep * c->creep);
}

void snw_contact_law(const snw_contact *c, bool is_static, snw_contact_point_work *at) {
    at->elastic_force = at->stiffness * snw_positive_part(at->depth, at->smooth);
    snw_contact_law_of(c, is_static, at);
}

void snw_contact_law_of(const snw_contact *c, bool is_static, snw_contact_point_work *at) {
    at->f = snw_scale(at->elastic_force * at->gradient, at->d);
    if (is_static) return;
    const double approach = snw_dot(at->d, at->v);
    at->rate = at->gradient * approach;
    const double N = at->elastic_force * at->gradient *
                     snw_positive_part(1 - c->damping * at->rate, SNW_HUNT_CROSSLEY_WIDTH);
    const snw_vec3 u = snw_sub(at->v, snw_scale(approach, at->d));
    at->f = snw_sub(snw_scale(N, at->d),
                    snw_scale(N / regularised_slip(c, u), friction_product(c, axis_along(at), u)));
}

snw_vec3 snw_contact_law_variation(const snw_contact *c, bool is_static,
                                   const snw_contact_point_work *at,
                                   const snw_contact_variation *by) {
    const snw_vec3 d = at->d, dd = by->d;
    const double m = at->gradient, normal = m * at->elastic_force;
    const double dnormal =
        -m * at->stiffness * snw_positive_part_d1(at->depth, at->smooth) * by->gap +
        by->gradient * at->elastic_force;
    if (is_static) return snw_add(snw_scale(dnormal, d), snw_scale(normal, dd));
    const double approach = snw_dot(d, at->v), dapproach = snw_dot(dd, at->v) + snw_dot(d, by->v),
                 drate = m * dapproach + by->gradient * approach;
    const double z = 1 - c->damping * at->rate,
                 factor = snw_positive_part(z, SNW_HUNT_CROSSLEY_WIDTH);
    const double N = normal * factor;
    const double dN = dnormal * factor - normal * snw_positive_part_d1(z, SNW_HUNT_CROSSLEY_WIDTH) *
                                             c->damping * drate;
    const snw_vec3 u = snw_sub(at->v, snw_scale(approach, d));
    const snw_vec3 du = snw_sub(by->v, snw_add(snw_scale(dapproach, d), snw_scale(approach, dd)));
    const double size = regularised_slip(c, u), dsize = snw_dot(u, du) / size;
    const double along = snw_dot(at->axis, d),
                 dalong = snw_dot(by->axis, d) + snw_dot(at->axis, dd);
    const snw_vec3 e = axis_along(at),
                   de = snw_sub(by->axis, snw_add(snw_scale(dalong, d), snw_scale(along, dd)));
    const snw_vec3 part =
        snw_add(snw_scale(snw_dot(e, u), de), snw_scale(snw_dot(de, u) + snw_dot(e, du), e));
    const snw_vec3 T = friction_product(c, e, u),
                   dT = snw_add(snw_scale(c->across, du), snw_scale(c->along - c->across, part));
    snw_vec3 df = snw_add(snw_scale(dN, d), snw_scale(N, dd));
    df = snw_sub(df, snw_scale((dN - N * dsize / size) / size, T));
    return snw_sub(df, snw_scale(N / size, dT));
}

// ---- given forces -------------------------------------------------------------------------------

snw_vec3 snw_contact_direction(const snw_contact_point_work *at, snw_vec3 other) {
    return snw_vec3_select(fabs(snw_dot(at->d, at->axis)) < 0.99, at->axis, other);
}

void snw_contact_axes_of(snw_vec3 d, snw_vec3 e, snw_vec3 axis[3]) {
    const snw_vec3 t = snw_sub(e, snw_scale(snw_dot(d, e), d));
    axis[0] = d;
    axis[1] = snw_scale(1 / snw_norm(t), t);
    axis[2] = snw_cross(d, axis[1]);
}

snw_vec3 snw_contact_given_variation(snw_vec3 d, snw_vec3 e, snw_vec3 f, snw_vec3 dd, snw_vec3 de) {
    snw_vec3 axis[3];
    snw_contact_axes_of(d, e, axis);
    const snw_vec3 t = snw_sub(e, snw_scale(snw_dot(d, e), d));
    const double turned = snw_dot(dd, e) + snw_dot(d, de);
    const snw_vec3 dt = snw_sub(de, snw_add(snw_scale(turned, d), snw_scale(snw_dot(d, e), dd)));
    const snw_vec3 along =
        snw_scale(1 / snw_norm(t), snw_sub(dt, snw_scale(snw_dot(axis[1], dt), axis[1])));
    const snw_vec3 across = snw_add(snw_cross(dd, axis[1]), snw_cross(d, along));
    return snw_add(snw_scale(snw_dot(f, d), dd), snw_add(snw_scale(snw_dot(f, axis[1]), along),
                                                         snw_scale(snw_dot(f, axis[2]), across)));
}
