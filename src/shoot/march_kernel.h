// SPDX-License-Identifier: MIT
//
// march_kernel.h: integrates one interval and its variations, and a sequence of intervals. Included
// by each file that compiles it for an instruction set (march.c, march_avx2.c). Common kinds of
// rods have kernels with compile-time flags; one generic kernel serves all others.
//
// Interval of length h from node j. Wrench, velocity and z are integrated by a Runge-Kutta method.
// Rotations of stages are needed only for loads in world axes: R_i = R_j Q_i', with the same method
// for the matrix, Q_i = 1 - h sum a_ik k_k^ Q_k. The weight has one direction at all points, so the
// method is applied to the vector, b_i = b_j - h sum a_ik k_k x b_k. The pose of the next node is a
// group step g_{j+1} = g_j exp(W) with the Magnus expansion
//   W = h sum b_i xi_i + h^2/12 [xi_1, xi_last],
// which has the order of the method, up to four.
//
// Fields of force need the poses of stages: g_i = g_j exp(W_i), W_i = h sum a_ik T(W_k)^-1 xi_k,
// with the series of T^-1 up to the second bracket, whose remainder is of fourth order.
#pragma once

#include "base/fail.h"
#include "math/se3_tangent.h"
#include "shoot/field.h"
#include "shoot/march.h"
#include "shoot/rod.h"

#include <stddef.h>

enum {
    POSE = 32,   // further flag: compute poses
    FIXED = 64,  // further flag: method and flags are compile-time constants
    PLACE = 128, // further flag: a field of force, with poses of stages
    PLAIN = SNW_FIELD_WORLD | POSE
};

static const snw_along methods[] = {
    {SNW_ALONG_EULER, 1, 1, {0}, {0, 1}, {{0}}, {1}},
    {SNW_ALONG_RK4,
     4,
     2,
     {0, 1, 1, 2},
     {0, 0.5, 1},
     {{0}, {0.5}, {0, 0.5}, {0, 0, 1}},
     {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}},
    {SNW_ALONG_DP5,
     6,
     5,
     {0, 1, 2, 3, 4, 5},
     {0, 0.2, 0.3, 0.8, 8.0 / 9, 1},
     {{0},
      {1.0 / 5},
      {3.0 / 40, 9.0 / 40},
      {44.0 / 45, -56.0 / 15, 32.0 / 9},
      {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
      {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656}},
     {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}},
};

// first stage whose derivative enters stage i; for Euler and RK4 only the previous one does
SNW_INLINE int first_dependency(snw_space_kind kind, int i) {
    return kind == SNW_ALONG_DP5 ? 0 : (i > 0 ? i - 1 : 0);
}

SNW_INLINE const snw_shoot_section *section_at(const snw_shoot_rod *r, int point) {
    return r->uniform ? r->section : r->section + point;
}

// ---- stages -------------------------------------------------------------------------------------

// state at the start of an interval
typedef struct node_state {
    snw_flow y;
    snw_mat3 R;
    snw_se3 g;                 // with a field of force
    snw_field_section section; // of a uniform rod
} node_state;

// pose of a stage for a field of force: increment W from the node, T(W)^-1 xi, and, with
// derivatives, exp W, T(W) and the derivative A of the wrench by the pose
typedef struct stage_place {
    snw_twist W, rate;
    snw_se3 E;
    snw_lower T;
    double A[36];
} stage_place;

// x[i].ms, fs -= field of force at stage i; called with the strain of the stage known
SNW_INLINE void stage_field(snw_space_kind kind, const snw_shoot_rod *r, int point, double h,
                            bool derivatives, int i, const node_state *from, stage_place *pl,
                            snw_flow *x) {
    const snw_along *m = &methods[kind];
    stage_place *at = &pl[i];
    at->W = snw_twist_zero();
    for (int k = first_dependency(kind, i); k < i; k++)
        at->W = snw_twist_axpy(h * m->a[i][k], pl[k].rate, at->W);
    at->E = snw_se3_exp(at->W);
    if (derivatives) at->T = snw_se3_tangent(at->W);
    snw_twist xi;
    snw_pack_store(x->k, xi.w.e), snw_pack_store(x->l, xi.v.e);
    const snw_twist once = snw_ad(at->W, xi);
    at->rate = snw_twist_axpy(0.5, once, xi);
    at->rate = snw_twist_axpy(1.0 / 12, snw_ad(at->W, once), at->rate);
    const snw_se3 g = snw_se3_mul(from->g, at->E);
    snw_wrench F;
    r->field->along(r->field->user, point, &g, &F, derivatives ? at->A : NULL);
    x->ms = snw_pack_sub(x->ms, snw_pack_of(F.m.x, F.m.y, F.m.z));
    x->fs = snw_pack_sub(x->fs, snw_pack_of(F.f.x, F.f.y, F.f.z));
}

// Q_i from the previous stages
SNW_INLINE snw_mat3 stage_rotation(snw_space_kind kind, double h, int i, const snw_flow *x,
                                   const snw_mat3 *Q) {
    snw_mat3 sum = snw_mat3_identity();
    const snw_along *m = &methods[kind];
    for (int k = first_dependency(kind, i); k < i; k++) {
        const double a = -h * m->a[i][k];
        snw_vec3 xi;
        snw_pack_store(x[k].k, xi.e);
        for (int c = 0; c < 3; c++) {
            const snw_vec3 q = {{Q[k].e[0][c], Q[k].e[1][c], Q[k].e[2][c]}};
            const snw_vec3 d = snw_cross(xi, q);
            sum.e[0][c] += a * d.x, sum.e[1][c] += a * d.y, sum.e[2][c] += a * d.z;
        }
    }
    return sum;
}

SNW_INLINE void loads_in_section_axes(const snw_shoot_rod *r, int point, snw_mat3 R, snw_mat3 Q,
                                      snw_flow *x) {
    const snw_shoot_density *d = &r->density[point];
    const snw_vec3 f = snw_rotate(Q, snw_rotate_inv(R, d->force));
    const snw_vec3 t = snw_rotate(Q, snw_rotate_inv(R, d->torque));
    x->force = snw_pack_of(f.x, f.y, f.z), x->torque = snw_pack_of(t.x, t.y, t.z);
}

// x[i] <- stage i of the interval that begins at `from`; Q: rotations of the stages, with
// distributed loads
SNW_INLINE void stage(int flags, snw_space_kind kind, const snw_shoot_rod *r, int point, double h,
                      bool derivatives, int i, const node_state *from, snw_law_out *law,
                      snw_mat3 *Q, stage_place *pl, snw_flow *x) {
    const snw_along *m = &methods[kind];
    const int nz = flags & SNW_FIELD_LAW ? SNW_SHOOT_Z : 0;
    const snw_flow *y = &from->y;
    snw_flow *s = &x[i];
    s->w = y->w, s->v = y->v, s->m = y->m, s->f = y->f;
    if (flags & SNW_FIELD_WORLD) s->weight = y->weight;
    for (int k = 0; k < nz; k++) s->z[k] = y->z[k];
    for (int k = first_dependency(kind, i); k < i; k++) {
        const double a = h * m->a[i][k];
        s->w = snw_pack_axpy(a, x[k].ws, s->w), s->v = snw_pack_axpy(a, x[k].vs, s->v);
        s->m = snw_pack_axpy(a, x[k].ms, s->m), s->f = snw_pack_axpy(a, x[k].fs, s->f);
        for (int c = 0; c < nz; c++) s->z[c] += a * x[k].zs[c];
        if (flags & SNW_FIELD_WORLD) {
            s->weight = snw_pack_axpy(-a, snw_pack_cross(x[k].k, x[k].weight), s->weight);
        }
    }
    const int p = point + m->at[i];
    if (flags & SNW_FIELD_LOADS) {
        Q[i] = stage_rotation(kind, h, i, x, Q);
        loads_in_section_axes(r, p, from->R, Q[i], s);
    }
    if (r->uniform) {
        snw_field_at(flags, r, &from->section, p, derivatives, law, s);
    } else {
        const snw_field_section here = snw_field_section_of(r->section + p);
        snw_field_at(flags, r, &here, p, derivatives, law, s);
    }
    if (flags & PLACE) stage_field(kind, r, p, h, derivatives, i, from, pl, s);
}

// all stages; st <- their states for the variations, unless NULL; pl: their poses, with a field of
// force
SNW_INLINE void stages(int flags, snw_space_kind kind, const snw_shoot_rod *r, int point, double h,
                       const node_state *from, snw_law_out *law, stage_place *pl, snw_flow *x,
                       snw_stage *st) {
    snw_mat3 Q[SNW_SHOOT_STAGES];
    if (flags & FIXED) {
        // unrolled, so that a stage stays in registers for the next
        stage(flags, kind, r, point, h, false, 0, from, law, Q, pl, x);
        if (kind == SNW_ALONG_EULER) return;
        stage(flags, kind, r, point, h, false, 1, from, law, Q, pl, x);
        stage(flags, kind, r, point, h, false, 2, from, law, Q, pl, x);
        stage(flags, kind, r, point, h, false, 3, from, law, Q, pl, x);
        return;
    }
    for (int i = 0; i < methods[kind].stages; i++) {
        stage(flags, kind, r, point, h, st, i, from, st ? &st[i].law : law, Q, pl, x);
        if (st) snw_stage_of(flags, &x[i], &st[i]);
        if (st && (flags & SNW_FIELD_LOADS)) st[i].Q = Q[i];
    }
}

// W of the pose increment
SNW_INLINE snw_twist pose_increment(snw_space_kind kind, double h, const snw_flow *x) {
    const snw_along *m = &methods[kind];
    snw_pack w = snw_pack_scale(h * m->b[0], x[0].k), v = snw_pack_scale(h * m->b[0], x[0].l);
    for (int i = 1; i < m->stages; i++) {
        w = snw_pack_axpy(h * m->b[i], x[i].k, w), v = snw_pack_axpy(h * m->b[i], x[i].l, v);
    }
    if (kind != SNW_ALONG_EULER) {
        const snw_flow *e = &x[m->stages - 1];
        const double c = h * h / 12;
        const snw_permuted k0 = snw_permuted_of(x[0].k), l0 = snw_permuted_of(x[0].l);
        const snw_permuted k1 = snw_permuted_of(e->k), l1 = snw_permuted_of(e->l);
        w = snw_pack_axpy(c, snw_pack_permute(snw_skew(k0, k1)), w);
        v = snw_pack_axpy(c, snw_pack_permute(snw_pack_add(snw_skew(l0, k1), snw_skew(k0, l1))), v);
    }
    snw_twist W;
    snw_pack_store(w, W.w.e), snw_pack_store(v, W.v.e);
    return W;
}

SNW_INLINE void kernel_finish(int flags, snw_space_kind kind, double h, const snw_flow *x,
                              snw_flow *y) {
    const snw_along *m = &methods[kind];
    const int nz = flags & SNW_FIELD_LAW ? SNW_SHOOT_Z : 0;
    for (int i = 0; i < m->stages; i++) {
        const double b = h * m->b[i];
        y->w = snw_pack_axpy(b, x[i].ws, y->w), y->v = snw_pack_axpy(b, x[i].vs, y->v);
        y->m = snw_pack_axpy(b, x[i].ms, y->m), y->f = snw_pack_axpy(b, x[i].fs, y->f);
        for (int c = 0; c < nz; c++) y->z[c] += b * x[i].zs[c];
    }
}

// ---- variations ---------------------------------------------------------------------------------

typedef struct dframe {
    snw_lane3 c[3]; // variations of the columns of Q
} dframe;

SNW_INLINE snw_lane3 column_times(const dframe *d, snw_vec3 b) {
    return snw_lane3_add(
        snw_lane3_scale(b.x, d->c[0]),
        snw_lane3_add(snw_lane3_scale(b.y, d->c[1]), snw_lane3_scale(b.z, d->c[2])));
}

SNW_INLINE dframe vary_rotation(snw_space_kind kind, double h, int i, const snw_stage *st,
                                const snw_variation *v, const dframe *dQ) {
    dframe d = {{{{0}, {0}, {0}}, {{0}, {0}, {0}}, {{0}, {0}, {0}}}};
    const snw_along *m = &methods[kind];
    for (int k = first_dependency(kind, i); k < i; k++) {
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
    v->force = vary_load(s, dQ, snw_rotate_inv(R, r->density[point].force), theta);
    v->torque = vary_load(s, dQ, snw_rotate_inv(R, r->density[point].torque), theta);
}

// d(R'g) = R'g x theta at the node, then propagated through the stages
SNW_INLINE snw_lane3 vary_weight(snw_space_kind kind, double h, int i, const snw_stage *st,
                                 const snw_variation *v, snw_lane3 theta) {
    const snw_along *m = &methods[kind];
    snw_lane3 d = snw_lane3_cross(st[0].weight, theta);
    for (int k = first_dependency(kind, i); k < i; k++) {
        const snw_lane3 x = snw_lane3_add(snw_lane3_cross_by(v[k].xi.a, st[k].weight),
                                          snw_lane3_cross(st[k].xi.w, v[k].weight));
        d = snw_lane3_add(d, snw_lane3_scale(-h * m->a[i][k], x));
    }
    return d;
}

SNW_INLINE snw_lane6 lane6_axpy(double s, snw_lane6 a, snw_lane6 b) {
    b.a = snw_lane3_add(b.a, snw_lane3_scale(s, a.a));
    b.b = snw_lane3_add(b.b, snw_lane3_scale(s, a.b));
    return b;
}

// [x, d] with the same x for all columns
SNW_INLINE snw_lane6 lane6_ad(snw_twist x, snw_lane6 d) {
    snw_lane6 out;
    out.a = snw_lane3_cross(x.w, d.a);
    out.b = snw_lane3_add(snw_lane3_cross(x.v, d.a), snw_lane3_cross(x.w, d.b));
    return out;
}

// Variations of a stage's pose for a field of force: of W, and of T(W)^-1 xi.
typedef struct place_variation {
    snw_lane6 W, rate;
} place_variation;

// v->Fs -= variation of the field of force at stage i, for the variation zeta of the node
SNW_INLINE void vary_field(snw_space_kind kind, double h, int i, const snw_stage *st,
                           const stage_place *pl, snw_lane6 zeta, place_variation *dp,
                           snw_variation *v) {
    const snw_along *m = &methods[kind];
    const stage_place *at = &pl[i];
    snw_lane6 W = {.a = {{0}, {0}, {0}}, .b = {{0}, {0}, {0}}};
    for (int k = first_dependency(kind, i); k < i; k++)
        W = lane6_axpy(h * m->a[i][k], dp[k].rate, W);
    dp[i].W = W;
    // zeta_i = Ad(exp W)^-1 zeta + T(W) dW
    const snw_lane3 moved = snw_lane3_add(zeta.b, snw_lane3_cross_by(zeta.a, at->E.p));
    snw_lane6 z;
    z.a = snw_lane3_add(snw_lane3_rotate_inv(at->E.R, zeta.a), snw_lane3_rotate(at->T.A, W.a));
    z.b = snw_lane3_add(
        snw_lane3_rotate_inv(at->E.R, moved),
        snw_lane3_add(snw_lane3_rotate(at->T.B, W.a), snw_lane3_rotate(at->T.A, W.b)));
    for (int k = 0; k < 36; k++) v->Fs.e[k / 6] -= at->A[k] * z.e[k % 6];
    // xi + [W, xi]/2 + [W, [W, xi]]/12; [dW, y] = -[y, dW]
    const snw_twist xi = st[i].xi;
    const snw_lane6 once = lane6_axpy(-1, lane6_ad(xi, W), lane6_ad(at->W, v->xi));
    const snw_lane6 twice = lane6_axpy(-1, lane6_ad(snw_ad(at->W, xi), W), lane6_ad(at->W, once));
    dp[i].rate = lane6_axpy(1.0 / 12, twice, lane6_axpy(0.5, once, v->xi));
}

// pose increment shared by all columns: exp(W) and T(W)
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

// SNW_LANES columns through an interval whose stages are known
SNW_INLINE void kernel_vary(int flags, snw_space_kind kind, const snw_shoot_rod *r, int point,
                            double h, snw_mat3 R, const snw_stage *st, const stage_place *pl,
                            const pose_step *ps, int ld, double *S) {
    const snw_along *m = &methods[kind];
    const int nz = flags & SNW_FIELD_LAW ? r->law->nz : 0;
    snw_variation v[SNW_SHOOT_STAGES];
    dframe dQ[SNW_SHOOT_STAGES];
    place_variation dp[SNW_SHOOT_STAGES];
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
        for (int k = first_dependency(kind, i); k < i; k++) {
            const double a = h * m->a[i][k];
            for (int c = 0; c < 6; c++) v[i].V.e[c] += a * v[k].Vs.e[c];
            for (int c = 0; c < 6; c++) v[i].F.e[c] += a * v[k].Fs.e[c];
            for (int c = 0; c < nz; c++) v[i].z[c] += a * v[k].zs[c];
        }
        const int p = point + m->at[i];
        if (flags & SNW_FIELD_WORLD) v[i].weight = vary_weight(kind, h, i, st, v, zeta.a);
        if (flags & SNW_FIELD_LOADS) {
            v[i].force = v[i].torque = (snw_lane3){{0}, {0}, {0}};
            if (flags & SNW_FIELD_WORLD) {
                dQ[i] = vary_rotation(kind, h, i, st, v, dQ);
                vary_loads(r, p, R, &st[i], &dQ[i], zeta.a, &v[i]);
            }
        }
        snw_field_vary(flags, r, section_at(r, p), &st[i], &v[i]);
        if (flags & PLACE) vary_field(kind, h, i, st, pl, zeta, dp, &v[i]);
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

// ---- marches ------------------------------------------------------------------------------------

SNW_INLINE void kernel_store_node(snw_shoot_rod *r, int flags, int node, const snw_flow *y,
                                  const snw_se3 *g) {
    snw_pack_store(y->w, r->V[node].w.e), snw_pack_store(y->v, r->V[node].v.e);
    snw_pack_store(y->m, r->F[node].m.e), snw_pack_store(y->f, r->F[node].f.e);
    if (flags & POSE) r->g[node] = *g;
    const int nz = flags & SNW_FIELD_LAW ? r->law->nz : 0;
    for (int c = 0; c < nz; c++) r->z[node * nz + c] = y->z[c];
}

SNW_INLINE node_state from_state(int flags, const snw_shoot_rod *r, const snw_shoot_state *y) {
    node_state at;
    at.y.w = snw_pack_load(y->V.w.e), at.y.v = snw_pack_load(y->V.v.e);
    at.y.m = snw_pack_load(y->F.m.e), at.y.f = snw_pack_load(y->F.f.e);
    at.section = snw_field_section_of(r->section);
    at.g = y->g;
    const int nz = flags & SNW_FIELD_LAW ? r->law->nz : 0;
    for (int c = 0; c < SNW_SHOOT_Z; c++) at.y.z[c] = c < nz ? y->z[c] : 0;
    return at;
}

SNW_INLINE void set_node_loads(int flags, const snw_shoot_rod *r, const snw_se3 *g,
                               node_state *at) {
    const snw_vec3 b = snw_rotate_inv(g->R, r->gravity);
    if (flags & SNW_FIELD_WORLD) at->y.weight = snw_pack_of(b.x, b.y, b.z);
    if (flags & SNW_FIELD_LOADS) at->R = g->R;
    if (flags & PLACE) at->g = *g;
}

// all columns through an interval whose stages are known
SNW_INLINE void vary_all(int flags, snw_space_kind kind, const snw_shoot_rod *r, int point,
                         double h, const pose_step *ps, const snw_mat3 *R, const snw_stage *st,
                         const stage_place *pl, int columns, double *S) {
    for (int c = 0; c < columns; c += SNW_LANES) {
        kernel_vary(flags, kind, r, point, h, *R, st, pl, ps, columns, S + c);
    }
}

SNW_INLINE void kernel_march(int flags, snw_space_kind kind, snw_shoot_rod *r, int node, int n,
                             int columns, double *S, snw_shoot_state *state) {
    const snw_shoot_piece *piece = &r->piece[snw_shoot_piece_of(r, node)];
    const int np = methods[kind].np;
    const double h = piece->h;
    SNW_ASSERT(node + n <= piece->node + piece->n);
    snw_stage st[SNW_SHOOT_STAGES];
    stage_place pl[SNW_SHOOT_STAGES];
    snw_flow x[SNW_SHOOT_STAGES];
    node_state at = from_state(flags, r, state);
    snw_se3 g = state->g;
    snw_law_out law;
    memset(law.zs, 0, sizeof law.zs);
    for (int i = 0; i < SNW_SHOOT_STAGES && columns > 0; i++)
        memset(st[i].law.zs, 0, sizeof law.zs);
    for (int j = 0; j < n; j++) {
        const int point = piece->point + (node + j - piece->node) * np;
        if (j > 0) kernel_store_node(r, flags, node + j, &at.y, &g);
        set_node_loads(flags, r, &g, &at);
        stages(flags, kind, r, point, h, &at, &law, pl, x, columns > 0 ? st : NULL);
        const snw_twist W = r->W[node + j] = pose_increment(kind, h, x);
        pose_step ps = {0};
        if (flags & POSE) ps.E = snw_se3_exp(W);
        if (columns > 0) {
            if (flags & POSE) ps.T = snw_se3_tangent(W);
            vary_all(flags, kind, r, point, h, &ps, &g.R, st, pl, columns, S);
        }
        kernel_finish(flags, kind, h, x, &at.y);
        if (flags & POSE) g = snw_se3_mul(g, ps.E);
    }
    snw_pack_store(at.y.w, state->V.w.e), snw_pack_store(at.y.v, state->V.v.e);
    snw_pack_store(at.y.m, state->F.m.e), snw_pack_store(at.y.f, state->F.f.e);
    state->g = g;
    const int nz = flags & SNW_FIELD_LAW ? r->law->nz : 0;
    for (int c = 0; c < nz; c++) state->z[c] = at.y.z[c];
}

// variations need the derivatives of the law, which linear terms do not provide
SNW_INLINE int flags_of(const snw_shoot_rod *r, bool pose, bool varied) {
    const bool lines = r->law && r->law->nterm > 0 && r->diagonal && !varied;
    return (lines ? SNW_FIELD_TERMS : 0) | (r->diagonal ? SNW_FIELD_DIAGONAL : 0) |
           (r->law ? SNW_FIELD_LAW : 0) | (r->world ? PLAIN : (pose ? POSE : 0)) |
           (r->density ? SNW_FIELD_LOADS : 0) | (r->field ? PLACE : 0);
}

// Rods with diagonal sections, by Euler or RK4, have kernels with compile-time flags and method.
// Builds with sanitizers, which compile these ten times slower, have one of them only.
#ifdef __SANITIZE_ADDRESS__
#define KERNELS(X) X(rk4, SNW_FIELD_DIAGONAL, SNW_ALONG_RK4)
#define VARIED(X)
#else
#define KERNELS(X)                                                                                 \
    X(euler, SNW_FIELD_DIAGONAL, SNW_ALONG_EULER)                                                  \
    X(rk4, SNW_FIELD_DIAGONAL, SNW_ALONG_RK4)                                                      \
    X(euler_world, SNW_FIELD_DIAGONAL | PLAIN, SNW_ALONG_EULER)                                    \
    X(rk4_world, SNW_FIELD_DIAGONAL | PLAIN, SNW_ALONG_RK4)                                        \
    X(rk4_fluid, SNW_FIELD_DIAGONAL | SNW_FIELD_LAW | SNW_FIELD_TERMS, SNW_ALONG_RK4)              \
    X(rk4_law, SNW_FIELD_DIAGONAL | SNW_FIELD_LAW, SNW_ALONG_RK4)                                  \
    X(euler_law_world, SNW_FIELD_DIAGONAL | SNW_FIELD_LAW | PLAIN, SNW_ALONG_EULER)                \
    X(rk4_law_world, SNW_FIELD_DIAGONAL | SNW_FIELD_LAW | PLAIN, SNW_ALONG_RK4)
// kernels with variations
#define VARIED(X)                                                                                  \
    X(euler, SNW_FIELD_DIAGONAL, SNW_ALONG_EULER)                                                  \
    X(euler_world, SNW_FIELD_DIAGONAL | PLAIN, SNW_ALONG_EULER)
#endif

#define X(name, flags, kind)                                                                       \
    static void march_##name(snw_shoot_rod *r, int node, int n, snw_shoot_state *y) {              \
        kernel_march((flags) | FIXED, kind, r, node, n, 0, NULL, y);                               \
    }
KERNELS(X)
#undef X

#define X(name, flags, kind)                                                                       \
    static void vary_##name(snw_shoot_rod *r, int node, int n, int columns, double *S,             \
                            snw_shoot_state *y) {                                                  \
        kernel_march(flags, kind, r, node, n, columns, S, y);                                      \
    }
VARIED(X)
#undef X

// all other rods
static void march_other(int flags, snw_shoot_rod *r, int node, int n, int columns, double *S,
                        snw_shoot_state *y) {
    kernel_march(flags, r->method->kind, r, node, n, columns, S, y);
}

static void march_columns(int flags, snw_shoot_rod *r, int node, int n, int columns, double *S,
                          snw_shoot_state *y) {
#define X(name, f, along)                                                                          \
    if (flags == (f) && r->method->kind == (along)) {                                              \
        vary_##name(r, node, n, columns, S, y);                                                    \
        return;                                                                                    \
    }
    VARIED(X)
#undef X
    march_other(flags, r, node, n, columns, S, y);
}

// columns padded to whole lanes
static void march_varied(int flags, snw_shoot_rod *r, int node, int n, int columns, double *S,
                         snw_shoot_state *y) {
    const int rows = SNW_ROW_Z + snw_shoot_nz(r);
    const int ld = (columns + SNW_LANES - 1) / SNW_LANES * SNW_LANES;
    if (ld == columns) {
        march_columns(flags, r, node, n, columns, S, y);
        return;
    }
    double T[SNW_SHOOT_ROWS * (SNW_SHOOT_ROWS + 2)];
    SNW_ASSERT(ld <= SNW_SHOOT_ROWS + 2);
    for (int i = 0; i < rows; i++) {
        for (int c = 0; c < ld; c++) T[i * ld + c] = c < columns ? S[i * columns + c] : 0;
    }
    march_columns(flags, r, node, n, ld, T, y);
    for (int i = 0; i < rows; i++) {
        for (int c = 0; c < columns; c++) S[i * columns + c] = T[i * ld + c];
    }
}

static inline void march_rod(snw_shoot_rod *r, int node, int n, bool pose, int columns, double *S,
                             snw_shoot_state *y) {
    const int flags = flags_of(r, pose, columns > 0);
    const snw_space_kind along = r->method->kind;
    if (columns > 0) {
        march_varied(flags, r, node, n, columns, S, y);
        return;
    }
#define X(name, f, kind)                                                                           \
    if (flags == (f) && along == (kind)) {                                                         \
        march_##name(r, node, n, y);                                                               \
        return;                                                                                    \
    }
    KERNELS(X)
#undef X
    march_other(flags, r, node, n, 0, NULL, y);
}
