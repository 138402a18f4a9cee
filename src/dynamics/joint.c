// SPDX-License-Identifier: MIT
//
// Force, energy and tangent of springs, dampers and regularised dry friction in joints.

#include "dynamics/joint.h"

#include <math.h>

// deflection from rest: a difference, or a rotation vector
static void spring_deflection(const snw_block *b, const snw_spring *s, const double *q,
                              double e[3]) {
    if (b->space == SNW_SPACE_RN) {
        e[0] = q[b->q] - s->rest[0];
        return;
    }
    const snw_mat3 back = snw_mat3_transpose(snw_so3_from_numbers(s->rest));
    const snw_vec3 turn = snw_so3_log(snw_mat3_mul(back, snw_so3_from_numbers(q + b->q)));
    for (int i = 0; i < 3; i++) e[i] = turn.e[i];
}

// sqrt(|v|^2 + c^2)
static double regularised_speed(const snw_spring *s, int n, const double *v) {
    double sum = s->creep * s->creep;
    for (int i = 0; i < n; i++) sum += v[i] * v[i];
    return sqrt(sum);
}

void snw_spring_force(const snw_model *m, const snw_spring *s, const double *q, const double *v,
                      double f[3]) {
    const snw_block *b = &m->block[s->block];
    double e[3] = {0};
    if (q) spring_deflection(b, s, q, e);
    for (int i = 0; i < b->n; i++) f[i] = s->stiffness * e[i];
    if (!v) return;
    const double c = s->damping + s->friction / regularised_speed(s, b->n, v + b->dof);
    for (int i = 0; i < b->n; i++) f[i] += c * v[b->dof + i];
}

void snw_spring_add(const snw_model *m, const snw_spring *s, const double *q, const double *v,
                    double *r) {
    const snw_block *b = &m->block[s->block];
    double f[3];
    snw_spring_force(m, s, q, v, f);
    for (int i = 0; i < b->n; i++) r[b->dof + i] += f[i];
}

double snw_spring_energy(const snw_model *m, const snw_spring *s, const double *q) {
    const snw_block *b = &m->block[s->block];
    double e[3], sum = 0;
    spring_deflection(b, s, q, e);
    for (int i = 0; i < b->n; i++) sum += e[i] * e[i];
    return 0.5 * s->stiffness * sum;
}

// G <- df/dv at v, n x n
static void spring_damping_jacobian(const snw_spring *s, int n, const double *v, double *G) {
    const double size = regularised_speed(s, n, v), c = s->friction / size;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            G[i * n + j] = (i == j ? s->damping + c : 0) - c * (v[i] / size) * (v[j] / size);
        }
    }
}

void snw_friction_matrix(const snw_model *m, const double *v, double *D) {
    for (int k = 0; k < m->nspring; k++) {
        const snw_spring *s = &m->spring[k];
        const snw_block *b = &m->block[s->block];
        double G[9];
        spring_damping_jacobian(s, b->n, v + b->dof, G);
        for (int i = 0; i < b->n; i++) {
            G[i * b->n + i] -= s->damping;
            for (int j = 0; j < b->n; j++) {
                D[(size_t)(b->dof + j) * (size_t)m->nv + (size_t)(b->dof + i)] += G[i * b->n + j];
            }
        }
    }
}

// Spherical joint with variations S x: the rotation varies by S x, the angular velocity by
// (S' + w^ S) x + S x', and the rows are multiplied by S'. de/dzeta is the inverse of the tangent
// map at e.
static void ball_columns(const snw_model *m, const snw_spring *s, const snw_work *w,
                         const snw_columns *own, double cq, double cv, size_t ld, double *T) {
    const snw_block *b = &m->block[s->block];
    const snw_vec3 v = w->u[b->seg].w;
    const snw_mat3 back = snw_mat3_transpose(snw_so3_from_numbers(s->rest));
    const snw_vec3 e = snw_so3_log(snw_mat3_mul(back, w->h[b->seg].R));
    const snw_mat3 L = snw_mat3_scale(cq * s->stiffness, snw_so3_tangent_inv(e));
    snw_mat3 S, dS = {{{0}}}, G;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const int k = i * own->ld + j;
            S.e[i][j] = own->J[k];
            if (!w->is_static) dS.e[i][j] = own->dJ[k];
        }
    }
    spring_damping_jacobian(s, 3, v.e, &G.e[0][0]);
    const snw_mat3 turn = snw_mat3_add(dS, snw_mat3_mul(snw_hat(v), S)),
                   rate = snw_mat3_add(snw_mat3_scale(cq, turn), snw_mat3_scale(cv, S)),
                   force = snw_mat3_add(snw_mat3_mul(L, S), snw_mat3_mul(G, rate)),
                   X = snw_mat3_mul(snw_mat3_transpose(S), force);
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            T[j * ld + i] += X.e[i][j];
        }
    }
}

void snw_armature_add(const snw_model *m, const double *a, double *r) {
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        for (int i = 0; i < b->n && snw_any(b->armature > 0); i++)
            r[b->dof + i] += b->armature * a[b->dof + i];
    }
}

// columns k of the angular rows of a spherical joint
static snw_mat3 angular_columns(const double *J, int ld) {
    snw_mat3 S;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) S.e[i][j] = J[i * ld + j];
    }
    return S;
}

// Spherical joint with variations S x: its angular acceleration u' varies by
// (S" + u'^ S + u^ S') x + (2 S' + u^ S) x' + S x", as V' does in tangent.c.
void snw_armature_tangent(const snw_block *b, const snw_work *w, const snw_columns *own, double cq,
                          double cv, double ca, size_t ld, double *T) {
    if (b->space == SNW_SPACE_RN) {
        T[0] += ca * b->armature;
        return;
    }
    const snw_mat3 S = angular_columns(own->J, own->ld);
    snw_mat3 d = snw_mat3_scale(ca, S);
    if (!w->is_static) {
        const snw_mat3 dS = angular_columns(own->dJ, own->ld),
                       ddS = angular_columns(own->ddJ, own->ld), u = snw_hat(w->u[b->seg].w),
                       du = snw_hat(w->du[b->seg].w);
        const snw_mat3 by_q =
            snw_mat3_add(ddS, snw_mat3_add(snw_mat3_mul(du, S), snw_mat3_mul(u, dS)));
        const snw_mat3 by_v = snw_mat3_add(snw_mat3_scale(2, dS), snw_mat3_mul(u, S));
        d = snw_mat3_add(d, snw_mat3_add(snw_mat3_scale(cq, by_q), snw_mat3_scale(cv, by_v)));
    }
    const snw_mat3 X = snw_mat3_mul(snw_mat3_transpose(S), d);
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) T[j * ld + i] += b->armature * X.e[i][j];
    }
}

double snw_armature_energy(const snw_model *m, const snw_work *w, const snw_block *b) {
    const snw_twist u = w->u[b->seg];
    if (!snw_any(b->armature > 0) || !snw_seg_is_active(m, w, b->seg)) return 0;
    if (b->space != SNW_SPACE_RN) return 0.5 * b->armature * snw_dot(u.w, u.w);
    const double size = snw_dot(b->S.w, b->S.w) + snw_dot(b->S.v, b->S.v); // 1 except for a screw
    const double v = (snw_dot(u.w, b->S.w) + snw_dot(u.v, b->S.v)) / size;
    return 0.5 * b->armature * v * v;
}

void snw_spring_tangent(const snw_model *m, const snw_spring *s, const snw_work *w,
                        const snw_columns *own, double cq, double cv, size_t ld, double *T) {
    const snw_block *b = &m->block[s->block];
    if (b->space != SNW_SPACE_RN) {
        ball_columns(m, s, w, own, cq, cv, ld, T);
        return;
    }
    const snw_twist u = w->u[b->seg];
    const double size = snw_dot(b->S.w, b->S.w) + snw_dot(b->S.v, b->S.v); // 1 except for a screw
    const double v = (snw_dot(u.w, b->S.w) + snw_dot(u.v, b->S.v)) / size;
    double G;
    spring_damping_jacobian(s, 1, &v, &G);
    T[0] += cq * s->stiffness + cv * G;
}
