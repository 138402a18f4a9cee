// SPDX-License-Identifier: MIT
//
// read_contact.c: what rods and bodies touch: the ground.
#include "io/read.h"

#include "base/fail.h"

#define CONTACT_KEYS(X)                                                                            \
    X(CONTACT_GROUND, "ground", "a ground", "a half-space")                                        \
    X(CONTACT_WHEN, "when", "a condition on t and probes", "when it is there, always unless given")
#define GROUND_KEYS(X)                                                                             \
    X(GROUND_ON, "on", "a link, or a list",                                                        \
      "whose rods touch it; their bodies where they have no rod")                                  \
    X(GROUND_NORMAL, "normal", "x y z or a vector", "out of the ground, z unless given")           \
    X(GROUND_AT, "at", "three lengths, m", "a point of its surface, the origin unless given")      \
    X(GROUND_STIFFNESS, "stiffness", "N/m^2; of bodies N/m",                                       \
      "k: force per length of rod and depth, or at each point of a body; required")                \
    X(GROUND_ENDS, "ends", "N/m",                                                                  \
      "stiffness at the end sections of rods, k times half the smaller width unless given")        \
    X(GROUND_DAMPING, "damping", "s/m",                                                            \
      "d: the force is k depth (1 + d times the speed of approach), 0 unless given")               \
    X(GROUND_FRICTION, "friction", "number, or along and across a rod",                            \
      "coefficient of dry friction, 0 unless given")                                               \
    X(GROUND_CREEP, "creep", "m/s", "slip below which friction is smoothed, 1 mm/s unless given")  \
    X(GROUND_SMOOTH, "smooth", "m",                                                                \
      "the force sets in over this length about the surface, 0.1 mm unless given")                 \
    X(GROUND_POINTS, "points", "list of three lengths, m",                                         \
      "of a body, in the frame of its link: what touches instead of its shape")
#define FRICTION_KEYS(X)                                                                           \
    X(FRICTION_ALONG, "along", "number", "against slip along the rod, required")                   \
    X(FRICTION_ACROSS, "across", "number", "against slip across it, required")

enum { CONTACT_KEYS(SNW_KEY_CODE) CONTACT_N };
enum { GROUND_KEYS(SNW_KEY_CODE) GROUND_N };
enum { FRICTION_KEYS(SNW_KEY_CODE) FRICTION_N };
SNW_KEYS(contact, "contact", "a contact", CONTACT_KEYS);
SNW_KEYS(ground, "ground", "a ground", GROUND_KEYS);
SNW_KEYS(friction, "friction", "a friction", FRICTION_KEYS);

static snw_status not_negative(snw_reader *r, const snw_entry *e, snw_dim dim, double *out) {
    SNW_TRY(snw_read_constant(r, e->value, e->key, dim, out));
    if (*out >= 0) return SNW_OK;
    return snw_fail_at(r->err, e->value->place, "'%s' must not be negative, got %g", e->key, *out);
}

static snw_status friction(snw_reader *r, const snw_entry *entry, snw_contact_desc *out) {
    const snw_entry *e[FRICTION_N];
    if (entry->value->kind != SNW_NODE_MAP) {
        SNW_TRY(not_negative(r, entry, SNW_DIM_NONE, &out->across));
        out->along = out->across;
        return SNW_OK;
    }
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_friction, e));
    for (int i = 0; i < FRICTION_N; i++) {
        if (e[i]) continue;
        return snw_fail_at(r->err, entry->place,
                           "'friction' needs 'along' and 'across', or is one "
                           "number for both");
    }
    SNW_TRY(not_negative(r, e[FRICTION_ALONG], SNW_DIM_NONE, &out->along));
    return not_negative(r, e[FRICTION_ACROSS], SNW_DIM_NONE, &out->across);
}

static snw_status points(snw_reader *r, const snw_entry *e, snw_contact_desc *out) {
    const snw_node *node = e->value;
    if (node->kind != SNW_NODE_LIST || node->n == 0) {
        return snw_fail_at(r->err, node->place,
                           "'points' is a list of points, e.g. [[0, 0, -1 cm]]");
    }
    snw_vec3 *point = snw_pool_array(r->pool, (size_t)node->n, sizeof *point);
    if (!point) return snw_read_memory(r);
    for (int i = 0; i < node->n; i++) {
        SNW_TRY(snw_read_vec3(r, node->entry[i].value, "points", SNW_DIM_LENGTH, &point[i]));
    }
    out->npoint = node->n;
    out->point = point;
    return SNW_OK;
}

static snw_status ground(snw_reader *r, const snw_entry *entry, snw_contact_desc *out) {
    const snw_entry *e[GROUND_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_ground, e));
    for (int i = 0; i < GROUND_N; i++) {
        if (e[i] || (i != GROUND_ON && i != GROUND_STIFFNESS)) continue;
        return snw_fail_at(r->err, entry->place, "the ground '%s' needs '%s', %s", out->name,
                           snw_keys_ground.key[i].name, snw_keys_ground.key[i].meaning);
    }
    const snw_dim per_length = {.m = -1, .kg = 1, .s = -2}, whole = {.kg = 1, .s = -2};
    bool rods = false;
    SNW_TRY(snw_read_links(r, e[GROUND_ON]->value, &out->nlink, &out->link));
    SNW_TRY(snw_read_of_rods(r, e[GROUND_STIFFNESS], out->name, out->nlink, out->link, &rods));
    SNW_TRY(snw_read_positive(r, e[GROUND_STIFFNESS]->value, "stiffness", rods ? per_length : whole,
                              &out->stiffness));
    if (e[GROUND_NORMAL]) {
        SNW_TRY(snw_read_direction(r, e[GROUND_NORMAL]->value, "normal", &out->normal));
    }
    if (e[GROUND_AT]) {
        SNW_TRY(snw_read_vec3(r, e[GROUND_AT]->value, "at", SNW_DIM_LENGTH, &out->at));
    }
    if (e[GROUND_ENDS]) SNW_TRY(not_negative(r, e[GROUND_ENDS], whole, &out->ends));
    out->has_ends = e[GROUND_ENDS] != NULL;
    if (e[GROUND_DAMPING]) {
        SNW_TRY(not_negative(r, e[GROUND_DAMPING], (snw_dim){.m = -1, .s = 1}, &out->damping));
    }
    if (e[GROUND_FRICTION]) SNW_TRY(friction(r, e[GROUND_FRICTION], out));
    if (e[GROUND_CREEP]) {
        SNW_TRY(snw_read_positive(r, e[GROUND_CREEP]->value, "creep", (snw_dim){.m = 1, .s = -1},
                                  &out->creep));
    }
    if (e[GROUND_SMOOTH]) {
        SNW_TRY(
            snw_read_positive(r, e[GROUND_SMOOTH]->value, "smooth", SNW_DIM_LENGTH, &out->smooth));
    }
    return e[GROUND_POINTS] ? points(r, e[GROUND_POINTS], out) : SNW_OK;
}

static snw_status contact(snw_reader *r, const snw_entry *entry, snw_contact_desc *out) {
    const snw_entry *e[CONTACT_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_contact, e));
    *out = (snw_contact_desc){.name = entry->key,
                              .place = entry->place,
                              .normal = {{0, 0, 1}},
                              .creep = SNW_CREEP,
                              .smooth = SNW_CONTACT_SMOOTH};
    if (!e[CONTACT_GROUND]) {
        return snw_fail_at(r->err, entry->place,
                           "contact '%s' needs what is touched, e.g. "
                           "'ground: {on: arm, stiffness: 10 kPa}'",
                           entry->key);
    }
    SNW_TRY(ground(r, e[CONTACT_GROUND], out));
    if (!e[CONTACT_WHEN]) return SNW_OK;
    return snw_read_switch(r, e[CONTACT_WHEN]->value, "when", &out->when);
}

snw_status snw_read_contacts(snw_reader *r) {
    const snw_node *node;
    snw_desc *d = r->desc;
    SNW_TRY(snw_read_section_of_file(r, "contacts", &node, &d->ncontact));
    d->contact = snw_pool_array(r->pool, (size_t)d->ncontact, sizeof *d->contact);
    if (!d->contact) return snw_read_memory(r);
    for (int i = 0; i < d->ncontact; i++) SNW_TRY(contact(r, &node->entry[i], &d->contact[i]));
    return SNW_OK;
}
