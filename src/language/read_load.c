// SPDX-License-Identifier: MIT
//
// Reads loads (forces and torques at sites or along rods) and the initial state of links.
#include "language/read.h"

#include "base/fail.h"

#define LOAD_KEYS(X)                                                                               \
    X(LOAD_ON, "on", "a site", "where it acts")                                                    \
    X(LOAD_ALONG, "along", "a rod's link", "per length along this rod, instead of on")             \
    X(LOAD_FORCE, "force", "three, N (along: N/m), laws of t, probes (along: and x)", "force")     \
    X(LOAD_TORQUE, "torque", "three, N m (along: N), laws of t, probes (along: and x)", "torque")  \
    X(LOAD_FRAME, "frame", "world or body",                                                        \
      "frame of the components of force and torque, world unless given")                           \
    X(LOAD_WHEN, "when", "a condition on t and probes",                                            \
      "active while this holds; always unless given")

enum { LOAD_KEYS(SNW_KEY_CODE) LOAD_N };
SNW_KEYS(load, "load", "a load", LOAD_KEYS);

static snw_status read_load(snw_reader *r, const snw_entry *entry, snw_load_desc *out) {
    static const char *const frames[] = {"world", "body"};
    const snw_entry *e[LOAD_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_load, e));
    out->name = entry->key;
    out->location = entry->location;
    if (!e[LOAD_ON] == !e[LOAD_ALONG]) {
        return snw_fail_at(r->err, entry->location, "load '%s' needs %s", entry->key,
                           e[LOAD_ON] ? "one of 'on' and 'along', not both"
                                      : "'on: a site' or 'along: a rod'");
    }
    if (!e[LOAD_FORCE] && !e[LOAD_TORQUE]) {
        return snw_fail_at(r->err, entry->location, "load '%s' needs a force or a torque",
                           entry->key);
    }
    out->along = e[LOAD_ALONG] != NULL;
    if (out->along) {
        const snw_node *along = e[LOAD_ALONG]->value;
        out->on = (snw_site){.kind = SNW_SITE_END, .location = along->location};
        out->on.pose = snw_se3_identity();
        SNW_TRY(snw_read_rod_name(r, along, "along", &out->on.link));
    } else {
        SNW_TRY(snw_read_site(r, e[LOAD_ON]->value, "on", &out->on));
    }
    const int vars = SNW_VAR_T | SNW_VAR_SIGNAL | (out->along ? SNW_VAR_X | SNW_VAR_L : 0);
    const snw_dim force = out->along ? (snw_dim){.kg = 1, .s = -2} : SNW_DIM_FORCE;
    const snw_dim torque = out->along ? SNW_DIM_FORCE : SNW_DIM_TORQUE;
    if (e[LOAD_FORCE]) {
        SNW_TRY(snw_read_laws(r, e[LOAD_FORCE]->value, "force", force, vars, out->force));
    }
    if (e[LOAD_TORQUE]) {
        SNW_TRY(snw_read_laws(r, e[LOAD_TORQUE]->value, "torque", torque, vars, out->torque));
    }
    int frame = 0;
    if (e[LOAD_FRAME]) SNW_TRY(snw_read_word(r, e[LOAD_FRAME]->value, "frame", 2, frames, &frame));
    out->body = frame == 1;
    if (out->body && out->on.kind == SNW_SITE_WORLD) {
        return snw_fail_at(r->err, e[LOAD_FRAME]->location,
                           "load '%s' is on the world, which has no body frame", entry->key);
    }
    return e[LOAD_WHEN] ? snw_read_when(r, e[LOAD_WHEN]->value, "when", &out->when) : SNW_OK;
}

snw_status snw_read_loads(snw_reader *r) {
    const snw_node *node;
    snw_desc *d = r->desc;
    SNW_TRY(snw_read_section_entries(r, "loads", &node, &d->nload));
    d->load = snw_pool_array(r->pool, (size_t)d->nload, sizeof *d->load);
    if (!d->load) return snw_read_memory(r);
    for (int i = 0; i < d->nload; i++) SNW_TRY(read_load(r, &node->entry[i], &d->load[i]));
    return SNW_OK;
}

// ---- initial state ------------------------------------------------------------------------------

#define INITIAL_KEYS(X)                                                                            \
    X(INITIAL_POSE, "pose", "a constant pose", "of a free joint")                                  \
    X(INITIAL_TWIST, "twist", "wx wy wz vx vy vz, rad/s and m/s", "of a free joint, body frame")   \
    X(INITIAL_POSITION, "position", "rad or m, by coordinate",                                     \
      "of other joints; of a spherical joint a rotation")                                          \
    X(INITIAL_STRAIN, "strain", "six, by component, or 0; laws of x", "strain of a rod")           \
    X(INITIAL_RATE, "rate", "by coordinate, or as strain",                                         \
      "of a joint, rad/s or m/s; strain rate of a rod, 1/s")

enum { INITIAL_KEYS(SNW_KEY_CODE) INITIAL_N };
SNW_KEYS(initial, "initial", "an initial state", INITIAL_KEYS);

static snw_status read_initial_free(snw_reader *r, const snw_entry *const *e,
                                    snw_initial_desc *out) {
    const snw_link_desc *link = &r->desc->link[out->link];
    const snw_entry *any = e[INITIAL_POSE] ? e[INITIAL_POSE] : e[INITIAL_TWIST];
    if (!any) return SNW_OK;
    if (link->joint != SNW_JOINT_FREE) {
        return snw_fail_at(r->err, any->location, "link '%s' is not free and has no '%s'",
                           link->name, any->key);
    }
    if (e[INITIAL_POSE]) {
        out->has_pose = true;
        SNW_TRY(snw_read_pose_constant(r, e[INITIAL_POSE]->value, &out->pose));
    }
    if (!e[INITIAL_TWIST]) return SNW_OK;
    const snw_node *twist = e[INITIAL_TWIST]->value;
    SNW_TRY(snw_read_list(r, twist, "twist", 6));
    for (int i = 0; i < 6; i++) {
        const snw_dim dim = i < 3 ? (snw_dim){.s = -1} : (snw_dim){.m = 1, .s = -1};
        SNW_TRY(snw_read_constant(r, twist->entry[i].value, "twist", dim, &out->twist.e[i]));
    }
    return SNW_OK;
}

static bool has_coordinates(const snw_link_desc *link) {
    return link->joint != SNW_JOINT_FIXED && link->joint != SNW_JOINT_FREE;
}

// if both joint and rod have a rate, a map by component is that of the rod
static bool is_joint_rate(const snw_link_desc *link, const snw_entry *e) {
    if (!e || !has_coordinates(link)) return false;
    return !link->has_rod || e->value->kind != SNW_NODE_MAP;
}

// strain or strain rate as a field along the rod, for active components only
static snw_status read_initial_strain(snw_reader *r, const snw_entry *e, snw_dim angular,
                                      snw_dim linear, const snw_link_desc *link, snw_law out[6]) {
    if (!e) return SNW_OK;
    if (!link->has_rod) {
        return snw_fail_at(r->err, e->location, "link '%s' has no rod and no '%s'", link->name,
                           e->key);
    }
    SNW_TRY(snw_read_components(r, e->value, e->key, angular, linear, SNW_VAR_X | SNW_VAR_L, out));
    for (int i = 0; i < 6; i++) {
        double value = 0;
        const bool zero = !out[i] || (snw_law_constant(out[i], &value) && value == 0);
        if (zero || link->rod.active[i]) continue;
        return snw_fail_at(r->err, e->value->location,
                           "'%s' of rod '%s' does not change, see its 'strain'", snw_strain_name[i],
                           link->name);
    }
    return SNW_OK;
}

static snw_status read_initial(snw_reader *r, const snw_entry *entry, snw_initial_desc *out) {
    const snw_entry *e[INITIAL_N];
    // a node for the key, so that messages about the name have its location
    const snw_node key = {.kind = SNW_NODE_TEXT, .location = entry->location, .text = entry->key};
    SNW_TRY(snw_find_thing(r, &key, entry->key, SNW_THING_LINK, &out->link));
    const snw_link_desc *link = &r->desc->link[out->link];
    out->location = entry->location;
    out->pose = snw_se3_identity();
    const bool bare = entry->value->kind == SNW_NODE_TEXT || entry->value->kind == SNW_NODE_LIST;
    if (bare && has_coordinates(link)) {
        return snw_read_joint_start(r, entry->value, NULL, link, out);
    }
    if (bare) {
        return snw_fail_at(r->err, entry->value->location,
                           "link '%s' has no joint with coordinates; give {strain: ..} of a "
                           "rod, {pose: ..} of a free joint",
                           link->name);
    }
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_initial, e));
    SNW_TRY(read_initial_free(r, e, out));
    const bool joint_rate = is_joint_rate(link, e[INITIAL_RATE]);
    if (e[INITIAL_POSITION] && !has_coordinates(link)) {
        return snw_fail_at(r->err, e[INITIAL_POSITION]->location,
                           "the joint of link '%s' is %s and has no 'position'", link->name,
                           snw_joint_name(link->joint));
    }
    if (e[INITIAL_POSITION] || joint_rate) {
        SNW_TRY(snw_read_joint_start(r, e[INITIAL_POSITION] ? e[INITIAL_POSITION]->value : NULL,
                                     joint_rate ? e[INITIAL_RATE]->value : NULL, link, out));
    }
    SNW_TRY(read_initial_strain(r, e[INITIAL_STRAIN], SNW_DIM_CURVATURE, SNW_DIM_NONE, link,
                                out->strain));
    if (joint_rate) return SNW_OK;
    return read_initial_strain(r, e[INITIAL_RATE], (snw_dim){.m = -1, .s = -1}, (snw_dim){.s = -1},
                               link, out->rate);
}

snw_status snw_read_initial(snw_reader *r) {
    const snw_node *node;
    snw_desc *d = r->desc;
    SNW_TRY(snw_read_section_entries(r, "initial", &node, &d->ninitial));
    d->initial = snw_pool_array(r->pool, (size_t)d->ninitial, sizeof *d->initial);
    if (!d->initial) return snw_read_memory(r);
    for (int i = 0; i < d->ninitial; i++) SNW_TRY(read_initial(r, &node->entry[i], &d->initial[i]));
    return SNW_OK;
}
