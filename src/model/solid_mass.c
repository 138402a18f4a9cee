// SPDX-License-Identifier: MIT
//
// Volume, centre and inertia of spheres, capsules, boxes, cylinders, hulls and meshes, and of
// bodies made of them.
#include "model/solid_mass.h"

#include "model/convex_hull.h"
#include "model/distance_grid.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

// Of a solid in its own axes, which are its principal axes.
static snw_solid_mass principal(double volume, double x, double y, double z) {
    return (snw_solid_mass){.volume = volume, .inertia = {{{x, 0, 0}, {0, y, 0}, {0, 0, z}}}};
}

// A cylinder and the two halves of a ball, whose centres are 3r/8 beyond its ends.
static snw_solid_mass capsule_mass(double r, double length) {
    const double middle = PI * r * r * length, ball = 4 * PI / 3 * r * r * r, all = middle + ball;
    const double along = (middle * r * r / 2 + ball * 2 * r * r / 5) / all;
    const double across = (middle * (r * r / 4 + length * length / 12) +
                           ball * (2 * r * r / 5 + length * length / 4 + 3 * length * r / 8)) /
                          all;
    return principal(all, across, across, along);
}

static snw_solid_mass mesh_mass(const snw_triangle_mesh *m) {
    snw_solid_mass out = {.volume = snw_mesh_volume(m)};
    snw_mat3 second;
    snw_mesh_moments(m, &out.centre, &second);
    const double trace = second.e[0][0] + second.e[1][1] + second.e[2][2];
    out.inertia =
        snw_mat3_add(snw_mat3_scale(trace, snw_mat3_identity()), snw_mat3_scale(-1, second));
    return out;
}

static snw_solid_mass solid_mass(const snw_obstacle *o) {
    const double r = o->radius, length = 2 * o->half.z;
    const snw_vec3 w = snw_scale(2, o->half);
    switch (o->kind) {
    case SNW_OBSTACLE_SPHERE:
        return principal(4 * PI / 3 * r * r * r, 2 * r * r / 5, 2 * r * r / 5, 2 * r * r / 5);
    case SNW_OBSTACLE_CAPSULE:
        return capsule_mass(r, length);
    case SNW_OBSTACLE_BOX:
        return principal(w.x * w.y * w.z, (w.y * w.y + w.z * w.z) / 12,
                         (w.z * w.z + w.x * w.x) / 12, (w.x * w.x + w.y * w.y) / 12);
    case SNW_OBSTACLE_CYLINDER: {
        const double across = r * r / 4 + length * length / 12;
        return principal(PI * r * r * length, across, across, r * r / 2);
    }
    case SNW_OBSTACLE_MESH:
        return mesh_mass(&o->grid->mesh);
    case SNW_OBSTACLE_HULL:
        return mesh_mass(&o->hull->mesh);
    case SNW_OBSTACLE_PLANE:
    case SNW_OBSTACLE_TORUS:
    case SNW_OBSTACLE_HEIGHT:
    case SNW_OBSTACLE_COUNT:
        break;
    }
    return (snw_solid_mass){0};
}

snw_solid_mass snw_solids_mass(int n, const snw_body_solid *solid) {
    snw_solid_mass all = {0};
    for (int i = 0; i < n; i++) {
        const snw_solid_mass part = solid_mass(&solid[i].shape);
        all.volume += part.volume;
        all.centre =
            snw_add(all.centre, snw_scale(part.volume, snw_se3_point(solid[i].pose, part.centre)));
    }
    all.centre = snw_scale(1 / all.volume, all.centre);
    for (int i = 0; i < n; i++) {
        const snw_solid_mass part = solid_mass(&solid[i].shape);
        const snw_mat3 R = solid[i].pose.R;
        const snw_vec3 d = snw_sub(snw_se3_point(solid[i].pose, part.centre), all.centre);
        // of the part about the common centre (Steiner)
        const snw_mat3 own = snw_mat3_mul(R, snw_mat3_mul(part.inertia, snw_mat3_transpose(R)));
        const snw_mat3 off = snw_mat3_add(snw_mat3_scale(snw_dot(d, d), snw_mat3_identity()),
                                          snw_mat3_scale(-1, snw_outer(d, d)));
        all.inertia = snw_mat3_add(
            all.inertia, snw_mat3_scale(part.volume / all.volume, snw_mat3_add(own, off)));
    }
    // symmetric in spite of rounding errors
    all.inertia = snw_mat3_scale(0.5, snw_mat3_add(all.inertia, snw_mat3_transpose(all.inertia)));
    return all;
}
