// SPDX-License-Identifier: MIT
//
// se3_tangent_dual.h: arithmetic of dual numbers for the tangent map of SE(3) (se3_tangent.c), in a
// header so that constants of the caller propagate: twists of rods that bend in a plane have zeros
// (dynamics/plane_motion.c).
#pragma once

#include "base/vectorise.h"
#include "math/se3_tangent.h"

typedef struct dual {
    double r, d;
} dual;

static inline dual dual_add(dual x, dual y) {
    const dual s = {x.r + y.r, x.d + y.d};
    return s;
}

static inline dual dual_scale(double s, dual x) {
    const dual y = {s * x.r, s * x.d};
    return y;
}

static inline dual dual_mul(dual x, dual y) {
    const dual p = {x.r * y.r, x.r * y.d + x.d * y.r};
    return p;
}

static inline dual dual_dot(snw_twist x, snw_twist y) {
    const dual p = {snw_dot(x.w, y.w), snw_dot(x.w, y.v) + snw_dot(x.v, y.w)};
    return p;
}

// y + s x
static inline snw_twist dual_axpy(dual s, snw_twist x, snw_twist y) {
    const snw_twist r = {{
        {{y.w.x + s.r * x.w.x, y.w.y + s.r * x.w.y, y.w.z + s.r * x.w.z}},
        {{y.v.x + (s.r * x.v.x + s.d * x.w.x), y.v.y + (s.r * x.v.y + s.d * x.w.y),
          y.v.z + (s.r * x.v.z + s.d * x.w.z)}},
    }};
    return r;
}

static inline snw_twist dual_times(dual s, snw_twist x) {
    const snw_twist r = {{
        {{s.r * x.w.x, s.r * x.w.y, s.r * x.w.z}},
        {{s.r * x.v.x + s.d * x.w.x, s.r * x.v.y + s.d * x.w.y, s.r * x.v.z + s.d * x.w.z}},
    }};
    return r;
}

// ---- coefficients ------------------------------------------------------------------------------

// a, b, c or one of their derivatives in z.
typedef struct coef {
    dual a, b, c;
} coef;

// k[m] <- m-th derivative in z of the coefficients of T at dual z, m = 0 .. order <= 2, from the
// Stumpff functions there, c[1] to c[5 + 2 order]
SNW_INLINE void coef_tangent_by(const double *c, dual z, int order, coef *k) {
    // dc_k/dz = (k c_{k+2} - c_{k+1})/2, applied once, twice, three times
    const double a1 = 0.5 * (c[3] - c[2]);
    const double b1 = 0.5 * (c[3] - 2 * c[4]);
    const double c1 = 0.5 * (3 * c[5] - c[4]);
    k[0] = (coef){{c[1], a1 * z.d}, {-c[2], b1 * z.d}, {c[3], c1 * z.d}};
    if (order < 1) return;
    const double a2 = 0.25 * (3 * c[5] - 3 * c[4] + c[3]);
    const double b2 = -0.25 * (8 * c[6] - 5 * c[5] + c[4]);
    const double c2 = 0.25 * (15 * c[7] - 7 * c[6] + c[5]);
    k[1] = (coef){{a1, a2 * z.d}, {b1, b2 * z.d}, {c1, c2 * z.d}};
    if (order < 2) return;
    const double a3 = 0.125 * (15 * c[7] - 15 * c[6] + 6 * c[5] - c[4]);
    const double b3 = -0.125 * (48 * c[8] - 33 * c[7] + 9 * c[6] - c[5]);
    const double c3 = 0.125 * (105 * c[9] - 57 * c[8] + 12 * c[7] - c[6]);
    k[2] = (coef){{a2, a3 * z.d}, {b2, b3 * z.d}, {c2, c3 * z.d}};
}

SNW_INLINE void coef_tangent(dual z, int order, coef *k) {
    double c[SNW_STUMPFF_MAX];
    snw_stumpff(z.r, 5 + 2 * order, c);
    coef_tangent_by(c, z, order, k);
}

// mixed second derivative of a coefficient with derivatives f1, f2 in z, along d and e
static inline dual chain2(dual f1, dual f2, dual z_dz_e, dual z_de) {
    return dual_add(dual_mul(f2, z_dz_e), dual_mul(f1, z_de));
}

// ---- matrices ----------------------------------------------------------------------------------

// Symmetric 3x3.
typedef struct sym {
    double xx, yy, zz, xy, yz, zx;
} sym;

// a b' + b a'
static inline sym sym_outer(snw_vec3 a, snw_vec3 b) {
    const sym s = {2 * a.x * b.x,         2 * a.y * b.y,         2 * a.z * b.z,
                   a.x * b.y + a.y * b.x, a.y * b.z + a.z * b.y, a.z * b.x + a.x * b.z};
    return s;
}

static inline sym sym_add(sym s, sym t) {
    const sym r = {s.xx + t.xx, s.yy + t.yy, s.zz + t.zz, s.xy + t.xy, s.yz + t.yz, s.zx + t.zx};
    return r;
}

// M <- a 1 + v^ + s
static inline void mat3_set(double a, snw_vec3 v, sym s, snw_mat3 *M) {
    M->e[0][0] = a + s.xx, M->e[0][1] = s.xy - v.z, M->e[0][2] = s.zx + v.y;
    M->e[1][0] = s.xy + v.z, M->e[1][1] = a + s.yy, M->e[1][2] = s.yz - v.x;
    M->e[2][0] = s.zx - v.y, M->e[2][1] = s.yz + v.x, M->e[2][2] = a + s.zz;
}

// M <- a 1 + v^ with the symmetric parts of A and B
static inline void lower_set(dual a, snw_twist v, sym A, sym B, snw_lower *M) {
    mat3_set(a.r, v.w, A, &M->A);
    mat3_set(a.d, v.v, B, &M->B);
}

// M <- a 1 + b W^ + c W W'
SNW_INLINE void lower_about(coef k, snw_twist W, snw_lower *M) {
    // half of the symmetrised outer product and its dual part, sym(w, c.d/2 w + c.r u)
    const snw_vec3 p = snw_scale(0.5 * k.c.r, W.w);
    const snw_vec3 q = snw_add(snw_scale(0.5 * k.c.d, W.w), snw_scale(k.c.r, W.v));
    lower_set(k.a, dual_times(k.b, W), sym_outer(W.w, p), sym_outer(W.w, q), M);
}

// ---- motion of exp(W(t)) ------------------------------------------------------------------------

// u = T dW = a dW + b [W, dW] + c (W.dW) W, and its time derivative; k: a, b, c and their
// derivatives.
SNW_INLINE void exp_motion(const coef k[2], snw_twist W, snw_twist dW, snw_twist ddW, snw_twist *u,
                           snw_twist *du) {
    const dual h1 = dual_dot(W, dW), z1 = dual_scale(2, h1);
    const dual h2 = dual_add(dual_dot(dW, dW), dual_dot(W, ddW));
    const snw_twist n1 = snw_ad(W, dW), n2 = snw_ad(W, ddW);
    const dual s1 = dual_mul(k[0].c, h1);
    const dual s2 = dual_add(dual_mul(dual_mul(k[1].c, z1), h1), dual_mul(k[0].c, h2));
    const dual a1 = dual_add(dual_mul(k[1].a, z1), s1), b1 = dual_mul(k[1].b, z1);
    *u = dual_axpy(k[0].a, dW, dual_axpy(k[0].b, n1, dual_times(s1, W)));
    snw_twist r = dual_axpy(k[0].b, n2, dual_times(s2, W));
    r = dual_axpy(b1, n1, r);
    r = dual_axpy(k[0].a, ddW, r);
    *du = dual_axpy(a1, dW, r);
}

// T(W), u = T dW and du of snw_se3_exp_rates.
SNW_INLINE void exp_rates(snw_twist W, snw_twist dW, snw_twist ddW, snw_lower *T, snw_twist *u,
                          snw_twist *du) {
    coef k[2];
    coef_tangent(dual_dot(W, W), 1, k);
    lower_about(k[0], W, T);
    exp_motion(k, W, dW, ddW, u, du);
}
