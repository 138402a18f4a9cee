// SPDX-License-Identifier: MIT
//
// convex_hull.h: convex hull of points, rounded: the points within the rounding of it. Its signed
// distance is exact, by the closest face, edge or vertex (theory.md 3.13).
#pragma once

#include "model/triangle_mesh.h"

enum { SNW_HULL_POINTS = 20000, SNW_HULL_FACES = 1000 }; // most

typedef struct snw_convex_hull {
    snw_triangle_mesh mesh;
    snw_vec3 *normal; // of each face, outwards
    double *level;    // normal times a point of the face, m
    double inner;     // depth of the mean of its vertices below the nearest face, m
} snw_convex_hull;

// Hull of n points, from the pool. Fails when they are in a plane.
SNW_NODISCARD snw_status snw_convex_hull_create(snw_pool *pool, int n, const snw_vec3 *point,
                                                snw_convex_hull **out, snw_error *err);

// Signed distance from the hull itself, without rounding; gradient, a unit vector, and Hessian.
double snw_convex_hull_distance(const snw_convex_hull *c, snw_vec3 y, snw_vec3 *n, snw_mat3 *H);
