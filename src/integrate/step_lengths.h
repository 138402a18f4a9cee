// SPDX-License-Identifier: MIT
//
// step_lengths.h: the lengths that a motion chooses for its steps (contacts, obstacles, errors, a
// solution that is not found) are those of a fixed scale, L 2^(-k/4). So they do not follow the
// state: a number of the model that changes a little leaves them as they are, or changes k, and a
// run is, between such changes, a smooth function whose derivative is that with lengths kept.
// theory.md (6.16a)
#pragma once

#include <math.h>

// The longest length of the scale that is at most h, up to rounding; `longest` is one of it, s.
// Not finite: 1 s is.
static inline double snw_step_length(double h, double longest) {
    const double most = h * (1 + 1e-9);
    double x = longest < INFINITY ? longest : 1;
    if (!(h > 0) || !(h < INFINITY) || !(x > 0)) return h;
    while (2 * x <= most) x *= 2;
    while (x > most) x *= 0.5;
    // 2^(3/4), 2^(1/2), 2^(1/4): literals, so that the scale has the same bits everywhere
    if (1.6817928305074290861 * x <= most) return 1.6817928305074290861 * x;
    if (1.4142135623730950488 * x <= most) return 1.4142135623730950488 * x;
    if (1.1892071150027210667 * x <= most) return 1.1892071150027210667 * x;
    return x;
}

// The step of length h, cut where only `limit` is allowed: at least `least`.
static inline double snw_step_cut(double h, double limit, double least, double longest) {
    if (limit >= h) return h;
    const double cut = snw_step_length(limit, longest);
    return fmin(h, fmax(cut, least));
}
