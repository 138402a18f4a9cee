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
#include "math/se3_tangent_dual.h"

#include <stddef.h>

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
    exp_rates(W, dW, ddW, T, u, du);
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
