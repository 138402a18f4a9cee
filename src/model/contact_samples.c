// SPDX-License-Identifier: MIT
//
// Spheres that represent solids where they touch others: corners, edges, rims and axes.
#include "model/contact_samples.h"

#include "model/convex_hull.h"
#include "model/distance_grid.h"
#include "model/height_field.h"

#include <limits.h>
#include <math.h>

typedef struct sphere_list {
    int n, room;
    snw_sphere *out;
} sphere_list;

static void add_sphere(sphere_list *to, snw_vec3 centre, double radius) {
    if (to->n < to->room) to->out[to->n] = (snw_sphere){centre, radius};
    if (to->n < INT_MAX) to->n++;
}

// Number of equal parts of a length that are at most `spacing` long.
static int parts_of(double length, double spacing) {
    enum { MOST = 100000 };
    const double n = ceil(length / spacing * (1 - 1e-9));
    return n < 1 ? 1 : n > MOST ? MOST : (int)n;
}

// The points between a and b, without these.
static void add_between(sphere_list *to, snw_vec3 a, snw_vec3 b, double spacing, double radius) {
    const int n = parts_of(snw_norm(snw_sub(b, a)), spacing);
    for (int i = 1; i < n; i++) {
        const double s = (double)i / n;
        add_sphere(to, snw_add(snw_scale(1 - s, a), snw_scale(s, b)), radius);
    }
}

static snw_vec3 box_corner(snw_vec3 half, int i) {
    return (snw_vec3){
        {i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z}};
}

static void add_box(sphere_list *to, const snw_obstacle *o, double spacing) {
    const double c = o->rounding;
    const snw_vec3 core = {{o->half.x - c, o->half.y - c, o->half.z - c}};
    for (int i = 0; i < 8; i++) add_sphere(to, box_corner(core, i), c);
    for (int i = 0; i < 8; i++) {
        for (int axis = 0; axis < 3; axis++) {
            if (i >> axis & 1) continue;
            add_between(to, box_corner(core, i), box_corner(core, i | 1 << axis), spacing, c);
        }
    }
}

static void add_circle(sphere_list *to, double radius, double z, int n, double r) {
    static const double TURN = 6.283185307179586;
    for (int i = 0; i < n; i++) {
        const double a = TURN * i / n;
        add_sphere(to, (snw_vec3){{radius * cos(a), radius * sin(a), z}}, r);
    }
}

// The rims, and the largest spheres along the axis.
static void add_cylinder(sphere_list *to, const snw_obstacle *o, double spacing) {
    enum { RIM = 16 };
    const double c = o->rounding, top = o->half.z - c, inner = o->half.z - o->radius;
    const int around = parts_of(6.3 * o->radius, spacing);
    for (int side = -1; side < 2; side += 2)
        add_circle(to, o->radius - c, side * top, around > RIM ? around : RIM, c);
    if (!(inner >= 0)) return;
    const snw_vec3 a = {{0, 0, -inner}}, b = {{0, 0, inner}};
    add_sphere(to, a, o->radius);
    add_between(to, a, b, spacing, o->radius);
    if (inner > 0) add_sphere(to, b, o->radius);
}

static void add_mesh(sphere_list *to, const snw_triangle_mesh *m, double spacing, double radius) {
    for (int v = 0; v < m->nvertex; v++) add_sphere(to, m->vertex[v], radius);
    for (int f = 0; f < m->nface; f++) {
        for (int k = 0; k < 3; k++) {
            const int a = m->face[f][k], b = m->face[f][(k + 1) % 3];
            // of both faces at an edge, one has it in this direction
            if (a < b) add_between(to, m->vertex[a], m->vertex[b], spacing, radius);
        }
    }
}

static void add_field(sphere_list *to, const snw_spline_grid *h) {
    for (int j = 0; j < h->n[1]; j++) {
        for (int i = 0; i < h->n[0]; i++) {
            snw_vec3 at = {{h->first[0] + h->step[0] * i, h->first[1] + h->step[1] * j, 0}}, slope;
            snw_mat3 second;
            at.z = snw_spline_grid_at(h, at, &slope, &second);
            add_sphere(to, at, 0);
        }
    }
}

double snw_solid_fineness(const snw_obstacle *o) {
    switch (o->kind) {
    case SNW_OBSTACLE_BOX:
        return fmin(o->half.x, fmin(o->half.y, o->half.z));
    case SNW_OBSTACLE_CYLINDER:
        return fmin(o->radius, o->half.z);
    case SNW_OBSTACLE_SPHERE:
        return o->radius;
    case SNW_OBSTACLE_CAPSULE:
        return 0.5 * o->radius;
    case SNW_OBSTACLE_TORUS:
        return 0.5 * o->section;
    case SNW_OBSTACLE_HULL:
        return o->hull->inner;
    case SNW_OBSTACLE_MESH:
        return o->grid->deepest;
    case SNW_OBSTACLE_HEIGHT:
        return fmin(o->height->h.step[0], o->height->h.step[1]);
    case SNW_OBSTACLE_PLANE:
    case SNW_OBSTACLE_COUNT:
        break;
    }
    return INFINITY;
}

double snw_solid_largest_sphere(const snw_obstacle *o) {
    if (o->inside || o->kind == SNW_OBSTACLE_PLANE) return 0;
    if (o->kind == SNW_OBSTACLE_CYLINDER && isinf(o->half.z)) return 0;
    return o->kind == SNW_OBSTACLE_TORUS ? o->section : fmax(o->radius, o->rounding);
}

int snw_solid_spheres(const snw_obstacle *o, double spacing, int room, snw_sphere *out) {
    sphere_list to = {.room = room, .out = out};
    if (o->inside) return 0;
    switch (o->kind) {
    case SNW_OBSTACLE_SPHERE:
        add_sphere(&to, (snw_vec3){{0}}, o->radius);
        break;
    case SNW_OBSTACLE_CAPSULE: {
        const snw_vec3 a = {{0, 0, -o->half.z}}, b = {{0, 0, o->half.z}};
        add_sphere(&to, a, o->radius);
        add_between(&to, a, b, spacing, o->radius);
        add_sphere(&to, b, o->radius);
        break;
    }
    case SNW_OBSTACLE_BOX:
        add_box(&to, o, spacing);
        break;
    case SNW_OBSTACLE_CYLINDER:
        if (!isinf(o->half.z)) add_cylinder(&to, o, spacing);
        break;
    case SNW_OBSTACLE_TORUS:
        add_circle(&to, o->radius, 0, parts_of(6.3 * o->radius, spacing), o->section);
        break;
    case SNW_OBSTACLE_HULL:
        add_mesh(&to, &o->hull->mesh, spacing, o->rounding);
        break;
    case SNW_OBSTACLE_MESH:
        add_mesh(&to, &o->grid->mesh, spacing, 0);
        break;
    case SNW_OBSTACLE_HEIGHT:
        add_field(&to, &o->height->h);
        break;
    case SNW_OBSTACLE_PLANE:
    case SNW_OBSTACLE_COUNT:
        break;
    }
    return to.n;
}
