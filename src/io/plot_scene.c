// SPDX-License-Identifier: MIT
#include "io/plot_scene.h"

#include "base/fail.h"
#include "io/yaml.h"

#include <stdlib.h>
#include <string.h>

// Our YAML knows no empty keys, JSON does: the only component of a scalar probe. Within texts quotes are escaped, so two in
// a row before a colon are such a key.
static const char NAMELESS[] = "-";

static char *name_keys(snw_pool *pool, const char *json) {
    char *out = snw_pool_array(pool, 2, strlen(json) + 1);
    size_t n = 0;
    for (const char *c = json; out && *c; c++) {
        out[n++] = *c;
        if (strncmp(c, "\"\":", 3) == 0) out[n++] = NAMELESS[0];
    }
    return out;
}

snw_status snw_plot_scene_read(snw_pool *pool, const snw_run_info *info, snw_node **out,
                               snw_error *err) {
    *out = NULL;
    if (!info->scene || !info->scene[0]) return SNW_OK;
    const char *text = name_keys(pool, info->scene);
    if (!text) return snw_fail(err, SNW_E_MEMORY, "out of memory");
    return snw_yaml_parse(pool, "scene", text, strlen(text), out, err);
}

// ---- quantities
// ------------------------------------------------------------------------------------

// What a probe of some kind yields in some unit; kind or unit NULL: any. The first line that fits counts. `shown` NULL:
// the unit itself.
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

static const char *text_of(const snw_node *map, const char *key) {
    const snw_node *node = snw_node_get(map, key);
    return node && node->kind == SNW_NODE_TEXT ? node->text : "";
}

static const snw_node *find_named(const snw_node *list, const char *name) {
    for (int i = 0; list && list->kind == SNW_NODE_LIST && i < list->n; i++) {
        if (strcmp(text_of(list->entry[i].value, "name"), name) == 0) return list->entry[i].value;
    }
    return NULL;
}

// parts of a rotation have no unit to tell them by
static void of_rotation(const char *component, const char **quantity, const char **unit) {
    const bool vector = component[0] == 'r';
    *quantity = vector ? "rotation vector" : component[0] == 'q' ? "quaternion" : "rotation matrix";
    *unit = vector ? "rad" : "";
}

void snw_plot_quantity(const snw_node *scene, const snw_column *c, const char **quantity,
                       const char **unit) {
    *quantity = "value";
    *unit = "";
    const snw_node *probe = find_named(snw_node_get(scene, "probes"), c->probe);
    if (!probe) return;
    const char *kind = text_of(probe, "kind"),
               *si =
                   text_of(snw_node_get(probe, "units"), c->component[0] ? c->component : NAMELESS);
    *unit = si;
    const bool turns = strcmp(kind, "rotation") == 0 || strcmp(kind, "pose") == 0;
    if (turns && !si[0]) {
        of_rotation(c->component, quantity, unit);
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

// ---- rods
// ------------------------------------------------------------------------------------------

static bool integer(const snw_node *map, const char *key, int *out) {
    const char *text = text_of(map, key);
    char *end;
    const long value = strtol(text, &end, 10);
    *out = (int)value;
    return end != text && !*end && value >= -1 && value < 1 << 30;
}

// *gate <- when a link is there; false: never
static bool read_gate(const snw_node *link, int nswitch, int *gate) {
    const char *text = text_of(link, "switch");
    const long value = *text ? strtol(text, NULL, 10) : -1;
    *gate = value < nswitch ? (int)value : -1;
    return value >= -1;
}

static bool read_rod(const snw_node *link, const snw_run_info *info, snw_plot_rod *out) {
    const int nnode = info->nnode;
    const snw_node *rod = snw_node_get(link, "rod");
    *out = (snw_plot_rod){.link = text_of(link, "name")};
    return rod && integer(rod, "root", &out->root) && integer(rod, "first", &out->first) &&
           integer(rod, "count", &out->count) && out->root < nnode && out->first >= 0 &&
           out->count >= 0 && out->first <= nnode - out->count &&
           read_gate(link, info->nswitch, &out->gate);
}

// what joins node i to the one it hangs on: rigid pieces, but for those that place a base in the world
static bool read_rigid(const snw_node *scene, const snw_run_info *info, int i, snw_plot_rod *out) {
    const snw_node *kind = snw_node_get(scene, "kind"), *parent = snw_node_get(scene, "parent");
    if (!kind || !parent || i >= kind->n || i >= parent->n) return false;
    const snw_node *on = parent->entry[i].value, *how = kind->entry[i].value;
    if (how->kind != SNW_NODE_TEXT || strcmp(how->text, "pose") != 0) return false;
    const int root = on->kind == SNW_NODE_TEXT ? (int)strtol(on->text, NULL, 10) : -1;
    *out = (snw_plot_rod){
        .link = info->node_link[i], .rigid = true, .root = root, .first = i, .count = 1};
    const snw_node *link = find_named(snw_node_get(scene, "links"), out->link);
    return read_gate(link, info->nswitch, &out->gate) && root >= 0 && root < info->nnode;
}

snw_status snw_plot_rods(const snw_node *scene, const snw_run_info *info, snw_pool *pool, int *n,
                         snw_plot_rod **out, snw_error *err) {
    const snw_node *links = snw_node_get(scene, "links");
    const int nlink = links && links->kind == SNW_NODE_LIST ? links->n : 0;
    *n = 0;
    *out = snw_pool_array(pool, (size_t)nlink + (size_t)info->nnode, sizeof **out);
    if (!*out) return snw_fail(err, SNW_E_MEMORY, "out of memory");
    for (int i = 0; i < nlink; i++) {
        if (read_rod(links->entry[i].value, info, &(*out)[*n])) (*n)++;
    }
    for (int i = 0; i < info->nnode; i++) {
        if (read_rigid(scene, info, i, &(*out)[*n])) (*n)++;
    }
    return SNW_OK;
}
