// SPDX-License-Identifier: MIT
#include "shoot/pose_rate.h"

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
    }
    return V;
}
