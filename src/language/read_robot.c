// SPDX-License-Identifier: MIT
//
// Reads materials and links. Links may be written in any order; the description lists parents
// before children.
#include "language/read.h"

#include "base/fail.h"
#include "model/tube_layout.h"

#include <stdio.h>

// ---- materials ----------------------------------------------------------------------------------

#define MATERIAL_KEYS(X)                                                                           \
    X(MATERIAL_YOUNG, "young", "Pa, law of x", "Young's modulus")                                  \
    X(MATERIAL_POISSON, "poisson", "number, law of x", "Poisson's ratio, above -1, up to 0.5")     \
    X(MATERIAL_SHEAR, "shear", "Pa, law of x", "shear modulus, instead of poisson")                \
    X(MATERIAL_DENSITY, "density", "kg/m^3, law of x", "mass per volume")                          \
    X(MATERIAL_DAMPING, "damping", "s, law of x", "Kelvin-Voigt time, damping over stiffness")     \
    X(MATERIAL_NEO_HOOKEAN, "neo_hookean", "Pa", "hyperelastic: shear modulus mu, E = 3 mu")       \
    X(MATERIAL_MOONEY_RIVLIN, "mooney_rivlin", "two, Pa",                                          \
      "hyperelastic: C1 and C2, E = 6 (C1 + C2)")                                                  \
    X(MATERIAL_OGDEN, "ogden", "a map", "hyperelastic: moduli mu and exponents alpha")             \
    X(MATERIAL_RELAXATION, "relaxation", "a map",                                                  \
      "Prony series of a generalised Maxwell material: stress that relaxes")

enum { MATERIAL_KEYS(SNW_KEY_CODE) MATERIAL_N };
SNW_KEYS(material, "material", "a material", MATERIAL_KEYS);

// constants are checked here; laws along a rod are checked when the model is compiled
static snw_status read_material_value(snw_reader *r, const snw_entry *e, snw_dim dim, bool zero,
                                      snw_law *out) {
    if (!e) return SNW_OK;
    double value = 0;
    SNW_TRY(snw_read_law(r, e->value, e->key, dim, SNW_VAR_X | SNW_VAR_L, out));
    if (!snw_law_constant(*out, &value) || value > 0 || (zero && value == 0)) return SNW_OK;
    return snw_fail_at(r->err, e->value->location, "'%s' must %s, got %g", e->key,
                       zero ? "not be negative" : "be positive", value);
}

static snw_status read_material(snw_reader *r, const snw_entry *entry, snw_material_desc *m) {
    const snw_entry *e[MATERIAL_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_material, e));
    m->name = entry->key;
    m->location = entry->location;
    const snw_entry *linear = e[MATERIAL_YOUNG]     ? e[MATERIAL_YOUNG]
                              : e[MATERIAL_POISSON] ? e[MATERIAL_POISSON]
                                                    : e[MATERIAL_SHEAR];
    const snw_hyperelastic_keys hyperelastic = {e[MATERIAL_NEO_HOOKEAN], e[MATERIAL_MOONEY_RIVLIN],
                                                e[MATERIAL_OGDEN], linear};
    SNW_TRY(snw_read_hyperelastic(r, &hyperelastic, m));
    if (e[MATERIAL_POISSON] && e[MATERIAL_SHEAR]) {
        return snw_fail_at(r->err, e[MATERIAL_SHEAR]->location,
                           "material '%s' has both poisson and shear, give one of them", m->name);
    }
    SNW_TRY(read_material_value(r, e[MATERIAL_YOUNG], SNW_DIM_PRESSURE, false, &m->young));
    SNW_TRY(read_material_value(r, e[MATERIAL_SHEAR], SNW_DIM_PRESSURE, false, &m->shear));
    SNW_TRY(read_material_value(r, e[MATERIAL_DENSITY], SNW_DIM_DENSITY, true, &m->density));
    SNW_TRY(read_material_value(r, e[MATERIAL_DAMPING], SNW_DIM_TIME, true, &m->damping));
    SNW_TRY(snw_read_relaxation(r, e[MATERIAL_RELAXATION], m));
    if (!e[MATERIAL_POISSON]) return SNW_OK;
    const snw_node *poisson = e[MATERIAL_POISSON]->value;
    SNW_TRY(snw_read_law(r, poisson, "poisson", SNW_DIM_NONE, SNW_VAR_X | SNW_VAR_L, &m->poisson));
    double nu = 0;
    if (!snw_law_constant(m->poisson, &nu) || (nu > -1 && nu <= 0.5)) return SNW_OK;
    return snw_fail_at(r->err, poisson->location,
                       "'poisson' must be above -1 and up to 0.5, got %g", nu);
}

snw_status snw_read_materials(snw_reader *r) {
    const snw_node *node;
    int n = 0;
    SNW_TRY(snw_read_section_entries(r, "materials", &node, &n));
    r->material = snw_pool_array(r->pool, (size_t)n, sizeof *r->material);
    if (n > 0 && !r->material) return snw_read_memory(r);
    for (int i = 0; i < n; i++) SNW_TRY(read_material(r, &node->entry[i], &r->material[i]));
    return SNW_OK;
}

// ---- links --------------------------------------------------------------------------------------

#define LINK_KEYS(X)                                                                               \
    X(LINK_ON, "on", "a site", "the parent, required")                                             \
    X(LINK_POSE, "pose", "a pose, laws of t", "of the joint in the parent site")                   \
    X(LINK_JOINT, "joint", "a joint", "type of the joint, fixed unless given")                     \
    X(LINK_AXIS, "axis", "x y z or a vector", "of the joint, z unless given; normal of planar")    \
    X(LINK_AXES, "axes", "two, at a right angle", "of a joint with two, instead of axis")          \
    X(LINK_PITCH, "pitch", "m", "of a screw, advance per turn; negative: left-handed")             \
    X(LINK_STIFFNESS, "stiffness", "N m or N/m, by coordinate",                                    \
      "of a spring in the joint; of a spherical joint one number or three about x y z, of a "      \
      "free one six, then along x y z")                                                            \
    X(LINK_REST, "rest", "rad or m, by coordinate",                                                \
      "where the spring has no force, 0 unless given; spherical: a rotation, free: a pose")        \
    X(LINK_DAMPING, "damping", "N m s or N s/m, by coordinate", "viscous, in the joint")           \
    X(LINK_FRICTION, "friction", "N m or N, by coordinate",                                        \
      "dry friction in the joint, at full slip")                                                   \
    X(LINK_CREEP, "creep", "rad/s or m/s, by coordinate",                                          \
      "rate below which dry friction is smoothed, 1e-3 unless given")                              \
    X(LINK_LIMITS, "limits", "low and high, by coordinate; spherical: an angle",                   \
      "a run warns outside of them, with 'stop' they hold the joint; free: no limit there")        \
    X(LINK_STOP, "stop", "a stop", "force that holds the joint within its limits")                 \
    X(LINK_ARMATURE, "armature", "kg m^2 or kg, by coordinate; or a rotor with its gear",          \
      "inertia of a rotor in the joint, as the joint feels it")                                    \
    X(LINK_MIMIC, "mimic", "a joint, with ratio and offset",                                       \
      "a gear: the coordinate is ratio times that of another joint plus offset")                   \
    X(LINK_ROD, "rod", "a rod", "a rod that starts at the joint; its tip is the link's end")       \
    X(LINK_TUBES, "tubes", "concentric tubes by name",                                             \
      "instead of a rod: tubes in each other, from the inside out, along x from the exit")         \
    X(LINK_DEGREE, "degree", "1 to 5", "of the strains of tubes in an element, 4 unless given")    \
    X(LINK_ELEMENTS, "elements", "number",                                                         \
      "of tubes, between places where one ends or becomes curved; as many as they need to twist "  \
      "unless given")                                                                              \
    X(LINK_BODY, "body", "a body", "mass at the link's end")                                       \
    X(LINK_MAGNETIC, "magnetic_moment", "three, A*m, laws of x; of a body A*m^2",                  \
      "of the rod per length, in the axes of its sections; of a link without a rod at its "        \
      "centre of mass, in the axes of its end")                                                    \
    X(LINK_LAYER, "layer", "a name, or a list",                                                    \
      "groups of links that it belongs to; contacts take a layer for its links")                   \
    X(LINK_WHEN, "when", "a condition on t and probes",                                            \
      "active, with all links on it, while this holds; always unless given")

enum { LINK_KEYS(SNW_KEY_CODE) LINK_N };
SNW_KEYS(link, "link", "a link", LINK_KEYS);

// tubes have their own joints and rods
static snw_status check_tubes(snw_reader *r, const snw_entry *const *e) {
    const snw_entry *only = e[LINK_DEGREE] ? e[LINK_DEGREE] : e[LINK_ELEMENTS];
    if (!e[LINK_TUBES] && only)
        return snw_fail_at(r->err, only->location,
                           "'%s' of a link is for 'tubes'; put that of a rod under 'rod'",
                           only->key);
    for (int i = LINK_JOINT; e[LINK_TUBES] && i <= LINK_ROD; i++) {
        if (!e[i]) continue;
        return snw_fail_at(r->err, e[i]->location,
                           "a link with 'tubes' has no '%s': the tubes turn about their common "
                           "axis, and are its rods; put it on another link that moves",
                           e[i]->key);
    }
    return SNW_OK;
}

static snw_status read_moment(snw_reader *r, const snw_entry *e, bool tubes, snw_link_desc *l) {
    if (tubes)
        return snw_fail_at(r->err, e->location,
                           "a link with 'tubes' has no '%s'; put a link with a body on their tip, "
                           "and give it to that",
                           e->key);
    const snw_dim dim = {.m = l->has_rod ? 1 : 2, .A = 1};
    return snw_read_laws(r, e->value, e->key, dim, l->has_rod ? SNW_VAR_X | SNW_VAR_L : 0,
                         l->magnetic);
}

// read all keys except the parent; extra: first of the further links of its tubes
static snw_status read_link(snw_reader *r, const snw_entry *entry, int index, int extra) {
    snw_link_desc *l = &r->desc->link[index];
    const snw_entry *e[LINK_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_link, e));
    SNW_TRY(check_tubes(r, e));
    l->name = entry->key;
    l->location = entry->location;
    l->pose = snw_pose_desc_identity();
    if (!e[LINK_ON]) {
        return snw_fail_at(r->err, entry->location, "link '%s' needs a parent, e.g. 'on: world'",
                           l->name);
    }
    if (e[LINK_POSE]) SNW_TRY(snw_read_pose(r, e[LINK_POSE]->value, &l->pose));
    const snw_joint_keys joint = {.joint = e[LINK_JOINT],
                                  .axis = e[LINK_AXIS],
                                  .axes = e[LINK_AXES],
                                  .pitch = e[LINK_PITCH],
                                  .stiffness = e[LINK_STIFFNESS],
                                  .damping = e[LINK_DAMPING],
                                  .friction = e[LINK_FRICTION],
                                  .creep = e[LINK_CREEP],
                                  .rest = e[LINK_REST],
                                  .limits = e[LINK_LIMITS],
                                  .stop = e[LINK_STOP],
                                  .armature = e[LINK_ARMATURE],
                                  .mimic = e[LINK_MIMIC]};
    SNW_TRY(snw_read_joint(r, &joint, l));
    if (e[LINK_ROD]) {
        l->has_rod = true;
        l->rod.location = e[LINK_ROD]->location;
        SNW_TRY(snw_read_rod(r, e[LINK_ROD]->value, l->name, &l->rod));
    }
    if (e[LINK_BODY]) {
        l->has_body = true;
        SNW_TRY(snw_read_body(r, e[LINK_BODY]->value, l->name, &l->body));
    }
    if (e[LINK_MAGNETIC]) SNW_TRY(read_moment(r, e[LINK_MAGNETIC], e[LINK_TUBES] != NULL, l));
    if (e[LINK_LAYER]) SNW_TRY(snw_read_layers(r, e[LINK_LAYER], l));
    if (e[LINK_WHEN]) SNW_TRY(snw_read_active_when(r, e[LINK_WHEN]->value, "when", &l->when));
    if (!e[LINK_TUBES]) return SNW_OK;
    const snw_tube_keys tubes = {.degree = e[LINK_DEGREE], .elements = e[LINK_ELEMENTS]};
    return snw_read_tubes(r, e[LINK_TUBES]->value, &tubes, index, extra);
}

static snw_status report_cycle(snw_reader *r, int first) {
    const snw_link_desc *l = r->desc->link;
    char chain[256];
    size_t used = (size_t)snprintf(chain, sizeof chain, "%.40s", l[first].name);
    int i = first;
    do {
        i = l[i].on.link;
        if (used + 60 > sizeof chain) {
            (void)snprintf(chain + used, sizeof chain - used, " on ..");
            break;
        }
        used += (size_t)snprintf(chain + used, sizeof chain - used, " on %.40s", l[i].name);
    } while (i != first);
    return snw_fail_at(r->err, l[first].location,
                       "links are on each other in a ring: %s; one must be on world, and a loop "
                       "closes the ring, 'loops: {ring: {join: [%.40s, %.40s], as: fixed}}'",
                       chain, l[l[first].on.link].name, l[first].name);
}

// read the parent site, which must be a single one
static snw_status read_parent(snw_reader *r, const snw_node *on, snw_link_desc *l) {
    if (on->kind != SNW_NODE_LIST) return snw_read_site(r, on, "on", &l->on);
    return snw_fail_at(r->err, on->location,
                       "link '%.40s' has one parent, found a list of %d; put it on one and join it "
                       "to the other by a loop, 'loops: {ring: {join: [other, %.40s], as: fixed}}'",
                       l->name, on->n, l->name);
}

// order[k] <- index in the file of link k of the description: parents first, otherwise as written
static snw_status parents_first(snw_reader *r, int *order) {
    const int n = r->desc->nlink;
    const snw_link_desc *l = r->desc->link;
    int *rank = snw_pool_array(r->pool, (size_t)n,
                               sizeof *rank); // 0 not visited, -1 on the current chain, else 1 + k
    int *chain = snw_pool_array(r->pool, (size_t)n, sizeof *chain);
    if (!rank || !chain) return snw_read_memory(r);
    int done = 0;
    for (int i = 0; i < n; i++) {
        int height = 0, at = i;
        while (at >= 0 && rank[at] == 0) {
            rank[at] = -1;
            chain[height++] = at;
            at = l[at].on.link;
        }
        if (at >= 0 && rank[at] < 0) return report_cycle(r, at);
        while (height > 0) {
            at = chain[--height];
            order[done++] = at;
            rank[at] = done;
        }
    }
    return SNW_OK;
}

static snw_status sort_links(snw_reader *r) {
    snw_desc *d = r->desc;
    const int n = d->nlink;
    int *order = snw_pool_array(r->pool, (size_t)n, sizeof *order);
    int *position = snw_pool_array(r->pool, (size_t)n, sizeof *position);
    snw_link_desc *sorted = snw_pool_array(r->pool, (size_t)n, sizeof *sorted);
    if (!order || !position || !sorted) return snw_read_memory(r);
    SNW_TRY(parents_first(r, order));
    for (int k = 0; k < n; k++) position[order[k]] = k;
    for (int k = 0; k < n; k++) {
        sorted[k] = d->link[order[k]];
        if (sorted[k].on.link >= 0) sorted[k].on.link = position[sorted[k].on.link];
        if (sorted[k].beyond) sorted[k].beyond = 1 + position[sorted[k].beyond - 1];
    }
    d->link = sorted;
    for (int i = 0; i < d->ntube; i++) {
        snw_tube_desc *t = &d->tube[i];
        t->host = position[t->host], t->base = position[t->base], t->own = position[t->own];
    }
    // update the link indices stored in names and sites
    for (int i = 0; i < r->things.n; i++) {
        snw_name *name = &r->things.name[i];
        if (name->kind == (int)SNW_THING_LINK) name->index = position[name->index];
        if (name->kind == (int)SNW_THING_SITE && r->site[name->index].link >= 0) {
            r->site[name->index].link = position[r->site[name->index].link];
        }
    }
    return SNW_OK;
}

snw_status snw_read_robot(snw_reader *r) {
    const snw_node *node;
    snw_desc *d = r->desc;
    SNW_TRY(snw_read_section_entries(r, "robot", &node, &d->nlink));
    if (d->nlink == 0) {
        return snw_fail_at(r->err, node ? node->location : r->root->location,
                           "there is no robot: give its links by name under 'robot:'");
    }
    const int written = d->nlink; // the links of the file come first, then those of tubes
    int ntube = 0, nsliding = 0;
    SNW_TRY(snw_count_sliding_rods(r, &nsliding));
    for (int i = 0; i < written; i++) {
        d->nlink += snw_tubes_links(node->entry[i].value);
        ntube += snw_tubes_written(node->entry[i].value);
    }
    d->link = snw_pool_array(r->pool, (size_t)(d->nlink + nsliding), sizeof *d->link);
    d->tube = snw_pool_array(r->pool, (size_t)ntube, sizeof *d->tube);
    if (!d->link || !d->tube) return snw_read_memory(r);
    for (int i = 0, extra = written; i < written; i++) {
        SNW_TRY(read_link(r, &node->entry[i], i, extra));
        extra += snw_tubes_links(node->entry[i].value);
    }
    const snw_status placed = snw_tubes_place(d, 0, r->pool, d->link, d->tube, r->err);
    if (placed != SNW_OK) return placed == SNW_E_MODEL ? SNW_E_PARSE : placed;
    SNW_TRY(snw_read_sliding_rods(r));
    SNW_TRY(snw_read_sites(r));
    for (int i = 0, extra = written; i < written; i++) {
        const snw_node *link = node->entry[i].value;
        SNW_TRY(
            read_parent(r, snw_node_get(link, "on"), &d->link[snw_tubes_links(link) ? extra : i]));
        extra += snw_tubes_links(link);
    }
    SNW_TRY(sort_links(r));
    SNW_TRY(snw_list_sites(r));
    // a link is active only while its parent is
    for (int i = 0; i < d->nlink; i++) {
        snw_link_desc *l = &d->link[i];
        SNW_TRY(snw_read_both(r, l->location, snw_site_when(d, &l->on), &l->when));
    }
    return SNW_OK;
}
