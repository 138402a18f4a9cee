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

enum { CORNERS = 8, RIM = 48 };

static void plot_scene_corners(const snw_scene_body *b, snw_plot_part *part) {
    for (int i = 0; i < CORNERS; i++) {
        const snw_vec3 half = {{(i & 1 ? 0.5 : -0.5) * b->size[0],
                                (i & 2 ? 0.5 : -0.5) * b->size[1],
                                (i & 4 ? 0.5 : -0.5) * b->size[2]}};
        part->point[part->n++] = (snw_scene_point){.node = b->node, .at = snw_add(b->com, half)};
    }
}

static void plot_scene_rims(const snw_scene_body *b, snw_plot_part *part) {
    const double length = snw_norm(b->axis);
    const snw_vec3 d = length > 0 ? snw_scale(1 / length, b->axis) : (snw_vec3){{0, 0, 1}},
                   other = fabs(d.x) < 0.7 ? (snw_vec3){{1, 0, 0}} : (snw_vec3){{0, 1, 0}},
                   u = snw_scale(b->size[0], snw_normalise(snw_cross(d, other))),
                   v = snw_cross(d, u);
    for (int i = 0; i < 2 * RIM; i++) {
        const double a = 2 * 3.14159265358979323846 * i / RIM, z = i < RIM ? -0.5 : 0.5;
        snw_vec3 at = snw_add(b->com, snw_scale(z * b->size[1], d));
        at = snw_add(at, snw_add(snw_scale(cos(a), u), snw_scale(sin(a), v)));
        part->point[part->n++] = (snw_scene_point){.node = b->node, .at = at};
    }
}

static snw_status plot_scene_add_body(const snw_scene_body *b, snw_pool *pool, snw_plot_part *part,
                                      snw_error *err) {
    *part = (snw_plot_part){.link = b->link, .condition = b->condition};
    part->point = snw_pool_array(pool, 2 * RIM, sizeof *part->point);
    if (!part->point) return snw_fail_memory(err);
    switch (b->shape) {
    case SNW_SCENE_ANY:
        break;
    case SNW_SCENE_BOX:
        plot_scene_corners(b, part);
        break;
    case SNW_SCENE_CYLINDER:
        plot_scene_rims(b, part);
        break;
    case SNW_SCENE_SPHERE:
        part->point[part->n++] =
            (snw_scene_point){.node = b->node, .at = b->com, .radius = b->size[0]};
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
