// SPDX-License-Identifier: MIT
//
// Penalty contact of points and convex shapes with a half-space: gap, normal force, regularised
// Coulomb friction, their derivatives and energy, theory.md (3.13.1) to (3.13.3).

#include "dynamics/contact.h"

#include "dynamics/wheel.h"
#include "math/positive_part.h"

#include <math.h>

// ---- forces -----------------------------------------------------------------

// mu u in the axes of the segment; e is the component of the rod's axis along the ground
static snw_vec3 friction_product(const snw_contact *c, snw_vec3 d, snw_vec3 u) {
    const snw_vec3 e = {{1 - d.x * d.x, -d.x * d.y, -d.x * d.z}};
    return snw_add(snw_scale(c->across, u), snw_scale((c->along - c->across) * snw_dot(e, u), e));
}

static double regularised_slip(const snw_contact *c, snw_vec3 u) {
    return sqrt(snw_dot(u, u) + c->creep * c->creep);
}

// force at a point in contact; V NULL: statics
static void contact_force(const snw_contact *c, double stiffness, const snw_twist *V,
                          snw_contact_point_work *at) {
    at->elastic_force = stiffness * snw_positive_part(-at->gap, c->smooth);
    at->f = snw_scale(at->elastic_force, at->d);
    if (!V) return;
    at->v = snw_add(V->v, snw_cross(V->w, at->s));
    at->rate = snw_dot(at->d, at->v);
    const double N =
        at->elastic_force * snw_positive_part(1 - c->damping * at->rate, SNW_HUNT_CROSSLEY_WIDTH);
    const snw_vec3 u = snw_sub(at->v, snw_scale(at->rate, at->d));
    at->f = snw_sub(snw_scale(N, at->d),
                    snw_scale(N / regularised_slip(c, u), friction_product(c, at->d, u)));
}

void snw_contact_motion(const snw_model *m, bool is_static, snw_work *w) {
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        if (p->wheel) {
            snw_wheel_motion(m, p, is_static, w, &w->contact_point[k]);
            continue;
        }
        const snw_contact *c = &m->contact[p->contact];
        const snw_se3 *g = &w->g[p->seg];
        const snw_vec3 d = snw_rotate_inv(g->R, c->normal);
        snw_contact_point_work *at = &w->contact_point[k];
        *at = (snw_contact_point_work){.d = d, .s = p->centre};
        at->gap = snw_dot(c->normal, snw_sub(g->p, c->at)) + snw_dot(d, p->centre);
        if (!p->sharp) {
            const snw_vec3 Qd = snw_rotate(p->Q, d);
            const double reach = sqrt(snw_dot(d, Qd) + p->round * p->round);
            at->gap -= reach - p->round;
            // minus the gradient of the support function sqrt(d'Q d + round^2 d'd) - round |d|
            at->s = snw_sub(at->s, snw_scale(1 / reach, Qd));
            at->s = snw_add(at->s, snw_scale(p->round * (1 - p->round / reach), d));
        }
        if (at->gap >= 0.5 * c->smooth || !snw_is_active(w, p->condition) ||
            !snw_is_active(w, p->body_condition))
            continue;
        at->in_contact = true;
        contact_force(c, p->stiffness, is_static ? NULL : &w->V[p->seg], at);
    }
}

static snw_wrench wrench(const snw_contact_point_work *at) {
    return (snw_wrench){{.m = snw_cross(at->s, at->f), .f = at->f}};
}

void snw_contact_add(const snw_model *m, snw_work *w) {
    for (int k = 0; k < m->ncontact_point; k++) {
        if (!w->contact_point[k].in_contact) continue;
        const int i = m->contact_point[k].seg;
        w->F[i] = snw_wrench_sub(w->F[i], wrench(&w->contact_point[k]));
    }
}

// ---- derivatives ------------------------------------------------------------

// variation of the touching point with the variation dd of the normal
static snw_vec3 touching_point_variation(const snw_contact_point *p, snw_vec3 d, snw_vec3 dd) {
    if (p->sharp) return (snw_vec3){{0}};
    const snw_vec3 Qd = snw_rotate(p->Q, d), Qdd = snw_rotate(p->Q, dd);
    const double r2 = snw_dot(d, Qd) + p->round * p->round, r = sqrt(r2);
    const double dr = snw_dot(d, Qdd) / r, round = p->round;
    const snw_vec3 ds = snw_sub(snw_scale(dr / r2, Qd), snw_scale(1 / r, Qdd));
    return snw_add(
        ds, snw_add(snw_scale(round * (1 - round / r), dd), snw_scale(round * round * dr / r2, d)));
}

// variation of friction_product
static snw_vec3 friction_product_d1(const snw_contact *c, snw_vec3 d, snw_vec3 u, snw_vec3 dd,
                                    snw_vec3 du) {
    const snw_vec3 e = {{1 - d.x * d.x, -d.x * d.y, -d.x * d.z}};
    const snw_vec3 de = {{-2 * d.x * dd.x, -dd.x * d.y - d.x * dd.y, -dd.x * d.z - d.x * dd.z}};
    const double more = c->along - c->across;
    const snw_vec3 part =
        snw_add(snw_scale(snw_dot(e, u), de), snw_scale(snw_dot(de, u) + snw_dot(e, du), e));
    return snw_add(snw_scale(c->across, du), snw_scale(more, part));
}

// Variation of the wrench with those of the pose (zeta) and velocity (dV); V NULL: statics.
static snw_wrench contact_wrench_variation(const snw_contact_point *p, const snw_contact *c,
                                           const snw_contact_point_work *at, const snw_twist *V,
                                           snw_twist zeta, snw_twist dV) {
    const snw_vec3 d = at->d, dd = snw_cross(d, zeta.w), ds = touching_point_variation(p, d, dd);
    // the shift of the touching point is tangential and does not change the gap
    const double dgap = snw_dot(d, snw_add(zeta.v, snw_cross(zeta.w, at->s)));
    const double delastic = -p->stiffness * snw_positive_part_d1(-at->gap, c->smooth) * dgap;
    snw_vec3 df = snw_add(snw_scale(delastic, d), snw_scale(at->elastic_force, dd));
    if (V) {
        const snw_vec3 dv = snw_add(dV.v, snw_add(snw_cross(dV.w, at->s), snw_cross(V->w, ds)));
        const double drate = snw_dot(dd, at->v) + snw_dot(d, dv);
        const double z = 1 - c->damping * at->rate,
                     factor = snw_positive_part(z, SNW_HUNT_CROSSLEY_WIDTH);
        const double N = at->elastic_force * factor;
        const double dN = delastic * factor - at->elastic_force *
                                                  snw_positive_part_d1(z, SNW_HUNT_CROSSLEY_WIDTH) *
                                                  c->damping * drate;
        const snw_vec3 u = snw_sub(at->v, snw_scale(at->rate, d));
        const snw_vec3 du = snw_sub(dv, snw_add(snw_scale(drate, d), snw_scale(at->rate, dd)));
        const double size = regularised_slip(c, u), dsize = snw_dot(u, du) / size;
        const snw_vec3 T = friction_product(c, d, u), dT = friction_product_d1(c, d, u, dd, du);
        df = snw_add(snw_scale(dN, d), snw_scale(N, dd));
        df = snw_sub(df, snw_scale((dN - N * dsize / size) / size, T));
        df = snw_sub(df, snw_scale(N / size, dT));
    }
    return (snw_wrench){{.m = snw_add(snw_cross(ds, at->f), snw_cross(at->s, df)), .f = df}};
}

bool snw_contact_point_jacobian(const snw_model *m, const snw_work *w, int k, double A[36],
                                double B[36]) {
    const snw_contact_point *p = &m->contact_point[k];
    const snw_contact_point_work *at = &w->contact_point[k];
    if (!at->in_contact) return false;
    if (p->wheel) {
        snw_wheel_jacobian(m, p, w, A, B);
        return true;
    }
    const snw_contact *c = &m->contact[p->contact];
    const snw_twist *V = w->is_static ? NULL : &w->V[p->seg];
    for (int j = 0; j < 6; j++) {
        const snw_twist none = {0};
        snw_twist one = {0};
        one.e[j] = 1;
        const snw_wrench a = contact_wrench_variation(p, c, at, V, one, none);
        const snw_wrench b = V ? contact_wrench_variation(p, c, at, V, none, one) : (snw_wrench){0};
        for (int i = 0; i < 6; i++) A[6 * i + j] = a.e[i], B[6 * i + j] = b.e[i];
    }
    return true;
}

// ---- energy -----------------------------------------------------------------

double snw_contact_point_energy(const snw_model *m, const snw_work *w, int k) {
    const snw_contact_point *p = &m->contact_point[k];
    if (w->contact_point[k].elastic_force == 0) return 0; // no contact, or a wheel
    return p->stiffness *
           snw_positive_part_integral(-w->contact_point[k].gap, m->contact[p->contact].smooth);
}

double snw_contact_energy(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->ncontact_point; k++) sum += snw_contact_point_energy(m, w, k);
    return sum;
}

double snw_contact_energy_rate(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->ncontact_point; k++)
        sum -= w->contact_point[k].elastic_force * w->contact_point[k].rate;
    return sum;
}

double snw_contact_heat(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->ncontact_point; k++)
        sum -= snw_dot(w->contact_point[k].f, w->contact_point[k].v);
    return sum - snw_contact_energy_rate(m, w);
}

snw_wrench snw_contact_wrench(const snw_model *m, const snw_work *w, int contact) {
    snw_wrench sum = {0};
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        if (p->contact != contact || p->wheel || !w->contact_point[k].in_contact) continue;
        sum = snw_wrench_add(sum, snw_wrench_to_parent(w->g[p->seg], wrench(&w->contact_point[k])));
    }
    return sum;
}

snw_wrench snw_contact_point_wrench(const snw_work *w, int k) {
    return wrench(&w->contact_point[k]);
}
