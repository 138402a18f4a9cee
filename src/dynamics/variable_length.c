// SPDX-License-Identifier: MIT
//
// Variable-length rods, theory.md 3.14: motion of the material at nodes, elastic and damping
// forces, energy inflow, and the parts of the tangent that belong to slices and strains.

#include "dynamics/variable_length.h"

// xi += B phi c at a node, c coordinates or velocities
static void variable_length_gather(const snw_model *m, const snw_variable_length_node *n, int phi,
                                   const double *c, snw_twist *xi) {
    const snw_rod *r = &m->rod[n->rod];
    const double *f = m->variable_phi + phi;
    for (int a = 0; a < r->na; f += n->count[a], a++) {
        const double *q = c + r->dof[a] + n->first[a];
        for (int j = 0; j < n->count[a]; j++) xi->e[r->comp[a]] += f[j] * q[j];
    }
}

void snw_variable_length_rest(const snw_rod *rod, double l, double y, snw_twist rest[4],
                              snw_twist *rest_d1) {
    snw_rod_rest_material(rod, snw_rod_stock(rod, l, y), rest);
    if (rest_d1) *rest_d1 = snw_twist_scale(l, rest[1]);
    for (int k = 1; k < 4; k++) {
        for (int j = k; j < 4; j++) rest[j] = snw_twist_scale(-y, rest[j]);
    }
}

// rest strain at a node and its derivatives; it moves with the material
static void varying_rest_strain(const snw_model *m, const snw_variable_length_node *n, double l,
                                snw_variable_length_work *f, snw_twist *rest_d1) {
    snw_twist rest[4];
    snw_variable_length_rest(&m->rod[n->rod], l, n->y, rest, rest_d1);
    f->xi = rest[0];
    for (int k = 0; k < 2; k++) f->rest[k] = rest[k + 1];
}

// inertia at a node and its derivative by l; the section moves with the material
static void varying_inertia(const snw_model *m, const snw_variable_length_node *n, double l,
                            snw_variable_length_work *f) {
    const snw_rod *rod = &m->rod[n->rod];
    const double w = m->seg_w[n->seg];
    snw_section_derivatives at;
    snw_section_material(rod, snw_rod_stock(rod, l, n->y), &at);
    f->M = snw_inertia_scale(w, at.M[0]);
    f->dM = snw_inertia_scale(-n->y * w, at.M[1]);
}

void snw_variable_length_motion(const snw_model *m, const snw_state *s, bool is_static,
                                snw_work *w) {
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        if (rod->feed < 0) continue;
        w->feed[r] = (snw_feed_work){.l = s->q[rod->feed_q],
                                     .dl = is_static ? 0 : s->v[rod->feed],
                                     .ddl = is_static ? 0 : s->a[rod->feed]};
    }
    for (int k = 0; k < m->nvariable_node; k++) {
        const snw_variable_length_node *n = &m->variable_node[k];
        const snw_rod *r = &m->rod[n->rod];
        snw_variable_length_work *f = &w->variable_node[k];
        const snw_feed_work *feed = &w->feed[n->rod];
        snw_twist rest_d1 = {0}; // of the rest strain, by x/L
        f->xi = n->xi0;
        if (r->rest_varies) varying_rest_strain(m, n, feed->l, f, &rest_d1);
        if (r->section_varies) varying_inertia(m, n, feed->l, f);
        variable_length_gather(m, n, n->phi, s->q + r->shift, &f->xi);
        f->V = w->V[n->seg], f->A = w->A[n->seg];
        if (is_static) continue;
        const double speed = feed->dl * n->y; // of the material relative to the node
        f->xi_d1 = rest_d1;
        f->dxi = r->rest_varies ? snw_twist_scale(feed->dl, f->rest[0]) : (snw_twist){0};
        variable_length_gather(m, n, n->phi_d1, s->q + r->shift, &f->xi_d1);
        variable_length_gather(m, n, n->phi, s->v, &f->dxi);
        const snw_twist turned = snw_ad(w->V[n->seg], f->xi);
        for (int i = 0; i < 6; i++) {
            f->V.e[i] += speed * f->xi.e[i];
            f->A.e[i] += feed->ddl * n->y * f->xi.e[i] + speed * (2 * f->dxi.e[i] + turned.e[i]) +
                         speed * speed / feed->l * f->xi_d1.e[i];
        }
    }
}

snw_wrench snw_variable_length_node_wrench(const snw_model *m, int f, snw_wrench F, snw_work *w) {
    const snw_variable_length_node *n = &m->variable_node[f];
    const snw_rod *rod = &m->rod[n->rod];
    w->variable_node[f].F = snw_wrench_scale(w->feed[n->rod].l / rod->L, F);
    w->r[rod->feed] += n->y * snw_power(w->variable_node[f].F, w->variable_node[f].xi);
    return w->variable_node[f].F;
}

// ---- elastic and damping forces ---------------------------------------------

// y <- A x or A' x. Four rows at a time: their sums do not wait for each other.
static void variable_length_times(int n, const double *A, const double *x, bool transposed,
                                  double *y) {
    const int next = transposed ? 1 : n, along = transposed ? n : 1;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        const double *a = A + (size_t)i * (size_t)next;
        double sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
        for (int j = 0; j < n; j++, a += along) {
            sum0 += a[0] * x[j];
            sum1 += a[next] * x[j];
            sum2 += a[2 * next] * x[j];
            sum3 += a[3 * next] * x[j];
        }
        y[i] = sum0, y[i + 1] = sum1, y[i + 2] = sum2, y[i + 3] = sum3;
    }
    for (; i < n; i++) {
        const double *a = A + (size_t)i * (size_t)next;
        y[i] = 0;
        for (int j = 0; j < n; j++, a += along) y[i] += *a * x[j];
    }
}

static double variable_length_dot(int n, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

// Layout of w->feed_part for a rod with n strain coordinates.
typedef struct parts {
    double *rows, *columns; // n: curvature, strains by length and length by strains
    double *Kq, *Dv;        // n: forces for the length in the model
    double *Sq, *Sv, *SSq;  // n: DS q, DS' v, SS q
    double *corner, *qSSq;  // 1: curvature, length by length; q' SS q
} parts;

static parts parts_of(const snw_rod *rod, const snw_work *w) {
    double *p = w->feed_part + rod->feed_store;
    const int n = rod->ndof;
    return (parts){p,         p + n,     p + 2 * n, p + 3 * n,    p + 4 * n,
                   p + 5 * n, p + 6 * n, p + 7 * n, p + 7 * n + 1};
}

void snw_variable_length_elastic(const snw_model *m, const snw_rod *rod, const snw_state *s,
                                 bool is_static, snw_work *w) {
    if (rod->section_varies) {
        snw_section_varies_elastic(m, rod, s, is_static, w);
        return;
    }
    const int n = rod->ndof;
    const double *q = s->q + rod->dof0 + rod->shift, *v = s->v + rod->dof0;
    const double L = rod->L, l = s->q[rod->feed_q], ratio = l / L,
                 dl = is_static ? 0 : s->v[rod->feed];
    const parts p = parts_of(rod, w);
    variable_length_times(n, rod->K, q, false, p.Kq);
    for (int i = 0; i < n; i++) w->r[rod->dof0 + i] += ratio * p.Kq[i];
    w->r[rod->feed] += 0.5 * variable_length_dot(n, q, p.Kq) / L;
    if (is_static || !rod->DS) return;
    variable_length_times(n, rod->D, v, false, p.Dv);
    variable_length_times(n, rod->DS, q, false, p.Sq);
    variable_length_times(n, rod->DS, v, true, p.Sv);
    variable_length_times(n, rod->SS, q, false, p.SSq);
    *p.qSSq = variable_length_dot(n, q, p.SSq);
    for (int i = 0; i < n; i++) w->r[rod->dof0 + i] += ratio * p.Dv[i] + dl / L * p.Sq[i];
    w->r[rod->feed] += (variable_length_dot(n, v, p.Sq) + dl / l * *p.qSSq) / L;
}

// x' A y
static double variable_length_product(int n, const double *A, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * variable_length_dot(n, A + (size_t)i * (size_t)n, y);
    return sum;
}

double snw_variable_length_heat(const snw_model *m, const double *q, const double *v) {
    double sum = 0;
    for (int r = 0; m->nfeed && r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        if (rod->feed >= 0 && rod->section_varies) sum += snw_section_varies_heat(m, rod, q, v);
        if (rod->feed < 0 || !rod->DS) continue;
        const int n = rod->ndof;
        const double *x = q + rod->dof0 + rod->shift, *u = v + rod->dof0;
        const double l = q[rod->feed_q], dl = v[rod->feed], L = rod->L;
        sum += (l * variable_length_product(n, rod->D, u, u) +
                2 * dl * variable_length_product(n, rod->DS, u, x) +
                dl * dl / l * variable_length_product(n, rod->SS, x, x)) /
               L;
    }
    return sum;
}

double snw_variable_length_energy_rate(const snw_model *m, const double *q, const double *v) {
    double sum = 0;
    for (int r = 0; m->nfeed && r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        if (rod->feed < 0) continue;
        if (rod->section_varies) {
            sum += snw_section_varies_energy_rate(m, rod, q, v);
            continue;
        }
        const double *x = q + rod->dof0 + rod->shift, *u = v + rod->dof0;
        sum += (q[rod->feed_q] * variable_length_product(rod->ndof, rod->K, u, x) +
                0.5 * v[rod->feed] * variable_length_product(rod->ndof, rod->K, x, x)) /
               rod->L;
    }
    return sum;
}

// kinetic energy and potential energy of the weight
static double energy_of(const snw_inertia *M, snw_twist V, const snw_se3 *g, snw_vec3 gravity) {
    const snw_vec3 moment = snw_add(snw_scale(M->m, g->p), snw_rotate(g->R, M->mc));
    return 0.5 * snw_power(snw_inertia_apply(M, V), V) - snw_dot(gravity, moment);
}

// rate of the energies at the nodes minus the power of the forces there, theory.md (3.14.5)
double snw_variable_length_inflow(const snw_model *m, const snw_inputs *in, const snw_work *w) {
    double sum = 0;
    for (int k = 0; k < m->nvariable_node; k++) {
        const snw_variable_length_node *n = &m->variable_node[k];
        const snw_variable_length_work *f = &w->variable_node[k];
        const snw_feed_work *feed = &w->feed[n->rod];
        const snw_inertia *M = snw_material_inertia(m, w, n->seg);
        const snw_se3 *g = &w->g[n->seg];
        const double speed = feed->dl * n->y, ratio = feed->l / m->rod[n->rod].L;
        const snw_wrench P = snw_inertia_apply(M, f->V);
        const snw_twist up = {{.v = snw_rotate_inv(g->R, snw_scale(-1, in->gravity))}};
        double here = energy_of(M, f->V, g, in->gravity);
        if (m->rod[n->rod].section_varies)
            here += feed->l * energy_of(&f->dM, f->V, g, in->gravity);
        const snw_twist turned = snw_ad(w->V[n->seg], f->xi);
        snw_twist change; // convective part of the material acceleration
        for (int i = 0; i < 6; i++) {
            change.e[i] =
                speed * (f->dxi.e[i] + turned.e[i]) + speed * speed / feed->l * f->xi_d1.e[i];
        }
        sum += ratio * (feed->dl / feed->l * here - snw_power(P, change) -
                        speed * snw_power(snw_inertia_apply(M, up), f->xi));
    }
    return sum;
}

// ---- tangent of slices and forces -------------------------------------------

// Y x, x at the Magnus points
static snw_twist apply_rule_jacobian(const snw_rod *r, const double *Y, const snw_twist *x) {
    snw_twist out = {0};
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < r->nc; k++) {
            for (int c = 0; c < 6; c++) out.e[i] += Y[i * SNW_MAGNUS_LD + 6 * k + c] * x[k].e[c];
        }
    }
    return out;
}

// x[0..2] <- derivative by l, times L, of the scaled strains xi l/L at the Magnus points and of
// their rates: xi and its rates, and for a varying rest strain l times its derivative by l.
static void feed_strains(const snw_rod *r, const snw_feed_work *feed, const snw_slice_work *sw,
                         const snw_rest_varies_work *rest, int order,
                         snw_twist x[3][SNW_MAGNUS_POINTS]) {
    const double s = r->L / feed->l, d = feed->dl / r->L, dd = feed->ddl / r->L;
    for (int k = 0; k < r->nc; k++) {
        for (int c = 0; c < 6; c++) {
            x[0][k].e[c] = s * sw->xi[k].e[c];
            if (order == 0) continue;
            x[1][k].e[c] = s * (sw->dxi[k].e[c] - d * x[0][k].e[c]);
            x[2][k].e[c] = s * (sw->ddxi[k].e[c] - 2 * d * x[1][k].e[c] - dd * x[0][k].e[c]);
        }
    }
    const double l = feed->l, v = feed->dl, a = feed->ddl;
    for (int k = 0; r->rest_varies && k < r->nc; k++) {
        for (int c = 0; c < 6; c++) {
            const double b = rest[k].d[0].e[c], db = rest[k].d[1].e[c], ddb = rest[k].d[2].e[c];
            x[0][k].e[c] += l * b;
            if (order == 0) continue;
            x[1][k].e[c] += v * (b + l * db);
            x[2][k].e[c] += a * (b + l * db) + v * v * (2 * db + l * ddb);
        }
    }
}

void snw_variable_length_slice(const snw_model *m, int slice, const snw_work *w,
                               const double *const Y[3], const snw_lower T[3], snw_twist S[3],
                               snw_twist *along) {
    const snw_slice *sl = &m->slice[slice];
    const snw_rod *r = &m->rod[sl->rod];
    const snw_feed_work *feed = &w->feed[sl->rod];
    const snw_slice_work *sw = &w->slice[slice];
    const snw_rest_varies_work *rest =
        r->rest_varies ? w->rest_varies + (size_t)slice * SNW_MAGNUS_POINTS : NULL;
    const bool is_static = w->is_static;
    const double s = 1 / r->L;
    snw_twist x[3][SNW_MAGNUS_POINTS];
    feed_strains(r, feed, sw, rest, is_static ? 0 : 2, x);
    const snw_twist y0 = apply_rule_jacobian(r, Y[0], x[0]);
    *along = y0;
    S[0] = snw_twist_scale(s, snw_lower_apply(&T[0], y0));
    if (is_static) return;
    const snw_twist y1 =
        snw_twist_add(apply_rule_jacobian(r, Y[1], x[0]), apply_rule_jacobian(r, Y[0], x[1]));
    const snw_twist y2 = snw_twist_add(
        snw_twist_add(apply_rule_jacobian(r, Y[2], x[0]), apply_rule_jacobian(r, Y[0], x[2])),
        snw_twist_scale(2, apply_rule_jacobian(r, Y[1], x[1])));
    S[1] =
        snw_twist_scale(s, snw_twist_add(snw_lower_apply(&T[1], y0), snw_lower_apply(&T[0], y1)));
    S[2] = snw_twist_scale(
        s, snw_twist_add(snw_twist_add(snw_lower_apply(&T[2], y0), snw_lower_apply(&T[0], y2)),
                         snw_twist_scale(2, snw_lower_apply(&T[1], y1))));
}

void snw_variable_length_clear_curvature(const snw_model *m, snw_work *w) {
    for (int r = 0; r < m->nrod; r++) {
        if (m->rod[r].feed < 0) continue;
        const parts p = parts_of(&m->rod[r], w);
        for (int i = 0; i < m->rod[r].ndof; i++) p.rows[i] = p.columns[i] = 0;
        *p.corner = 0;
    }
}

// The scaled strains z = xi l/L are bilinear in q and l: with a = xi/L at the points, the second
// variation is
//   d2 = (phi l/L dq + a dl)' (H + Y'NY) (phi l/L dq + a dl) + 2 p' phi/L dq dl
// A varying rest strain adds xi0_l l/L to a, and p' (2 xi0_l + l xi0_ll)/L dl dl.
void snw_variable_length_curvature(const snw_model *m, int slice, const double *Y, snw_twist along,
                                   snw_wrench F, snw_work *w) {
    enum { LD = SNW_MAGNUS_LD };
    const snw_slice *sl = &m->slice[slice];
    const snw_rod *r = &m->rod[sl->rod];
    const snw_slice_work *sw = &w->slice[slice];
    const snw_wrench pulled = snw_lower_pull(&sw->T, F);
    const int nz = 6 * r->nc;
    const double ratio = w->feed[sl->rod].l / r->L, s = 1 / r->L;
    double N[36], H[LD * LD], Na[6], aN[6], row[LD], column[LD];
    snw_wrench p[SNW_MAGNUS_POINTS];
    snw_twist x[3][SNW_MAGNUS_POINTS];
    const snw_rest_varies_work *rest =
        r->rest_varies ? w->rest_varies + (size_t)slice * SNW_MAGNUS_POINTS : NULL;
    feed_strains(r, &w->feed[sl->rod], sw, rest, 0, x);
    snw_se3_tangent_pull_gradient(sw->W, F, N);
    snw_rule_hessian(&r->rule, sl->h, sw->xi, pulled, H);
    snw_rule_pull(&r->rule, sl->h, sw->xi, pulled, p);
    for (int i = 0; i < 6; i++) {
        Na[i] = aN[i] = 0;
        for (int j = 0; j < 6; j++) {
            Na[i] += N[6 * i + j] * along.e[j] * s;
            aN[i] += along.e[j] * N[6 * j + i] * s;
        }
    }
    const parts to = parts_of(r, w);
    for (int z = 0; z < nz; z++) {
        double Hx = 0, across = 0, back = 0;
        for (int y = 0; y < nz; y++) Hx += H[z * LD + y] * x[0][y / 6].e[y % 6] * s;
        for (int i = 0; i < 6; i++) across += Y[i * LD + z] * Na[i], back += Y[i * LD + z] * aN[i];
        row[z] = ratio * (Hx + across) + s * p[z / 6].e[z % 6];
        column[z] = ratio * (Hx + back) + s * p[z / 6].e[z % 6];
        *to.corner += x[0][z / 6].e[z % 6] * s * Hx;
    }
    for (int i = 0; i < 6; i++) *to.corner += along.e[i] * s * Na[i];
    for (int k = 0; r->rest_varies && k < r->nc; k++) {
        *to.corner += 2 * s * snw_power(p[k], rest[k].d[0]) + ratio * snw_power(p[k], rest[k].d[1]);
    }
    const double *phi = m->phi + sl->phi;
    for (int k = 0; k < r->nc; k++) {
        for (int a = 0; a < r->na; phi += sl->count[a], a++) {
            const int at = r->dof[a] - r->dof0 + sl->first[a], z = 6 * k + r->comp[a];
            for (int j = 0; j < sl->count[a]; j++) {
                to.rows[at + j] += phi[j] * row[z];
                to.columns[at + j] += phi[j] * column[z];
            }
        }
    }
}

// the transpose of the curvature, as for all rods (tangent.c)
static void add_curvature(const snw_rod *rod, const snw_work *w, double cq, size_t ld, double *T) {
    const parts p = parts_of(rod, w);
    const size_t n = (size_t)rod->ndof, at = (size_t)rod->dof0, f = (size_t)rod->feed;
    const double *C = w->K + rod->own_store;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) T[(at + j) * ld + at + i] += cq * C[j * n + i];
        T[f * ld + at + i] += cq * p.columns[i];
        T[(at + i) * ld + f] += cq * p.rows[i];
    }
    T[f * ld + f] += cq * *p.corner;
}

void snw_variable_length_rod_tangent(const snw_model *m, const snw_rod *rod, const snw_work *w,
                                     double cq, double cv, size_t ld, double *T) {
    if (rod->section_varies) {
        if (snw_any(cq != 0)) add_curvature(rod, w, cq, ld, T);
        if (snw_any(cq != 0) || snw_any(cv != 0))
            snw_section_varies_tangent(m, rod, w, cq, cv, ld, T);
        return;
    }
    const snw_feed_work *feed = &w->feed[m->link_rod[rod->link]];
    const parts p = parts_of(rod, w);
    const size_t n = (size_t)rod->ndof, at = (size_t)rod->dof0, f = (size_t)rod->feed;
    const double s = 1 / rod->L, ratio = feed->l * s, *C = w->K + rod->own_store;
    for (size_t i = 0; i < n; i++) {
        double *row = T + at * ld + at + i, *to = T + f * ld + at + i,
               *back = T + (at + i) * ld + f;
        if (snw_any(cq != 0)) {
            for (size_t j = 0; j < n; j++)
                row[j * ld] += cq * (C[j * n + i] + ratio * rod->K[i * n + j]);
            *to += cq * (p.columns[i] + s * p.Kq[i]);
            *back += cq * (p.rows[i] + s * p.Kq[i]);
        }
        if (w->is_static || !rod->DS) continue;
        for (size_t j = 0; j < n; j++) {
            row[j * ld] += cq * feed->dl * s * rod->DS[i * n + j] + cv * ratio * rod->D[i * n + j];
        }
        *to += s * (cq * p.Dv[i] + cv * p.Sq[i]);
        *back += s * (cq * (p.Sv[i] + 2 * feed->dl / feed->l * p.SSq[i]) + cv * p.Sq[i]);
    }
    double *corner = T + f * ld + f;
    if (snw_any(cq != 0)) *corner += cq * *p.corner;
    if (!w->is_static && rod->DS) *corner += (cv - cq * feed->dl / feed->l) * s / feed->l * *p.qSSq;
}
