// SPDX-License-Identifier: MIT
//
// Quantities, rods, bodies and tendons of a scene for figures.
#include "output/plot_scene.h"

#include "base/fail.h"

#include <math.h>
#include <string.h>

// ---- quantities --------------------------------------------------------------------------------

// Quantity of a probe by its kind and unit; NULL: any. The first matching line is used. shown: unit
// for display, NULL: the unit itself.
static const struct {
    const char *kind, *unit, *quantity, *shown;
} quantities[] = {
    {"center_of_mass", NULL, "centre of mass", NULL},
    {"position", NULL, "position", NULL},
    {"pose", "m", "position", NULL},
    {"acceleration", "m/s^2", "acceleration", NULL},
    {"acceleration", "1/s^2", "angular acceleration", "rad/s^2"},
    {"strain", "1/m", "curvature", NULL},
    {"strain", "", "strain", NULL},
    {"angle", "", "angle", "rad"},
    {"energy", NULL, "energy", "J"},
    {"effort", "N*m", "torque", NULL},
    {"momentum", "kg*m/s", "momentum", NULL},
    {"momentum", NULL, "angular momentum", NULL},
    {"frequency", NULL, "frequency", "Hz"},
    {"power", NULL, "power", NULL},
    {"length", NULL, "length", NULL},
    {"tension", NULL, "tension", NULL},
    {"volume", NULL, "volume", NULL},
    {"pressure", NULL, "pressure", NULL},
    {"stability", NULL, "stability", NULL},
    {NULL, "rad", "angle", NULL},
    {NULL, "m", "displacement", NULL},
    {NULL, "m/s", "velocity", NULL},
    {NULL, "1/s", "angular velocity", "rad/s"},
    {NULL, "N*m", "moment", NULL},
    {NULL, "N", "force", NULL},
    {NULL, "m^3", "volume", NULL},
    {NULL, "m^3/s", "flow", NULL},
    {NULL, "Pa", "pressure", NULL},
    {NULL, "1/m", "curvature", NULL},
};

// Components of a rotation, identified by name since they have no unit.
static void plot_scene_of_rotation(const char *component, const char **quantity,
                                   const char **unit) {
    const bool vector = component[0] == 'r';
    *quantity = vector ? "rotation vector" : component[0] == 'q' ? "quaternion" : "rotation matrix";
    *unit = vector ? "rad" : "";
}

void snw_plot_quantity(const snw_node *scene, const snw_column *c, const char **quantity,
                       const char **unit) {
    *quantity = "value";
    *unit = "";
    const snw_node *probe = snw_scene_named(snw_node_get(scene, "probes"), c->probe);
    if (!probe) return;
    const char *kind = snw_scene_text(probe, "kind"),
               *si = snw_scene_text(snw_node_get(probe, "units"),
                                    c->component[0] ? c->component : SNW_SCENE_NAMELESS);
    *unit = si;
    const bool turns = snw_node_get(snw_node_get(probe, "units"), "qw") != NULL;
    if (turns && strcmp(si, "m") != 0) {
        plot_scene_of_rotation(c->component, quantity, unit);
        return;
    }
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        if (quantities[i].kind && strcmp(quantities[i].kind, kind) != 0) continue;
        if (quantities[i].unit && strcmp(quantities[i].unit, si) != 0) continue;
        *quantity = quantities[i].quantity;
        if (quantities[i].shown) *unit = quantities[i].shown;
        return;
    }
}

// ---- rods --------------------------------------------------------------------------------------

snw_status snw_plot_rods(const snw_scene_geometry *geometry, snw_pool *pool, int *n,
                         snw_plot_rod **out, snw_error *err) {
    *n = 0;
    *out = snw_pool_array(pool, (size_t)geometry->nrod + (size_t)geometry->nbar, sizeof **out);
    if (!*out) return snw_fail_memory(err);
    for (int i = 0; i < geometry->nrod; i++) {
        const snw_scene_rod *r = &geometry->rod[i];
        (*out)[(*n)++] = (snw_plot_rod){.link = r->link,
                                        .root = r->root,
                                        .first = r->first,
                                        .count = r->count,
                                        .condition = r->condition};
    }
    for (int i = 0; i < geometry->nbar; i++) {
        const snw_scene_bar *b = &geometry->bar[i];
        if (b->rail) continue;
        (*out)[(*n)++] = (snw_plot_rod){.link = b->link,
                                        .rigid = true,
                                        .root = b->from,
                                        .first = b->to,
                                        .count = 1,
                                        .condition = b->condition};
    }
    return SNW_OK;
}

// ---- bodies and tendons ------------------------------------------------------------------------

enum { CORNERS = 8, RIM = 48, CAP = 4 };

static void plot_scene_add_point(const snw_scene_body *b, snw_vec3 at, snw_plot_part *part) {
    part->point[part->n++] = (snw_scene_point){.node = b->node, .at = snw_se3_point(b->pose, at)};
}

static void plot_scene_corners(const snw_scene_body *b, snw_plot_part *part) {
    for (int i = 0; i < CORNERS; i++) {
        const snw_vec3 half = {{(i & 1 ? 0.5 : -0.5) * b->size[0],
                                (i & 2 ? 0.5 : -0.5) * b->size[1],
                                (i & 4 ? 0.5 : -0.5) * b->size[2]}};
        plot_scene_add_point(b, half, part);
    }
}

// Circle of a radius about the axis.
static void plot_scene_rim(const snw_scene_body *b, double radius, double z, snw_plot_part *part) {
    for (int i = 0; i < RIM; i++) {
        const double a = 2 * 3.14159265358979323846 * i / RIM;
        plot_scene_add_point(b, (snw_vec3){{radius * cos(a), radius * sin(a), z}}, part);
    }
}

// Circles of the halves of a ball at both ends of a capsule, from pole to equator.
static void plot_scene_capsule(const snw_scene_body *b, snw_plot_part *part) {
    for (int i = 0; i < 2 * CAP; i++) {
        const double a = 0.5 * 3.14159265358979323846 * (i % CAP) / (CAP - 1);
        const double z = 0.5 * b->size[1] + b->size[0] * cos(a);
        plot_scene_rim(b, b->size[0] * sin(a), i < CAP ? z : -z, part);
    }
}

static snw_status plot_scene_add_body(const snw_scene_body *b, snw_pool *pool, snw_plot_part *part,
                                      snw_error *err) {
    *part = (snw_plot_part){.link = b->link, .condition = b->condition};
    part->point =
        snw_pool_array(pool, 2 * CAP * RIM + (size_t)b->surface.nvertex, sizeof *part->point);
    if (!part->point) return snw_fail_memory(err);
    switch (b->shape) {
    case SNW_SCENE_ANY:
        break;
    case SNW_SCENE_BOX:
        plot_scene_corners(b, part);
        break;
    case SNW_SCENE_CYLINDER:
        for (int i = -1; i < 2; i += 2) plot_scene_rim(b, b->size[0], 0.5 * i * b->size[1], part);
        break;
    case SNW_SCENE_SPHERE:
        part->point[part->n++] =
            (snw_scene_point){.node = b->node, .at = b->pose.p, .radius = b->size[0]};
        break;
    case SNW_SCENE_CAPSULE:
        plot_scene_capsule(b, part);
        break;
    case SNW_SCENE_TORUS:
        plot_scene_rim(b, b->size[0] + b->size[1], 0, part);
        for (int i = -1; i < 2; i += 2) plot_scene_rim(b, b->size[0], i * b->size[1], part);
        break;
    case SNW_SCENE_SURFACE:
        for (int i = 0; i < b->surface.nvertex; i++)
            plot_scene_add_point(b, b->surface.vertex[i], part);
        break;
    }
    return SNW_OK;
}

snw_status snw_plot_parts(const snw_scene_geometry *geometry, snw_pool *pool, int *n,
                          snw_plot_part **out, snw_error *err) {
    *n = 0;
    *out = snw_pool_array(pool, (size_t)geometry->nbody + (size_t)geometry->ntendon, sizeof **out);
    if (!*out) return snw_fail_memory(err);
    for (int i = 0; i < geometry->nbody; i++) {
        if (geometry->body[i].shape == SNW_SCENE_ANY) continue;
        SNW_TRY(plot_scene_add_body(&geometry->body[i], pool, &(*out)[(*n)++], err));
    }
    for (int i = 0; i < geometry->ntendon; i++) {
        const snw_scene_tendon *tendon = &geometry->tendon[i];
        if (!tendon->tension || tendon->n < 2) continue;
        (*out)[(*n)++] = (snw_plot_part){.condition = -1, .n = tendon->n, .point = tendon->point};
    }
    return SNW_OK;
}
