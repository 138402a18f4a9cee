// SPDX-License-Identifier: MIT
//
// The body tangent map T(W), its inverse and their derivatives in closed form, by arithmetic of
// dual numbers. Used wherever a pose is the exponential of a twist: rod segments and joints.
//
// On SO(3) both maps are isotropic functions of the rotation vector,
//   F(w) x = a(z) x + b(z) w x x + c(z) (w.x) w,   z = w.w,
//   T:  a = c_1, b = -c_2, c = c_3;     T^-1:  a = 1 - z e, b = 1/2, c = e        (stumpff.h).
// On SE(3) the same formula holds with every number replaced by a dual one, r + eps d, eps^2 = 0:
// the twist W = (w, u) is the dual vector w + eps u, ad_W is the dual cross product and [A 0; B A]
// the dual matrix A + eps B. The code below is therefore the formula of SO(3) on dual scalars and
// twists, and the dual part of a coefficient is its derivative in z times the dual part of z.
//
// For wrenches the parts are exchanged: in T' = [A' B'; 0 A'] the force is the real part, the
// moment is the dual part, and A(w)' = A(-w).
#include "math/se3_tangent.h"

#include <stddef.h>

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

// k[m] <- m-th derivative in z of the coefficients of T at dual z, m = 0 .. order <= 2
static inline void coef_tangent(dual z, int order, coef *k) {
    double c[SNW_STUMPFF_MAX];
    snw_stumpff(z.r, 5 + 2 * order, c);
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

// the same for the coefficients of T^-1, order <= 1
static inline void coef_inverse(dual z, int order, coef *k) {
    double e[3];
    snw_stumpff_inv(z.r, order + 1, e);
    const double a1 = -(e[0] + z.r * e[1]);
    k[0] = (coef){{1 - z.r * e[0], a1 * z.d}, {0.5, 0}, {e[0], e[1] * z.d}};
    if (order < 1) return;
    const double a2 = -(2 * e[1] + z.r * e[2]);
    k[1] = (coef){{a1, a2 * z.d}, {0, 0}, {e[1], e[2] * z.d}};
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
static inline void lower_about(coef k, snw_twist W, snw_lower *M) {
    // half of the symmetrised outer product and its dual part, sym(w, c.d/2 w + c.r u)
    const snw_vec3 p = snw_scale(0.5 * k.c.r, W.w);
    const snw_vec3 q = snw_add(snw_scale(0.5 * k.c.d, W.w), snw_scale(k.c.r, W.v));
    lower_set(k.a, dual_times(k.b, W), sym_outer(W.w, p), sym_outer(W.w, q), M);
}

snw_lower snw_se3_tangent(snw_twist W) {
    coef k;
    coef_tangent(dual_dot(W, W), 0, &k);
    snw_lower T;
    lower_about(k, W, &T);
    return T;
}

snw_lower snw_se3_tangent_inv(snw_twist W) {
    coef k;
    coef_inverse(dual_dot(W, W), 0, &k);
    snw_lower T;
    lower_about(k, W, &T);
    return T;
}

// ---- along a motion ----------------------------------------------------------------------------

void snw_se3_tangent_jet(snw_twist W, snw_twist dW, snw_twist ddW, snw_lower *T, snw_lower *dT,
                         snw_lower *ddT) {
    coef k[3];
    coef_tangent(dual_dot(W, W), 2, k);
    const dual z1 = dual_scale(2, dual_dot(W, dW)), z1z1 = dual_mul(z1, z1);
    const dual z2 = dual_scale(2, dual_add(dual_dot(dW, dW), dual_dot(W, ddW)));
    // coefficients and their two time derivatives
    const dual a1 = dual_mul(k[1].a, z1), a2 = chain2(k[1].a, k[2].a, z1z1, z2);
    const dual b0 = k[0].b, b1 = dual_mul(k[1].b, z1), b2 = chain2(k[1].b, k[2].b, z1z1, z2);
    const dual c0 = k[0].c, c1 = dual_mul(k[1].c, z1), c2 = chain2(k[1].c, k[2].c, z1z1, z2);
    const snw_vec3 w = W.w, w1 = dW.w, w2 = ddW.w;

    lower_about(k[0], W, T);

    // d(c W W')/dt = sym(W, c1/2 W + c0 W1) and its dual part; the second derivative alike
    snw_twist v = dual_axpy(b1, W, dual_times(b0, dW));
    const snw_twist p1 = dual_axpy(dual_scale(0.5, c1), W, dual_times(c0, dW));
    const snw_vec3 c0u = snw_scale(c0.r, W.v);
    const snw_vec3 q1 = snw_add(p1.v, snw_scale(0.5 * c1.r, W.v));
    lower_set(a1, v, sym_outer(w, p1.w), sym_add(sym_outer(w, q1), sym_outer(w1, c0u)), dT);

    v = dual_axpy(b2, W, dual_axpy(dual_scale(2, b1), dW, dual_times(b0, ddW)));
    const snw_twist p2 =
        dual_axpy(dual_scale(0.5, c2), W, dual_axpy(dual_scale(2, c1), dW, dual_times(c0, ddW)));
    const snw_vec3 q2 = snw_add(p2.v, snw_scale(0.5 * c2.r, W.v));
    const snw_vec3 s2 =
        snw_add(snw_scale(c0.d, w1), snw_add(snw_scale(2 * c1.r, W.v), snw_scale(2 * c0.r, dW.v)));
    const sym A2 = sym_add(sym_outer(w, p2.w), sym_outer(w1, snw_scale(c0.r, w1)));
    const sym B2 = sym_add(sym_add(sym_outer(w, q2), sym_outer(w1, s2)), sym_outer(w2, c0u));
    lower_set(a2, v, A2, B2, ddT);
}

void snw_se3_exp_rates(snw_twist W, snw_twist dW, snw_twist ddW, snw_lower *T, snw_twist *u,
                       snw_twist *du) {
    coef k[2];
    coef_tangent(dual_dot(W, W), 1, k);
    lower_about(k[0], W, T);

    // u = a dW + b [W, dW] + c (W.dW) W, and its time derivative
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

// ---- derivative of the inverse -----------------------------------------------------------------

snw_twist snw_se3_tangent_inv_d1(snw_twist W, snw_twist v, snw_twist d) {
    coef k[2];
    coef_inverse(dual_dot(W, W), 1, k);
    const dual z_d = dual_scale(2, dual_dot(W, d));
    const dual Wv = dual_dot(W, v), dv = dual_dot(d, v);
    const dual on_W = dual_add(dual_mul(dual_mul(k[1].c, z_d), Wv), dual_mul(k[0].c, dv));
    snw_twist r = dual_times(dual_mul(k[1].a, z_d), v);
    r = dual_axpy(dual_mul(k[1].b, z_d), snw_ad(W, v), r);
    r = dual_axpy(k[0].b, snw_ad(d, v), r);
    r = dual_axpy(on_W, W, r);
    return dual_axpy(dual_mul(k[0].c, Wv), d, r);
}

// a vector of SO(3) as a dual vector without dual part
static inline snw_twist real(snw_vec3 w) {
    const snw_twist x = {{.w = w, .v = {{0, 0, 0}}}};
    return x;
}

snw_vec3 snw_so3_tangent_inv_d1(snw_vec3 w, snw_vec3 v, snw_vec3 d) {
    return snw_se3_tangent_inv_d1(real(w), real(v), real(d)).w;
}

// ---- gradient of the pull-back -----------------------------------------------------------------

// a 1 + v^
static inline snw_mat3 one_and_hat(double a, snw_vec3 v) {
    const snw_mat3 M = {{{a, -v.z, v.y}, {v.z, a, -v.x}, {-v.y, v.x, a}}};
    return M;
}

// T' p in dual numbers is a P - b W x P + c (W.P) W with P = f + eps m; its dual 3x3 gradient
//   J = Q W' + c W P' + c (W.P) 1 + (b P)^,   Q = 2 (a' P - b' W x P + c' (W.P) W),
// gives N = [J.d J.r; J.r 0], since the moment is the dual part
void snw_se3_tangent_pull_gradient(snw_twist W, snw_wrench p, double N[36]) {
    coef k[2];
    coef_tangent(dual_dot(W, W), 1, k);
    const snw_twist P = {{.w = p.f, .v = p.m}};
    const dual WP = dual_dot(W, P);
    snw_twist Q = dual_times(k[1].a, P);
    Q = dual_axpy(dual_scale(-1, k[1].b), snw_ad(W, P), Q);
    Q = snw_twist_scale(2, dual_axpy(dual_mul(k[1].c, WP), W, Q));
    const snw_twist cP = dual_times(k[0].c, P), bP = dual_times(k[0].b, P);
    const dual a = dual_mul(k[0].c, WP);
    const snw_mat3 r = snw_mat3_add(one_and_hat(a.r, bP.w),
                                    snw_mat3_add(snw_outer(Q.w, W.w), snw_outer(W.w, cP.w)));
    const snw_mat3 d =
        snw_mat3_add(snw_mat3_add(one_and_hat(a.d, bP.v), snw_outer(Q.w, W.v)),
                     snw_mat3_add(snw_outer(Q.v, W.w),
                                  snw_mat3_add(snw_outer(W.w, cP.v), snw_outer(W.v, cP.w))));
    for (int i = 0; i < 3; i++) {
        double *moment = N + (ptrdiff_t)6 * i, *force = moment + 18;
        for (int j = 0; j < 3; j++) {
            moment[j] = d.e[i][j];
            moment[3 + j] = force[j] = r.e[i][j];
            force[3 + j] = 0;
        }
    }
}
