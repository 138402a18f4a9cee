// SPDX-License-Identifier: MIT
//
// floating_tree.h: text of a random floating tree of bodies b0, b1, ... with revolute joints.
#pragma once

#include "random_rod.h"

#include <stdbool.h>
#include <stdio.h>

// Write the lines of `robot:` to out; returns the number of characters.
static inline size_t floating_tree(dice *d, int n, bool planar, char *out, size_t size) {
    size_t at = 0;
#define SAY(...) at += (size_t)snprintf(out + at, size - at, __VA_ARGS__)
    SAY("robot:\n");
    for (int i = 0; i < n; i++) {
        const double I = roll(d, 0.01, 0.05);
        SAY("  b%d: {on: %s", i, i == 0 ? "world" : "b");
        if (i > 0) SAY("%d", pick_int(d, i > 2 ? i - 3 : 0, i - 1));
        if (i == 0) {
            SAY(", joint: %s", planar ? "planar" : "free");
        } else {
            SAY(", pose: {xyz: [%g, %g, %g]}, joint: revolute", roll(d, -0.3, 0.3),
                roll(d, -0.3, 0.3), planar ? 0.0 : roll(d, -0.3, 0.3));
            if (!planar) SAY(", axis: [%g, %g, 1]", roll(d, -1, 1), roll(d, -1, 1));
        }
        SAY(", body: {mass: %g, com: [%g, %g, 0], inertia: [%g, %g, %g]}}\n", roll(d, 0.5, 2),
            roll(d, -0.1, 0.1), roll(d, -0.1, 0.1), I, 1.2 * I, 1.5 * I);
    }
#undef SAY
    return at;
}
