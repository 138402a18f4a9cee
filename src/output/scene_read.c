// SPDX-License-Identifier: MIT
//
// Reader of scenes: JSON text to a tree, and the tree to geometry with checked node indices; for
// exports and figures.
#include "output/scene_read.h"

#include "base/fail.h"
#include "language/yaml.h"

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

static bool read_body(const snw_node *link, const snw_run_info *info, snw_scene_body *out) {
    static const char *const shapes[] = {"none", "box", "cylinder", "sphere"};
    const snw_node *body = snw_node_get(link, "body");
    *out = (snw_scene_body){.link = snw_scene_text(link, "name"),
                            .bare = !snw_node_get(link, "rod"),
                            .axis = map_vector(body, "axis"),
                            .com = map_vector(body, "com"),
                            .mass = node_number(snw_node_get(body, "mass"))};
    list_numbers(snw_node_get(body, "size"), 3, out->size);
    list_numbers(snw_node_get(body, "inertia"), 6, out->inertia);
    for (int i = 1; i < 4; i++) {
        const bool is = strcmp(snw_scene_text(body, "shape"), shapes[i]) == 0;
        if (is) out->shape = (snw_scene_shape)i;
    }
    return body && read_node(snw_node_get(link, "end"), info, &out->node) &&
           read_condition(body, info->ncondition, &out->condition);
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

// Obstacle as a body without mass: a ball, a box or a cylinder of finite length.
static bool read_obstacle(const snw_node *contact, const snw_run_info *info, snw_scene_body *out) {
    const char *kind = snw_scene_text(contact, "kind");
    *out = (snw_scene_body){
        .link = snw_scene_text(contact, "name"), .condition = -1, .axis = {{0, 0, 1}}};
    const double radius = node_number(snw_node_get(contact, "radius"));
    list_numbers(snw_node_get(contact, "size"), 3, out->size);
    if (strcmp(kind, "box") == 0) {
        out->shape = SNW_SCENE_BOX;
    } else if (strcmp(kind, "sphere") == 0) {
        out->shape = SNW_SCENE_SPHERE;
        out->size[0] = radius;
    } else if (strcmp(kind, "cylinder") == 0 && out->size[2] > 0) {
        out->shape = SNW_SCENE_CYLINDER;
        out->size[0] = radius;
        out->size[1] = out->size[2];
    }
    return out->shape != SNW_SCENE_ANY && !node_is_true(snw_node_get(contact, "inside")) &&
           read_node(snw_node_get(contact, "node"), info, &out->node);
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
        if (read_body(link, info, &out->body[out->nbody])) out->nbody++;
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
    const size_t nlink = (size_t)list_length(snw_node_get(scene, "links"));
    const int ntendon = list_length(tendons) < info->ntendon ? list_length(tendons) : info->ntendon;
    *out = (snw_scene_geometry){
        .gravity = map_vector(scene, "gravity"),
        .rod = snw_pool_array(pool, nlink + 1, sizeof *out->rod),
        .body = snw_pool_array(pool, nlink + (size_t)list_length(grounds) + 1, sizeof *out->body),
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
        if (!plane && read_obstacle(c, info, &out->body[out->nbody])) out->nbody++;
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
