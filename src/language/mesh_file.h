// SPDX-License-Identifier: MIT
//
// mesh_file.h: reads triangles from the bytes of an STL file (text or binary) or of an OBJ file.
#pragma once

#include "base/pool.h"
#include "model/triangle_mesh.h"

enum { SNW_MESH_FILE_MAX = 32 << 20 }; // bytes

// Triangles of a file, whose name says what it is: .stl or .obj, from the pool. Polygons of an OBJ
// file are divided into triangles. Vertices of an STL file are not merged. Errors have the file
// and, in texts, the line. Lengths are those of the file times `scale`.
SNW_NODISCARD snw_status snw_mesh_file_parse(snw_pool *pool, const char *path, const char *bytes,
                                             size_t length, double scale, snw_triangle_mesh *out,
                                             snw_error *err);
