// SPDX-License-Identifier: MIT
//
// Reads fluids around rods and bodies: added mass, buoyancy, drag and current.
#include "language/read.h"

#include "base/fail.h"

#define FLUID_KEYS(X)                                                                              \
    X(FLUID_ON, "on", "a link, or a list",                                                         \
      "links whose rods, or bodies if they have no rod, it surrounds")                             \
    X(FLUID_DENSITY, "density", "kg/m^3", "needed for all but 'linear' and 'square' drag")         \
    X(FLUID_ADDED, "added", "auto, or six of a body",                                              \
      "added mass: of elongated-body theory for rods, of a sphere; or kg m^2 and kg along the "    \
      "axes of a body, about its com")                                                             \
    X(FLUID_BUOYANCY, "buoyancy", "on or off", "weight of the displaced fluid, off unless given")  \
    X(FLUID_DRAG, "drag", "a drag", "resistance to motion through it")                             \
    X(FLUID_CURRENT, "current", "three, m/s, laws of t",                                           \
      "its velocity in the world, at rest unless given")                                           \
    X(FLUID_WHEN, "when", "a condition on t and probes",                                           \
      "active while this holds; always unless given")
#define DRAG_KEYS(X)                                                                               \
    X(DRAG_NORMAL, "normal", "law of x",                                                           \
      "coefficient c of a rod: density/2 c width |w| w per length, w across it")                   \
    X(DRAG_TANGENT, "tangent", "law of x",                                                         \
      "coefficient c of a rod: density/2 c perimeter |u| u per length, u along it")                \
    X(DRAG_SQUARE, "square", "one or three, kg/m^2, laws of x; of a body one, three or six",       \
      "C v|v| per length, each component in the axes of the section; of a body kg/m, kg m^2")      \
    X(DRAG_LINEAR, "linear", "one or three, kg/m/s, laws of x; of a body one, three or six",       \
      "C v per length, as square; of a body kg/s, kg m^2/s")

enum { FLUID_KEYS(SNW_KEY_CODE) FLUID_N };
enum { DRAG_KEYS(SNW_KEY_CODE) DRAG_N };
SNW_KEYS(fluid, "fluid", "a fluid", FLUID_KEYS);
SNW_KEYS(drag, "drag", "a drag", DRAG_KEYS);

// one number for all translations, three for the translations, or six with rotations first
static snw_status read_drag_coefficients(snw_reader *r, const snw_entry *e, int power,
                                         const snw_fluid_desc *d, snw_law out[6]) {
    bool rods = false;
    SNW_TRY(snw_read_are_rods(r, e, d->name, d->nlink, d->link, &rods));
    const snw_node *node = e->value;
    const int n = node->kind == SNW_NODE_LIST ? node->n : 1,
              vars = rods ? SNW_VAR_X | SNW_VAR_L : 0;
    if (n != 1 && n != 3 && (n != 6 || rods)) {
        return snw_fail_at(r->err, node->location,
                           "'%s' is one number or a list of three%s, got %d", e->key,
                           rods ? "" : " or six", n);
    }
    // force per velocity or per its square, for rods per length; torque per angular velocity
    static const snw_dim forces[2][2] = {{{.kg = 1, .s = -1}, {.m = -1, .kg = 1}},
                                         {{.m = -1, .kg = 1, .s = -1}, {.m = -2, .kg = 1}}};
    static const snw_dim torques[2] = {{.m = 2, .kg = 1, .s = -1}, {.m = 2, .kg = 1}};
    const snw_dim force = forces[rods][power - 1], torque = torques[power - 1];
    if (node->kind != SNW_NODE_LIST) {
        SNW_TRY(snw_read_law(r, node, e->key, force, vars, &out[3]));
        out[4] = out[5] = out[3];
        return SNW_OK;
    }
    for (int i = 0; i < n; i++) {
        const int to = n == 6 ? i : 3 + i;
        SNW_TRY(
            snw_read_law(r, node->entry[i].value, e->key, to < 3 ? torque : force, vars, &out[to]));
        if (n == 1) out[4] = out[5] = out[3];
    }
    return SNW_OK;
}

static snw_status read_drag(snw_reader *r, const snw_entry *entry, snw_fluid_desc *out) {
    const snw_entry *e[DRAG_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_drag, e));
    const int vars = SNW_VAR_X | SNW_VAR_L;
    const snw_entry *by_shape = e[DRAG_NORMAL] ? e[DRAG_NORMAL] : e[DRAG_TANGENT];
    if (by_shape && !(out->density > 0)) {
        return snw_fail_at(r->err, by_shape->location, "'%s' needs the 'density' of the fluid",
                           by_shape->key);
    }
    if (e[DRAG_NORMAL]) {
        SNW_TRY(snw_read_law(r, e[DRAG_NORMAL]->value, "normal", SNW_DIM_NONE, vars, &out->normal));
    }
    if (e[DRAG_TANGENT]) {
        SNW_TRY(
            snw_read_law(r, e[DRAG_TANGENT]->value, "tangent", SNW_DIM_NONE, vars, &out->tangent));
    }
    if (e[DRAG_SQUARE]) SNW_TRY(read_drag_coefficients(r, e[DRAG_SQUARE], 2, out, out->square));
    if (e[DRAG_LINEAR]) SNW_TRY(read_drag_coefficients(r, e[DRAG_LINEAR], 1, out, out->linear));
    if (by_shape || e[DRAG_SQUARE] || e[DRAG_LINEAR]) return SNW_OK;
    return snw_fail_at(r->err, entry->location, "a drag needs normal, tangent, square or linear");
}

static snw_status read_added_mass(snw_reader *r, const snw_entry *e, snw_fluid_desc *out) {
    static const char *const words[] = {"auto"};
    const snw_node *node = e->value;
    int word = 0;
    if (node->kind != SNW_NODE_LIST) {
        SNW_TRY(snw_read_word(r, node, "added", 1, words, &word));
        out->added = SNW_ADDED_AUTO;
        if (out->density > 0) return SNW_OK;
        return snw_fail_at(r->err, e->location, "'added: auto' needs the 'density' of the fluid");
    }
    bool rods = false;
    SNW_TRY(snw_read_are_rods(r, e, out->name, out->nlink, out->link, &rods));
    SNW_TRY(snw_read_list(r, node, "added", 6));
    out->added = SNW_ADDED_GIVEN;
    for (int i = 0; i < 6; i++) {
        const snw_dim dim = {.m = i < 3 ? 2 : 0, .kg = 1};
        const snw_node *item = node->entry[i].value;
        SNW_TRY(snw_read_constant(r, item, "added", dim, &out->given[i]));
        if (out->given[i] >= 0) continue;
        return snw_fail_at(r->err, item->location, "'added' must not be negative, got %g",
                           out->given[i]);
    }
    return SNW_OK;
}

static snw_status read_buoyancy(snw_reader *r, const snw_entry *e, snw_fluid_desc *out) {
    SNW_TRY(snw_read_switch(r, e->value, "buoyancy", &out->buoyancy));
    if (!out->buoyancy || out->density > 0) return SNW_OK;
    return snw_fail_at(r->err, e->location, "buoyancy needs the 'density' of the fluid");
}

static snw_status read_fluid(snw_reader *r, const snw_entry *entry, snw_fluid_desc *out) {
    const snw_entry *e[FLUID_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_fluid, e));
    out->name = entry->key;
    out->location = entry->location;
    if (!e[FLUID_ON]) {
        return snw_fail_at(r->err, entry->location,
                           "fluid '%s' needs 'on:', links that it surrounds", entry->key);
    }
    if (!e[FLUID_BUOYANCY] && !e[FLUID_DRAG] && !e[FLUID_ADDED]) {
        return snw_fail_at(r->err, entry->location,
                           "fluid '%s' has no effect: give it buoyancy, a drag or an added mass",
                           entry->key);
    }
    SNW_TRY(snw_read_links(r, e[FLUID_ON]->value, &out->nlink, &out->link));
    if (e[FLUID_DENSITY]) {
        SNW_TRY(snw_read_positive(r, e[FLUID_DENSITY]->value, "density", SNW_DIM_DENSITY,
                                  &out->density));
    }
    if (e[FLUID_BUOYANCY]) SNW_TRY(read_buoyancy(r, e[FLUID_BUOYANCY], out));
    if (e[FLUID_ADDED]) SNW_TRY(read_added_mass(r, e[FLUID_ADDED], out));
    if (e[FLUID_DRAG]) SNW_TRY(read_drag(r, e[FLUID_DRAG], out));
    if (e[FLUID_CURRENT]) {
        SNW_TRY(snw_read_laws(r, e[FLUID_CURRENT]->value, "current", (snw_dim){.m = 1, .s = -1},
                              SNW_VAR_T, out->current));
    }
    return e[FLUID_WHEN] ? snw_read_active_when(r, e[FLUID_WHEN]->value, "when", &out->when)
                         : SNW_OK;
}

snw_status snw_read_fluids(snw_reader *r) {
    const snw_node *node;
    snw_desc *d = r->desc;
    SNW_TRY(snw_read_section_entries(r, "fluid", &node, &d->nfluid));
    d->fluid = snw_pool_array(r->pool, (size_t)d->nfluid, sizeof *d->fluid);
    if (!d->fluid) return snw_read_memory(r);
    for (int i = 0; i < d->nfluid; i++) SNW_TRY(read_fluid(r, &node->entry[i], &d->fluid[i]));
    return SNW_OK;
}
