// SPDX-License-Identifier: MIT
//
// Stumpff functions c_k(z) for z that is not small, and the coefficient e(z) of the inverse tangent
// map of SO(3) with its derivatives.
//
// For k = 8, 9 the terms z^j k!/(2j+k)! of the series decrease from the first on while z < 90, so
// the sum has no cancellation. The downward recursion c_k = 1/k! - z c_{k+2} loses digits where c_k
// is small compared to 1/k!, first in c_0 .. c_3 beyond z = 9; these have closed forms. The upward
// recursion from the closed forms, c_{k+2} = (1/k! - c_k)/z, loses more digits the smaller z is.
// Both are equally accurate at z = 25, with about two units of rounding in the worst c_k, k >= 4.
//
// e(z) = (1 - (th/2) cot(th/2))/th^2 is the sum over n >= 1 of 2/((2 pi n)^2 - z) (partial
// fractions of the cotangent). Its derivatives are m! times the sums of 2/((2 pi n)^2 - z)^(m+1).
// All terms are positive, so nothing cancels between zero and the pole at 4 pi^2. Three terms are
// summed directly, the others as a power series in z, which converges like (z/64 pi^2)^k.
#include "math/stumpff.h"

#include "base/fail.h"

#include <math.h>

enum { SERIES_TERMS = 14 }; // z^14 8!/36! = 4e-18 at the switch
static const double switch_closed = 9, switch_up = 25;

void snw_stumpff_far(double z, double c[SNW_STUMPFF_MAX]) {
    const snw_mask closed = !(z < switch_closed), up = !(z < switch_up);
    if (!snw_all(up)) {
        for (int k = SNW_STUMPFF_MAX - 1; k >= SNW_STUMPFF_MAX - 2; k--) {
            c[k] = 0;
            for (int j = SERIES_TERMS - 1; j >= 0; j--)
                c[k] = snw_inverse_factorial[2 * j + k] - z * c[k];
        }
        for (int k = SNW_STUMPFF_MAX - 3; k >= 0; k--)
            c[k] = snw_inverse_factorial[k] - z * c[k + 2];
    }
    if (snw_any(closed)) {
        const double th = sqrt(z), half = sin(0.5 * th) / th, sine = sin(th) / th;
        c[0] = snw_select(closed, cos(th), c[0]);
        c[1] = snw_select(closed, sine, c[1]);
        c[2] = snw_select(closed, 2 * half * half, c[2]); // not 1 - cos: that cancels near 2 pi
        c[3] = snw_select(closed, (1 - sine) / z, c[3]);
    }
    if (snw_any(up)) {
        for (int k = 4; k < SNW_STUMPFF_MAX; k++)
            c[k] = snw_select(up, (snw_inverse_factorial[k - 2] - c[k - 2]) / z, c[k]);
    }
}

void snw_stumpff_inv(double z, int mmax, double *e) {
    SNW_ASSERT(mmax >= 0 && mmax <= 3);
    static const double square[] = {39.4784176043574345, 157.913670417429738, 355.30575843921691};
    // sum over n >= 4 of 2/(2 pi n)^(2k+2); the error of eleven terms is 1e-16 of e at the pole
    static const double rest[] = {
        0.0143786389100756833,   9.5955554807794253e-6,   1.12571433830026091e-8,
        1.53889795651810725e-11, 2.24731896508041044e-14, 3.39435645976346403e-17,
        5.22375469848222167e-20, 8.12741482831052152e-23, 1.2728430480242655e-25,
        2.00145899867885429e-28, 3.1550446802879232e-31,
    };
    enum { NREST = sizeof rest / sizeof *rest };
    // Horner's scheme with derivatives: p[m] is the m-th derivative over m!
    double p[4] = {0};
    for (int k = NREST - 1; k >= 0; k--) {
        for (int m = 3; m > 0; m--) p[m] = p[m] * z + p[m - 1];
        p[0] = p[0] * z + rest[k];
    }
    for (int n = 2; n >= 0; n--) {
        const double pole = 1 / (square[n] - z);
        double power = 2 * pole;
        for (int m = 0; m < 4; m++) {
            p[m] += power;
            power *= pole;
        }
    }
    static const double factorial[] = {1, 1, 2, 6};
    for (int m = 0; m <= mmax; m++) e[m] = factorial[m] * p[m];
}
