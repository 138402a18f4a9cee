// SPDX-License-Identifier: MIT
//
// An interval of length h from node j. Wrench, velocity and z are ordinary Runge-Kutta vectors. The rotation of a stage is
// needed only to turn loads into its axes: R_i = R_j Q_i', Q_i = 1 - h sum a_ik k_k^ Q_k, the same method on the matrix. The
// pose of the next node is a group step, g_{j+1} = g_j exp(W) with the Magnus expansion of the stages' strains,
//   W = h sum b_i xi_i + h^2/12 [xi_1, xi_last],
// of the method's order up to four.
#include "shoot/march.h"

#include "math/se3_tangent.h"
#include "shoot/field.h"
#include "shoot/replica.h"

#include "base/fail.h"

#include <stddef.h>

#define POSE 8 // a flag more: poses are wanted

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

const snw_along *snw_along_of(snw_space_kind kind) { return &methods[kind]; }

// stages whose slopes enter stage i: all before it, of Euler and RK4 only the last one
static inline int earliest(snw_space_kind kind, int i) {
    return kind == SNW_ALONG_DP5 ? 0 : (i > 0 ? i - 1 : 0);
}

// Q_i, from the stages before
static inline snw_mat3 turned(snw_space_kind kind, double h, int i, const snw_stage *st) {
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

static inline void see_loads(const snw_shoot_rod *r, int point, snw_mat3 R, snw_stage *st) {
    st->weight = snw_rotate(st->Q, snw_rotate_inv(R, r->gravity));
    st->force = st->torque = (snw_vec3){{0}};
    if (!r->density) return;
    st->force = snw_rotate(st->Q, snw_rotate_inv(R, r->density[point].force));
    st->torque = snw_rotate(st->Q, snw_rotate_inv(R, r->density[point].torque));
}

static inline const snw_shoot_section *section_at(const snw_shoot_rod *r, int point) {
    return r->uniform ? r->section : r->section + point;
}

static inline void stages(int flags, snw_space_kind kind, const snw_shoot_rod *r, int point,
                          double h, bool slopes, const snw_shoot_state *y, snw_stage *st) {
    const snw_along *m = &methods[kind];
    const int nz = flags & SNW_FIELD_LAW ? r->law->nz : 0;
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
static inline snw_twist advance_by(snw_space_kind kind, double h, const snw_stage *st) {
    const snw_along *m = &methods[kind];
    snw_twist W = snw_twist_zero();
    for (int i = 0; i < m->stages; i++) W = snw_twist_axpy(h * m->b[i], st[i].xi, W);
    if (kind == SNW_ALONG_EULER) return W;
    return snw_twist_axpy(h * h / 12, snw_ad(st[0].xi, st[m->stages - 1].xi), W);
}

static inline void finish(int flags, snw_space_kind kind, const snw_shoot_rod *r, double h,
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

static inline snw_lane3 column_times(const dframe *d, snw_vec3 b) {
    return snw_lane3_add(
        snw_lane3_scale(b.x, d->c[0]),
        snw_lane3_add(snw_lane3_scale(b.y, d->c[1]), snw_lane3_scale(b.z, d->c[2])));
}

static inline dframe vary_turned(snw_space_kind kind, double h, int i, const snw_stage *st,
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
static inline snw_lane3 vary_load(const snw_stage *s, const dframe *dQ, snw_vec3 b,
                                  snw_lane3 theta) {
    return snw_lane3_add(column_times(dQ, b), snw_lane3_rotate(s->Q, snw_lane3_cross(b, theta)));
}

static inline void vary_loads(const snw_shoot_rod *r, int point, snw_mat3 R, const snw_stage *s,
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

static inline void vary_pose(snw_space_kind kind, double h, const snw_stage *st,
                             const pose_step *ps, const snw_variation *v, snw_lane6 *zeta) {
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

static inline snw_lane6 load6(const double *S, int ld) {
    snw_lane6 x;
    for (int i = 0; i < 6; i++) x.e[i] = snw_lanes_load(S + (ptrdiff_t)i * ld);
    return x;
}

static inline void store6(snw_lane6 x, int ld, double *S) {
    for (int i = 0; i < 6; i++) snw_lanes_store(x.e[i], S + (ptrdiff_t)i * ld);
}

// a pair of columns through an interval whose stages are known
static inline void vary(int flags, snw_space_kind kind, const snw_shoot_rod *r, int point, double h,
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

static inline void keep(snw_shoot_rod *r, int flags, int node, const snw_shoot_state *y) {
    r->V[node] = y->V;
    r->F[node] = y->F;
    if (flags & POSE) r->g[node] = y->g;
    const int nz = flags & SNW_FIELD_LAW ? r->law->nz : 0;
    for (int c = 0; c < nz; c++) r->z[node * nz + c] = y->z[c];
}

static inline void march(int flags, snw_space_kind kind, snw_shoot_rod *r, int node, int n,
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
            pose_step ps;
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

// Kinds of rods times methods, each compiled with its flags as constants. The common rods get kernels of their own, what is
// rare shares one.
#define GENERAL (SNW_FIELD_WORLD | SNW_FIELD_LAW | POSE)
#define PLAIN   (SNW_FIELD_WORLD | POSE)
#define KINDS(X)                                                                                   \
    X(SNW_FIELD_DIAGONAL)                                                                          \
    X(SNW_FIELD_DIAGONAL | POSE)                                                                   \
    X(SNW_FIELD_DIAGONAL | PLAIN)                                                                  \
    X(PLAIN)                                                                                       \
    X(GENERAL)

static int kind_of(const snw_shoot_rod *r, bool pose) {
    if (r->law) return GENERAL;
    if (!r->diagonal) return PLAIN;
    return SNW_FIELD_DIAGONAL | (r->world ? PLAIN : (pose ? POSE : 0));
}

static void dispatch(snw_shoot_rod *r, int node, int n, bool pose, int columns, double *S,
                     snw_shoot_state *y) {
    const int flags = kind_of(r, pose);
    const snw_space_kind along = r->method->kind;
#define X(k)                                                                                       \
    if (flags == (k)) {                                                                            \
        if (along == SNW_ALONG_RK4 && columns == 0) {                                              \
            march(k, SNW_ALONG_RK4, r, node, n, 0, S, y);                                          \
        } else if (along == SNW_ALONG_RK4) {                                                       \
            march(k, SNW_ALONG_RK4, r, node, n, columns, S, y);                                    \
        } else if (along == SNW_ALONG_EULER) {                                                     \
            march(k, SNW_ALONG_EULER, r, node, n, columns, S, y);                                  \
        } else {                                                                                   \
            march(k, SNW_ALONG_DP5, r, node, n, columns, S, y);                                    \
        }                                                                                          \
        return;                                                                                    \
    }
    KINDS(X)
#undef X
}

void snw_shoot_march(snw_shoot_rod *r, int node, int n, bool pose, const snw_shoot_state *start,
                     snw_shoot_state *end) {
    if (r->replica) {
        snw_replica_march(r, node, n, start, end);
        return;
    }
    *end = *start;
    dispatch(r, node, n, pose || r->world, 0, NULL, end);
}

void snw_shoot_march_vary(snw_shoot_rod *r, int node, int n, bool pose,
                          const snw_shoot_state *start, int columns, double *S,
                          snw_shoot_state *end) {
    SNW_ASSERT(columns % SNW_LANES == 0);
    *end = *start;
    dispatch(r, node, n, pose || r->world, columns, S, end);
    if (r->replica) snw_replica_march(r, node, n, start, end);
}
