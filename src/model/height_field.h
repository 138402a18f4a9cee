// SPDX-License-Identifier: MIT
//
// height_field.h: a solid below the surface z = h(x, y), a cubic spline on a grid: its signed
// distance, by the closest point of the surface (theory.md 3.13).
#pragma once

#include "math/se3.h"
#include "math/spline_grid.h"

typedef struct snw_height_field {
    snw_spline_grid h; // plane grid of heights, m
    bool of_formula;   // else of samples
    double error;  // of a formula: largest difference from the spline at the middles of cells, m
    double hollow; // smallest radius of curvature where it is concave, m
    double hump;   // and where it is convex
    double lowest, highest; // sample, m
} snw_height_field;

// Curvatures and extremes, from the samples; the grid has been fitted.
void snw_height_field_measure(snw_height_field *f);

// Signed distance of y, with its gradient, a unit vector, and its Hessian. In a hollow narrower
// than the distance it is that of a point of the surface which is the closest of its neighbourhood.
double snw_height_field_distance(const snw_height_field *f, snw_vec3 y, snw_vec3 *n, snw_mat3 *H);
