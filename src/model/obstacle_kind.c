// SPDX-License-Identifier: MIT
//
// Signed distances of the shapes of obstacles with gradient and Hessian, theory.md (3.13.5).
// Outside of its core every shape is the set of points at a given distance from a convex or
// circular core, so that the gradient is a unit vector and the Hessian has the principal curvatures
// of the offset surface.
#include "model/obstacle_kind.h"

#include "model/convex_hull.h"
#include "model/distance_grid.h"
#include "model/height_field.h"

#include <math.h>

// ---- cores --------------------------------------------------------------------------------------

// Distance from the orthant e <= 0 of n coordinates: |max(e, 0)| outside of it, max(e) within. g, h
// (n x n) <- derivatives. Over a face, an edge or a corner h is the projection across g divided by
// the distance, in the coordinates that are positive.
static double orthant_distance(int n, const double *e, double *g, double *h) {
    double square = 0, largest = e[0];
    for (int i = 0; i < n; i++) {
        square += snw_select(e[i] > 0, e[i] * e[i], 0);
        largest = snw_select(e[i] > largest, e[i], largest);
    }
    const snw_mask outside = largest > 0;
    const double size = sqrt(square);
    snw_mask found = outside;
    for (int i = 0; i < n; i++) {
        const snw_mask is_it = (!found) & (e[i] == largest);
        found = found | is_it;
        g[i] = snw_select(outside & (e[i] > 0), e[i] / size, snw_select(is_it, 1, 0));
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const double curvature = ((i == j) - g[i] * g[j]) / size;
            h[n * i + j] = snw_select(outside & (e[i] > 0) & (e[j] > 0), curvature, 0);
        }
    }
    return snw_select(outside, size, largest);
}

// Gradient and Hessian of f(rho, z), rho the distance from the axis z, from its derivatives g (rho,
// z) and h (2 x 2). Across the meridian the curvature is f_rho/rho; on the axis f_rho is zero and
// the limit is f_rho,rho.
static void revolve(snw_vec3 y, double rho, const double g[2], const double h[4], snw_vec3 *n,
                    snw_mat3 *H) {
    const snw_vec3 x = {{1, 0, 0}}, out = {{y.x / rho, y.y / rho, 0}},
                   e = snw_vec3_select(rho > 0, out, x);
    const snw_vec3 across = {{-e.y, e.x, 0}}, z = {{0, 0, 1}};
    const double around = snw_select(rho > 0, g[0] / rho, h[0]);
    *n = (snw_vec3){{g[0] * e.x, g[0] * e.y, g[1]}};
    *H = snw_mat3_add(
        snw_mat3_add(snw_mat3_scale(h[0], snw_outer(e, e)), snw_mat3_scale(h[3], snw_outer(z, z))),
        snw_mat3_add(snw_mat3_scale(h[1], snw_mat3_add(snw_outer(e, z), snw_outer(z, e))),
                     snw_mat3_scale(around, snw_outer(across, across))));
}

static double distance_from_axis(snw_vec3 y) { return sqrt(y.x * y.x + y.y * y.y); }

// Distance of (a, b) from the origin; g, h <- derivatives. At the origin itself along b.
static double point_distance(double a, double b, double g[2], double h[4]) {
    const double size = sqrt(a * a + b * b), over = snw_select(size > 0, 1 / size, 0);
    g[0] = a * over;
    g[1] = snw_select(size > 0, b * over, 1);
    h[0] = g[1] * g[1] * over;
    h[1] = h[2] = -g[0] * g[1] * over;
    h[3] = g[0] * g[0] * over;
    return size;
}

// ---- shapes -------------------------------------------------------------------------------------

static double plane_distance(const snw_obstacle *o, snw_vec3 y, snw_vec3 *n, snw_mat3 *H) {
    (void)o;
    *n = (snw_vec3){{0, 0, 1}};
    *H = (snw_mat3){0};
    return y.z;
}

static double sphere_distance(const snw_obstacle *o, snw_vec3 y, snw_vec3 *n, snw_mat3 *H) {
    const double size = snw_norm(y), over = snw_select(size > 0, 1 / size, 0);
    const snw_vec3 z = {{0, 0, 1}};
    *n = snw_vec3_select(size > 0, snw_scale(over, y), z);
    *H = snw_mat3_scale(over,
                        snw_mat3_add(snw_mat3_identity(), snw_mat3_scale(-1, snw_outer(*n, *n))));
    return size - o->radius;
}

static double capsule_distance(const snw_obstacle *o, snw_vec3 y, snw_vec3 *n, snw_mat3 *H) {
    const double rho = distance_from_axis(y), end = snw_select(y.z > 0, o->half.z, -o->half.z);
    const snw_mask beyond = fabs(y.z) > o->half.z; // in the caps; else as in their middles
    double g[2], h[4];
    const double cap = point_distance(rho, y.z - end, g, h), size = snw_select(beyond, cap, rho);
    for (int k = 0; k < 2; k++) g[k] = snw_select(beyond, g[k], 1 - k);
    for (int k = 0; k < 4; k++) h[k] = snw_select(beyond, h[k], 0);
    revolve(y, rho, g, h, n, H);
    return size - o->radius;
}

static double box_distance(const snw_obstacle *o, snw_vec3 y, snw_vec3 *n, snw_mat3 *H) {
    double e[3], g[3], h[9];
    for (int i = 0; i < 3; i++) e[i] = fabs(y.e[i]) - (o->half.e[i] - o->rounding);
    const double size = orthant_distance(3, e, g, h);
    for (int i = 0; i < 3; i++) {
        const double way = snw_select(y.e[i] < 0, -1, 1);
        n->e[i] = way * g[i];
        for (int j = 0; j < 3; j++) H->e[i][j] = snw_select(y.e[j] < 0, -way, way) * h[3 * i + j];
    }
    return size - o->rounding;
}

static double cylinder_distance(const snw_obstacle *o, snw_vec3 y, snw_vec3 *n, snw_mat3 *H) {
    const double rho = distance_from_axis(y), way = snw_select(y.z < 0, -1, 1);
    const double e[2] = {rho - (o->radius - o->rounding), fabs(y.z) - (o->half.z - o->rounding)};
    double g[2], h[4];
    const double size = orthant_distance(2, e, g, h);
    g[1] *= way, h[1] *= way, h[2] *= way;
    revolve(y, rho, g, h, n, H);
    return size - o->rounding;
}

static double torus_distance(const snw_obstacle *o, snw_vec3 y, snw_vec3 *n, snw_mat3 *H) {
    const double rho = distance_from_axis(y);
    double g[2], h[4];
    const double size = point_distance(rho - o->radius, y.z, g, h);
    revolve(y, rho, g, h, n, H);
    return size - o->section;
}

static double height_distance(const snw_obstacle *o, snw_vec3 y, snw_vec3 *n, snw_mat3 *H) {
    return snw_height_field_distance(o->height, y, n, H);
}

static double mesh_distance(const snw_obstacle *o, snw_vec3 y, snw_vec3 *n, snw_mat3 *H) {
    return snw_distance_grid_at(o->grid, y, n, H);
}

static double hull_distance(const snw_obstacle *o, snw_vec3 y, snw_vec3 *n, snw_mat3 *H) {
    return snw_convex_hull_distance(o->hull, y, n, H) - o->rounding;
}

// ---- ranges -------------------------------------------------------------------------------------

static double obstacle_infinite(const snw_obstacle *o) {
    (void)o;
    return INFINITY;
}
static double obstacle_radius(const snw_obstacle *o) { return o->radius; }
static double obstacle_rounding(const snw_obstacle *o) { return o->rounding; }
static double obstacle_section(const snw_obstacle *o) { return o->section; }
// of an endless cylinder the radius, of others the rounding of its rims
static double cylinder_radius(const snw_obstacle *o) {
    return snw_select(isinf(o->half.z), o->radius, o->rounding);
}
static double box_depth(const snw_obstacle *o) {
    return fmin(o->half.x, fmin(o->half.y, o->half.z));
}
static double cylinder_depth(const snw_obstacle *o) { return fmin(o->radius, o->half.z); }
static double height_radius(const snw_obstacle *o) { return o->height->hump; }
static double hull_depth(const snw_obstacle *o) { return o->rounding + o->hull->inner; }
static double mesh_depth(const snw_obstacle *o) { return o->grid->deepest; }
// the spline rounds edges over a cell
static double mesh_radius(const snw_obstacle *o) { return o->grid->grid.step[0]; }

const snw_obstacle_type snw_obstacle_table[SNW_OBSTACLE_COUNT] = {
    [SNW_OBSTACLE_PLANE] = {"plane", "the half-space below z = 0", 0, 0, false, plane_distance,
                            obstacle_infinite, obstacle_infinite, obstacle_infinite},
    [SNW_OBSTACLE_SPHERE] = {"sphere", "a ball", SNW_SIZE_RADIUS, SNW_SIZE_RADIUS, true,
                             sphere_distance, obstacle_radius, obstacle_radius, obstacle_radius},
    [SNW_OBSTACLE_CAPSULE] = {"capsule", "a cylinder along z with hemispheres at its ends",
                              SNW_SIZE_RADIUS | SNW_SIZE_LENGTH, SNW_SIZE_RADIUS | SNW_SIZE_LENGTH,
                              true, capsule_distance, obstacle_radius, obstacle_radius,
                              obstacle_radius},
    [SNW_OBSTACLE_BOX] = {"box", "a box with rounded edges", SNW_SIZE_BOX,
                          SNW_SIZE_BOX | SNW_SIZE_ROUNDING, true, box_distance, obstacle_rounding,
                          obstacle_rounding, box_depth},
    [SNW_OBSTACLE_CYLINDER] = {"cylinder", "a cylinder along z with rounded rims, or endless",
                               SNW_SIZE_RADIUS,
                               SNW_SIZE_RADIUS | SNW_SIZE_LENGTH | SNW_SIZE_ROUNDING, true,
                               cylinder_distance, cylinder_radius, cylinder_radius, cylinder_depth},
    [SNW_OBSTACLE_TORUS] = {"torus", "a ring about z", SNW_SIZE_RADIUS | SNW_SIZE_SECTION,
                            SNW_SIZE_RADIUS | SNW_SIZE_SECTION, true, torus_distance,
                            obstacle_section, obstacle_section, obstacle_section},
    [SNW_OBSTACLE_HEIGHT] = {"height", "all below the surface z = h(x, y)", SNW_SIZE_AREA,
                             SNW_SIZE_HEIGHT | SNW_SIZE_FILE | SNW_SIZE_AREA | SNW_SIZE_SCALE |
                                 SNW_SIZE_CELLS,
                             false, height_distance, height_radius, height_radius,
                             obstacle_infinite},
    [SNW_OBSTACLE_MESH] = {"mesh", "a closed surface of triangles", SNW_SIZE_FILE,
                           SNW_SIZE_FILE | SNW_SIZE_SCALE | SNW_SIZE_CELLS, true, mesh_distance,
                           mesh_radius, obstacle_infinite, mesh_depth},
    [SNW_OBSTACLE_HULL] = {"hull", "the convex hull of points, rounded", 0,
                           SNW_SIZE_FILE | SNW_SIZE_CORNERS | SNW_SIZE_SCALE | SNW_SIZE_ROUNDING,
                           false, hull_distance, obstacle_rounding, obstacle_rounding, hull_depth},
};

double snw_obstacle_distance(const snw_obstacle *o, snw_vec3 y, snw_vec3 *n, snw_mat3 *H) {
    const double d = snw_obstacle_table[o->kind].distance(o, y, n, H);
    if (!o->inside) return d;
    *n = snw_scale(-1, *n);
    *H = snw_mat3_scale(-1, *H);
    return -d;
}
