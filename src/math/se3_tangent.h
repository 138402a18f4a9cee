// SPDX-License-Identifier: MIT
//
// se3_tangent.h: the body tangent map T of the exponential, (exp(W)^-1 d exp(W)) = T(W) dW, its
// inverse and their derivatives, theory.md (1.3).
//
// With W = (w, u), ad_W = [w^ 0; u^ w^] and T(W) = [A 0; B A], where A = c1 1 - c2 w^ + c3 w w' is
// the tangent map of SO(3) and B its derivative along u. All matrices below have this block form.
#pragma once

#include "math/se3.h"

// A 6x6 matrix [A 0; B A].
typedef struct snw_lower {
    snw_mat3 A, B;
} snw_lower;

// M x and M' f.
static inline snw_twist snw_lower_apply(const snw_lower *M, snw_twist x) {
    snw_twist y;
    y.w = snw_rotate(M->A, x.w);
    y.v = snw_add(snw_rotate(M->B, x.w), snw_rotate(M->A, x.v));
    return y;
}

static inline snw_wrench snw_lower_pull(const snw_lower *M, snw_wrench f) {
    snw_wrench y;
    y.m = snw_add(snw_rotate_inv(M->A, f.m), snw_rotate_inv(M->B, f.f));
    y.f = snw_rotate_inv(M->A, f.f);
    return y;
}

// T(W) and T(W)^-1, the latter for |w| < 2 pi. T(-W) is the spatial tangent map.
snw_lower snw_se3_tangent(snw_twist W);
snw_lower snw_se3_tangent_inv(snw_twist W);

// T and its first and second time derivatives along W(t) with rates dW, ddW.
void snw_se3_tangent_jet(snw_twist W, snw_twist dW, snw_twist ddW, snw_lower *T, snw_lower *dT,
                         snw_lower *ddT);

// Body velocity u = T dW and acceleration du = dT dW + T ddW of exp(W(t)), and T itself.
void snw_se3_exp_rates(snw_twist W, snw_twist dW, snw_twist ddW, snw_lower *T, snw_twist *u,
                       snw_twist *du);

// Directional derivative D(T(W)^-1 v)[d] along d, and the same on SO(3).
snw_twist snw_se3_tangent_inv_d1(snw_twist W, snw_twist v, snw_twist d);
snw_vec3 snw_so3_tangent_inv_d1(snw_vec3 w, snw_vec3 v, snw_vec3 d);

// N <- d(T(W)' p)/dW, 6x6, row major.
void snw_se3_tangent_pull_gradient(snw_twist W, snw_wrench p, double N[36]);
