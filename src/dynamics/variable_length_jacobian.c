// SPDX-License-Identifier: MIT
//
// Tangent of the wrench at a node of a variable-length rod, theory.md (3.14.2) and (3.14.3).
// Besides the coordinates that move the node, the motion of the material depends on the free length
// and on the strain there:
//   delta V_m = delta V + y xi dl' + l'y dxi
//   delta A_m = delta A - l'y ad_xi delta V + l''y dxi + 2 l'y dxi' + l'y ad_V dxi
//               + (l'y)^2/l dxi_d1 + y xi dl'' + (2 y xi' + y ad_V xi + 2 l'y^2/l xi_d1) dl'
//               - (l'y/l)^2 xi_d1 dl
// with xi_d1 = dxi/dx. With a varying rest strain dxi, dxi' and dxi_d1 depend on l as well. The
// wrench F is proportional to l and does the work F y xi dl in addition to that on the node.

#include "dynamics/jacobian_column.h"
#include "dynamics/passing.h"
#include "dynamics/variable_length.h"

static col col_from(const double *x) { return (col){x[0], x[1], x[2], x[3], x[4], x[5]}; }

static double power_with(const double *F, col x) {
    return F[0] * x.a + F[1] * x.b + F[2] * x.c + F[3] * x.d + F[4] * x.e + F[5] * x.f;
}

// quantities of one node
typedef struct node {
    const snw_variable_length_node *n;
    const snw_rod *rod;
    const snw_variable_length_work *f;
    const snw_feed_work *feed;
    const double *V, *A; // of the node, not of the material
    bool is_static;
    double cq, cv, ca, speed;
} node;

static void variable_jacobian_add(double *X, int ld, int j, col x) {
    col_store(X, ld, j, col_plus(col_load(X, ld, j), x));
}

static void add_feed_columns(const node *k, int at, int ld, double *vel, double *acc) {
    const double y = k->n->y, l = k->feed->l, speed = k->speed;
    const col xi = col_from(k->f->xi.e);
    variable_jacobian_add(acc, ld, at, col_times(k->ca * y, xi));
    if (k->is_static) return;
    variable_jacobian_add(vel, ld, at, col_times(k->cv * y, xi));
    const col d1 = col_from(k->f->xi_d1.e);
    const col rate = col_plus(col_times(2, col_from(k->f->dxi.e)), col_ad(k->V, xi));
    variable_jacobian_add(acc, ld, at,
                          col_times(k->cv * y, col_plus(rate, col_times(2 * speed / l, d1))));
    variable_jacobian_add(acc, ld, at, col_times(-k->cq * speed * speed / (l * l), d1));
}

// column of the free length through a rest strain r that moves with the material; r_x = -r_l/y is
// its derivative along the material
static void add_rest_columns(const node *k, int at, int ld, double *vel, double *acc) {
    if (k->is_static || !k->rod->rest_varies) return;
    const double y = k->n->y, l = k->feed->l, speed = k->speed;
    const col rest_l = col_from(k->f->rest[0].e), rest_ll = col_from(k->f->rest[1].e);
    variable_jacobian_add(vel, ld, at, col_times(k->cq * speed, rest_l));
    variable_jacobian_add(acc, ld, at,
                          col_times(k->cq * k->feed->ddl * y + 2 * k->cv * speed, rest_l));
    variable_jacobian_add(acc, ld, at, col_times(2 * k->cq * speed * k->feed->dl, rest_ll));
    variable_jacobian_add(acc, ld, at, col_times(k->cq * speed, col_ad(k->V, rest_l)));
    // xi_d1 = l r_x: (l' y)^2/l d(l r_x)
    variable_jacobian_add(
        acc, ld, at,
        col_times(-k->cq * speed * k->feed->dl, col_plus(col_times(1 / l, rest_l), rest_ll)));
}

// derivative of the inertial wrench by l through the inertia of a varying section
static col variable_jacobian_of_section(const node *k) {
    const snw_inertia *M = &k->f->dM;
    const col force = col_inertia(M, col_from(k->f->A.e));
    if (k->is_static) return force;
    return col_plus(force, col_minus_ad_pull(k->f->V.e, col_inertia(M, col_from(k->f->V.e))));
}

// *F <- sum of the dead loads at the segment, in its frame; false: there is none
static bool dead_loads(const snw_model *m, const snw_wrench *loads, const snw_work *w, int i,
                       snw_wrench *F) {
    bool any = false;
    *F = (snw_wrench){0};
    for (int k = m->load_point_of_seg[i]; k < m->load_point_of_seg[i + 1]; k++) {
        if (m->load[m->load_point[k].load].body) continue;
        F->m = snw_add(F->m, snw_rotate_inv(w->g[i].R, loads[k].m));
        F->f = snw_add(F->f, snw_rotate_inv(w->g[i].R, loads[k].f));
        any = true;
    }
    return any;
}

static col dead_load_variation(snw_wrench F, col x) {
    return (col){F.m.y * x.c - F.m.z * x.b, F.m.z * x.a - F.m.x * x.c, F.m.x * x.b - F.m.y * x.a,
                 F.f.y * x.c - F.f.z * x.b, F.f.z * x.a - F.f.x * x.c, F.f.x * x.b - F.f.y * x.a};
}

void snw_variable_length_node_tangent(const snw_model *m, const snw_wrench *loads, snw_work *w,
                                      int i, double cq, double cv, double ca, double *WJ,
                                      double *P) {
    const snw_seg *seg = &m->seg[i];
    const snw_path *path = &m->path[seg->path];
    const size_t at = (size_t)m->seg_store[i];
    const int f = seg->variable_node - 1, ld = path->ld, n = path->n;
    const int own = n - m->rod[m->variable_node[f].rod].ndof, feed = own - 1;
    const double *J = w->J + at;
    double *vel = w->variable_part, *acc = w->variable_part + 6 * (size_t)m->most_variable_columns;
    node k = {.n = &m->variable_node[f],
              .rod = &m->rod[m->variable_node[f].rod],
              .f = &w->variable_node[f],
              .feed = &w->feed[m->variable_node[f].rod],
              .V = w->V[i].e,
              .A = w->A[i].e,
              .is_static = w->is_static,
              .cq = cq,
              .cv = cv,
              .ca = ca};
    k.speed = k.feed->dl * k.n->y;
    const snw_passing p = {.V = k.V,
                           .A = k.A,
                           .xi = k.f->xi.e,
                           .speed = k.speed,
                           .rate = k.feed->ddl * k.n->y,
                           .gradient = k.speed * k.speed / k.feed->l,
                           .is_static = k.is_static,
                           .cq = cq,
                           .cv = cv,
                           .ca = ca};
    snw_passing_columns(&p, n, ld, J, w->dJ + at, w->ddJ + at, vel, acc);
    add_feed_columns(&k, feed, ld, vel, acc);
    add_rest_columns(&k, feed, ld, vel, acc);
    snw_passing_strain_columns(&p, k.rod, k.n->first, k.n->count, m->variable_phi + k.n->phi,
                               m->variable_phi + k.n->phi_d1, own, ld, vel, acc);

    const double ratio = k.feed->l / k.rod->L, *V = k.f->V.e, y = k.n->y;
    const snw_inertia *M = snw_material_inertia(m, w, i);
    const snw_wrench momentum = snw_inertia_apply(M, k.f->V), *F = &k.f->F;
    snw_wrench D;
    const bool has_dead_loads = dead_loads(m, loads, w, i, &D);
    double *row = P + (size_t)feed * (size_t)ld;
    for (int j = 0; j < n; j++) {
        const col v = col_load(vel, ld, j);
        col force = col_inertia(M, col_load(acc, ld, j));
        if (!w->is_static) {
            force = col_plus(
                force, col_minus(col_minus_ad_pull(V, col_inertia(M, v)), col_coad(momentum.e, v)));
        }
        if (j == feed && k.rod->section_varies)
            force = col_plus(force, col_times(cq, variable_jacobian_of_section(&k)));
        if (has_dead_loads)
            force = col_minus(force, col_times(cq, dead_load_variation(D, col_load(J, ld, j))));
        force = col_times(ratio, force);
        if (j == feed) force = col_plus(force, col_times(cq / k.feed->l, col_from(F->e)));
        row[j] += y * power_with(k.f->xi.e, force);
        variable_jacobian_add(WJ, ld, j, force);
    }
    if (k.rod->rest_varies) row[feed] += cq * y * power_with(F->e, col_from(k.f->rest[0].e));
    const double *phi = m->variable_phi + k.n->phi;
    for (int a = 0; a < k.rod->na; phi += k.n->count[a], a++) {
        double *to = row + own + k.rod->dof[a] - k.rod->dof0 + k.n->first[a];
        for (int j = 0; j < k.n->count[a]; j++) to[j] += cq * y * phi[j] * F->e[k.rod->comp[a]];
    }
}
