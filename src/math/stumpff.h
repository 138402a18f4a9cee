// SPDX-License-Identifier: MIT
//
// stumpff.h: Stumpff functions c_k(z) = sum_j (-z)^j / (2j+k)!, theory.md (1.2). The exponential of
// SO(3) and SE(3), its tangent map and all their derivatives are expressed by them. With
// th = sqrt(z):
//   c_0 = cos th,  c_1 = sin th / th,  c_2 = (1 - cos th)/th^2,  c_3 = (th - sin th)/th^3, ...
//   c_k = 1/k! - z c_{k+2},   d c_k/dz = (k c_{k+2} - c_{k+1})/2.
#pragma once

#include "base/number.h"

enum { SNW_STUMPFF_MAX = 10 }; // c_0 .. c_9

// 1/k!, in the header so that the compiler can fold it.
static const double snw_inverse_factorial[] = {
    1.0,
    1.0,
    1.0 / 2,
    1.0 / 6,
    1.0 / 24,
    1.0 / 120,
    1.0 / 720,
    1.0 / 5040,
    1.0 / 40320,
    1.0 / 362880,
    1.0 / 3628800,
    1.0 / 39916800,
    1.0 / 479001600,
    1.0 / 6227020800.0,
    1.0 / 87178291200.0,
    1.0 / 1307674368000.0,
    1.0 / 20922789888000.0,
    1.0 / 355687428096000.0,
    1.0 / 6402373705728000.0,
    1.0 / 121645100408832000.0,
    1.0 / 2432902008176640000.0,
    1.0 / 51090942171709440000.0,
    1.0 / 1124000727777607680000.0,
    1.0 / 25852016738884976640000.0,
    1.0 / 620448401733239439360000.0,
    1.0 / 15511210043330985984000000.0,
    1.0 / 403291461126605635584000000.0,
    1.0 / 10888869450418352160768000000.0,
    1.0 / 304888344611713860501504000000.0,
    1.0 / 8841761993739701954543616000000.0,
    1.0 / 265252859812191058636308480000000.0,
    1.0 / 8222838654177922817725562880000000.0,
    1.0 / 263130836933693530167218012160000000.0,
    1.0 / 8683317618811886495518194401280000000.0,
    1.0 / 295232799039604140847618609643520000000.0,
    1.0 / 10333147966386144929666651337523200000000.0,
};

// Bound on z below which the short series of snw_stumpff is exact to rounding: th of 31 degrees.
#define SNW_STUMPFF_NEAR 0.3

// All ten functions for any z >= 0: a longer series, and closed forms for large z.
void snw_stumpff_far(double z, double c[SNW_STUMPFF_MAX]);

// c[0..top] for z < SNW_STUMPFF_NEAR, top = 3 .. 9: seven terms of the series for the two highest
// (the eighth is z^7 2!/16! = 2e-17 of the first), then the downward recursion. Without loops, so
// that a constant top compiles to code without branches.
static inline void snw_stumpff_near(double z, int top, double c[SNW_STUMPFF_MAX]) {
    const double *const f = snw_inverse_factorial;
    const int a = top - 1, b = top;
    const double zz = z * z;
    c[a] = f[a] - z * f[a + 2] +
           zz * (f[a + 4] - z * f[a + 6] + zz * (f[a + 8] - z * f[a + 10] + zz * f[a + 12]));
    c[b] = f[b] - z * f[b + 2] +
           zz * (f[b + 4] - z * f[b + 6] + zz * (f[b + 8] - z * f[b + 10] + zz * f[b + 12]));
    if (top >= 9) c[7] = f[7] - z * c[9];
    if (top >= 8) c[6] = f[6] - z * c[8];
    if (top >= 7) c[5] = f[5] - z * c[7];
    if (top >= 6) c[4] = f[4] - z * c[6];
    if (top >= 5) c[3] = f[3] - z * c[5];
    if (top >= 4) c[2] = f[2] - z * c[4];
    c[1] = f[1] - z * c[3];
    c[0] = f[0] - z * c[2];
}

// c[0..kmax] at z >= 0, kmax <= 9, accurate to a few units of rounding, also at zero. c has ten
// elements; those above kmax are undefined afterwards. The two highest are computed by their
// series, the others by the downward recursion, which is free of cancellation for small z. Fastest
// with a constant kmax.
static inline void snw_stumpff(double z, int kmax, double c[SNW_STUMPFF_MAX]) {
    const snw_mask near = z < SNW_STUMPFF_NEAR;
    if (snw_all(near)) {
        snw_stumpff_near(z, kmax < 3 ? 3 : kmax, c);
        return;
    }
    // arrays of its own, so that those of the short series may be registers of a graphics processor
    double far[SNW_STUMPFF_MAX], n[SNW_STUMPFF_MAX];
    snw_stumpff_far(z, far);
    for (int k = 0; k <= (kmax < 3 ? 3 : kmax); k++) c[k] = far[k];
    if (!snw_any(near)) return;
    snw_stumpff_near(z, kmax < 3 ? 3 : kmax, n);
    for (int k = 0; k <= (kmax < 3 ? 3 : kmax); k++) c[k] = snw_select(near, n[k], far[k]);
}

// e[0..mmax] <- e(z) = (1 - c_1/(2 c_2))/z and its derivatives, mmax <= 3: the coefficient of the
// inverse tangent map of SO(3), 1 + w^/2 + e(w.w) w^2. For 0 <= z < 4 pi^2, where e has a pole.
void snw_stumpff_inv(double z, int mmax, double *e);
