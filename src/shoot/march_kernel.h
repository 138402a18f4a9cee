// SPDX-License-Identifier: MIT
//
// march_kernel.h: an interval, its variations, and a row of them; compiled once for rods that are common, with their flags as
// constants, and once for all others.
//
// An interval of length h from node j. Wrench, velocity and z are ordinary Runge-Kutta vectors. The rotation of a stage is
// needed only to turn loads into its axes: R_i = R_j Q_i', Q_i = 1 - h sum a_ik k_k^ Q_k, the same method on the matrix. The
// pose of the next node is a group step, g_{j+1} = g_j exp(W) with the Magnus expansion of the stages' strains,
//   W = h sum b_i xi_i + h^2/12 [xi_1, xi_last],
// of the method's order up to four.
#pragma once

#include "base/fail.h"
#include "math/se3_tangent.h"
#include "shoot/field.h"
#include "shoot/rod.h"

#include <stddef.h>

#define POSE 8 // a flag more: poses are wanted

#define methods snw_along_methods
extern const snw_along snw_along_methods[];

// stages whose slopes enter stage i: all before it, of Euler and RK4 only the last one
SNW_INLINE int earliest(snw_space_kind kind, int i) {
    return kind == SNW_ALONG_DP5 ? 0 : (i > 0 ? i - 1 : 0);
}

// Q_i, from the stages before
SNW_INLINE snw_mat3 turned(snw_space_kind kind, double h, int i, const snw_stage *st) {
    snw_mat3 Q = snw_mat3_identity();
    const snw_along *m = &methods[kind];
    for (int k = earliest(kind, i); k < i; k++) {
        const double a = -h * m->a[i][k];
        for (int c = 0; c < 3; c++) {
            const snw_vec3 q = {{st[k].Q.e[0][c], st[k].Q.e[1][c], st[k].Q.e[2][c]}};
            const snw_vec3 x = snw_cross(st[k].xi.w, q);
            Q.e[0][c] += a * x.x, Q.e[1][c] += a * x.y, Q.e[2][c] += a * x.z;
        }
    }
    return Q;
}

SNW_INLINE void see_loads(const snw_shoot_rod *r, int point, snw_mat3 R, snw_stage *st) {
    st->weight = snw_rotate(st->Q, snw_rotate_inv(R, r->gravity));
    st->force = st->torque = (snw_vec3){{0}};
    if (!r->density) return;
    st->force = snw_rotate(st->Q, snw_rotate_inv(R, r->density[point].force));
    st->torque = snw_rotate(st->Q, snw_rotate_inv(R, r->density[point].torque));
}

SNW_INLINE const snw_shoot_section *section_at(const snw_shoot_rod *r, int point) {
    return r->uniform ? r->section : r->section + point;
}

SNW_INLINE void stages(int flags, snw_space_kind kind, const snw_shoot_rod *r, int point, double h,
                       bool slopes, const snw_shoot_state *y, snw_stage *st) {
    const snw_along *m = &methods[kind];
    const int nz = flags & SNW_FIELD_LAW ? r->law->nz : 0;
    SNW_ROLLED
    for (int i = 0; i < m->stages; i++) {
        snw_stage *s = &st[i];
        s->V = y->V;
        s->F = y->F;
        for (int k = 0; k < nz; k++) s->z[k] = y->z[k];
        for (int k = earliest(kind, i); k < i; k++) {
            const double a = h * m->a[i][k];
            for (int c = 0; c < 6; c++) s->V.e[c] += a * st[k].Vs.e[c];
            for (int c = 0; c < 6; c++) s->F.e[c] += a * st[k].Fs.e[c];
            for (int c = 0; c < nz; c++) s->z[c] += a * st[k].zs[c];
        }
        const int p = point + m->at[i];
        if (flags & SNW_FIELD_WORLD) {
            s->Q = turned(kind, h, i, st);
            see_loads(r, p, y->g.R, s);
        }
        snw_field(flags, r, section_at(r, p), p, slopes, s);
    }
}

// W of the pose's step
SNW_INLINE snw_twist advance_by(snw_space_kind kind, double h, const snw_stage *st) {
    const snw_along *m = &methods[kind];
    snw_twist W = snw_twist_zero();
    for (int i = 0; i < m->stages; i++) W = snw_twist_axpy(h * m->b[i], st[i].xi, W);
    if (kind == SNW_ALONG_EULER) return W;
    return snw_twist_axpy(h * h / 12, snw_ad(st[0].xi, st[m->stages - 1].xi), W);
}

SNW_INLINE void finish(int flags, snw_space_kind kind, const snw_shoot_rod *r, double h,
                       const snw_stage *st, snw_shoot_state *y) {
    const snw_along *m = &methods[kind];
    const int nz = flags & SNW_FIELD_LAW ? r->law->nz : 0;
    for (int i = 0; i < m->stages; i++) {
        const double b = h * m->b[i];
        for (int c = 0; c < 6; c++) y->V.e[c] += b * st[i].Vs.e[c];
        for (int c = 0; c < 6; c++) y->F.e[c] += b * st[i].Fs.e[c];
        for (int c = 0; c < nz; c++) y->z[c] += b * st[i].zs[c];
    }
}

// ---- variations -------------------------------------------------------------------------------------

typedef struct dframe {
    snw_lane3 c[3]; // variations of the columns of Q
} dframe;

SNW_INLINE snw_lane3 column_times(const dframe *d, snw_vec3 b) {
    return snw_lane3_add(
        snw_lane3_scale(b.x, d->c[0]),
        snw_lane3_add(snw_lane3_scale(b.y, d->c[1]), snw_lane3_scale(b.z, d->c[2])));
}

SNW_INLINE dframe vary_turned(snw_space_kind kind, double h, int i, const snw_stage *st,
                              const snw_variation *v, const dframe *dQ) {
    dframe d = {{{{0}, {0}, {0}}, {{0}, {0}, {0}}, {{0}, {0}, {0}}}};
    const snw_along *m = &methods[kind];
    for (int k = earliest(kind, i); k < i; k++) {
        const double a = -h * m->a[i][k];
        for (int c = 0; c < 3; c++) {
            const snw_vec3 q = {{st[k].Q.e[0][c], st[k].Q.e[1][c], st[k].Q.e[2][c]}};
            const snw_lane3 x = snw_lane3_add(snw_lane3_cross_by(v[k].xi.a, q),
                                              snw_lane3_cross(st[k].xi.w, dQ[k].c[c]));
            d.c[c] = snw_lane3_add(d.c[c], snw_lane3_scale(a, x));
        }
    }
    return d;
}

// d(Q R'f) = dQ R'f + Q (R'f x theta)
SNW_INLINE snw_lane3 vary_load(const snw_stage *s, const dframe *dQ, snw_vec3 b, snw_lane3 theta) {
    return snw_lane3_add(column_times(dQ, b), snw_lane3_rotate(s->Q, snw_lane3_cross(b, theta)));
}

SNW_INLINE void vary_loads(const snw_shoot_rod *r, int point, snw_mat3 R, const snw_stage *s,
                           const dframe *dQ, snw_lane3 theta, snw_variation *v) {
    v->weight = vary_load(s, dQ, snw_rotate_inv(R, r->gravity), theta);
    v->force = v->torque = (snw_lane3){{0}, {0}, {0}};
    if (!r->density) return;
    v->force = vary_load(s, dQ, snw_rotate_inv(R, r->density[point].force), theta);
    v->torque = vary_load(s, dQ, snw_rotate_inv(R, r->density[point].torque), theta);
}

// what all columns share in the step of the pose: exp(W) and T(W)
typedef struct pose_step {
    snw_se3 E;
    snw_lower T;
} pose_step;

SNW_INLINE void vary_pose(snw_space_kind kind, double h, const snw_stage *st, const pose_step *ps,
                          const snw_variation *v, snw_lane6 *zeta) {
    const snw_along *m = &methods[kind];
    const int last = m->stages - 1;
    snw_lane6 W = {.a = snw_lane3_scale(h * m->b[0], v[0].xi.a),
                   .b = snw_lane3_scale(h * m->b[0], v[0].xi.b)};
    for (int i = 1; i < m->stages; i++) {
        W.a = snw_lane3_add(W.a, snw_lane3_scale(h * m->b[i], v[i].xi.a));
        W.b = snw_lane3_add(W.b, snw_lane3_scale(h * m->b[i], v[i].xi.b));
    }
    if (kind != SNW_ALONG_EULER) {
        // [d1, xl] + [x1, dl]
        const snw_twist x1 = st[0].xi, xl = st[last].xi;
        const snw_lane6 d1 = v[0].xi, dl = v[last].xi;
        const double s = h * h / 12;
        W.a = snw_lane3_add(W.a, snw_lane3_scale(s, snw_lane3_add(snw_lane3_cross_by(d1.a, xl.w),
                                                                  snw_lane3_cross(x1.w, dl.a))));
        const snw_lane3 first =
            snw_lane3_add(snw_lane3_cross_by(d1.b, xl.w), snw_lane3_cross_by(d1.a, xl.v));
        const snw_lane3 second =
            snw_lane3_add(snw_lane3_cross(x1.v, dl.a), snw_lane3_cross(x1.w, dl.b));
        W.b = snw_lane3_add(W.b, snw_lane3_scale(s, snw_lane3_add(first, second)));
    }
    const snw_lane3 moved = snw_lane3_add(zeta->b, snw_lane3_cross_by(zeta->a, ps->E.p));
    zeta->a = snw_lane3_add(snw_lane3_rotate_inv(ps->E.R, zeta->a), snw_lane3_rotate(ps->T.A, W.a));
    zeta->b = snw_lane3_add(
        snw_lane3_rotate_inv(ps->E.R, moved),
        snw_lane3_add(snw_lane3_rotate(ps->T.B, W.a), snw_lane3_rotate(ps->T.A, W.b)));
}

SNW_INLINE snw_lane6 load6(const double *S, int ld) {
    snw_lane6 x;
    for (int i = 0; i < 6; i++) x.e[i] = snw_lanes_load(S + (ptrdiff_t)i * ld);
    return x;
}

SNW_INLINE void store6(snw_lane6 x, int ld, double *S) {
    for (int i = 0; i < 6; i++) snw_lanes_store(x.e[i], S + (ptrdiff_t)i * ld);
}

// a pair of columns through an interval whose stages are known
SNW_INLINE void vary(int flags, snw_space_kind kind, const snw_shoot_rod *r, int point, double h,
                     snw_mat3 R, const snw_stage *st, const pose_step *ps, int ld, double *S) {
    const snw_along *m = &methods[kind];
    const int nz = flags & SNW_FIELD_LAW ? r->law->nz : 0;
    snw_variation v[SNW_SHOOT_STAGES];
    dframe dQ[SNW_SHOOT_STAGES];
    const snw_lane6 V = load6(S + SNW_ROW_V * ld, ld), F = load6(S + SNW_ROW_F * ld, ld);
    snw_lane6 V1 = V, F1 = F, zeta;
    snw_lanes z[SNW_SHOOT_Z], z1[SNW_SHOOT_Z];
    if (flags & POSE) zeta = load6(S + SNW_ROW_G * ld, ld);
    for (int c = 0; c < nz; c++) z1[c] = z[c] = snw_lanes_load(S + (SNW_ROW_Z + c) * ld);
    SNW_ROLLED
    for (int i = 0; i < m->stages; i++) {
        v[i].V = V;
        v[i].F = F;
        for (int c = 0; c < nz; c++) v[i].z[c] = z[c];
        for (int k = earliest(kind, i); k < i; k++) {
            const double a = h * m->a[i][k];
            for (int c = 0; c < 6; c++) v[i].V.e[c] += a * v[k].Vs.e[c];
            for (int c = 0; c < 6; c++) v[i].F.e[c] += a * v[k].Fs.e[c];
            for (int c = 0; c < nz; c++) v[i].z[c] += a * v[k].zs[c];
        }
        const int p = point + m->at[i];
        if (flags & SNW_FIELD_WORLD) {
            dQ[i] = vary_turned(kind, h, i, st, v, dQ);
            vary_loads(r, p, R, &st[i], &dQ[i], zeta.a, &v[i]);
        }
        snw_field_vary(flags, r, section_at(r, p), &st[i], &v[i]);
        const double b = h * m->b[i];
        for (int c = 0; c < 6; c++) V1.e[c] += b * v[i].Vs.e[c];
        for (int c = 0; c < 6; c++) F1.e[c] += b * v[i].Fs.e[c];
        for (int c = 0; c < nz; c++) z1[c] += b * v[i].zs[c];
    }
    if (flags & POSE) {
        vary_pose(kind, h, st, ps, v, &zeta);
        store6(zeta, ld, S + SNW_ROW_G * ld);
    }
    store6(V1, ld, S + SNW_ROW_V * ld);
    store6(F1, ld, S + SNW_ROW_F * ld);
    for (int c = 0; c < nz; c++) snw_lanes_store(z1[c], S + (SNW_ROW_Z + c) * ld);
}

// ---- marches ----------------------------------------------------------------------------------------

SNW_INLINE void keep(snw_shoot_rod *r, int flags, int node, const snw_shoot_state *y) {
    r->V[node] = y->V;
    r->F[node] = y->F;
    if (flags & POSE) r->g[node] = y->g;
    const int nz = flags & SNW_FIELD_LAW ? r->law->nz : 0;
    for (int c = 0; c < nz; c++) r->z[node * nz + c] = y->z[c];
}

SNW_INLINE void march(int flags, snw_space_kind kind, snw_shoot_rod *r, int node, int n,
                      int columns, double *S, snw_shoot_state *y) {
    const snw_shoot_piece *piece = &r->piece[snw_shoot_piece_of(r, node)];
    const int np = methods[kind].np;
    const double h = piece->h;
    SNW_ASSERT(node + n <= piece->node + piece->n);
    snw_stage st[SNW_SHOOT_STAGES];
    for (int j = 0; j < n; j++) {
        const int point = piece->point + (node + j - piece->node) * np;
        if (j > 0) keep(r, flags, node + j, y);
        stages(flags, kind, r, point, h, columns > 0, y, st);
        if (columns > 0) {
            pose_step ps = {0};
            if (flags & POSE) {
                const snw_twist W = advance_by(kind, h, st);
                ps = (pose_step){snw_se3_exp(W), snw_se3_tangent(W)};
            }
            for (int c = 0; c < columns; c += SNW_LANES) {
                vary(flags, kind, r, point, h, y->g.R, st, &ps, columns, S + c);
            }
        }
        finish(flags, kind, r, h, st, y);
        r->W[node + j] = advance_by(kind, h, st);
        if (flags & POSE) y->g = snw_se3_mul(y->g, snw_se3_exp(r->W[node + j]));
    }
}
