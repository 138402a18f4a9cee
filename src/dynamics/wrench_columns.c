// SPDX-License-Identifier: MIT
//
// Variations of the wrench at a segment, theory.md (4.3): inertia, loads, fluid, contacts with
// obstacles that no coordinate moves, fields. Loops run along the columns and vectorise.

#include "dynamics/wrench_columns.h"

#include "base/vectorise.h"
#include "dynamics/contact.h"
#include "dynamics/drag_spring.h"
#include "dynamics/fluid.h"
#include "dynamics/force_field.h"
#include "dynamics/jacobian_column.h"

#include <string.h>

// WJ += cq dW/dx + cv dW/dx' + ca dW/dx'' of the inertia, theory.md (4.3)
SNW_CLONES static void inertia_columns(const snw_seg *seg, const double *V, const double *A,
                                       double cq, double cv, double ca, int n, int ld,
                                       const double *restrict J, const double *restrict dJ,
                                       const double *restrict ddJ, double *restrict WJ) {
    const snw_inertia M = seg->M;
    const snw_twist Vt = {{{{V[0], V[1], V[2]}}, {{V[3], V[4], V[5]}}}};
    const snw_wrench P = snw_inertia_apply(&M, Vt);
    SNW_INDEPENDENT
    for (int j = 0; j < n; j++) {
        const col x = col_load(J, ld, j), y = col_load(dJ, ld, j), z = col_load(ddJ, ld, j),
                  Vx = col_ad(V, x);
        // combined variations of V' and of V
        const col acc =
            col_plus(col_plus(col_times(cq, col_plus(col_plus(z, col_ad(A, x)), col_ad(V, y))),
                              col_times(cv, col_plus(col_plus(y, y), Vx))),
                     col_times(ca, x));
        const col vel = col_plus(col_times(cq, col_plus(y, Vx)), col_times(cv, x));
        const col force =
            col_plus(col_inertia(&M, acc),
                     col_minus(col_minus_ad_pull(V, col_inertia(&M, vel)), col_coad(P.e, vel)));
        col_store(WJ, ld, j, col_plus(col_load(WJ, ld, j), force));
    }
}

SNW_CLONES static void inertia_columns_static(const snw_seg *seg, const double *A, double cq,
                                              double ca, int n, int ld, const double *restrict J,
                                              double *restrict WJ) {
    const snw_inertia M = seg->M;
    SNW_INDEPENDENT
    for (int j = 0; j < n; j++) {
        const col x = col_load(J, ld, j);
        const col acc = col_plus(col_times(cq, col_ad(A, x)), col_times(ca, x));
        col_store(WJ, ld, j, col_plus(col_load(WJ, ld, j), col_inertia(&M, acc)));
    }
}

// a dead load rotates relative to the section: - delta(R' f) = - (R' f) x zeta
SNW_CLONES static void dead_load_columns(snw_vec3 moment, snw_vec3 force, double cq, int n, int ld,
                                         const double *restrict J, double *restrict WJ) {
    SNW_INDEPENDENT
    for (int j = 0; j < n; j++) {
        const double a = J[j], b = J[ld + j], c = J[2 * ld + j];
        WJ[j] -= cq * (moment.y * c - moment.z * b);
        WJ[ld + j] -= cq * (moment.z * a - moment.x * c);
        WJ[2 * ld + j] -= cq * (moment.x * b - moment.y * a);
        WJ[3 * ld + j] -= cq * (force.y * c - force.z * b);
        WJ[4 * ld + j] -= cq * (force.z * a - force.x * c);
        WJ[5 * ld + j] -= cq * (force.x * b - force.y * a);
    }
}

// a twist column referred to the point c of the segment; a wrench column referred back from there
static inline col tangent_col_about(const double *c, col x) {
    return (col){x.a,
                 x.b,
                 x.c,
                 x.d + x.b * c[2] - x.c * c[1],
                 x.e + x.c * c[0] - x.a * c[2],
                 x.f + x.a * c[1] - x.b * c[0]};
}

static inline col tangent_col_from(const double *c, col F) {
    return (col){F.a + c[1] * F.f - c[2] * F.e,
                 F.b + c[2] * F.d - c[0] * F.f,
                 F.c + c[0] * F.e - c[1] * F.d,
                 F.d,
                 F.e,
                 F.f};
}

static inline double tangent_row_product(const double *S, col x) {
    return S[0] * x.a + S[1] * x.b + S[2] * x.c + S[3] * x.d + S[4] * x.e + S[5] * x.f;
}

// Row of P of a coordinate; -1: none.
static int flux_row(const snw_columns *c, const snw_rod *rod, int dof) {
    if (!c->row_dof) return c->own + dof - rod->dof0;
    int k = c->nrow - 1;
    while (k >= 0 && c->row_dof[k] != dof) k--;
    return k;
}

// P += Phi' dY for stretch and shear of the rod at a fluid point, one column, theory.md (3.12.4)
static void flux_column(const snw_model *m, const snw_fluid_point *p, const snw_columns *c,
                        const double *Y, col vel, int ldp, double *P) {
    const snw_rod *rod = &m->rod[p->rod];
    const double *phi = m->fluid_phi + p->phi;
    for (int a = 0; a < rod->na; phi += p->count[a], a++) {
        if (rod->comp[a] < 3) continue;
        const double *y = Y + 3 * (rod->comp[a] - 3);
        const double dY = y[0] * vel.d + y[1] * vel.e + y[2] * vel.f;
        for (int j = 0; j < p->count[a]; j++) {
            const int row = flux_row(c, rod, rod->dof[a] + p->first[a] + j);
            if (row >= 0) P[(size_t)row * (size_t)ldp] += phi[j] * dY;
        }
    }
}

// WJ += cq dW/dx + cv dW/dx' + ca dW/dx'' of the fluid at one point, P += its part on the strains
// of the rod; the motion relative to the fluid varies by (4.2), theory.md 3.12
SNW_CLONES static void fluid_point_columns(const snw_model *m, const snw_fluid_point *p,
                                           const snw_fluid_point_work *at, const snw_columns *to,
                                           bool is_static, double cq, double cv, double ca,
                                           double *WJ, double *P) {
    const double *V = at->V.e, *A = at->A.e, *M = p->added, *c = p->centre.e;
    const double *J = to->J, *dJ = to->dJ, *ddJ = to->ddJ;
    const int ld = to->ld;
    double S[36], Y[9];
    snw_fluid_point_jacobian(p, at->V, S, Y);
    for (int j = 0; j < to->n; j++) {
        const col x = tangent_col_about(c, col_load(J, ld, j)), Vx = col_ad(V, x);
        col acc = col_plus(col_times(cq, col_ad(A, x)), col_times(ca, x)), vel = col_times(cq, Vx);
        if (!is_static) {
            const col y = tangent_col_about(c, col_load(dJ, ld, j)),
                      z = tangent_col_about(c, col_load(ddJ, ld, j));
            acc = col_plus(acc, col_plus(col_times(cq, col_plus(z, col_ad(V, y))),
                                         col_times(cv, col_plus(col_plus(y, y), Vx))));
            vel = col_plus(vel, col_plus(col_times(cq, y), col_times(cv, x)));
        }
        const col F = {M[0] * acc.a + tangent_row_product(S, vel),
                       M[1] * acc.b + tangent_row_product(S + 6, vel),
                       M[2] * acc.c + tangent_row_product(S + 12, vel),
                       M[3] * acc.d + tangent_row_product(S + 18, vel),
                       M[4] * acc.e + tangent_row_product(S + 24, vel),
                       M[5] * acc.f + tangent_row_product(S + 30, vel)};
        col_store(WJ, ld, j, col_plus(col_load(WJ, ld, j), tangent_col_from(c, F)));
        if (p->phi >= 0) flux_column(m, p, to, Y, vel, ld, P + j);
    }
}

// buoyancy: a dead force f at a point of the segment
static void buoyancy_columns(snw_vec3 at, snw_vec3 f, double cq, int n, const double *J,
                             double *WJ) {
    for (int j = 0; j < n; j++) {
        const double a = J[j], b = J[n + j], c = J[2 * n + j];
        const col F = {0, 0, 0, f.y * c - f.z * b, f.z * a - f.x * c, f.x * b - f.y * a};
        col_store(WJ, n, j,
                  col_minus(col_load(WJ, n, j), col_times(cq, tangent_col_from(at.e, F))));
    }
}

void snw_fluid_columns(const snw_model *m, const snw_inputs *in, const snw_work *w, int i,
                       const snw_columns *c, double cq, double cv, double ca, double *WJ,
                       double *P) {
    for (int k = m->fluid_point_of_seg[i]; k < m->fluid_point_of_seg[i + 1]; k++) {
        const snw_fluid_point *p = &m->fluid_point[k];
        if (!snw_fluid_point_is_active(w, p)) continue;
        fluid_point_columns(m, p, &w->fluid_point[k], c, w->is_static, cq, cv, ca, WJ, P);
        if (snw_all(cq == 0) || !snw_any(p->displaced > 0)) continue;
        buoyancy_columns(p->centre, snw_fluid_point_lift(in, w, p), cq, c->ld, c->J, WJ);
    }
}

// WJ -= cq dF/dx + cv dF/dx' for a wrench on segment i with the derivatives A by its pose and B by
// its velocity
SNW_CLONES static void wrench_columns(const snw_work *w, int i, const snw_columns *c,
                                      const double A[36], const double B[36], double cq, double cv,
                                      double *WJ) {
    const int ld = c->ld, n = c->n;
    const double *J = c->J, *dJ = c->dJ, *V = w->V[i].e;
    for (int j = 0; j < n; j++) {
        const col x = col_load(J, ld, j), zeta = col_times(cq, x);
        col F = {tangent_row_product(A, zeta),      tangent_row_product(A + 6, zeta),
                 tangent_row_product(A + 12, zeta), tangent_row_product(A + 18, zeta),
                 tangent_row_product(A + 24, zeta), tangent_row_product(A + 30, zeta)};
        if (!w->is_static) {
            const col vel = col_plus(col_times(cq, col_plus(col_load(dJ, ld, j), col_ad(V, x))),
                                     col_times(cv, x));
            F = col_plus(F,
                         (col){tangent_row_product(B, vel), tangent_row_product(B + 6, vel),
                               tangent_row_product(B + 12, vel), tangent_row_product(B + 18, vel),
                               tangent_row_product(B + 24, vel), tangent_row_product(B + 30, vel)});
        }
        col_store(WJ, ld, j, col_minus(col_load(WJ, ld, j), F));
    }
}

void snw_contact_columns(const snw_model *m, const snw_inputs *in, const snw_work *w, int i,
                         const snw_columns *c, double cq, double cv, double *WJ) {
    double A[36], B[36];
    for (int k = m->contact_point_of_seg[i]; k < m->contact_point_of_seg[i + 1]; k++) {
        if (snw_contact_is_pair(m, &m->contact_point[k])) continue;
        if (snw_contact_point_jacobian(m, w, k, A, B)) wrench_columns(w, i, c, A, B, cq, cv, WJ);
    }
    for (int k = m->force_field_point_of_seg[i]; k < m->force_field_point_of_seg[i + 1]; k++) {
        if (m->force_field[m->force_field_point[k].field].coupled) continue;
        memset(B, 0, sizeof B);
        if (snw_force_field_jacobian(m, w, k, A)) wrench_columns(w, i, c, A, B, cq, cv, WJ);
    }
    if (i != snw_drag_spring_seg(in)) return;
    snw_drag_spring_jacobian(in, w, A, B);
    wrench_columns(w, i, c, A, B, cq, cv, WJ);
}

void snw_segment_columns(const snw_model *m, const snw_wrench *load, const snw_work *w, int i,
                         const snw_columns *c, double cq, double cv, double ca, double *WJ) {
    const snw_seg *seg = &m->seg[i];
    const bool heavy = snw_seg_has_mass(m, w, i) && !seg->tube_node;
    if (heavy && w->is_static) {
        inertia_columns_static(seg, w->A[i].e, cq, ca, c->ld, c->ld, c->J, WJ);
    } else if (heavy) {
        inertia_columns(seg, w->V[i].e, w->A[i].e, cq, cv, ca, c->ld, c->ld, c->J, c->dJ, c->ddJ,
                        WJ);
    }
    if (snw_all(cq == 0)) return;
    snw_vec3 moment = {{0}}, force = {{0}};
    bool dead = false;
    for (int k = m->load_point_of_seg[i]; k < m->load_point_of_seg[i + 1]; k++) {
        if (m->load[m->load_point[k].load].body || !snw_seg_is_active(m, w, i)) continue;
        moment = snw_add(moment, snw_rotate_inv(w->g[i].R, load[k].m));
        force = snw_add(force, snw_rotate_inv(w->g[i].R, load[k].f));
        dead = true;
    }
    if (dead) dead_load_columns(moment, force, cq, c->ld, c->ld, c->J, WJ);
}
