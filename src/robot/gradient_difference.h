// SPDX-License-Identifier: MIT
//
// gradient_difference.h: central differences of orders 6 and 4 from samples at -3, -2, -1, 1, 2, 3
// steps.
#pragma once

enum { GRADIENT_SAMPLES = 3, GRADIENT_VARIANTS = 2 * GRADIENT_SAMPLES };

static const double gradient_weight6[GRADIENT_SAMPLES] = {3.0 / 4, -3.0 / 20, 1.0 / 60},
                    gradient_weight4[GRADIENT_SAMPLES] = {2.0 / 3, -1.0 / 12, 0};

// Steps of sample i, and its weight in a difference.
static inline double gradient_sample_at(int i) {
    return i < GRADIENT_SAMPLES ? i - GRADIENT_SAMPLES : i - GRADIENT_SAMPLES + 1;
}
static inline double gradient_sample_weight(const double *weight, int i) {
    return i < GRADIENT_SAMPLES ? -weight[GRADIENT_SAMPLES - 1 - i] : weight[i - GRADIENT_SAMPLES];
}
