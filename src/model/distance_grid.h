// SPDX-License-Identifier: MIT
//
// distance_grid.h: signed distance from a closed mesh of triangles, sampled once on a grid and
// interpolated by a cubic spline, whose derivatives are used (theory.md 3.13).
#pragma once

#include "math/spline_grid.h"
#include "model/triangle_mesh.h"

typedef struct snw_distance_grid {
    snw_spline_grid grid;
    snw_triangle_mesh mesh;
    snw_vec3 low, high;  // corners of the mesh
    double margin;       // the grid reaches this far beyond them, at least
    double error, mean;  // largest and root mean square error of the distance, m
    double error_beyond; // largest at a distance of a cell or more from the surface, m
    double deepest;      // greatest depth below the surface, m
} snw_distance_grid;

enum { SNW_GRID_SAMPLES = 1500000 }; // most of a grid

// Distance of a mesh that has passed snw_mesh_check, from the pool. Cells: along the longest side
// of the mesh; margin: how far from the mesh distances are needed, m.
SNW_NODISCARD snw_status snw_distance_grid_create(snw_pool *pool, const snw_triangle_mesh *mesh,
                                                  int cells, double margin, snw_distance_grid **out,
                                                  snw_error *err);

// Value, gradient (a unit vector up to the error) and Hessian of the interpolant. Beyond the grid,
// a lower bound of the distance.
double snw_distance_grid_at(const snw_distance_grid *g, snw_vec3 y, snw_vec3 *n, snw_mat3 *H);
