// SPDX-License-Identifier: MIT
//
// Velocity of the plate and of moving bases from their last poses, on the group and, for
// comparison, by the formulas of Till 2019.

#include "shoot/pose_rate.h"

static snw_vec3 pose_rate_plus(snw_vec3 a, double s, snw_vec3 b) {
    return snw_add(a, snw_scale(s, b));
}

// by -= d times the derivative of T(x)^-1 V along changes T zeta of x; it has the block form of T,
// so rotations zeta suffice
static void subtract_last_rate_d1(double d, snw_twist x, snw_twist V, const snw_lower *T,
                                  snw_lower *by) {
    for (int k = 0; k < 3; k++) {
        snw_twist unit = snw_twist_zero();
        unit.e[k] = 1;
        const snw_twist y = snw_se3_tangent_inv_d1(x, V, snw_lower_apply(T, unit));
        for (int i = 0; i < 3; i++) {
            by->A.e[i][k] -= d * y.w.e[i];
            by->B.e[i][k] -= d * y.v.e[i];
        }
    }
}

snw_twist snw_pose_rate(const snw_time_formula *f, snw_se3 g, const snw_se3 *past, snw_twist last,
                        snw_lower *by) {
    const snw_se3 back = snw_se3_inv(g);
    snw_twist V = snw_twist_zero();
    if (by) *by = (snw_lower){0};
    for (int k = 1; k <= SNW_TIME_LEVELS; k++) {
        if (f->c[k] == 0) continue;
        const snw_twist x = snw_se3_log(snw_se3_mul(back, past[k - 1]));
        V = snw_twist_axpy(f->c[k], x, V);
        if (k == 1 && f->d != 0) {
            const snw_lower T = snw_se3_tangent_inv(x);
            V = snw_twist_axpy(f->d, snw_lower_apply(&T, last), V);
        }
        if (!by) continue;
        const snw_lower T = snw_se3_tangent_inv(snw_twist_scale(-1, x));
        by->A = snw_mat3_add(by->A, snw_mat3_scale(-f->c[k], T.A));
        by->B = snw_mat3_add(by->B, snw_mat3_scale(-f->c[k], T.B));
        if (k == 1 && f->d != 0) subtract_last_rate_d1(f->d, x, last, &T, by);
    }
    return V;
}

snw_twist snw_pose_rate_text(const snw_time_formula *f, snw_se3 g, const snw_se3 *past,
                             snw_twist last) {
    const snw_mat3 R_rate = snw_mat3_mul(past[0].R, snw_hat(last.w));
    snw_vec3 v = pose_rate_plus(snw_scale(f->c[0], g.p), f->d, snw_rotate(past[0].R, last.v));
    snw_mat3 R = snw_mat3_add(snw_mat3_scale(f->c[0], g.R), snw_mat3_scale(f->d, R_rate));
    for (int k = 1; k <= SNW_TIME_LEVELS; k++) {
        v = pose_rate_plus(v, f->c[k], past[k - 1].p);
        R = snw_mat3_add(R, snw_mat3_scale(f->c[k], past[k - 1].R));
    }
    // skew part of R_t R', rotated to body axes: that of R' R_t
    const snw_mat3 W = snw_mat3_mul(snw_mat3_transpose(g.R), R);
    snw_twist V;
    V.w = (snw_vec3){{0.5 * (W.e[2][1] - W.e[1][2]), 0.5 * (W.e[0][2] - W.e[2][0]),
                      0.5 * (W.e[1][0] - W.e[0][1])}};
    V.v = snw_rotate_inv(g.R, v);
    return V;
}

snw_twist snw_velocity_rate_text(const snw_time_formula *f, snw_se3 g, snw_twist V,
                                 const snw_se3 *past, const snw_twist *V_past, snw_twist rate) {
    const snw_twist last = V_past[0];
    const snw_vec3 acceleration = snw_add(rate.v, snw_cross(last.w, last.v));
    snw_vec3 a = snw_scale(f->d, snw_rotate(past[0].R, acceleration));
    snw_vec3 wt = snw_scale(f->d, snw_rotate(past[0].R, rate.w));
    a = pose_rate_plus(a, f->c[0], snw_rotate(g.R, V.v));
    wt = pose_rate_plus(wt, f->c[0], snw_rotate(g.R, V.w));
    for (int k = 1; k <= SNW_TIME_LEVELS; k++) {
        a = pose_rate_plus(a, f->c[k], snw_rotate(past[k - 1].R, V_past[k - 1].v));
        wt = pose_rate_plus(wt, f->c[k], snw_rotate(past[k - 1].R, V_past[k - 1].w));
    }
    snw_twist Vt;
    Vt.w = snw_rotate_inv(g.R, wt);
    Vt.v = snw_sub(snw_rotate_inv(g.R, a), snw_cross(V.w, V.v));
    return Vt;
}
