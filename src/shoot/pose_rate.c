// SPDX-License-Identifier: MIT
//
// Velocity of the plate and of moving bases from their last poses, on the group.

#include "shoot/pose_rate.h"

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
