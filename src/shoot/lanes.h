// SPDX-License-Identifier: MIT
//
// lanes.h: the same component of SNW_LANES columns in one SIMD register, and vectors of three and
// six of them.
#pragma once

#include "base/vectorise.h"

#include <string.h>

#if defined(__GNUC__) && !defined(SNW_NUMBERS)
#ifdef __AVX2__
enum { SNW_LANES = 4 };
#else
enum { SNW_LANES = 2 };
#endif
typedef double snw_lanes __attribute__((vector_size(SNW_LANES * sizeof(double))));
SNW_INLINE snw_lanes snw_lanes_load(const double *a) {
    snw_lanes x;
    memcpy(&x, a, sizeof x);
    return x;
}
SNW_INLINE void snw_lanes_store(snw_lanes a, double *out) { memcpy(out, &a, sizeof a); }
#else
enum { SNW_LANES = 1 };
typedef double snw_lanes;
SNW_INLINE snw_lanes snw_lanes_load(const double *a) { return *a; }
SNW_INLINE void snw_lanes_store(snw_lanes a, double *out) { *out = a; }
#endif

typedef struct snw_lane3 {
    snw_lanes x, y, z;
} snw_lane3;

typedef union snw_lane6 {
    struct {
        snw_lane3 a, b; // angular, linear
    };
    snw_lanes e[6];
} snw_lane6;
