// SPDX-License-Identifier: MIT
//
// Vertices and faces of a mesh that is being read (mesh_builder.h).
#include "language/mesh_builder.h"

#include <math.h>
#include <string.h>

snw_status snw_mesh_no_memory(snw_mesh_builder *r) {
    return snw_fail(r->err, SNW_E_MEMORY, "no memory for the mesh of '%.200s'", r->path);
}

// Room for n elements in an array that doubles.
static bool more_room(snw_pool *pool, int n, int *room, size_t size, void **array) {
    if (n < *room) return true;
    const int twice = *room ? 2 * *room : 256;
    void *more = snw_pool_array(pool, (size_t)twice, size);
    if (!more) return false;
    if (n > 0) memcpy(more, *array, (size_t)n * size);
    *room = twice;
    *array = more;
    return true;
}

snw_status snw_mesh_add_vertex(snw_mesh_builder *r, snw_vec3 p) {
    for (int k = 0; k < 3; k++) {
        p.e[k] *= r->scale;
        if (!isfinite(p.e[k]) || fabs(p.e[k]) > 1e9)
            return SNW_MESH_FAIL(r, "a coordinate of vertex %d is not a number, or beyond 1e9 m",
                                 r->nvertex + 1);
    }
    if (r->nvertex >= 3 * SNW_MESH_FACES)
        return SNW_MESH_FAIL(r, "a mesh has at most %d vertices", 3 * (int)SNW_MESH_FACES);
    void *array = r->vertex;
    if (!more_room(r->pool, r->nvertex, &r->vertex_room, sizeof *r->vertex, &array))
        return snw_mesh_no_memory(r);
    r->vertex = array;
    r->vertex[r->nvertex++] = p;
    return SNW_OK;
}

snw_status snw_mesh_add_face(snw_mesh_builder *r, int a, int b, int c) {
    if (r->nface >= SNW_MESH_FACES)
        return SNW_MESH_FAIL(r, "a mesh has at most %d faces", (int)SNW_MESH_FACES);
    if (a == b || b == c || c == a)
        return SNW_MESH_FAIL(r, "face %d has the same vertex twice", r->nface + 1);
    void *face = r->face, *line = r->face_line;
    int room = r->face_room;
    if (!more_room(r->pool, r->nface, &r->face_room, sizeof *r->face, &face) ||
        !more_room(r->pool, r->nface, &room, sizeof *r->face_line, &line))
        return snw_mesh_no_memory(r);
    r->face = face;
    r->face_line = line;
    r->face[r->nface][0] = a, r->face[r->nface][1] = b, r->face[r->nface][2] = c;
    r->face_line[r->nface++] = r->line;
    return SNW_OK;
}

snw_affine snw_affine_identity(void) { return (snw_affine){.A = snw_mat3_identity()}; }

snw_affine snw_affine_mul(const snw_affine *outer, const snw_affine *inner) {
    return (snw_affine){snw_mat3_mul(outer->A, inner->A),
                        snw_add(snw_rotate(outer->A, inner->b), outer->b)};
}

snw_status snw_mesh_add_vertex_at(snw_mesh_builder *r, const snw_affine *at, snw_vec3 p) {
    return snw_mesh_add_vertex(r, snw_add(snw_rotate(at->A, p), at->b));
}

snw_status snw_mesh_add_triangle_at(snw_mesh_builder *r, const snw_affine *at, int a, int b,
                                    int c) {
    if (a == b || b == c || c == a) return SNW_OK;
    const snw_vec3 x = snw_mat3_row(at->A, 0), y = snw_mat3_row(at->A, 1),
                   z = snw_mat3_row(at->A, 2);
    const bool mirrored = snw_dot(snw_cross(x, y), z) < 0;
    return mirrored ? snw_mesh_add_face(r, a, c, b) : snw_mesh_add_face(r, a, b, c);
}
