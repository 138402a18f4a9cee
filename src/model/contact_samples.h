// SPDX-License-Identifier: MIT
//
// contact_samples.h: spheres within a solid that touch its surface where another solid can touch it
// first: at corners, along edges and rims, and along the axes of round solids (theory.md 3.13).
#pragma once

#include "model/obstacle_kind.h"

typedef struct snw_sphere {
    snw_vec3 centre; // in the axes of the solid, m
    double radius;
} snw_sphere;

// A length that what touches a solid has to resolve: its smallest half width, the cell of a height
// field, m.
double snw_solid_fineness(const snw_obstacle *o);

// Radius of the largest of the spheres below, m.
double snw_solid_largest_sphere(const snw_obstacle *o);

// Number of spheres, at most `spacing` apart along edges; the first `room` of them are written to
// out. None of a half-space, of an endless cylinder and of the inside of a shape.
int snw_solid_spheres(const snw_obstacle *o, double spacing, int room, snw_sphere *out);
