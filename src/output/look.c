// SPDX-License-Identifier: MIT
#include "output/look.h"

#include "base/fail.h"
#include "language/yaml.h"

#include <stdlib.h>
#include <string.h>

// ---- text to tree ------------------------------------------------------------------------------

// Our YAML knows no empty keys, JSON does. Within texts quotes are escaped, so two in a row before
// a colon are such a key.
const char SNW_SCENE_NAMELESS[] = "-";

// without `all` only what stands before the changes, which come last
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

static snw_status look_no_memory(snw_error *err) {
    return snw_fail(err, SNW_E_MEMORY, "out of memory");
}

static snw_status read_tree(snw_pool *pool, const snw_run_info *info, bool all, snw_node **out,
                            snw_error *err) {
    *out = NULL;
    if (!info->scene || !info->scene[0]) return SNW_OK;
    const char *text = name_keys(pool, info->scene, all);
    if (!text) return look_no_memory(err);
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
        const snw_node *item = list->entry[i].value;
        if (strcmp(snw_scene_text(item, "name"), name) == 0) return item;
    }
    return NULL;
}

// item i, NULL when there is none
static const snw_node *item(const snw_node *list, int i) {
    return list && list->kind == SNW_NODE_LIST && i < list->n ? list->entry[i].value : NULL;
}

static int look_count(const snw_node *list) {
    return list && list->kind == SNW_NODE_LIST ? list->n : 0;
}

// 0 for what is no number
static double look_number(const snw_node *node) {
    const double x = node && node->kind == SNW_NODE_TEXT ? strtod(node->text, NULL) : 0;
    return isfinite(x) ? x : 0;
}

static void look_numbers(const snw_node *list, int n, double *out) {
    for (int i = 0; i < n; i++) out[i] = look_number(item(list, i));
}

static snw_vec3 vector(const snw_node *map, const char *key) {
    snw_vec3 v;
    look_numbers(snw_node_get(map, key), 3, v.e);
    return v;
}

// a whole number from -1 on
static bool look_whole(const snw_node *node, int *out) {
    if (!node || node->kind != SNW_NODE_TEXT) return false;
    char *end;
    const long value = strtol(node->text, &end, 10);
    *out = (int)value;
    return end != node->text && !*end && value >= -1 && value < 1 << 30;
}

static bool look_read_node(const snw_node *node, const snw_run_info *info, int *out) {
    return look_whole(node, out) && *out < info->nnode;
}

// *gate <- when a thing is there; false: never
static bool read_gate(const snw_node *thing, int nswitch, int *condition) {
    const char *text = snw_scene_text(thing, "switch");
    const long value = *text ? strtol(text, NULL, 10) : -1;
    *condition = value < nswitch ? (int)value : -1;
    return value >= -1;
}

// ---- rods --------------------------------------------------------------------------------------

static snw_look_section look_read_section(const char *name, const double size[4], double half[2],
                                          double *hole) {
    *hole = 0;
    if (strcmp(name, "circle") == 0 || strcmp(name, "tube") == 0) {
        half[0] = half[1] = size[0];
        if (name[0] == 't' && size[0] > 0) *hole = fmin(fmax(size[1] / size[0], 0), 1);
        return SNW_LOOK_ROUND;
    }
    if (strcmp(name, "rectangle") == 0 || strcmp(name, "ellipse") == 0) {
        half[0] = size[0] / 2;
        half[1] = size[1] / 2;
        return name[0] == 'r' ? SNW_LOOK_SQUARE : SNW_LOOK_ROUND;
    }
    // of a section that is given by its numbers the area is known, if anything
    half[0] = half[1] = strcmp(name, "given") == 0 && size[0] > 0 ? sqrt(size[0] / M_PI) : 0;
    return half[0] > 0 ? SNW_LOOK_ROUND : SNW_LOOK_LINE;
}

static snw_status read_stations(snw_pool *pool, const snw_node *rod, snw_look_rod *out,
                                snw_error *err) {
    const int n = out->count + 1;
    const char *section = snw_scene_text(rod, "section");
    out->x = snw_pool_array(pool, (size_t)n, sizeof *out->x);
    out->half = snw_pool_array(pool, (size_t)n, sizeof *out->half);
    out->hole = snw_pool_array(pool, (size_t)n, sizeof *out->hole);
    out->rest = snw_pool_array(pool, (size_t)n, sizeof *out->rest);
    out->stiffness = snw_pool_array(pool, (size_t)n, sizeof *out->stiffness);
    if (!out->x || !out->half || !out->hole || !out->rest || !out->stiffness)
        return look_no_memory(err);
    look_numbers(snw_node_get(rod, "x"), n, out->x);
    for (int k = 0; k < n; k++) {
        double size[4];
        look_numbers(item(snw_node_get(rod, "size"), k), 4, size);
        look_numbers(item(snw_node_get(rod, "rest"), k), 6, out->rest[k]);
        look_numbers(item(snw_node_get(rod, "stiffness"), k), 6, out->stiffness[k]);
        const snw_look_section kind = look_read_section(section, size, out->half[k], &out->hole[k]);
        if (kind > out->section) out->section = kind;
    }
    for (int i = 0; i < 6; i++) {
        const snw_node *free = item(snw_node_get(rod, "free"), i);
        out->elastic[i] = free && free->kind == SNW_NODE_TEXT && strcmp(free->text, "true") == 0;
    }
    return SNW_OK;
}

static bool read_rod(const snw_node *link, const snw_run_info *info, snw_look_rod *out) {
    const snw_node *rod = snw_node_get(link, "rod");
    *out = (snw_look_rod){.link = snw_scene_text(link, "name"),
                          .variable_length = strcmp(snw_scene_text(rod, "fed"), "true") == 0};
    return rod && look_read_node(snw_node_get(rod, "root"), info, &out->root) &&
           look_whole(snw_node_get(rod, "first"), &out->first) &&
           look_whole(snw_node_get(rod, "count"), &out->count) && out->first >= 0 &&
           out->count >= 0 && out->first <= info->nnode - out->count &&
           read_gate(link, info->ncondition, &out->condition);
}

// ---- what is rigid -----------------------------------------------------------------------------

static bool read_body(const snw_node *link, const snw_run_info *info, snw_look_body *out) {
    static const char *const shapes[] = {"none", "box", "cylinder", "sphere"};
    const snw_node *body = snw_node_get(link, "body");
    *out = (snw_look_body){.link = snw_scene_text(link, "name"),
                           .bare = !snw_node_get(link, "rod"),
                           .axis = vector(body, "axis"),
                           .com = vector(body, "com"),
                           .mass = look_number(snw_node_get(body, "mass"))};
    look_numbers(snw_node_get(body, "size"), 3, out->size);
    look_numbers(snw_node_get(body, "inertia"), 6, out->inertia);
    for (int i = 1; i < 4; i++) {
        const bool is = strcmp(snw_scene_text(body, "shape"), shapes[i]) == 0;
        if (is) out->shape = (snw_look_shape)i;
    }
    return body && look_read_node(snw_node_get(link, "end"), info, &out->node) &&
           read_gate(body, info->ncondition, &out->condition);
}

static bool slides(const char *joint) {
    return strcmp(joint, "prismatic") == 0 || strcmp(joint, "cylindrical") == 0 ||
           strcmp(joint, "screw") == 0;
}

// What joins node i to the one it hangs on, but for what places a base in the world.
static bool read_bar(const snw_node *scene, const snw_run_info *info, int i, snw_look_bar *out) {
    const snw_node *how = item(snw_node_get(scene, "kind"), i);
    const snw_node *link = snw_scene_named(snw_node_get(scene, "links"), info->node_link[i]);
    *out = (snw_look_bar){.link = info->node_link[i], .to = i};
    if (!how || how->kind != SNW_NODE_TEXT) return false;
    out->rail = strcmp(how->text, "screw") == 0 && slides(snw_scene_text(link, "joint"));
    return (out->rail || strcmp(how->text, "pose") == 0) &&
           look_read_node(item(snw_node_get(scene, "parent"), i), info, &out->from) &&
           out->from >= 0 && read_gate(link, info->ncondition, &out->condition);
}

// ---- tendons, chambers, ground -----------------------------------------------------------------

static snw_status read_measure(snw_pool *pool, const snw_node *from, const snw_run_info *info,
                               snw_look_tendon *out, snw_error *err) {
    const snw_node *points = snw_node_get(from, "points");
    *out = (snw_look_tendon){
        .name = snw_scene_text(from, "name"),
        .tendon = strcmp(snw_scene_text(from, "kind"), "tendon") == 0,
        .point = snw_pool_array(pool, (size_t)look_count(points), sizeof *out->point)};
    if (!out->point) return look_no_memory(err);
    for (int i = 0; i < look_count(points); i++) {
        const snw_node *p = item(points, i);
        snw_look_point *to = &out->point[out->n];
        for (int k = 0; k < 3; k++) to->at.e[k] = look_number(item(p, k + 1));
        to->radius = look_number(item(p, 4));
        if (look_read_node(item(p, 0), info, &to->node)) out->n++;
    }
    return SNW_OK;
}

// ---- the whole ---------------------------------------------------------------------------------

static snw_status read_links(snw_pool *pool, const snw_run_info *info, const snw_node *scene,
                             snw_look *out, snw_error *err) {
    const snw_node *links = snw_node_get(scene, "links");
    for (int i = 0; i < look_count(links); i++) {
        const snw_node *link = item(links, i);
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

snw_status snw_look_read(snw_pool *pool, const snw_run_info *info, const snw_node *scene,
                         snw_look *out, snw_error *err) {
    const snw_node *measures = snw_node_get(scene, "measures");
    const snw_node *grounds = snw_node_get(scene, "contacts");
    const size_t nlink = (size_t)look_count(snw_node_get(scene, "links"));
    const int nmeasure =
        look_count(measures) < info->ntendon ? look_count(measures) : info->ntendon;
    *out = (snw_look){.gravity = vector(scene, "gravity"),
                      .rod = snw_pool_array(pool, nlink + 1, sizeof *out->rod),
                      .body = snw_pool_array(pool, nlink + 1, sizeof *out->body),
                      .bar = snw_pool_array(pool, (size_t)info->nnode + 1, sizeof *out->bar),
                      .tendon = snw_pool_array(pool, (size_t)nmeasure, sizeof *out->tendon),
                      .ground =
                          snw_pool_array(pool, (size_t)look_count(grounds), sizeof *out->ground)};
    if (!out->rod || !out->body || !out->bar || !out->tendon || !out->ground) {
        return look_no_memory(err);
    }
    SNW_TRY(read_links(pool, info, scene, out, err));
    for (; out->ntendon < nmeasure; out->ntendon++) {
        SNW_TRY(read_measure(pool, item(measures, out->ntendon), info, &out->tendon[out->ntendon],
                             err));
    }
    for (int i = 0; i < look_count(grounds); i++) {
        const snw_node *c = item(grounds, i);
        snw_look_ground *to = &out->ground[out->nground];
        *to = (snw_look_ground){snw_scene_text(c, "name"), vector(c, "at"), vector(c, "normal")};
        const char *kind = snw_scene_text(c, "kind");
        const bool plane = !*kind || strcmp(kind, "ground") == 0; // older files knew no other
        if (plane && snw_norm(to->normal) > 0) out->nground++;
    }
    return SNW_OK;
}

// the same rods on the same nodes, the same tendons
static bool look_alike(const snw_look *a, const snw_look *b) {
    if (a->nrod != b->nrod || a->ntendon != b->ntendon) return false;
    for (int i = 0; i < a->nrod; i++) {
        const snw_look_rod *p = &a->rod[i], *q = &b->rod[i];
        if (p->root != q->root || p->first != q->first || p->count != q->count) return false;
    }
    return true;
}

snw_status snw_look_phases(snw_pool *pool, const snw_run_info *info, int *n, snw_look_phase **out,
                           snw_error *err) {
    snw_node *scene;
    *n = 0;
    // with all changes it may be more than a tree can have
    if (read_tree(pool, info, true, &scene, NULL) != SNW_OK) {
        SNW_TRY(snw_scene_tree(pool, info, &scene, err));
    }
    if (!scene) return SNW_OK;
    const snw_node *changes = snw_node_get(scene, "changes");
    *out = snw_pool_array(pool, (size_t)look_count(changes) + 1, sizeof **out);
    if (!*out) return look_no_memory(err);
    SNW_TRY(snw_look_read(pool, info, scene, &(*out)[(*n)++].look, err));
    for (int i = 0; i < look_count(changes); i++) {
        snw_look_phase *e = &(*out)[*n];
        if (!look_whole(snw_node_get(item(changes, i), "stage"), &e->stage)) continue;
        SNW_TRY(snw_look_read(pool, info, item(changes, i), &e->look, err));
        if (look_alike(&(*out)[0].look, &e->look) && e->stage >= e[-1].stage) (*n)++;
    }
    return SNW_OK;
}
