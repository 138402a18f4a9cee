// SPDX-License-Identifier: MIT
//
// pack.h: SIMD arithmetic of the march: the three components of a vector in one register of four,
// and the same component of several columns (lanes.h). Scalar code on other compilers, or where
// numbers are not doubles.
#pragma once

#include "base/vectorise.h"
#include "math/se3_types.h"
#include "shoot/lanes.h"

#include <limits.h>
#include <math.h>
#include <string.h>

// ---- components of a vector ---------------------------------------------------------------------

#if defined(__AVX2__) && !defined(SNW_NUMBERS)
typedef double snw_pack __attribute__((vector_size(4 * sizeof(double)))); // x, y, z, unused
typedef long long snw_pack_bits __attribute__((vector_size(4 * sizeof(double))));
typedef double snw_half __attribute__((vector_size(2 * sizeof(double))));

SNW_INLINE snw_pack snw_pack_load(const double *a) {
    snw_half lo;
    memcpy(&lo, a, sizeof lo);
    const snw_half hi = {a[2], 0};
    return __builtin_shufflevector(lo, hi, 0, 1, 2, 3);
}
// from numbers that were just computed
SNW_INLINE snw_pack snw_pack_of(double x, double y, double z) { return (snw_pack){x, y, z, 0}; }
SNW_INLINE void snw_pack_store(snw_pack a, double *out) {
    out[0] = a[0], out[1] = a[1], out[2] = a[2];
}
// six numbers in pairs, as other functions read and write them: a load that does not match the
// preceding stores is slow
SNW_INLINE void snw_pack_load_two(const double *in, snw_pack *a, snw_pack *b) {
    snw_half x[3];
    memcpy(x, in, sizeof x);
    const snw_half zero = {0, 0};
    *a = __builtin_shufflevector(x[0], __builtin_shufflevector(x[1], zero, 0, 2), 0, 1, 2, 3);
    *b = __builtin_shufflevector(__builtin_shufflevector(x[1], x[2], 1, 2),
                                 __builtin_shufflevector(x[2], zero, 1, 2), 0, 1, 2, 3);
}
SNW_INLINE void snw_pack_store_two(snw_pack a, snw_pack b, double *out) {
    const snw_half x[3] = {__builtin_shufflevector(a, a, 0, 1), __builtin_shufflevector(a, b, 2, 4),
                           __builtin_shufflevector(b, b, 1, 2)};
    memcpy(out, x, sizeof x);
}
SNW_INLINE snw_pack snw_pack_add(snw_pack a, snw_pack b) { return a + b; }
SNW_INLINE snw_pack snw_pack_sub(snw_pack a, snw_pack b) { return a - b; }
SNW_INLINE snw_pack snw_pack_mul(snw_pack a, snw_pack b) { return a * b; }
SNW_INLINE snw_pack snw_pack_scale(double s, snw_pack a) { return s * a; }
SNW_INLINE snw_pack snw_pack_abs(snw_pack a) {
    const long long sign = LLONG_MAX; // all bits but the sign
    return (snw_pack)((snw_pack_bits)a & (snw_pack_bits){sign, sign, sign, sign});
}
SNW_INLINE double snw_pack_sum(snw_pack a) { return a[0] + a[1] + a[2]; }
// (y, z, x)
SNW_INLINE snw_pack snw_pack_permute(snw_pack a) {
    return __builtin_shufflevector(a, a, 1, 2, 0, 3);
}
#else
typedef snw_vec3 snw_pack;
SNW_INLINE snw_pack snw_pack_load(const double *a) { return (snw_pack){{a[0], a[1], a[2]}}; }
SNW_INLINE snw_pack snw_pack_of(double x, double y, double z) { return (snw_pack){{x, y, z}}; }
SNW_INLINE void snw_pack_store(snw_pack a, double *out) {
    out[0] = a.x, out[1] = a.y, out[2] = a.z;
}
SNW_INLINE void snw_pack_load_two(const double *in, snw_pack *a, snw_pack *b) {
    *a = snw_pack_load(in), *b = snw_pack_load(in + 3);
}
SNW_INLINE void snw_pack_store_two(snw_pack a, snw_pack b, double *out) {
    snw_pack_store(a, out), snw_pack_store(b, out + 3);
}
SNW_INLINE snw_pack snw_pack_add(snw_pack a, snw_pack b) {
    return (snw_pack){{a.x + b.x, a.y + b.y, a.z + b.z}};
}
SNW_INLINE snw_pack snw_pack_sub(snw_pack a, snw_pack b) {
    return (snw_pack){{a.x - b.x, a.y - b.y, a.z - b.z}};
}
SNW_INLINE snw_pack snw_pack_mul(snw_pack a, snw_pack b) {
    return (snw_pack){{a.x * b.x, a.y * b.y, a.z * b.z}};
}
SNW_INLINE snw_pack snw_pack_scale(double s, snw_pack a) {
    return (snw_pack){{s * a.x, s * a.y, s * a.z}};
}
SNW_INLINE snw_pack snw_pack_abs(snw_pack a) {
    return (snw_pack){{fabs(a.x), fabs(a.y), fabs(a.z)}};
}
SNW_INLINE double snw_pack_sum(snw_pack a) { return a.x + a.y + a.z; }
SNW_INLINE snw_pack snw_pack_permute(snw_pack a) { return (snw_pack){{a.y, a.z, a.x}}; }
#endif

SNW_INLINE snw_pack snw_pack_axpy(double s, snw_pack a, snw_pack b) {
    return snw_pack_add(b, snw_pack_scale(s, a));
}

// Cross product a x b = permute(skew(a, b)): sums of products are permuted once.
typedef struct snw_permuted {
    snw_pack a, t; // a vector, and its permutation (y, z, x)
} snw_permuted;

SNW_INLINE snw_permuted snw_permuted_of(snw_pack a) {
    return (snw_permuted){a, snw_pack_permute(a)};
}
SNW_INLINE snw_pack snw_skew(snw_permuted a, snw_permuted b) {
    return snw_pack_sub(snw_pack_mul(a.a, b.t), snw_pack_mul(a.t, b.a));
}
SNW_INLINE snw_pack snw_pack_cross(snw_pack a, snw_pack b) {
    return snw_pack_permute(snw_skew(snw_permuted_of(a), snw_permuted_of(b)));
}

// ---- several columns ----------------------------------------------------------------------------

SNW_INLINE snw_lane3 snw_lane3_add(snw_lane3 a, snw_lane3 b) {
    return (snw_lane3){a.x + b.x, a.y + b.y, a.z + b.z};
}
SNW_INLINE snw_lane3 snw_lane3_sub(snw_lane3 a, snw_lane3 b) {
    return (snw_lane3){a.x - b.x, a.y - b.y, a.z - b.z};
}
SNW_INLINE snw_lane3 snw_lane3_scale(double s, snw_lane3 a) {
    return (snw_lane3){s * a.x, s * a.y, s * a.z};
}
// a x b with the same a for all columns
SNW_INLINE snw_lane3 snw_lane3_cross(snw_vec3 a, snw_lane3 b) {
    return (snw_lane3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
// b x a
SNW_INLINE snw_lane3 snw_lane3_cross_by(snw_lane3 b, snw_vec3 a) {
    return (snw_lane3){b.y * a.z - b.z * a.y, b.z * a.x - b.x * a.z, b.x * a.y - b.y * a.x};
}
SNW_INLINE snw_lane3 snw_lane3_rotate(snw_mat3 R, snw_lane3 a) {
    return (snw_lane3){R.e[0][0] * a.x + R.e[0][1] * a.y + R.e[0][2] * a.z,
                       R.e[1][0] * a.x + R.e[1][1] * a.y + R.e[1][2] * a.z,
                       R.e[2][0] * a.x + R.e[2][1] * a.y + R.e[2][2] * a.z};
}
SNW_INLINE snw_lane3 snw_lane3_rotate_inv(snw_mat3 R, snw_lane3 a) {
    return (snw_lane3){R.e[0][0] * a.x + R.e[1][0] * a.y + R.e[2][0] * a.z,
                       R.e[0][1] * a.x + R.e[1][1] * a.y + R.e[2][1] * a.z,
                       R.e[0][2] * a.x + R.e[1][2] * a.y + R.e[2][2] * a.z};
}
