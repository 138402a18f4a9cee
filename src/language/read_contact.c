// SPDX-License-Identifier: MIT
//
// Reads contacts: ground contact with rods and bodies, and the nonholonomic constraints wheel, ring
// and anchor.
#include "language/read.h"

#include "base/fail.h"

#include <stdio.h>
#include <string.h>

#define CONTACT_KEYS(X)                                                                            \
    X(CONTACT_GROUND, "ground", "a ground", "a compliant half-space")                              \
    X(CONTACT_WHEEL, "wheel", "a wheel", "a site does not move along the axle, or rolls")          \
    X(CONTACT_RING, "ring", "a ring",                                                              \
      "a site moves along its x only and does not rotate about it: a section between posts")       \
    X(CONTACT_ANCHOR, "anchor", "an anchor", "a site is at rest in the world")                     \
    X(CONTACT_CARRIER, "carrier", "a site",                                                        \
      "wheel, ring or anchor: what it touches moves with this site; the world unless given")       \
    X(CONTACT_MOTION, "motion", "a pose, laws of t",                                               \
      "wheel, ring or anchor: motion of what it touches, in the carrier; at rest unless given")    \
    X(CONTACT_WHEN, "when", "a condition on t and probes",                                         \
      "active while this holds; always unless given")
#define GROUND_KEYS(X)                                                                             \
    X(GROUND_ON, "on", "a link, or a list",                                                        \
      "links whose rods, or bodies if they have no rod, are in contact")                           \
    X(GROUND_NORMAL, "normal", "x y z or a vector",                                                \
      "outward normal of the ground, z unless given")                                              \
    X(GROUND_AT, "at", "three lengths, m", "a point of its surface, the origin unless given")      \
    X(GROUND_STIFFNESS, "stiffness", "N/m^2; of bodies N/m",                                       \
      "k: force per depth, per length of rod or at each point of a body; required")                \
    X(GROUND_ENDS, "ends", "N/m",                                                                  \
      "stiffness at the end sections of rods, k times half the smaller width unless given")        \
    X(GROUND_DAMPING, "damping", "s/m",                                                            \
      "d: the force is k depth (1 + d times the speed of approach), 0 unless given")               \
    X(GROUND_FRICTION, "friction", "number, or along and across a rod",                            \
      "coefficient of dry friction, 0 unless given")                                               \
    X(GROUND_CREEP, "creep", "m/s",                                                                \
      "slip speed below which friction is smoothed, 1 mm/s unless given")                          \
    X(GROUND_SMOOTH, "smooth", "m",                                                                \
      "length over which the force sets in at the surface, 0.1 mm unless given")                   \
    X(GROUND_POINTS, "points", "list of three lengths, m",                                         \
      "contact points of a body, in the frame of its link, instead of its shape")
#define FRICTION_KEYS(X)                                                                           \
    X(FRICTION_ALONG, "along", "number", "against slip along the rod, required")                   \
    X(FRICTION_ACROSS, "across", "number", "against slip across it, required")

#define WHEEL_KEYS(X)                                                                              \
    X(WHEEL_ON, "on", "a site", "the centre of the wheel, required")                               \
    X(WHEEL_AXIS, "axis", "x y z or a vector",                                                     \
      "the axle, in the axes of the site, z unless given")                                         \
    X(WHEEL_RADIUS, "radius", "m",                                                                 \
      "radius of a rolling wheel: the site turns with it, and its point on the ground is at rest") \
    X(WHEEL_NORMAL, "normal", "x y z or a vector",                                                 \
      "with a radius or 'rolling': normal of the ground, z of the world or carrier unless given")  \
    X(WHEEL_LATERAL, "lateral", "N*s/m",                                                           \
      "viscous resistance to slip along the axle; 0: an omnidirectional wheel")                    \
    X(WHEEL_ROLLING, "rolling", "N*s/m",                                                           \
      "viscous resistance to slip in the rolling direction: of the contact point, or of the site " \
      "without a radius")
#define RING_KEYS(X)                                                                               \
    X(RING_ON, "on", "a site", "the section it surrounds")                                         \
    X(RING_ALONG, "along", "a link", "instead: it surrounds every section of this rod")            \
    X(RING_STATIONS, "stations", "number",                                                         \
      "with 'along': number of constrained sections, in the middles of equal parts; 24, or one "   \
      "more than the bending functions, unless given")
#define ANCHOR_KEYS(X)                                                                             \
    X(ANCHOR_ON, "on", "a site", "the site at rest, required")                                     \
    X(ANCHOR_HOLDS, "holds", "material or place",                                                  \
      "at a station that moves along a rod: at rest is the section (unless given) or the station")

enum { CONTACT_KEYS(SNW_KEY_CODE) CONTACT_N };
enum { GROUND_KEYS(SNW_KEY_CODE) GROUND_N };
enum { FRICTION_KEYS(SNW_KEY_CODE) FRICTION_N };
SNW_KEYS(contact, "contact", "a contact", CONTACT_KEYS);
enum { WHEEL_KEYS(SNW_KEY_CODE) WHEEL_N };
enum { RING_KEYS(SNW_KEY_CODE) RING_N };
enum { ANCHOR_KEYS(SNW_KEY_CODE) ANCHOR_N };
SNW_KEYS(wheel, "wheel", "a wheel", WHEEL_KEYS);
SNW_KEYS(ring, "ring", "a ring", RING_KEYS);
SNW_KEYS(anchor, "anchor", "an anchor", ANCHOR_KEYS);
SNW_KEYS(ground, "ground", "a ground", GROUND_KEYS);
SNW_KEYS(friction, "friction", "a friction", FRICTION_KEYS);

static snw_status contact_read_friction(snw_reader *r, const snw_entry *entry,
                                        snw_contact_desc *out) {
    const snw_entry *e[FRICTION_N];
    if (entry->value->kind != SNW_NODE_MAP) {
        SNW_TRY(snw_read_nonnegative(r, entry, SNW_DIM_NONE, &out->across));
        out->along = out->across;
        return SNW_OK;
    }
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_friction, e));
    for (int i = 0; i < FRICTION_N; i++) {
        if (e[i]) continue;
        return snw_fail_at(r->err, entry->location,
                           "'friction' needs 'along' and 'across', or is one "
                           "number for both");
    }
    SNW_TRY(snw_read_nonnegative(r, e[FRICTION_ALONG], SNW_DIM_NONE, &out->along));
    return snw_read_nonnegative(r, e[FRICTION_ACROSS], SNW_DIM_NONE, &out->across);
}

static snw_status read_points(snw_reader *r, const snw_entry *e, snw_contact_desc *out) {
    const snw_node *node = e->value;
    if (node->kind != SNW_NODE_LIST || node->n == 0) {
        return snw_fail_at(r->err, node->location,
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

static snw_status read_ground(snw_reader *r, const snw_entry *entry, snw_contact_desc *out) {
    const snw_entry *e[GROUND_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_ground, e));
    for (int i = 0; i < GROUND_N; i++) {
        if (e[i] || (i != GROUND_ON && i != GROUND_STIFFNESS)) continue;
        return snw_fail_at(r->err, entry->location, "the ground '%s' needs '%s', %s", out->name,
                           snw_keys_ground.key[i].name, snw_keys_ground.key[i].meaning);
    }
    const snw_dim per_length = {.m = -1, .kg = 1, .s = -2}, whole = {.kg = 1, .s = -2};
    bool rods = false;
    SNW_TRY(snw_read_links(r, e[GROUND_ON]->value, &out->nlink, &out->link));
    SNW_TRY(snw_read_are_rods(r, e[GROUND_STIFFNESS], out->name, out->nlink, out->link, &rods));
    SNW_TRY(snw_read_positive(r, e[GROUND_STIFFNESS]->value, "stiffness", rods ? per_length : whole,
                              &out->stiffness));
    if (e[GROUND_NORMAL]) {
        SNW_TRY(snw_read_direction(r, e[GROUND_NORMAL]->value, "normal", &out->normal));
    }
    if (e[GROUND_AT]) {
        SNW_TRY(snw_read_vec3(r, e[GROUND_AT]->value, "at", SNW_DIM_LENGTH, &out->at));
    }
    if (e[GROUND_ENDS]) SNW_TRY(snw_read_nonnegative(r, e[GROUND_ENDS], whole, &out->ends));
    out->has_ends = e[GROUND_ENDS] != NULL;
    if (e[GROUND_DAMPING]) {
        SNW_TRY(
            snw_read_nonnegative(r, e[GROUND_DAMPING], (snw_dim){.m = -1, .s = 1}, &out->damping));
    }
    if (e[GROUND_FRICTION]) SNW_TRY(contact_read_friction(r, e[GROUND_FRICTION], out));
    if (e[GROUND_CREEP]) {
        SNW_TRY(snw_read_positive(r, e[GROUND_CREEP]->value, "creep", (snw_dim){.m = 1, .s = -1},
                                  &out->creep));
    }
    if (e[GROUND_SMOOTH]) {
        SNW_TRY(
            snw_read_positive(r, e[GROUND_SMOOTH]->value, "smooth", SNW_DIM_LENGTH, &out->smooth));
    }
    return e[GROUND_POINTS] ? read_points(r, e[GROUND_POINTS], out) : SNW_OK;
}

// ---- nonholonomic constraints -------------------------------------------------------------------

static snw_status read_wheel(snw_reader *r, const snw_entry *entry, snw_loop_desc *out) {
    const snw_entry *e[WHEEL_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_wheel, e));
    if (!e[WHEEL_ON]) {
        return snw_fail_at(r->err, entry->location, "the wheel '%s' needs 'on', %s", out->name,
                           snw_keys_wheel.key[WHEEL_ON].meaning);
    }
    out->nonholonomic = SNW_NONHOLONOMIC_WHEEL;
    out->normal = (snw_vec3){{0, 0, 1}};
    SNW_TRY(snw_read_site(r, e[WHEEL_ON]->value, "on", &out->b));
    if (e[WHEEL_AXIS]) SNW_TRY(snw_read_direction(r, e[WHEEL_AXIS]->value, "axis", &out->axis));
    if (e[WHEEL_NORMAL]) {
        SNW_TRY(snw_read_direction(r, e[WHEEL_NORMAL]->value, "normal", &out->normal));
    }
    const snw_dim resistance = {.kg = 1, .s = -1};
    for (int k = 0; k < 2; k++) {
        const snw_entry *slip = e[k ? WHEEL_ROLLING : WHEEL_LATERAL];
        if (!slip) continue;
        if (out->b.sliding) {
            return snw_fail_at(r->err, slip->location,
                               "the wheel '%s' slips at a station that moves along its rod; use a "
                               "fixed station, or leave out '%s'",
                               out->name, slip->key);
        }
        SNW_TRY(snw_read_nonnegative(r, slip, resistance, &out->slip[k]));
    }
    if (e[WHEEL_RADIUS]) {
        static const snw_nonholonomic_kind kind[2][2] = {
            {SNW_NONHOLONOMIC_ROLL, SNW_NONHOLONOMIC_EDGE},
            {SNW_NONHOLONOMIC_TREAD, SNW_NONHOLONOMIC_SLIP}};
        out->nonholonomic = kind[e[WHEEL_LATERAL] != NULL][e[WHEEL_ROLLING] != NULL];
        return snw_read_positive(r, e[WHEEL_RADIUS]->value, "radius", SNW_DIM_LENGTH, &out->radius);
    }
    if (e[WHEEL_LATERAL]) out->nonholonomic = SNW_NONHOLONOMIC_SLIP;
    return SNW_OK;
}

static snw_status read_anchor(snw_reader *r, const snw_entry *entry, snw_loop_desc *out) {
    static const char *const what[] = {"material", "place"};
    const snw_entry *e[ANCHOR_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_anchor, e));
    if (e[ANCHOR_HOLDS]) {
        int choice = 0;
        SNW_TRY(snw_read_word(r, e[ANCHOR_HOLDS]->value, "holds", 2, what, &choice));
        out->fixes_frame = choice == 1;
    }
    if (e[ANCHOR_ON]) return snw_read_site(r, e[ANCHOR_ON]->value, "on", &out->b);
    return snw_fail_at(r->err, entry->location, "the anchor '%s' needs 'on', %s", out->name,
                       snw_keys_anchor.key[ANCHOR_ON].meaning);
}

// Default number of sections at which a ring along a rod constrains it. With prescribed strains the
// number only affects how the reaction is distributed. With strain coordinates each constraint row
// removes one degree of freedom: n + 1 rows leave two of the n curvature coordinates and three
// planar rigid motions, for sliding and for the curvature of the path ahead.
static int ring_stations(const snw_rod_desc *rod) {
    enum { OF_LAWS = 24 };
    int max_functions = 0;
    for (int k = SNW_BEND_Y; k <= SNW_BEND_Z; k++) {
        if (rod->active[k] && rod->basis[k].nfun > max_functions)
            max_functions = rod->basis[k].nfun;
    }
    return max_functions > 0 ? max_functions + 1 : OF_LAWS;
}

// create one loop for each station, all of the same kind
static snw_status read_rings(snw_reader *r, const snw_entry *const *e, snw_contact_desc *contact) {
    snw_desc *d = r->desc;
    enum { MOST = 1000, NAME = 120 };
    const char *name = "";
    snw_site site = {
        .kind = SNW_SITE_AT, .pose = snw_se3_identity(), .location = contact->location};
    SNW_TRY(snw_read_name(r, e[RING_ALONG]->value, "along", &name));
    SNW_TRY(snw_find_thing(r, e[RING_ALONG]->value, name, SNW_THING_LINK, &site.link));
    const snw_link_desc *link = &d->link[site.link];
    if (!link->has_rod) {
        return snw_fail_at(r->err, e[RING_ALONG]->location,
                           "the ring '%s' is along link '%s', which has no rod; give 'on', a site",
                           contact->name, name);
    }
    int n = ring_stations(&link->rod);
    if (e[RING_STATIONS]) {
        SNW_TRY(snw_read_integer(r, e[RING_STATIONS]->value, "stations", 1, MOST, &n));
    }
    const int first = contact->nonholonomic - 1;
    snw_loop_desc *all = snw_pool_array(r->pool, (size_t)(d->nloop + n + d->ncontact), sizeof *all);
    if (!all) return snw_read_memory(r);
    memcpy(all, d->loop, (size_t)d->nloop * sizeof *all);
    d->loop = all;
    for (int i = 0; i < n; i++) {
        char text[NAME];
        const int length = snprintf(text, sizeof text, "%.80s(%d)", contact->name, i + 1);
        all[first + i] = all[first];
        all[first + i].name = snw_pool_text(r->pool, text, (size_t)length);
        if (!all[first + i].name) return snw_read_memory(r);
        site.x = (i + 0.5) * link->rod.length / n;
        all[first + i].b = site;
        all[first + i].groove = true;
    }
    contact->nnonholonomic = n;
    d->nloop = first + n;
    return SNW_OK;
}

static snw_status read_ring(snw_reader *r, const snw_entry *entry, snw_contact_desc *contact) {
    const snw_entry *e[RING_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_ring, e));
    if (!e[RING_ON] == !e[RING_ALONG]) {
        return snw_fail_at(r->err, entry->location,
                           "the ring '%s' needs one of 'on', %s, and 'along', a link whose rod it "
                           "surrounds everywhere",
                           contact->name, snw_keys_ring.key[RING_ON].meaning);
    }
    if (e[RING_ALONG]) return read_rings(r, e, contact);
    if (e[RING_STATIONS]) {
        return snw_fail_at(r->err, e[RING_STATIONS]->location,
                           "'stations' are for a ring 'along' a rod; '%s' is on a site",
                           contact->name);
    }
    return snw_read_site(r, e[RING_ON]->value, "on", &r->desc->loop[contact->nonholonomic - 1].b);
}

// what the contact touches moves with another link, or by a law
static snw_status read_carrier(snw_reader *r, const snw_entry *const *e,
                               const snw_contact_desc *contact, snw_loop_desc *out) {
    if (e[CONTACT_CARRIER]) {
        SNW_TRY(snw_read_site(r, e[CONTACT_CARRIER]->value, "carrier", &out->a));
        if (out->a.sliding)
            return snw_fail_at(r->err, e[CONTACT_CARRIER]->location,
                               "the carrier of contact '%s' is a fixed station of a rod, or a link",
                               contact->name);
    }
    if (e[CONTACT_MOTION]) SNW_TRY(snw_read_pose(r, e[CONTACT_MOTION]->value, &out->pose));
    return SNW_OK;
}

// slip forces of wheels are those on ground at rest
static snw_status check_slip(snw_reader *r, const snw_entry *const *e, const snw_loop_desc *out) {
    const snw_entry *moves = e[CONTACT_CARRIER] ? e[CONTACT_CARRIER] : e[CONTACT_MOTION];
    const snw_nonholonomic_type *type = &snw_nonholonomic_table[out->nonholonomic];
    if (!moves || (out->slip[0] == 0 && out->slip[1] == 0 && type->nrow > 0)) return SNW_OK;
    return snw_fail_at(
        r->err, moves->location,
        "the wheel '%s' slips, and what it rolls on must be at rest; leave out '%s', "
        "or 'lateral' and 'rolling'",
        out->name, moves->key);
}

// a contact that constrains velocities becomes a loop after all others
static snw_status read_nonholonomic(snw_reader *r, const snw_entry *const *e,
                                    snw_contact_desc *contact) {
    snw_desc *d = r->desc;
    snw_loop_desc *out = &d->loop[d->nloop];
    *out = (snw_loop_desc){.name = contact->name,
                           .location = contact->location,
                           .a = {.kind = SNW_SITE_WORLD,
                                 .link = -1,
                                 .pose = snw_se3_identity(),
                                 .location = contact->location},
                           .pose = snw_pose_desc_identity(),
                           .when = contact->when};
    contact->nonholonomic = ++d->nloop;
    contact->nnonholonomic = 1;
    contact->when = NULL;
    SNW_TRY(read_carrier(r, e, contact, out)); // before the loops of rings along a rod are copied
    if (e[CONTACT_WHEEL]) {
        SNW_TRY(read_wheel(r, e[CONTACT_WHEEL], out));
        SNW_TRY(check_slip(r, e, out));
    } else if (e[CONTACT_RING]) {
        out->nonholonomic = SNW_NONHOLONOMIC_RING;
        SNW_TRY(read_ring(r, e[CONTACT_RING], contact));
    } else {
        out->nonholonomic = SNW_NONHOLONOMIC_ANCHOR;
        SNW_TRY(read_anchor(r, e[CONTACT_ANCHOR], out));
    }
    out = &d->loop[contact->nonholonomic - 1];
    if (out->b.kind == SNW_SITE_WORLD) {
        return snw_fail_at(r->err, contact->location,
                           "contact '%s' is on the world, which is at rest", contact->name);
    }
    SNW_TRY(snw_read_both(r, contact->location, snw_site_when(d, &out->a), &out->when));
    SNW_TRY(snw_read_both(r, contact->location, snw_site_when(d, &out->b), &out->when));
    for (int i = 1; i < contact->nnonholonomic; i++) out[i].when = out->when;
    return SNW_OK;
}

// ---- contacts -----------------------------------------------------------------------------------

static snw_status read_contact(snw_reader *r, const snw_entry *entry, snw_contact_desc *out) {
    const snw_entry *e[CONTACT_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_contact, e));
    *out = (snw_contact_desc){.name = entry->key,
                              .location = entry->location,
                              .normal = {{0, 0, 1}},
                              .creep = SNW_CREEP,
                              .smooth = SNW_CONTACT_SMOOTH};
    int kinds = 0;
    for (int i = CONTACT_GROUND; i <= CONTACT_ANCHOR; i++) kinds += e[i] != NULL;
    if (kinds != 1) {
        return snw_fail_at(r->err, entry->location,
                           "contact '%s' needs one of ground, wheel, ring and anchor, e.g. "
                           "'ground: {on: arm, stiffness: 10 kPa}' or 'wheel: {on: axle, axis: y}'",
                           entry->key);
    }
    if (e[CONTACT_WHEN])
        SNW_TRY(snw_read_active_when(r, e[CONTACT_WHEN]->value, "when", &out->when));
    if (!e[CONTACT_GROUND]) return read_nonholonomic(r, e, out);
    for (int i = CONTACT_CARRIER; i <= CONTACT_MOTION; i++) {
        if (!e[i]) continue;
        return snw_fail_at(r->err, e[i]->location,
                           "'%s' is for wheels, rings and anchors; the ground '%s' is at rest",
                           e[i]->key, entry->key);
    }
    return read_ground(r, e[CONTACT_GROUND], out);
}

snw_status snw_read_contacts(snw_reader *r) {
    const snw_node *node;
    snw_desc *d = r->desc;
    SNW_TRY(snw_read_section_entries(r, "contacts", &node, &d->ncontact));
    d->contact = snw_pool_array(r->pool, (size_t)d->ncontact, sizeof *d->contact);
    snw_loop_desc *loop = snw_pool_array(r->pool, (size_t)(d->nloop + d->ncontact), sizeof *loop);
    if (!d->contact || !loop) return snw_read_memory(r);
    if (d->nloop > 0) memcpy(loop, d->loop, (size_t)d->nloop * sizeof *loop);
    d->loop = loop;
    r->sliding_allowed = true; // stations may be laws of time
    snw_status s = SNW_OK;
    for (int i = 0; s == SNW_OK && i < d->ncontact; i++) {
        s = read_contact(r, &node->entry[i], &d->contact[i]);
    }
    r->sliding_allowed = false;
    return s;
}
