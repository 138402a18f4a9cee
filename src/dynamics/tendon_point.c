// SPDX-License-Identifier: MIT
//
// Strain, density and path angle of a tendon or chamber at one section of a rod, with first and
// second derivatives, for tendon.c and tendon_friction.c.

#include "dynamics/tendon_point.h"

#include <math.h>

// ---- strain -----------------------------------------------------------------

// xi += B phi x, x coordinates or rates from the rod's first coordinate on
static void add_functions(const snw_model *m, const snw_tendon_point *p, const double *phi,
                          const double *x, snw_twist *xi) {
    const snw_rod *rod = &m->rod[p->rod];
    for (int a = 0; a < rod->na; phi += p->count[a], a++) {
        const double *c = x + rod->dof[a] - rod->dof0 + p->first[a];
        for (int j = 0; j < p->count[a]; j++) xi->e[rod->comp[a]] += phi[j] * c[j];
    }
}

void snw_tendon_point_strain(const snw_model *m, const snw_tendon_point *p, double t,
                             const snw_state *s, snw_twist *xi, snw_twist *rate) {
    const snw_rod *rod = &m->rod[p->rod];
    const double *phi = m->tendon_phi + p->phi;
    *xi = p->xi0;
    add_functions(m, p, phi, s->q + rod->dof0 + rod->shift, xi);
    if (rate) {
        *rate = (snw_twist){0};
        add_functions(m, p, phi, s->v + rod->dof0, rate);
    }
    for (int k = 0; k < 6; k++) {
        if (!rod->given[k]) continue;
        const snw_jet j = snw_expr_jet_t(rod->given[k], (snw_at){.t = t, .x = p->x, .L = rod->L});
        xi->e[k] += j.v;
        if (rate) rate->e[k] = j.d;
    }
}

snw_twist snw_tendon_point_strain_d2(const snw_model *m, const snw_tendon_point *p, double t,
                                     const snw_state *s) {
    const snw_rod *rod = &m->rod[p->rod];
    snw_twist ddxi = {0};
    add_functions(m, p, m->tendon_phi + p->phi, s->a + rod->dof0, &ddxi);
    for (int k = 0; k < 6; k++) {
        if (!rod->given[k]) continue;
        ddxi.e[k] = snw_expr_jet_t(rod->given[k], (snw_at){.t = t, .x = p->x, .L = rod->L}).dd;
    }
    return ddxi;
}

snw_twist snw_tendon_point_strain_d1(const snw_model *m, const snw_tendon_point *p, double t,
                                     const snw_state *s) {
    const snw_rod *rod = &m->rod[p->rod];
    snw_twist dxi = p->dxi0;
    add_functions(m, p, m->tendon_dphi + p->phi, s->q + rod->dof0 + rod->shift, &dxi);
    for (int k = 0; k < 6; k++) {
        if (!rod->given[k]) continue;
        dxi.e[k] += snw_expr_jet_x(rod->given[k], (snw_at){.t = t, .x = p->x, .L = rod->L}).d;
    }
    return dxi;
}

// ---- density ----------------------------------------------------------------

// u = Gamma + K x D + D'
static snw_vec3 tangent_of(const snw_tendon_point *p, snw_twist xi) {
    const snw_vec3 D = {{0, p->y, p->z}};
    return snw_add(snw_add(xi.v, snw_cross(xi.w, D)), (snw_vec3){{0, p->dy, p->dz}});
}

snw_vec3 snw_tendon_point_tangent(const snw_tendon_point *p, snw_twist xi) {
    return snw_normalise(tangent_of(p, xi));
}

// out <- (du/dxi)' a = (D x a, a)
static void strain_gradient(const snw_tendon_point *p, snw_vec3 a, double out[6]) {
    out[0] = p->y * a.z - p->z * a.y;
    out[1] = p->z * a.x;
    out[2] = -p->y * a.x;
    out[3] = a.x, out[4] = a.y, out[5] = a.z;
}

double snw_tendon_point_density(const snw_tendon *tendon, const snw_tendon_point *p, snw_twist xi,
                                double d1[6]) {
    const snw_vec3 u = tangent_of(p, xi);
    if (!tendon->type->is_length) {
        strain_gradient(p, (snw_vec3){{p->area, 0, 0}}, d1);
        return p->area * u.x; // D' lies in the section
    }
    const double size = snw_norm(u);
    strain_gradient(p, snw_scale(1 / size, u), d1);
    return size;
}

// component of a perpendicular to the unit vector t
static snw_vec3 tendon_point_across(snw_vec3 t, snw_vec3 a) {
    return snw_sub(a, snw_scale(snw_dot(t, a), t));
}

void snw_tendon_point_d2(const snw_tendon_point *p, snw_twist xi, snw_twist x, double out[6]) {
    const snw_vec3 u = tangent_of(p, xi), D = {{0, p->y, p->z}};
    const double size = snw_norm(u);
    const snw_vec3 t = snw_scale(1 / size, u);
    const snw_vec3 v = snw_scale(1 / size, tendon_point_across(t, snw_add(x.v, snw_cross(x.w, D))));
    strain_gradient(p, v, out);
}

// ---- angle of the path ------------------------------------------------------

// The unit tangent t = u/|u| rotates in space by t' + K x t per length, with t' = (1 - t t') u'/|u|
// and u' = Gamma' + K' x D + K x D' + D''.
double snw_tendon_point_turning(const snw_tendon_point *p, snw_twist xi, snw_twist dxi,
                                double round, double of_xi[6], double of_dxi[6]) {
    const snw_vec3 D = {{0, p->y, p->z}}, dD = {{0, p->dy, p->dz}}, ddD = {{0, p->ddy, p->ddz}};
    const snw_vec3 u = tangent_of(p, xi);
    const snw_vec3 du =
        snw_add(snw_add(dxi.v, snw_cross(dxi.w, D)), snw_add(snw_cross(xi.w, dD), ddD));
    const double per = 1 / snw_norm(u);
    const snw_vec3 t = snw_scale(per, u), dt = snw_scale(per, tendon_point_across(t, du));
    const snw_vec3 turn = snw_add(dt, snw_cross(xi.w, t));
    const double size = sqrt(snw_dot(turn, turn) + round * round), along = snw_dot(t, du);
    for (int e = 0; e < 6 && of_xi; e++) {
        snw_twist x = {0};
        x.e[e] = 1;
        const snw_vec3 du_dxi = snw_add(x.v, snw_cross(x.w, D)), ddu_dxi = snw_cross(x.w, dD);
        const snw_vec3 vt = snw_scale(per, tendon_point_across(t, du_dxi)); // variation of t
        // variation of t': of the projection, of u' and of |u|
        snw_vec3 vdt = snw_sub(tendon_point_across(t, ddu_dxi), snw_scale(snw_dot(vt, du), t));
        vdt = snw_sub(vdt, snw_add(snw_scale(along, vt), snw_scale(snw_dot(t, du_dxi), dt)));
        const snw_vec3 v =
            snw_add(snw_scale(per, vdt), snw_add(snw_cross(x.w, t), snw_cross(xi.w, vt)));
        of_xi[e] = snw_dot(turn, v) / size;
        of_dxi[e] = per * snw_dot(turn, tendon_point_across(t, du_dxi)) / size;
    }
    return size - round;
}

// ---- coordinates ------------------------------------------------------------

void snw_tendon_point_scatter(const snw_model *m, const snw_tendon_point *p, const double *phi,
                              double factor, const double c[6], double *to) {
    const snw_rod *rod = &m->rod[p->rod];
    for (int a = 0; a < rod->na; phi += p->count[a], a++) {
        const double f = factor * c[rod->comp[a]];
        double *at = to + p->local + rod->dof[a] - rod->dof0 + p->first[a];
        for (int j = 0; j < p->count[a]; j++) at[j] += f * phi[j];
    }
}

// U[e] <- du/dxi_e
static void tendon_point_tangent_jacobian(const snw_tendon_point *p, snw_vec3 U[6]) {
    U[0] = (snw_vec3){{0, -p->z, p->y}};
    U[1] = (snw_vec3){{p->z, 0, 0}};
    U[2] = (snw_vec3){{-p->y, 0, 0}};
    for (int i = 0; i < 3; i++) {
        U[3 + i] = (snw_vec3){{0}};
        U[3 + i].e[i] = 1;
    }
}

// (U_e . U_g - (t . U_e)(t . U_g))/|u|, t = u/|u|
void snw_tendon_point_hessian(const snw_model *m, const snw_tendon_point *p, snw_twist xi, double f,
                              double H[36]) {
    const snw_rod *rod = &m->rod[p->rod];
    snw_vec3 U[6];
    tendon_point_tangent_jacobian(p, U);
    const snw_vec3 u = tangent_of(p, xi);
    const double size = snw_norm(u);
    const snw_vec3 t = snw_scale(1 / size, u);
    for (int a = 0; a < rod->na; a++) {
        const snw_vec3 Ua = U[rod->comp[a]];
        for (int b = 0; b < rod->na; b++) {
            const snw_vec3 Ub = U[rod->comp[b]];
            H[6 * a + b] = f / size * (snw_dot(Ua, Ub) - snw_dot(t, Ua) * snw_dot(t, Ub));
        }
    }
}

void snw_tendon_point_curvature(const snw_model *m, const snw_tendon_point *p, snw_twist xi,
                                double f, snw_matrix T) {
    const snw_rod *rod = &m->rod[p->rod];
    double H[36];
    snw_tendon_point_hessian(m, p, xi, f, H);
    const double *pa = m->tendon_phi + p->phi;
    for (int a = 0; a < rod->na; pa += p->count[a], a++) {
        const double *pb = m->tendon_phi + p->phi;
        for (int b = 0; b < rod->na; pb += p->count[b], b++) {
            const double h = H[6 * a + b];
            if (snw_all(h == 0)) continue;
            for (int j = 0; j < p->count[b]; j++) {
                snw_column_entries to = snw_matrix_column(T, rod->dof[b] + p->first[b] + j);
                for (int i = 0; i < p->count[a]; i++)
                    *snw_column_at(&to, rod->dof[a] + p->first[a] + i) -= h * pa[i] * pb[j];
            }
        }
    }
}
