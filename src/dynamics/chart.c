// SPDX-License-Identifier: MIT
//
// Conversion between states and local charts of a time step, and the Jacobians of the charts for
// the tangent.

#include "dynamics/chart.h"

#include "math/se3_tangent.h"

static snw_twist twist_at(const double *x) {
    snw_twist t;
    for (int i = 0; i < 6; i++) t.e[i] = x[i];
    return t;
}

static void chart_store_twist(snw_twist t, double *x) {
    for (int i = 0; i < 6; i++) x[i] = t.e[i];
}

// q, v, a of a free joint
static void free_joint_to_state(snw_chart chart, const snw_block *b, const double *old,
                                const double *d, const double *rate, const double *acc,
                                snw_state *s) {
    const snw_se3 g0 = snw_se3_from_numbers(old + b->q);
    const snw_twist x = twist_at(d + b->dof);
    snw_se3 g;
    if (chart == SNW_CHART_SE3) {
        g = snw_se3_mul(g0, snw_se3_exp(x));
    } else {
        g.R = snw_mat3_mul(g0.R, snw_so3_exp(x.w));
        g.p = snw_add(g0.p, x.v);
        // V = R' p',  V' = R' p'' - w x V
        const snw_twist V = twist_at(rate + b->dof), A = twist_at(acc + b->dof);
        const snw_vec3 v = snw_rotate_inv(g.R, V.v);
        chart_store_twist((snw_twist){{V.w, v}}, s->v + b->dof);
        chart_store_twist((snw_twist){{A.w, snw_sub(snw_rotate_inv(g.R, A.v), snw_cross(V.w, v))}},
                          s->a + b->dof);
    }
    snw_se3_to_numbers(g, s->q + b->q);
}

void snw_chart_to_state(const snw_model *m, snw_chart chart, const double *old, const double *d,
                        const double *rate, const double *acc, snw_state *s) {
    for (int i = 0; i < m->nv; i++) s->v[i] = rate[i], s->a[i] = acc[i];
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        switch (b->space) {
        case SNW_SPACE_RN:
            for (int i = 0; i < b->n; i++) s->q[b->q + i] = old[b->q + i] + d[b->dof + i];
            break;
        case SNW_SPACE_SO3: {
            const snw_vec3 x = {{d[b->dof], d[b->dof + 1], d[b->dof + 2]}};
            const snw_mat3 R = snw_mat3_mul(snw_so3_from_numbers(old + b->q), snw_so3_exp(x));
            snw_so3_to_numbers(R, s->q + b->q);
            break;
        }
        case SNW_SPACE_SE3:
            free_joint_to_state(chart, b, old, d, rate, acc, s);
            break;
        }
    }
}

void snw_chart_from_state(const snw_model *m, snw_chart chart, const snw_state *s, double *rate,
                          double *acc) {
    for (int i = 0; i < m->nv; i++) rate[i] = s->v[i], acc[i] = s->a[i];
    if (chart == SNW_CHART_SE3) return;
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *j = &m->block[k];
        if (j->space != SNW_SPACE_SE3) continue;
        const snw_se3 g = snw_se3_from_numbers(s->q + j->q);
        const snw_twist V = twist_at(s->v + j->dof), A = twist_at(s->a + j->dof);
        chart_store_twist((snw_twist){{V.w, snw_rotate(g.R, V.v)}}, rate + j->dof);
        chart_store_twist((snw_twist){{A.w, snw_rotate(g.R, snw_add(A.v, snw_cross(V.w, V.v)))}},
                          acc + j->dof);
    }
}

// variations of pose, velocity and acceleration under delta d = e_k
static void variation(snw_chart chart, const snw_lower *T, snw_mat3 R, double a, double b,
                      snw_twist V, snw_twist A, int k, snw_twist *zeta, snw_twist *dV,
                      snw_twist *dA) {
    snw_twist e = {0};
    e.e[k] = 1;
    if (chart == SNW_CHART_SE3) {
        *zeta = snw_lower_apply(T, e);
        *dV = snw_twist_scale(a, e);
        *dA = snw_twist_scale(b, e);
        return;
    }
    // T->A is the tangent map of SO(3); v = R' p', delta v = v x zeta_w + R' delta p'
    zeta->w = snw_rotate(T->A, e.w);
    zeta->v = snw_rotate_inv(R, e.v);
    dV->w = snw_scale(a, e.w);
    dV->v = snw_add(snw_cross(V.v, zeta->w), snw_scale(a, zeta->v));
    // v' + w x v = R' p''
    const snw_vec3 acc_b = snw_add(A.v, snw_cross(V.w, V.v));
    dA->w = snw_scale(b, e.w);
    dA->v = snw_sub(snw_add(snw_cross(acc_b, zeta->w), snw_scale(b, zeta->v)),
                    snw_add(snw_cross(dV->w, V.v), snw_cross(V.w, dV->v)));
}

// components of a block in x, as a twist
static snw_twist block_twist(const snw_block *b, const double *x) {
    snw_twist t = {0};
    for (int i = 0; i < b->n; i++) t.e[i] = x[b->dof + i];
    return t;
}

void snw_chart_jacobian(const snw_model *m, snw_chart chart, const double *d, double a, double b,
                        const snw_state *s, double *jacobian) {
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *j = &m->block[f];
        if (j->lie_block < 0) continue;
        // a spherical joint is a free joint without translation: both charts agree
        const snw_mat3 R = snw_so3_from_numbers(s->q + j->q);
        const snw_twist V = block_twist(j, s->v), A = block_twist(j, s->a);
        const snw_lower T = snw_se3_tangent(block_twist(j, d));
        double *S = jacobian + 108 * j->lie_block, *dS = S + 36, *ddS = S + 72;
        for (int k = 0; k < j->n; k++) {
            snw_twist z, dV, dA;
            variation(chart, &T, R, a, b, V, A, k, &z, &dV, &dA);
            // dV = (S' + ad_V S) + a S,  dA = (S'' + ad_A S + ad_V S') + a (2 S' + ad_V S) + b S
            const snw_twist Vz = snw_ad(V, z);
            const snw_twist y = snw_twist_sub(snw_twist_sub(dV, Vz), snw_twist_scale(a, z));
            snw_twist x = snw_twist_sub(dA, snw_twist_add(snw_ad(A, z), snw_ad(V, y)));
            x = snw_twist_sub(x, snw_twist_scale(a, snw_twist_add(snw_twist_scale(2, y), Vz)));
            x = snw_twist_sub(x, snw_twist_scale(b, z));
            for (int i = 0; i < 6; i++) {
                S[6 * i + k] = z.e[i], dS[6 * i + k] = y.e[i], ddS[6 * i + k] = x.e[i];
            }
        }
    }
}

void snw_chart_project(const snw_model *m, const double *jacobian, const double *r, double *x) {
    for (int i = 0; i < m->nv; i++) x[i] = r[i];
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        if (b->lie_block < 0) continue;
        const int dof = b->dof;
        const double *S = jacobian + 108 * b->lie_block;
        for (int k = 0; k < b->n; k++) {
            x[dof + k] = 0;
            for (int i = 0; i < b->n; i++) x[dof + k] += S[6 * i + k] * r[dof + i];
        }
    }
}

static void store_lower(const snw_lower *T, double *out) {
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            out[6 * i + k] = out[6 * (i + 3) + k + 3] = T->A.e[i][k];
            out[6 * (i + 3) + k] = T->B.e[i][k];
            out[6 * i + k + 3] = 0;
        }
    }
}

// position block of SO3R3: zeta_v = R' delta p, (R')' = -w x R', (R')'' = w x (w x R') - w' x R'
static void store_separate(snw_mat3 R, snw_vec3 w, snw_vec3 dw, double *S) {
    for (int k = 0; k < 3; k++) {
        const snw_vec3 z = {{R.e[k][0], R.e[k][1], R.e[k][2]}}, y = snw_cross(z, w);
        const snw_vec3 x = snw_add(snw_cross(y, w), snw_cross(z, dw));
        for (int i = 0; i < 3; i++) {
            double *at = S + 6 * (i + 3) + k + 3;
            at[0] = z.e[i], at[36] = y.e[i], at[72] = x.e[i];
        }
    }
}

void snw_chart_jets(const snw_model *m, snw_chart chart, const double *x, const double *dx,
                    const double *ddx, const snw_state *s, double *jacobian) {
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        if (b->lie_block < 0) continue;
        const bool separate = chart == SNW_CHART_SO3R3 && b->space == SNW_SPACE_SE3;
        snw_twist W = block_twist(b, x), dW = block_twist(b, dx), ddW = block_twist(b, ddx);
        if (separate) W.v = dW.v = ddW.v = (snw_vec3){{0}};
        snw_lower T[3];
        snw_se3_tangent_jet(W, dW, ddW, &T[0], &T[1], &T[2]);
        double *S = jacobian + 108 * b->lie_block;
        for (int k = 0; k < 3; k++) store_lower(&T[k], S + 36 * k);
        if (separate) {
            const snw_twist V = block_twist(b, s->v), A = block_twist(b, s->a);
            store_separate(snw_so3_from_numbers(s->q + b->q), V.w, A.w, S);
        }
    }
}
