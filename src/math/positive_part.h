// SPDX-License-Identifier: MIT
//
// positive_part.h: smooth positive part of a number u over a width e > 0: zero below -e/2, u above
// e/2, twice differentiable; its derivative is a smooth step. For forces that act on one side only:
// contacts, stops, cables.
#pragma once

#include "base/number.h"

static inline double snw_positive_part(double u, double e) {
    const double s = u / e + 0.5;
    return snw_select(s <= 0, 0, snw_select(s >= 1, u, e * s * s * s * (1 - 0.5 * s)));
}

static inline double snw_positive_part_d1(double u, double e) {
    const double s = u / e + 0.5;
    return snw_select(s <= 0, 0, snw_select(s >= 1, 1, s * s * (3 - 2 * s)));
}

// Integral from minus infinity.
static inline double snw_positive_part_integral(double u, double e) {
    const double s = u / e + 0.5;
    const double beyond = 0.5 * u * u + e * e / 40; // 3/20 e^2 at e/2
    return snw_select(s <= 0, 0,
                      snw_select(s >= 1, beyond, e * e * s * s * s * s * (0.25 - 0.1 * s)));
}

// Width of the positive part of 1 - d g' in the Hunt-Crossley force k <-g> <1 - d g'>.
#define SNW_HUNT_CROSSLEY_WIDTH 1.0
