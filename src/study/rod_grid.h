// SPDX-License-Identifier: MIT
//
// rod_grid.h: the pose along a rod by spectral numerical integration (Gotelli 2024, 3.8), theory.md
// (3.1d): one grid of Chebyshev points for each piece of a rod between breaks of its strains. It is
// a second way to the shape that slices give, for `sinew check`.
#pragma once

#include "base/arena.h"
#include "math/pose_grid.h"
#include "sinew/status.h"
#include "study/run.h"

// h (n), p (n) <- quaternion and position at the points of the piece from a to b relative to its
// beginning. The quaternion is that of the collocation, not normalised. SNW_E_SINGULAR where the
// grid is too coarse.
size_t snw_grid_scratch(int n);
SNW_NODISCARD snw_status snw_grid_integrate(const snw_grid *grid, double a, double b,
                                            snw_grid_strain strain, const void *user,
                                            snw_arena *scratch, snw_quat *h, snw_vec3 *p);

typedef struct snw_grid_info {
    int pieces;
    snw_se3 tip;       // relative to the root
    double drift;      // largest | |h| - 1 |, an estimate of the error
    double difference; // of the tip's position to that by slices, relative to the length
} snw_grid_info;

// The rod of a link of the description in its rest shape at t = 0, on grids of n points. Allocates.
SNW_NODISCARD snw_status snw_run_grid(const snw_run *r, int link, int n, snw_grid_info *out,
                                      snw_error *err);
