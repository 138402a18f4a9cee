// SPDX-License-Identifier: MIT
//
// mesh_builder.h: vertices and faces of a mesh that is being read, for the parsers of mesh files.
#pragma once

#include "base/fail.h"
#include "language/mesh_file.h"
#include "math/se3.h"

typedef struct snw_mesh_builder {
    snw_pool *pool;
    const char *path;
    double scale;
    const char *at, *end; // of texts
    int line;             // for messages; 0: none
    int nvertex, vertex_room, nface, face_room;
    snw_vec3 *vertex;
    int (*face)[3];
    int *face_line;
    snw_error *err;
} snw_mesh_builder;

#define SNW_MESH_FAIL(r, ...)                                                                      \
    (snw_fail_text((r)->err, SNW_E_PARSE, __VA_ARGS__),                                            \
     snw_fail_at_location((r)->err, SNW_E_PARSE, (r)->path, (r)->line, 1))

snw_status snw_mesh_no_memory(snw_mesh_builder *r);
// A vertex, in units of the file; it must be finite. A face of three different vertices.
snw_status snw_mesh_add_vertex(snw_mesh_builder *r, snw_vec3 p);
snw_status snw_mesh_add_face(snw_mesh_builder *r, int a, int b, int c);

// An affine map p -> A p + b, and one after another.
typedef struct snw_affine {
    snw_mat3 A;
    snw_vec3 b;
} snw_affine;

snw_affine snw_affine_identity(void);
snw_affine snw_affine_mul(const snw_affine *outer, const snw_affine *inner);
// A vertex of a placed mesh, and a triangle; one with two equal vertices is left out. Where the map
// mirrors, so is the order of vertices.
snw_status snw_mesh_add_vertex_at(snw_mesh_builder *r, const snw_affine *at, snw_vec3 p);
snw_status snw_mesh_add_triangle_at(snw_mesh_builder *r, const snw_affine *at, int a, int b, int c);

// All of a file (mesh_gltf.c, mesh_dae.c).
snw_status snw_mesh_read_gltf(snw_mesh_builder *r, const char *bytes, size_t length);
snw_status snw_mesh_read_dae(snw_mesh_builder *r, const char *bytes, size_t length);
