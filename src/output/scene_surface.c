// SPDX-License-Identifier: MIT
//
// Triangles of height fields, meshes and hulls for drawing.
#include "output/scene_surface.h"

#include "model/convex_hull.h"
#include "model/distance_grid.h"
#include "model/height_field.h"
#include "output/json_field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FACES = 20000, SIDE = 96 }; // drawn: faces of a mesh, cells along a side of a height field

static const snw_triangle_mesh *surface_mesh(const snw_obstacle *o) {
    return o->grid ? &o->grid->mesh : o->hull ? &o->hull->mesh : NULL;
}

void snw_scene_surface_size(const snw_obstacle *o, double size[3]) {
    const snw_triangle_mesh *m = surface_mesh(o);
    if (o->height) {
        for (int i = 0; i < 2; i++) size[i] = o->height->h.step[i] * (o->height->h.n[i] - 1);
        size[2] = 2 * fmax(fabs(o->height->lowest), fabs(o->height->highest));
    }
    if (!m) return;
    for (int i = 0; i < 3; i++) {
        size[i] = 0;
        for (int v = 0; v < m->nvertex; v++)
            size[i] = fmax(size[i], 2 * (fabs(m->vertex[v].e[i]) + o->rounding));
    }
}

// To six digits, enough for a picture.
static void put_coordinate(snw_json *j, double x) {
    char text[32];
    (void)snprintf(text, sizeof text, "%.6g", x);
    snw_json_number(j, strtod(text, NULL));
}

static void put_height(snw_json *j, const snw_height_field *f) {
    int n[2];
    for (int i = 0; i < 2; i++) n[i] = f->h.n[i] - 1 < SIDE ? f->h.n[i] - 1 : SIDE;
    snw_field_list(j, "vertices");
    for (int b = 0; b <= n[1]; b++) {
        for (int a = 0; a <= n[0]; a++) {
            snw_vec3 slope;
            snw_mat3 second;
            const snw_vec3 at = {{f->h.first[0] + f->h.step[0] * (f->h.n[0] - 1) * a / n[0],
                                  f->h.first[1] + f->h.step[1] * (f->h.n[1] - 1) * b / n[1], 0}};
            put_coordinate(j, at.x);
            put_coordinate(j, at.y);
            put_coordinate(j, snw_spline_grid_at(&f->h, at, &slope, &second));
        }
    }
    snw_json_close(j);
    snw_field_list(j, "faces");
    for (int b = 0; b < n[1]; b++) {
        for (int a = 0; a < n[0]; a++) {
            const int p = b * (n[0] + 1) + a, q = p + n[0] + 1;
            const int corner[6] = {p, p + 1, q + 1, p, q + 1, q};
            for (int k = 0; k < 6; k++) snw_json_integer(j, corner[k]);
        }
    }
    snw_json_close(j);
}

// Place of a vertex, moved out by the rounding of a hull.
static snw_vec3 shown_vertex(const snw_obstacle *o, const snw_triangle_mesh *m, int v) {
    snw_vec3 out = {{0}};
    for (int f = 0; o->hull && f < m->nface; f++) {
        for (int k = 0; k < 3; k++) {
            if (m->face[f][k] == v) out = snw_add(out, o->hull->normal[f]);
        }
    }
    const double size = snw_norm(out);
    return size > 0 ? snw_add(m->vertex[v], snw_scale(o->rounding / size, out)) : m->vertex[v];
}

void snw_scene_surface_put(snw_json *j, const snw_obstacle *o) {
    const snw_triangle_mesh *m = surface_mesh(o);
    if (o->height) put_height(j, o->height);
    if (!m || m->nface > FACES) return;
    snw_field_list(j, "vertices");
    for (int v = 0; v < m->nvertex; v++) {
        const snw_vec3 p = shown_vertex(o, m, v);
        for (int k = 0; k < 3; k++) put_coordinate(j, p.e[k]);
    }
    snw_json_close(j);
    snw_field_list(j, "faces");
    for (int f = 0; f < m->nface; f++) {
        for (int k = 0; k < 3; k++) snw_json_integer(j, m->face[f][k]);
    }
    snw_json_close(j);
}
