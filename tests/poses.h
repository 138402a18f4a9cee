// SPDX-License-Identifier: MIT
//
// poses.h: the difference between two poses.
#pragma once

#include "math/se3.h"

#include <math.h>

// Largest difference of any entry.
static inline double pose_distance(snw_se3 a, snw_se3 b) {
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += (a.p.e[i] - b.p.e[i]) * (a.p.e[i] - b.p.e[i]);
        for (int j = 0; j < 3; j++) {
            sum += (a.R.e[i][j] - b.R.e[i][j]) * (a.R.e[i][j] - b.R.e[i][j]);
        }
    }
    return sqrt(sum);
}
