// SPDX-License-Identifier: MIT
//
// mesh_file.h: reads triangles from the bytes of a mesh file: STL (text or binary), OBJ, glTF 2.0
// (.glb, or .gltf with buffers within or beside it), COLLADA (.dae).
#pragma once

#include "base/pool.h"
#include "model/triangle_mesh.h"

#include <stdbool.h>

enum { SNW_MESH_FILE_MAX = 32 << 20 }; // bytes

#define SNW_MESH_FILES ".stl, .obj, .glb, .gltf or .dae"

// Does the name of a file end so (in small letters)? With one of SNW_MESH_FILES?
bool snw_mesh_file_is(const char *path, const char *end);
bool snw_mesh_file_known(const char *path);

// Triangles of a file, whose name says what it is, from the pool. Polygons are divided into
// triangles; vertices are not merged. Errors have the file and, in texts, the line. Lengths are
// those of the file times `scale`. Files of glTF and COLLADA have transforms, units and an upward
// axis: their triangles are in metres with z upwards before `scale`, all those of the scene
// together.
SNW_NODISCARD snw_status snw_mesh_file_parse(snw_pool *pool, const char *path, const char *bytes,
                                             size_t length, double scale, snw_triangle_mesh *out,
                                             snw_error *err);
