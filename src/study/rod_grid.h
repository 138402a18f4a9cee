// SPDX-License-Identifier: MIT
//
// rod_grid.h: the pose along a rod by spectral numerical integration (Gotelli 2024, 3.8), theory.md
// (3.1d): one grid of Chebyshev points for each piece of a rod between breaks of its strains. It is
// a second way to the shape that the slices give, for `sinew check`.
#pragma once

#include "base/arena.h"
#include "math/se3.h"
#include "sinew/status.h"
#include "study/run.h"

enum { SNW_GRID_LEAST = 3, SNW_GRID_MOST = 41 }; // points

// x: n Chebyshev points (1 - cos(i pi/(n - 1)))/2 of [0, 1]. S, (n - 1)^2 row major: integral from
// 0 to x_{i+1} of the polynomial that is 1 at x_{j+1} and 0 at the other points but x_0, the
// inverse of the differentiation matrix without its first row and column.
typedef struct snw_grid {
    int n;
    double x[SNW_GRID_MOST], S[(SNW_GRID_MOST - 1) * (SNW_GRID_MOST - 1)];
} snw_grid;

void snw_grid_make(int n, snw_grid *out);

// Strain at the arc length x.
typedef snw_twist (*snw_grid_strain)(const void *user, double x);

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
