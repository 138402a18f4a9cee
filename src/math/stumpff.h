// SPDX-License-Identifier: MIT
//
// stumpff.h: c_k(z) = sum_j (-z)^j / (2j+k)!, the one family behind exp, its tangent and all their
// derivatives on SO(3) and SE(3). With th = sqrt(z):
//   c_0 = cos th,  c_1 = sin th / th,  c_2 = (1 - cos th)/th^2,  c_3 = (th - sin th)/th^3, ...
//   c_k = 1/k! - z c_{k+2},   d c_k/dz = (k c_{k+2} - c_{k+1})/2.
#pragma once

enum { SNW_STUMPFF_MAX = 10 }; // c_0 .. c_9

// Below this the short series of snw_stumpff is exact to rounding; about 31 degrees.
#define SNW_STUMPFF_NEAR 0.3

// The same as snw_stumpff for z of any size: a longer series, closed forms beyond.
void snw_stumpff_far(double z, int kmax, double *c);

// c[0..kmax] at z >= 0, kmax <= 9, accurate to a few units of rounding through zero. The two
// highest come from their series, the others from the downward recursion, which loses nothing while
// z is small. Meant to be called with a constant kmax: the loops then unroll into straight code.
static inline void snw_stumpff(double z, int kmax, double *c) {
    static const double inv_factorial[] = {
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
    };
    if (!(z < SNW_STUMPFF_NEAR)) {
        snw_stumpff_far(z, kmax, c);
        return;
    }
    // seven terms suffice from k = 2 on: the eighth is z^7 2!/16! = 2e-17 of the first
    const int top = kmax < 3 ? 3 : kmax;
    const double zz = z * z;
    double s[SNW_STUMPFF_MAX];
    for (int k = top; k >= top - 1; k--) {
        const double *f = inv_factorial + k;
        s[k] = f[0] - z * f[2] + zz * (f[4] - z * f[6] + zz * (f[8] - z * f[10] + zz * f[12]));
    }
    for (int k = top - 2; k >= 0; k--) s[k] = inv_factorial[k] - z * s[k + 2];
    for (int k = 0; k <= kmax; k++) c[k] = s[k];
}

// e[0..mmax] <- e(z) = (1 - c_1/(2 c_2))/z and its derivatives, mmax <= 3: the coefficient of the
// inverse tangent map of SO(3), 1 + w^/2 + e(w.w) w^2. For 0 <= z < 4 pi^2, where e has a pole.
void snw_stumpff_inv(double z, int mmax, double *e);
