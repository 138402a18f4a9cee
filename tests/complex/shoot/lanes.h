// SPDX-License-Identifier: MIT
//
// lanes.h: replaces the library's header of this name where numbers are complex, like
// math/se3_types.h: one column at a time.
#pragma once

#include "math/se3_types.h"

enum { SNW_LANES = 1 };
typedef double snw_lanes;
static inline snw_lanes snw_lanes_load(const double *a) { return *a; }
static inline void snw_lanes_store(snw_lanes a, double *out) { *out = a; }

struct snw_lane3 {
    snw_lanes x, y, z;
};

struct snw_lane6 {
    [[no_unique_address]] view<snw_lane6> e;
    snw_lane3 a, b;
};
