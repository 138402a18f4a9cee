// SPDX-License-Identifier: MIT
//
// spline_grid.h: cubic spline through samples on a uniform grid of two or three coordinates, twice
// continuously differentiable everywhere. Its ends are not-a-knot, so that cubic polynomials are
// reproduced. Beyond the grid it goes over, within three cells, into a function that is constant
// across the edge.
#pragma once

#include "base/pool.h"
#include "math/se3_types.h"

#include <stdbool.h>

typedef struct snw_spline_grid {
    int n[3];                 // samples along each coordinate, at least 4; n[2] = 1: a plane grid
    double first[3], step[3]; // of the samples
    const double *c;          // coefficients of B-splines, two more than samples along each
} snw_spline_grid;

enum { SNW_SPLINE_GRID_LEAST = 4 }; // samples along a coordinate

// Fit the coefficients to samples (x runs fastest), from the pool; g has all other fields. False:
// memory is exhausted.
bool snw_spline_grid_fit(snw_pool *pool, const double *sample, snw_spline_grid *g);

// Value with gradient and symmetric second derivatives; of a plane grid those by z are zero.
double snw_spline_grid_at(const snw_spline_grid *g, snw_vec3 y, snw_vec3 *slope, snw_mat3 *second);
