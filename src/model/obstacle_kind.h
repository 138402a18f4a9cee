// SPDX-License-Identifier: MIT
//
// obstacle_kind.h: shapes of obstacles, one row of a table each: name, sizes, signed distance of a
// point with its first and second derivatives (theory.md (3.13.5)). Reader, help, compilation,
// forces, scene and viewer read these rows; a new shape is an enumerator here and a row in
// obstacle_kind.c.
#pragma once

#include "math/se3.h"

#include <stdbool.h>

typedef struct snw_height_field snw_height_field;
typedef struct snw_distance_grid snw_distance_grid;
typedef struct snw_convex_hull snw_convex_hull;

typedef enum snw_obstacle_kind {
    SNW_OBSTACLE_PLANE,
    SNW_OBSTACLE_SPHERE,
    SNW_OBSTACLE_CAPSULE,
    SNW_OBSTACLE_BOX,
    SNW_OBSTACLE_CYLINDER,
    SNW_OBSTACLE_TORUS,
    SNW_OBSTACLE_HEIGHT,
    SNW_OBSTACLE_MESH,
    SNW_OBSTACLE_HULL,
    SNW_OBSTACLE_COUNT
} snw_obstacle_kind;

// Sizes of a shape: keys of the model language, as bits in the order of SNW_SHAPE_KEYS and
// SNW_FIELD_KEYS (language/read.h).
enum {
    SNW_SIZE_RADIUS = 1,
    SNW_SIZE_LENGTH = 2,
    SNW_SIZE_BOX = 4,
    SNW_SIZE_ROUNDING = 8,
    SNW_SIZE_FILE = 16,
    SNW_SIZE_CORNERS = 32,
    SNW_SIZE_SCALE = 64,
    SNW_SIZE_CELLS = 128,
    SNW_SIZE_SECTION = 256,
    SNW_SIZE_HEIGHT = 512,
    SNW_SIZE_AREA = 1024,
};

// A solid in its own axes, centred at their origin; its axis is z. A plane is the half-space z < 0.
typedef struct snw_obstacle {
    snw_obstacle_kind kind;
    bool inside;    // the solid is the space outside of the shape
    double radius;  // sphere, capsule, cylinder; torus: of its centre line, m
    double section; // torus: radius of its section, m
    snw_vec3 half;  // box: half edges; capsule: z is half of its straight part; cylinder: z is half
                    // of its length, or infinite, m
    double rounding;                // of the edges of a box or cylinder; what surrounds a hull, m
    const snw_height_field *height; // of the kinds that have one, in the memory of the description
    const snw_distance_grid *grid;
    const snw_convex_hull *hull;
} snw_obstacle;

typedef struct snw_obstacle_type {
    const char *name, *meaning;
    unsigned needs, takes; // sizes that must and that may be given
    bool can_be_inside;
    // Signed distance of y from the surface, negative within the solid (of the shape itself, not of
    // its `inside`); *n <- its gradient, a unit vector but for a mesh, whose distance is
    // interpolated; *H <- its second derivative, symmetric.
    double (*distance)(const snw_obstacle *o, snw_vec3 y, snw_vec3 *n, snw_mat3 *H);
    double (*smallest_radius)(const snw_obstacle *o); // of curvature of its surface
    double (*reach)(const snw_obstacle *o); // depth below the surface to which it is differentiable
    double (*depth)(const snw_obstacle *o); // greatest depth below the surface of a point in it
} snw_obstacle_type;

extern const snw_obstacle_type snw_obstacle_table[SNW_OBSTACLE_COUNT];

#define SNW_OBSTACLE_ROUNDING 0.02 // default of `rounding`, times the smallest half edge

// Signed distance of y from the surface, negative within the solid; *n and *H as above.
double snw_obstacle_distance(const snw_obstacle *o, snw_vec3 y, snw_vec3 *n, snw_mat3 *H);
