// SPDX-License-Identifier: MIT
//
// dual.h: matrices over the dual numbers, for derivatives of brackets and of slices of rods.
//
// se(3) is so(3) over the dual numbers r + e d with e e = 0. With a = w + e v, ad_a is the product
// with the matrix a^; its sums and products, 6x6 matrices [R 0; D R], are 3x3 matrices R + e D. As
// bilinear forms [D R; R 0], coad(p) = p^ with p = f + e m and its products with the former have
// the same representation. A 6x6 block is therefore 18 numbers, and a bracket is a few cross
// products.
//
// Time derivatives are stored as jets: arrays of `levels` entries, value, first and second rate.
#pragma once

#include "base/vectorise.h"
#include "math/magnus.h"

enum { SNW_DUAL_DOWN = 3 * SNW_MAGNUS_LD }; // offset of the lower three rows of a block

// c <- [a, b].
SNW_INLINE void snw_dual_bracket_jet(int levels, const snw_twist *a, const snw_twist *b,
                                     snw_twist *c) {
    c[0] = snw_ad(a[0], b[0]);
    if (levels < 2) return;
    c[1] = snw_twist_add(snw_ad(a[1], b[0]), snw_ad(a[0], b[1]));
    c[2] = snw_twist_add(snw_twist_add(snw_ad(a[2], b[0]), snw_ad(a[0], b[2])),
                         snw_twist_scale(2, snw_ad(a[1], b[1])));
}

typedef struct snw_dual3 {
    snw_vec3 r, d; // r + e d
} snw_dual3;

typedef struct snw_dual33 {
    snw_mat3 r, d;
} snw_dual33;

static inline snw_dual3 snw_dual_of_twist(snw_twist a) { return (snw_dual3){a.w, a.v}; }
static inline snw_dual3 snw_dual_of_wrench(snw_wrench p) { return (snw_dual3){p.f, p.m}; }

static inline snw_mat3 snw_dual_skew(double s, snw_vec3 a) {
    const double x = s * a.x, y = s * a.y, z = s * a.z;
    return (snw_mat3){{{0, -z, y}, {z, 0, -x}, {-y, x, 0}}};
}

// unit * 1 + s a^.
static inline snw_dual33 snw_dual_hat(double unit, double s, snw_dual3 a) {
    snw_dual33 M = {snw_dual_skew(s, a.r), snw_dual_skew(s, a.d)};
    M.r.e[0][0] = M.r.e[1][1] = M.r.e[2][2] = unit;
    return M;
}

// M <- M + s a^ N for real 3x3 matrices, one cross product per column.
static inline void snw_dual_cross_add(double s, snw_vec3 a, const snw_mat3 *N, snw_mat3 *M) {
    const double x = s * a.x, y = s * a.y, z = s * a.z;
    for (int j = 0; j < 3; j++) {
        M->e[0][j] += y * N->e[2][j] - z * N->e[1][j];
        M->e[1][j] += z * N->e[0][j] - x * N->e[2][j];
        M->e[2][j] += x * N->e[1][j] - y * N->e[0][j];
    }
}

// M <- M + s a^ N.
static inline void snw_dual_hat_add(double s, snw_dual3 a, const snw_dual33 *N, snw_dual33 *M) {
    snw_dual_cross_add(s, a.r, &N->r, &M->r);
    snw_dual_cross_add(s, a.d, &N->r, &M->d);
    snw_dual_cross_add(s, a.r, &N->d, &M->d);
}

// M <- M + s a^ N with its rates.
static inline void snw_dual_hat_add_jet(int levels, double s, const snw_twist *a,
                                        const snw_dual33 *N, snw_dual33 *M) {
    snw_dual_hat_add(s, snw_dual_of_twist(a[0]), &N[0], &M[0]);
    if (levels < 2) return;
    snw_dual_hat_add(s, snw_dual_of_twist(a[1]), &N[0], &M[1]);
    snw_dual_hat_add(s, snw_dual_of_twist(a[0]), &N[1], &M[1]);
    snw_dual_hat_add(s, snw_dual_of_twist(a[2]), &N[0], &M[2]);
    snw_dual_hat_add(2 * s, snw_dual_of_twist(a[1]), &N[1], &M[2]);
    snw_dual_hat_add(s, snw_dual_of_twist(a[0]), &N[2], &M[2]);
}

// s M + t N.
static inline snw_dual33 snw_dual_combine(double s, const snw_dual33 *M, double t,
                                          const snw_dual33 *N) {
    snw_dual33 out;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out.r.e[i][j] = s * M->r.e[i][j] + t * N->r.e[i][j];
            out.d.e[i][j] = s * M->d.e[i][j] + t * N->d.e[i][j];
        }
    }
    return out;
}

// M + N'.
static inline snw_dual33 snw_dual_plus_transpose(const snw_dual33 *M, const snw_dual33 *N) {
    snw_dual33 out;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out.r.e[i][j] = M->r.e[i][j] + N->r.e[j][i];
            out.d.e[i][j] = M->d.e[i][j] + N->d.e[j][i];
        }
    }
    return out;
}

// M <- M + A' N for real 3x3 matrices.
static inline void snw_dual_real_transpose_add(const snw_mat3 *A, const snw_mat3 *N, snw_mat3 *M) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            M->e[i][j] +=
                A->e[0][i] * N->e[0][j] + A->e[1][i] * N->e[1][j] + A->e[2][i] * N->e[2][j];
        }
    }
}

// M <- M + A' N.
static inline void snw_dual_transpose_add(const snw_dual33 *A, const snw_dual33 *N, snw_dual33 *M) {
    snw_dual_real_transpose_add(&A->r, &N->r, &M->r);
    snw_dual_real_transpose_add(&A->d, &N->r, &M->d);
    snw_dual_real_transpose_add(&A->r, &N->d, &M->d);
}

// Columns 6c .. 6c + 5 of the Jacobian Y <- [r 0; d r].
static inline void snw_dual_put_block(const snw_dual33 *M, int c, double *Y) {
    for (int i = 0; i < 3; i++) {
        double *top = &Y[i * SNW_MAGNUS_LD + 6 * c], *bottom = top + SNW_DUAL_DOWN;
        for (int j = 0; j < 3; j++) {
            top[j] = bottom[j + 3] = M->r.e[i][j];
            top[j + 3] = 0;
            bottom[j] = M->d.e[i][j];
        }
    }
}

// Block (b, c) of the Hessian G <- [d r; r 0], and block (c, b) <- its transpose.
static inline void snw_dual_put_form(const snw_dual33 *M, int b, int c, double *G) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double *up = &G[(6 * b + i) * SNW_MAGNUS_LD + 6 * c + j],
                   *low = &G[(6 * c + j) * SNW_MAGNUS_LD + 6 * b + i];
            up[0] = low[0] = M->d.e[i][j];
            up[3] = up[SNW_DUAL_DOWN] = low[3] = low[SNW_DUAL_DOWN] = M->r.e[i][j];
            up[SNW_DUAL_DOWN + 3] = low[SNW_DUAL_DOWN + 3] = 0;
        }
    }
}

// Such a block of a Jacobian, and of a Hessian.
static inline snw_dual33 snw_dual_get_block(const double *Y, int c) {
    snw_dual33 M;
    for (int i = 0; i < 3; i++) {
        const double *top = &Y[i * SNW_MAGNUS_LD + 6 * c];
        for (int j = 0; j < 3; j++) M.r.e[i][j] = top[j], M.d.e[i][j] = top[SNW_DUAL_DOWN + j];
    }
    return M;
}

static inline snw_dual33 snw_dual_get_form(const double *G, int b, int c) {
    snw_dual33 M;
    for (int i = 0; i < 3; i++) {
        const double *top = &G[(6 * b + i) * SNW_MAGNUS_LD + 6 * c];
        for (int j = 0; j < 3; j++) M.d.e[i][j] = top[j], M.r.e[i][j] = top[3 + j];
    }
    return M;
}
