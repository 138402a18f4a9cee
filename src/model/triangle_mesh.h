// SPDX-License-Identifier: MIT
//
// triangle_mesh.h: closed surfaces made of triangles: checks that they enclose a solid, and the
// signed distance of a point from them, by the closest vertex, edge or face.
#pragma once

#include "base/pool.h"
#include "math/se3.h"
#include "sinew/status.h"

enum { SNW_MESH_FACES = 200000 }; // most of a mesh

// Triangles with corners in counter-clockwise order seen from outside.
typedef struct snw_triangle_mesh {
    int nvertex, nface;
    snw_vec3 *vertex; // m
    int (*face)[3];   // vertices
    const int *line;  // of each face in its file; NULL: `face` numbers are given in messages
} snw_triangle_mesh;

// Merge vertices at the same place, in place.
SNW_NODISCARD snw_status snw_mesh_weld(snw_pool *scratch, snw_triangle_mesh *m, snw_error *err);

// Check that the mesh is closed, without edges or vertices where surfaces meet, without faces that
// have no area or cut each other. Messages name the line or the face and the place. A mesh that is
// inside out is turned.
SNW_NODISCARD snw_status snw_mesh_check(snw_pool *scratch, snw_triangle_mesh *m, snw_error *err);

double snw_mesh_volume(const snw_triangle_mesh *m);
// *centre <- of the enclosed volume; *second <- its second moments about the centre, over the
// volume, m^2
void snw_mesh_moments(const snw_triangle_mesh *m, snw_vec3 *centre, snw_mat3 *second);

// Search structure: a tree of boxes, normals of vertices and edges.
typedef struct snw_mesh_search snw_mesh_search;
// NULL: memory is exhausted. The mesh must have passed the check.
snw_mesh_search *snw_mesh_search_create(snw_pool *pool, const snw_triangle_mesh *m);
// Signed distance of y, negative within. *near: a place in the search structure where the search
// begins, 0 or that of a point close to y; <- the closest one. NULL: begin anywhere.
double snw_mesh_distance(const snw_mesh_search *s, snw_vec3 y, int *near);

// Point of a triangle closest to y, and what it is: 0 the face, 1 to 3 the edge from corner 0, 1 or
// 2 to the next, 4 to 6 corner 0, 1 or 2.
snw_vec3 snw_triangle_closest(const snw_vec3 corner[3], snw_vec3 y, int *feature);
