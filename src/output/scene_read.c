// SPDX-License-Identifier: MIT
//
// Reader of scenes: JSON text to a tree, and the tree to geometry with checked node indices; for
// exports and figures.
#include "output/scene_read.h"

#include "base/fail.h"
#include "language/yaml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- text to tree ------------------------------------------------------------------------------

// The YAML parser does not accept empty keys; JSON does. Quotes within texts are escaped, so two
// consecutive quotes before a colon are an empty key.
const char SNW_SCENE_NAMELESS[] = "-";

// JSON with empty keys replaced; without `all` it ends before the last key, the changes.
static char *name_keys(snw_pool *pool, const char *json, bool all) {
    char *out = snw_pool_array(pool, 2, strlen(json) + 2);
    const char *changes = all ? NULL : strstr(json, ",\"changes\":[");
    size_t n = 0;
    for (const char *c = json; out && *c && c != changes; c++) {
        out[n++] = *c;
        if (strncmp(c, "\"\":", 3) == 0) out[n++] = SNW_SCENE_NAMELESS[0];
    }
    if (out && changes) out[n++] = '}';
    return out;
}

static snw_status read_tree(snw_pool *pool, const snw_run_info *info, bool all, snw_node **out,
                            snw_error *err) {
    *out = NULL;
    if (!info->scene || !info->scene[0]) return SNW_OK;
    const char *text = name_keys(pool, info->scene, all);
    if (!text) return snw_fail_memory(err);
    return snw_yaml_parse(pool, "scene", text, strlen(text), out, err);
}

snw_status snw_scene_tree(snw_pool *pool, const snw_run_info *info, snw_node **out,
                          snw_error *err) {
    return read_tree(pool, info, false, out, err);
}

// ---- values ------------------------------------------------------------------------------------

const char *snw_scene_text(const snw_node *map, const char *key) {
    const snw_node *node = snw_node_get(map, key);
    return node && node->kind == SNW_NODE_TEXT ? node->text : "";
}

const snw_node *snw_scene_named(const snw_node *list, const char *name) {
    for (int i = 0; list && list->kind == SNW_NODE_LIST && i < list->n; i++) {
        const snw_node *list_item = list->entry[i].value;
        if (strcmp(snw_scene_text(list_item, "name"), name) == 0) return list_item;
    }
    return NULL;
}

// Item i of a list; NULL: none.
static const snw_node *list_item(const snw_node *list, int i) {
    return list && list->kind == SNW_NODE_LIST && i < list->n ? list->entry[i].value : NULL;
}

static int list_length(const snw_node *list) {
    return list && list->kind == SNW_NODE_LIST ? list->n : 0;
}

// Number of a node; 0 when it is not a finite number.
static double node_number(const snw_node *node) {
    const double x = node && node->kind == SNW_NODE_TEXT ? strtod(node->text, NULL) : 0;
    return isfinite(x) ? x : 0;
}

static bool node_is_true(const snw_node *node) {
    return node && node->kind == SNW_NODE_TEXT && strcmp(node->text, "true") == 0;
}

static void list_numbers(const snw_node *list, int n, double *out) {
    for (int i = 0; i < n; i++) out[i] = node_number(list_item(list, i));
}

static snw_vec3 map_vector(const snw_node *map, const char *key) {
    snw_vec3 v;
    list_numbers(snw_node_get(map, key), 3, v.e);
    return v;
}

// *out <- an integer from -1 on
static bool node_integer(const snw_node *node, int *out) {
    if (!node || node->kind != SNW_NODE_TEXT) return false;
    char *end;
    const long value = strtol(node->text, &end, 10);
    *out = (int)value;
    return end != node->text && !*end && value >= -1 && value < 1 << 30;
}

static bool read_node(const snw_node *node, const snw_run_info *info, int *out) {
    return node_integer(node, out) && *out < info->nnode;
}

// *condition <- index of the condition, -1: always active; false: never active
static bool read_condition(const snw_node *thing, int ncondition, int *condition) {
    const char *text = snw_scene_text(thing, "switch");
    const long value = *text ? strtol(text, NULL, 10) : -1;
    *condition = value < ncondition ? (int)value : -1;
    return value >= -1;
}

// ---- rods --------------------------------------------------------------------------------------

static snw_status read_stations(snw_pool *pool, const snw_node *rod, snw_scene_rod *out,
                                snw_error *err) {
    const int n = out->count + 1;
    const bool rectangle = node_is_true(snw_node_get(rod, "rectangle"));
    out->x = snw_pool_array(pool, (size_t)n, sizeof *out->x);
    out->half = snw_pool_array(pool, (size_t)n, sizeof *out->half);
    out->hole = snw_pool_array(pool, (size_t)n, sizeof *out->hole);
    out->rest = snw_pool_array(pool, (size_t)n, sizeof *out->rest);
    out->stiffness = snw_pool_array(pool, (size_t)n, sizeof *out->stiffness);
    if (!out->x || !out->half || !out->hole || !out->rest || !out->stiffness)
        return snw_fail_memory(err);
    list_numbers(snw_node_get(rod, "x"), n, out->x);
    for (int k = 0; k < n; k++) {
        double half[3];
        list_numbers(list_item(snw_node_get(rod, "half"), k), 3, half);
        list_numbers(list_item(snw_node_get(rod, "rest"), k), 6, out->rest[k]);
        list_numbers(list_item(snw_node_get(rod, "stiffness"), k), 6, out->stiffness[k]);
        out->half[k][0] = half[0], out->half[k][1] = half[1];
        out->hole[k] = fmin(fmax(half[2], 0), 1);
        if (half[0] > 0) out->section = rectangle ? SNW_SCENE_SQUARE : SNW_SCENE_ROUND;
    }
    for (int i = 0; i < 6; i++) {
        out->elastic[i] = node_is_true(list_item(snw_node_get(rod, "free"), i));
    }
    return SNW_OK;
}

static bool read_rod(const snw_node *link, const snw_run_info *info, snw_scene_rod *out) {
    const snw_node *rod = snw_node_get(link, "rod");
    *out = (snw_scene_rod){.link = snw_scene_text(link, "name"),
                           .variable_length = strcmp(snw_scene_text(rod, "fed"), "true") == 0};
    return rod && read_node(snw_node_get(rod, "root"), info, &out->root) &&
           node_integer(snw_node_get(rod, "first"), &out->first) &&
           node_integer(snw_node_get(rod, "count"), &out->count) && out->first >= 0 &&
           out->count >= 0 && out->first <= info->nnode - out->count &&
           read_condition(link, info->ncondition, &out->condition);
}

// ---- rigid parts -------------------------------------------------------------------------------

// A body of a link, or each of its shapes, without the shape.
static bool read_body(const snw_node *link, const snw_run_info *info, snw_scene_body *out) {
    const snw_node *body = snw_node_get(link, "body");
    *out = (snw_scene_body){.link = snw_scene_text(link, "name"),
                            .bare = !snw_node_get(link, "rod"),
                            .com = map_vector(body, "com"),
                            .mass = node_number(snw_node_get(body, "mass"))};
    out->pose = (snw_se3){snw_mat3_identity(), out->com};
    list_numbers(snw_node_get(body, "inertia"), 6, out->inertia);
    return body && read_node(snw_node_get(link, "end"), info, &out->node) &&
           read_condition(body, info->ncondition, &out->condition);
}

// Its shape about its centre of mass: a box, a cylinder or a sphere.
static void read_single_shape(const snw_node *body, snw_scene_body *out) {
    static const char *const shapes[] = {"none", "box", "cylinder", "sphere"};
    for (int i = 1; i < 4; i++) {
        const bool is = strcmp(snw_scene_text(body, "shape"), shapes[i]) == 0;
        if (is) out->shape = (snw_scene_shape)i;
    }
    list_numbers(snw_node_get(body, "size"), 3, out->size);
    const snw_vec3 axis = map_vector(body, "axis");
    if (out->shape != SNW_SCENE_CYLINDER || !(snw_norm(axis) > 0)) return;
    const snw_vec3 z = snw_normalise(axis);
    const snw_vec3 other = fabs(z.x) < 0.7 ? (snw_vec3){{1, 0, 0}} : (snw_vec3){{0, 1, 0}};
    const snw_vec3 x = snw_normalise(snw_cross(z, other)), y = snw_cross(z, x);
    for (int i = 0; i < 3; i++) {
        const double row[3] = {x.e[i], y.e[i], z.e[i]};
        memcpy(out->pose.R.e[i], row, sizeof row);
    }
}

// Vertices and faces of a solid; vertices that do not exist are refused with their face.
static snw_status read_triangles(snw_pool *pool, const snw_node *solid, snw_scene_triangles *out,
                                 snw_error *err) {
    const snw_node *vertices = snw_node_get(solid, "vertices"),
                   *faces = snw_node_get(solid, "faces");
    const int nvertex = list_length(vertices) / 3, nface = list_length(faces) / 3;
    *out = (snw_scene_triangles){
        .smooth = strcmp(snw_scene_text(solid, "kind"), "height") == 0,
        .nvertex = nvertex,
        .vertex = snw_pool_array(pool, (size_t)nvertex + 1, sizeof *out->vertex),
        .face = snw_pool_array(pool, (size_t)nface + 1, sizeof *out->face)};
    if (!out->vertex || !out->face) return snw_fail_memory(err);
    for (int i = 0; i < nvertex; i++) {
        for (int k = 0; k < 3; k++)
            out->vertex[i].e[k] = node_number(list_item(vertices, 3 * i + k));
    }
    for (int i = 0; i < nface; i++) {
        bool known = true;
        for (int k = 0; k < 3; k++) {
            int *v = &out->face[out->nface][k];
            known =
                known && node_integer(list_item(faces, 3 * i + k), v) && *v >= 0 && *v < nvertex;
        }
        if (known) out->nface++;
    }
    return SNW_OK;
}

// Shape of a solid with a kind and sizes in its own axes; none of what is not drawn: a plane, an
// endless cylinder.
static snw_status read_solid_shape(snw_pool *pool, const snw_node *solid, snw_scene_body *out,
                                   snw_error *err) {
    static const struct {
        const char *kind;
        snw_scene_shape shape;
    } kinds[] = {{"box", SNW_SCENE_BOX},           {"sphere", SNW_SCENE_SPHERE},
                 {"cylinder", SNW_SCENE_CYLINDER}, {"capsule", SNW_SCENE_CAPSULE},
                 {"torus", SNW_SCENE_TORUS},       {"mesh", SNW_SCENE_BOX}};
    double size[3];
    list_numbers(snw_node_get(solid, "size"), 3, size);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(snw_scene_text(solid, "kind"), kinds[i].kind) == 0) out->shape = kinds[i].shape;
    }
    SNW_TRY(read_triangles(pool, solid, &out->surface, err));
    if (out->surface.nface > 0) out->shape = SNW_SCENE_SURFACE;
    // a height field may be much wider than what moves on it
    if (!out->surface.smooth) memcpy(out->size, size, sizeof size);
    if (out->shape == SNW_SCENE_BOX || out->shape == SNW_SCENE_SURFACE) return SNW_OK;
    out->size[0] = node_number(snw_node_get(solid, "radius"));
    out->size[1] =
        out->shape == SNW_SCENE_TORUS ? node_number(snw_node_get(solid, "section")) : size[2];
    out->size[2] = 0;
    if (out->shape == SNW_SCENE_CYLINDER && !(size[2] > 0)) out->shape = SNW_SCENE_ANY;
    return SNW_OK;
}

// The body of a link: by its shapes, if it has several.
static snw_status read_bodies(snw_pool *pool, const snw_node *link, const snw_run_info *info,
                              snw_scene_geometry *out, snw_error *err) {
    const snw_node *body = snw_node_get(link, "body"), *shapes = snw_node_get(body, "shapes");
    snw_scene_body common;
    if (!read_body(link, info, &common)) return SNW_OK;
    if (list_length(shapes) == 0) {
        read_single_shape(body, &common);
        out->body[out->nbody++] = common;
    }
    for (int i = 0; i < list_length(shapes); i++) {
        const snw_node *solid = list_item(shapes, i);
        snw_scene_body *to = &out->body[out->nbody];
        snw_quat turn;
        *to = common;
        to->bare = common.bare && i == 0;
        list_numbers(snw_node_get(solid, "turn"), 4, turn.e);
        to->pose = (snw_se3){snw_quat_to_mat3(snw_quat_normalise(turn)), map_vector(solid, "at")};
        SNW_TRY(read_solid_shape(pool, solid, to, err));
        if (to->shape != SNW_SCENE_ANY) out->nbody++;
    }
    return SNW_OK;
}

// Rigid connection of node i to its parent node; none for a base in the world.
static bool read_bar(const snw_node *scene, const snw_run_info *info, int i, snw_scene_bar *out) {
    const snw_node *how = list_item(snw_node_get(scene, "kind"), i);
    const snw_node *link = snw_scene_named(snw_node_get(scene, "links"), info->node_link[i]);
    *out = (snw_scene_bar){.link = info->node_link[i], .to = i};
    if (!how || how->kind != SNW_NODE_TEXT) return false;
    out->rail = strcmp(how->text, "screw") == 0 && node_is_true(snw_node_get(link, "slides"));
    return (out->rail || strcmp(how->text, "pose") == 0) &&
           read_node(list_item(snw_node_get(scene, "parent"), i), info, &out->from) &&
           out->from >= 0 && read_condition(link, info->ncondition, &out->condition);
}

// Obstacle as a body without mass; not the body of a link, which is drawn already.
static snw_status read_obstacle(snw_pool *pool, const snw_node *contact, const snw_run_info *info,
                                snw_scene_geometry *out, snw_error *err) {
    snw_scene_body *to = &out->body[out->nbody];
    *to = (snw_scene_body){.link = snw_scene_text(contact, "name"),
                           .condition = -1,
                           .pose = {snw_mat3_identity(), {{0}}}};
    if (node_is_true(snw_node_get(contact, "inside")) ||
        node_is_true(snw_node_get(contact, "body")) ||
        !read_node(snw_node_get(contact, "node"), info, &to->node))
        return SNW_OK;
    SNW_TRY(read_solid_shape(pool, contact, to, err));
    if (to->shape != SNW_SCENE_ANY) out->nbody++;
    return SNW_OK;
}

// ---- tendons, chambers, ground -----------------------------------------------------------------

static snw_status scene_read_read_tendon(snw_pool *pool, const snw_node *from,
                                         const snw_run_info *info, snw_scene_tendon *out,
                                         snw_error *err) {
    const snw_node *points = snw_node_get(from, "points");
    const char *symbol = snw_scene_text(from, "symbol"), *unit = snw_scene_text(from, "unit");
    const bool tendon = strcmp(snw_scene_text(from, "kind"), "tendon") == 0; // older files
    *out = (snw_scene_tendon){
        .name = snw_scene_text(from, "name"),
        .line = symbol[0] ? strcmp(symbol, "line") == 0 : tendon,
        .tension = unit[0] ? strcmp(unit, "N") == 0 : tendon,
        .point = snw_pool_array(pool, (size_t)list_length(points), sizeof *out->point)};
    if (!out->point) return snw_fail_memory(err);
    for (int i = 0; i < list_length(points); i++) {
        const snw_node *p = list_item(points, i);
        snw_scene_point *to = &out->point[out->n];
        for (int k = 0; k < 3; k++) to->at.e[k] = node_number(list_item(p, k + 1));
        to->radius = node_number(list_item(p, 4));
        if (read_node(list_item(p, 0), info, &to->node)) out->n++;
    }
    return SNW_OK;
}

// ---- scenes ------------------------------------------------------------------------------------

static snw_status read_links(snw_pool *pool, const snw_run_info *info, const snw_node *scene,
                             snw_scene_geometry *out, snw_error *err) {
    const snw_node *links = snw_node_get(scene, "links");
    for (int i = 0; i < list_length(links); i++) {
        const snw_node *link = list_item(links, i);
        if (read_rod(link, info, &out->rod[out->nrod])) {
            SNW_TRY(read_stations(pool, snw_node_get(link, "rod"), &out->rod[out->nrod], err));
            out->nrod++;
        }
        SNW_TRY(read_bodies(pool, link, info, out, err));
    }
    for (int i = 0; i < info->nnode; i++) {
        if (read_bar(scene, info, i, &out->bar[out->nbar])) out->nbar++;
    }
    return SNW_OK;
}

snw_status snw_scene_read(snw_pool *pool, const snw_run_info *info, const snw_node *scene,
                          snw_scene_geometry *out, snw_error *err) {
    const snw_node *tendons = snw_node_get(scene, "measures");
    const snw_node *grounds = snw_node_get(scene, "contacts");
    const snw_node *links = snw_node_get(scene, "links");
    const size_t nlink = (size_t)list_length(links);
    size_t nbody = nlink + (size_t)list_length(grounds) + 1;
    for (int i = 0; i < list_length(links); i++) {
        const snw_node *body = snw_node_get(list_item(links, i), "body");
        nbody += (size_t)list_length(snw_node_get(body, "shapes"));
    }
    const int ntendon = list_length(tendons) < info->ntendon ? list_length(tendons) : info->ntendon;
    *out = (snw_scene_geometry){
        .gravity = map_vector(scene, "gravity"),
        .rod = snw_pool_array(pool, nlink + 1, sizeof *out->rod),
        .body = snw_pool_array(pool, nbody, sizeof *out->body),
        .bar = snw_pool_array(pool, (size_t)info->nnode + 1, sizeof *out->bar),
        .tendon = snw_pool_array(pool, (size_t)ntendon, sizeof *out->tendon),
        .ground = snw_pool_array(pool, (size_t)list_length(grounds), sizeof *out->ground)};
    if (!out->rod || !out->body || !out->bar || !out->tendon || !out->ground) {
        return snw_fail_memory(err);
    }
    SNW_TRY(read_links(pool, info, scene, out, err));
    for (; out->ntendon < ntendon; out->ntendon++) {
        SNW_TRY(scene_read_read_tendon(pool, list_item(tendons, out->ntendon), info,
                                       &out->tendon[out->ntendon], err));
    }
    for (int i = 0; i < list_length(grounds); i++) {
        const snw_node *c = list_item(grounds, i);
        snw_scene_ground *to = &out->ground[out->nground];
        *to = (snw_scene_ground){snw_scene_text(c, "name"), map_vector(c, "at"),
                                 map_vector(c, "normal")};
        const char *kind = snw_scene_text(c, "kind");
        const bool plane = !*kind || strcmp(kind, "ground") == 0; // older files have no kind
        if (plane && snw_norm(to->normal) > 0) out->nground++;
        if (!plane) SNW_TRY(read_obstacle(pool, c, info, out, err));
    }
    return SNW_OK;
}

// Do both have the same rods on the same nodes, and as many tendons?
static bool same_topology(const snw_scene_geometry *a, const snw_scene_geometry *b) {
    if (a->nrod != b->nrod || a->ntendon != b->ntendon) return false;
    for (int i = 0; i < a->nrod; i++) {
        const snw_scene_rod *p = &a->rod[i], *q = &b->rod[i];
        if (p->root != q->root || p->first != q->first || p->count != q->count) return false;
    }
    return true;
}

snw_status snw_scene_phases(snw_pool *pool, const snw_run_info *info, int *n, snw_scene_phase **out,
                            snw_error *err) {
    snw_node *scene;
    *n = 0;
    // with all changes it may exceed the limits of a tree
    if (read_tree(pool, info, true, &scene, NULL) != SNW_OK) {
        SNW_TRY(snw_scene_tree(pool, info, &scene, err));
    }
    if (!scene) return SNW_OK;
    const snw_node *changes = snw_node_get(scene, "changes");
    *out = snw_pool_array(pool, (size_t)list_length(changes) + 1, sizeof **out);
    if (!*out) return snw_fail_memory(err);
    SNW_TRY(snw_scene_read(pool, info, scene, &(*out)[(*n)++].geometry, err));
    for (int i = 0; i < list_length(changes); i++) {
        snw_scene_phase *e = &(*out)[*n];
        if (!node_integer(snw_node_get(list_item(changes, i), "stage"), &e->stage)) continue;
        SNW_TRY(snw_scene_read(pool, info, list_item(changes, i), &e->geometry, err));
        if (same_topology(&(*out)[0].geometry, &e->geometry) && e->stage >= e[-1].stage) (*n)++;
    }
    return SNW_OK;
}
