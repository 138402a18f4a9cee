// SPDX-License-Identifier: MIT
//
// magnus_fourth.h: the Magnus expansion of order 4, W = h/2 (xi_1 + xi_2) + c [xi_1, xi_2] with
// c = sqrt(3) h^2 / 12, in a header so that constants of the caller propagate (magnus.c,
// dynamics/plane_motion.c).
#pragma once

#include "base/vectorise.h"
#include "math/se3.h"

#define SNW_SQRT3 1.7320508075688772935

static inline double fourth_c(double h) { return SNW_SQRT3 / 12 * h * h; }

SNW_INLINE snw_twist fourth_value(double h, snw_twist a, snw_twist b) {
    return snw_twist_axpy(fourth_c(h), snw_ad(a, b), snw_twist_scale(0.5 * h, snw_twist_add(a, b)));
}

// W with its first and second time derivatives.
SNW_INLINE void fourth_rates(double h, const snw_twist xi[2], const snw_twist dxi[2],
                             const snw_twist ddxi[2], snw_twist *W, snw_twist *dW, snw_twist *ddW) {
    const double c = fourth_c(h);
    const snw_twist C = snw_ad(xi[0], xi[1]);
    const snw_twist dC = snw_twist_add(snw_ad(dxi[0], xi[1]), snw_ad(xi[0], dxi[1]));
    const snw_twist ddC = snw_twist_axpy(
        2, snw_ad(dxi[0], dxi[1]), snw_twist_add(snw_ad(ddxi[0], xi[1]), snw_ad(xi[0], ddxi[1])));
    *W = snw_twist_axpy(c, C, snw_twist_scale(0.5 * h, snw_twist_add(xi[0], xi[1])));
    *dW = snw_twist_axpy(c, dC, snw_twist_scale(0.5 * h, snw_twist_add(dxi[0], dxi[1])));
    *ddW = snw_twist_axpy(c, ddC, snw_twist_scale(0.5 * h, snw_twist_add(ddxi[0], ddxi[1])));
}

// p_c <- (dW/dxi_c)' p.
SNW_INLINE void fourth_pull(double h, const snw_twist xi[2], snw_wrench p, snw_wrench p_c[2]) {
    const double c = fourth_c(h);
    const snw_wrench half = snw_wrench_scale(0.5 * h, p);
    p_c[0] = snw_wrench_axpy(-c, snw_ad_pull(xi[1], p), half);
    p_c[1] = snw_wrench_axpy(c, snw_ad_pull(xi[0], p), half);
}
