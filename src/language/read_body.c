// SPDX-License-Identifier: MIT
//
// Reads mass, centre of mass and inertia of a rigid body, given directly or computed from a box,
// cylinder or sphere, or from several shapes.
#include "language/read.h"

#include "base/fail.h"
#include "model/contact_samples.h"
#include "model/inertia.h"
#include "model/solid_mass.h"

#include <math.h>
#include <stdio.h>

#define BODY_KEYS(X)                                                                               \
    X(BODY_MASS, "mass", "kg", "mass")                                                             \
    X(BODY_COM, "com", "three lengths, m",                                                         \
      "centre of mass in the link's frame; if absent its origin, or the centre of its shapes")     \
    X(BODY_INERTIA, "inertia", "three, or 3 lists of 3, kg m^2",                                   \
      "about the centre of mass, along the link's axes; that of its shape, or a point, if absent") \
    X(BODY_INERTIA_AXES, "inertia_axes", "a rotation",                                             \
      "of the axes along which 'inertia' is given, as that of a pose; those of the link if "       \
      "absent")                                                                                    \
    X(BODY_BOX, "box", "three lengths, m",                                                         \
      "shape for drawing and contact, with these full widths")                                     \
    X(BODY_CYLINDER, "cylinder", "a cylinder", "likewise")                                         \
    X(BODY_SPHERE, "sphere", "a sphere", "likewise")                                               \
    X(BODY_SHAPES, "shapes", "a list of shapes",                                                   \
      "several, each with its pose in the link's frame")                                           \
    X(BODY_VISUAL, "visual", "a list of shapes",                                                   \
      "drawn instead of the others; without mass and contact")                                     \
    X(BODY_DENSITY, "density", "kg/m^3", "of its shape or shapes, instead of mass")
#define CYLINDER_KEYS(X)                                                                           \
    X(CYLINDER_RADIUS, "radius", "m", "radius, required")                                          \
    X(CYLINDER_LENGTH, "length", "m", "length along the axis, required")                           \
    X(CYLINDER_AXIS, "axis", "x y z or a vector", "its axis, z unless given")
#define SPHERE_KEYS(X) X(SPHERE_RADIUS, "radius", "m", "radius, required")

enum { BODY_KEYS(SNW_KEY_CODE) BODY_N };
enum { CYLINDER_KEYS(SNW_KEY_CODE) CYLINDER_N };
enum { SPHERE_KEYS(SNW_KEY_CODE) SPHERE_N };
SNW_KEYS(body, "body", "a body", BODY_KEYS);
SNW_KEYS(cylinder, "cylinder", "a cylinder", CYLINDER_KEYS);
SNW_KEYS(sphere, "sphere", "a sphere", SPHERE_KEYS);

static const snw_dim moment = {.m = 2, .kg = 1};

static snw_status read_box(snw_reader *r, const snw_node *node, snw_body_solid *out) {
    snw_vec3 w;
    SNW_TRY(snw_read_vec3(r, node, "box", SNW_DIM_LENGTH, &w));
    for (int i = 0; i < 3; i++) {
        if (w.e[i] > 0) continue;
        return snw_fail_at(r->err, node->entry[i].value->location,
                           "a width of a 'box' must be positive, got %g", w.e[i]);
    }
    out->shape.kind = SNW_OBSTACLE_BOX;
    out->shape.half = snw_scale(0.5, w);
    return SNW_OK;
}

static snw_status read_cylinder(snw_reader *r, const snw_node *node, snw_body_solid *out) {
    const snw_entry *e[CYLINDER_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_cylinder, e));
    if (!e[CYLINDER_RADIUS] || !e[CYLINDER_LENGTH]) {
        return snw_fail_at(r->err, node->location, "a cylinder needs its radius and length");
    }
    double length = 0;
    snw_vec3 z = {{0, 0, 1}}, x, y;
    out->shape.kind = SNW_OBSTACLE_CYLINDER;
    SNW_TRY(snw_read_positive(r, e[CYLINDER_RADIUS]->value, "radius", SNW_DIM_LENGTH,
                              &out->shape.radius));
    SNW_TRY(snw_read_positive(r, e[CYLINDER_LENGTH]->value, "length", SNW_DIM_LENGTH, &length));
    if (e[CYLINDER_AXIS]) SNW_TRY(snw_read_direction(r, e[CYLINDER_AXIS]->value, "axis", &z));
    out->shape.half.z = 0.5 * length;
    snw_joint_across(z, &x, &y);
    for (int i = 0; i < 3; i++) {
        out->pose.R.e[i][0] = x.e[i];
        out->pose.R.e[i][1] = y.e[i];
        out->pose.R.e[i][2] = z.e[i];
    }
    return SNW_OK;
}

static snw_status read_sphere(snw_reader *r, const snw_node *node, snw_body_solid *out) {
    const snw_entry *e[SPHERE_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_sphere, e));
    if (!e[SPHERE_RADIUS]) {
        return snw_fail_at(r->err, node->location, "a sphere needs its radius");
    }
    out->shape.kind = SNW_OBSTACLE_SPHERE;
    return snw_read_positive(r, e[SPHERE_RADIUS]->value, "radius", SNW_DIM_LENGTH,
                             &out->shape.radius);
}

// One solid about the centre of mass.
static snw_status read_single(snw_reader *r, const snw_entry *const *e, snw_body_desc *out) {
    snw_body_solid *s = snw_pool_take(r->pool, sizeof *s);
    if (!s) return snw_read_memory(r);
    s->pose = (snw_se3){snw_mat3_identity(), out->com};
    if (e[BODY_BOX]) SNW_TRY(read_box(r, e[BODY_BOX]->value, s));
    if (e[BODY_CYLINDER]) SNW_TRY(read_cylinder(r, e[BODY_CYLINDER]->value, s));
    if (e[BODY_SPHERE]) SNW_TRY(read_sphere(r, e[BODY_SPHERE]->value, s));
    if (!e[BODY_SPHERE]) s->shape.rounding = SNW_OBSTACLE_ROUNDING * snw_solid_fineness(&s->shape);
    out->nsolid = 1;
    out->solid = s;
    return SNW_OK;
}

// The solids, and the mass, centre and inertia that follow from them.
static snw_status read_solids(snw_reader *r, const snw_node *node, const snw_entry *const *e,
                              const char *name, snw_body_desc *out) {
    if (!e[BODY_MASS] == !e[BODY_DENSITY]) {
        return snw_fail_at(r->err, node->location, "a shape needs its mass or its density%s",
                           e[BODY_MASS] ? ", not both" : "");
    }
    SNW_TRY(e[BODY_SHAPES] ? snw_read_body_shapes(r, e[BODY_SHAPES], name, out)
                           : read_single(r, e, out));
    if (e[BODY_SHAPES] && e[BODY_COM] && !e[BODY_INERTIA]) {
        return snw_fail_at(r->err, e[BODY_COM]->location,
                           "with 'com' the mass of the shapes is not spread evenly; give 'inertia' "
                           "too, or leave out 'com'");
    }
    const snw_solid_mass all = snw_solids_mass(out->nsolid, out->solid);
    if (e[BODY_DENSITY]) {
        double density = 0;
        SNW_TRY(snw_read_positive(r, e[BODY_DENSITY]->value, "density", SNW_DIM_DENSITY, &density));
        out->mass = density * all.volume;
    }
    if (!e[BODY_SHAPES] || !e[BODY_COM]) out->volume = all.volume;
    if (e[BODY_SHAPES] && !e[BODY_COM]) out->com = all.centre;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) out->inertia.e[i][j] = out->mass * all.inertia.e[i][j];
    }
    return SNW_OK;
}

// The second moments of mass of a body, tr(I)/2 1 - I, are positive semidefinite: no principal
// moment exceeds the sum of the other two. The tolerance allows for rounded data.
static snw_status check_inertia(snw_reader *r, const snw_node *node, const snw_mat3 *I, bool full) {
    static const double slack = 1e-6;
    double p[3];
    char nearest[160];
    const snw_mat3 n = snw_inertia_nearest(I, p);
    double moved = 0, size = 0;
    for (int i = 0; i < 9; i++) {
        moved = fmax(moved, fabs(n.e[i / 3][i % 3] - I->e[i / 3][i % 3]));
        size += i % 4 == 0 ? fabs(I->e[i / 3][i / 3]) : 0;
    }
    if (moved <= slack * size) return SNW_OK;
    (void)snprintf(nearest, sizeof nearest,
                   full ? "[[%.6g, %.6g, %.6g], [%.6g, %.6g, %.6g], [%.6g, %.6g, %.6g]]"
                        : "[%.6g, %.6g, %.6g]",
                   n.e[0][0], full ? n.e[0][1] : n.e[1][1], full ? n.e[0][2] : n.e[2][2], n.e[1][0],
                   n.e[1][1], n.e[1][2], n.e[2][0], n.e[2][1], n.e[2][2]);
    for (int i = 0; i < 3; i++) {
        if (fabs(p[i]) < 1e-6 * size) p[i] = 0; // rounding error
    }
    if (p[0] < 0)
        return snw_fail_at(r->err, node->location,
                           "'inertia' must not be negative about any axis, and a principal moment "
                           "is %.4g kg m^2; the nearest that a body can have is %s",
                           p[0], nearest);
    return snw_fail_at(r->err, node->location,
                       "no body has this 'inertia': its principal moments are %.4g, %.4g and %.4g "
                       "kg m^2, and the largest is at most the sum of the others; the nearest that "
                       "a body can have is %s; if only the largest matters, give half of it for "
                       "the others",
                       p[0], p[1], p[2], nearest);
}

// *I, given along other axes, in those of the link
static snw_status turn_inertia(snw_reader *r, const snw_entry *axes, snw_mat3 *I) {
    snw_pose_desc pose = snw_pose_desc_identity();
    SNW_TRY(snw_read_pose(r, axes->value, &pose));
    if (pose.xyz[0] || pose.xyz[1] || pose.xyz[2] || snw_pose_desc_vars(&pose) != 0)
        return snw_fail_at(r->err, axes->location,
                           "'inertia_axes' is a constant rotation, e.g. '{rpy: [0, 30 deg, 0]}'; "
                           "'com' is the place");
    const snw_mat3 R = snw_pose_desc_at(&pose, 0).R;
    *I = snw_mat3_mul(R, snw_mat3_mul(*I, snw_mat3_transpose(R)));
    return SNW_OK;
}

static snw_status read_inertia(snw_reader *r, const snw_node *node, snw_mat3 *out) {
    SNW_TRY(snw_read_list(r, node, "inertia", 3));
    const bool full = node->entry[0].value->kind == SNW_NODE_LIST;
    for (int i = 0; i < 3; i++) {
        const snw_node *row = node->entry[i].value;
        if (!full) {
            SNW_TRY(snw_read_constant(r, row, "inertia", moment, &out->e[i][i]));
            continue;
        }
        snw_vec3 v;
        SNW_TRY(snw_read_vec3(r, row, "inertia", moment, &v));
        for (int j = 0; j < 3; j++) out->e[i][j] = v.e[j];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < i; j++) {
            const double a = out->e[i][j], b = out->e[j][i];
            const double size = fabs(out->e[i][i]) + fabs(out->e[j][j]);
            out->e[i][j] = out->e[j][i] = 0.5 * (a + b);
            if (fabs(a - b) <= 1e-6 * size) continue; // rounded data
            return snw_fail_at(r->err, node->location,
                               "'inertia' must be symmetric: row %d, column %d is %g, its mirror "
                               "%g",
                               i + 1, j + 1, a, b);
        }
    }
    return check_inertia(r, node, out, full);
}

snw_status snw_read_body(snw_reader *r, const snw_node *node, const char *name,
                         snw_body_desc *out) {
    const snw_entry *e[BODY_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_body, e));
    int shapes = 0;
    for (int i = BODY_BOX; i <= BODY_SHAPES; i++) shapes += e[i] != NULL;
    if (shapes > 1) {
        return snw_fail_at(r->err, node->location,
                           "a body has one shape: box, cylinder or sphere; or a list of 'shapes'");
    }
    if (shapes == 0 && !e[BODY_MASS]) {
        return snw_fail_at(r->err, node->location, "a body needs its mass, e.g. 'mass: 20 g'");
    }
    if (shapes == 0 && e[BODY_DENSITY]) {
        return snw_fail_at(r->err, e[BODY_DENSITY]->location,
                           "'density' is for a box, cylinder or sphere, or 'shapes'; give the "
                           "mass");
    }
    if (e[BODY_MASS]) {
        SNW_TRY(snw_read_constant(r, e[BODY_MASS]->value, "mass", SNW_DIM_MASS, &out->mass));
        if (!(out->mass >= 0)) {
            return snw_fail_at(r->err, e[BODY_MASS]->value->location,
                               "'mass' must not be negative, got %g", out->mass);
        }
    }
    if (e[BODY_COM]) {
        SNW_TRY(snw_read_vec3(r, e[BODY_COM]->value, "com", SNW_DIM_LENGTH, &out->com));
    }
    if (shapes == 1) SNW_TRY(read_solids(r, node, e, name, out));
    if (shapes == 1 && e[BODY_INERTIA]) out->inertia = (snw_mat3){0};
    if (e[BODY_VISUAL]) SNW_TRY(snw_read_body_visual(r, e[BODY_VISUAL], name, out));
    if (e[BODY_INERTIA_AXES] && !e[BODY_INERTIA])
        return snw_fail_at(r->err, e[BODY_INERTIA_AXES]->location,
                           "'inertia_axes' are those of 'inertia'; give it too");
    if (!e[BODY_INERTIA]) return SNW_OK;
    SNW_TRY(read_inertia(r, e[BODY_INERTIA]->value, &out->inertia));
    return e[BODY_INERTIA_AXES] ? turn_inertia(r, e[BODY_INERTIA_AXES], &out->inertia) : SNW_OK;
}
