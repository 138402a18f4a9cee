// SPDX-License-Identifier: MIT
//
// Reads contacts: contact of rods and bodies with the ground and with obstacles, of rods with rods,
// and the nonholonomic constraints wheel, ring and anchor.
#include "language/read.h"

#include "base/fail.h"
#include "model/contact_samples.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CONTACT_KEYS(X)                                                                            \
    X(CONTACT_GROUND, "ground", "a ground", "a compliant half-space")                              \
    X(CONTACT_OBSTACLE, "obstacle", "an obstacle",                                                 \
      "a compliant solid of a given shape, fixed, moved by a law or carried by a link")            \
    X(CONTACT_RODS, "rods", "contact of rods", "rods touch each other, or themselves")             \
    X(CONTACT_WHEEL, "wheel", "a wheel", "a site does not move along the axle, or rolls")          \
    X(CONTACT_RING, "ring", "a ring",                                                              \
      "a site moves along its x only and does not rotate about it: a section between posts")       \
    X(CONTACT_ANCHOR, "anchor", "an anchor", "a site, or its point, is at rest in the world")      \
    X(CONTACT_CARRIER, "carrier", "a site",                                                        \
      "wheel, ring or anchor: what it touches moves with this site; the world unless given")       \
    X(CONTACT_MOTION, "motion", "a pose, laws of t",                                               \
      "wheel, ring or anchor: motion of what it touches, in the carrier; at rest unless given")    \
    X(CONTACT_WEIGHT, "weight", "number",                                                          \
      "wheel, ring or anchor: weight of its reaction where redundant contacts share a load, 1 "    \
      "unless given; a large weight takes little")                                                 \
    X(CONTACT_PRELOAD, "preload", "N",                                                             \
      "wheel without radius: force along its axle on the site that redundant contacts bear in "    \
      "kinematic steps, as far as the balance allows; 0 unless given")                             \
    X(CONTACT_WHEN, "when", "a condition on t and probes",                                         \
      "active while this holds; always unless given")
// Keys of the force, the last of a ground and of an obstacle, in the order of `contact_law_key`.
#define LAW_KEYS(X, OF)                                                                            \
    X(OF##_STIFFNESS, "stiffness", "N/m^2; of bodies N/m",                                         \
      "k: force per depth, per length of rod or at each point of a body; required")                \
    X(OF##_ENDS, "ends", "N/m",                                                                    \
      "stiffness at the end sections of rods, k times half the smaller width unless given")        \
    X(OF##_DAMPING, "damping", "s/m",                                                              \
      "d: the force is k depth (1 + d times the speed of approach), 0 unless given")               \
    X(OF##_RESTITUTION, "restitution", "{ratio: 0.7, speed: 2 m/s}; of a hard contact a number",   \
      "instead of the damping: ratio of the speeds after and before an impact with this speed")    \
    X(OF##_FRICTION, "friction", "number, or along and across a rod",                              \
      "coefficient of dry friction, 0 unless given")                                               \
    X(OF##_CREEP, "creep", "m/s",                                                                  \
      "slip speed below which friction is smoothed, 1 mm/s unless given")                          \
    X(OF##_SMOOTH, "smooth", "m",                                                                  \
      "length over which the force sets in at the surface, 0.1 mm unless given")                   \
    X(OF##_POINTS, "points", "list of three lengths, m",                                           \
      "contact points of a body, in the frame of its link, instead of its shape")                  \
    X(OF##_HARD, "hard", "true or false",                                                          \
      "no penetration, and friction that holds without creep; needs scheme moreau, no stiffness")
#define GROUND_KEYS(X)                                                                             \
    X(GROUND_ON, "on", "a link, a layer, or a list",                                               \
      "links whose rods, or bodies if they have no rod, are in contact")                           \
    X(GROUND_NORMAL, "normal", "x y z or a vector",                                                \
      "outward normal of the ground, z unless given")                                              \
    X(GROUND_AT, "at", "three lengths, m", "a point of its surface, the origin unless given")      \
    LAW_KEYS(X, GROUND)
#define OBSTACLE_KEYS(X)                                                                           \
    X(OBSTACLE_LINKS, "links", "a link, a layer, a list, rods, bodies or all",                     \
      "links whose rods, or bodies if they have no rod, touch it; required. layers, rods, "        \
      "bodies, "                                                                                   \
      "all: those not next to the link that carries it")                                           \
    X(OBSTACLE_WITHOUT, "without", "a link, a layer, or a list", "links that do not touch it")     \
    X(OBSTACLE_SHAPE, "shape",                                                                     \
      "plane, sphere, capsule, box, cylinder, torus, height, mesh, hull or body",                  \
      "in its own axes: the axis of a capsule, cylinder or torus and the normal of a plane are "   \
      "z. body: that of the body of the link 'on'")                                                \
    SNW_SHAPE_KEYS(X, OBSTACLE)                                                                    \
    SNW_FIELD_KEYS(X, OBSTACLE)                                                                    \
    X(OBSTACLE_INSIDE, "inside", "true or false",                                                  \
      "links are inside of the shape, and touch its wall")                                         \
    X(OBSTACLE_ON, "on", "a site", "the frame that carries it, the world unless given")            \
    X(OBSTACLE_AT, "at", "three lengths, m, laws of t", "its centre, the origin unless given")     \
    X(OBSTACLE_AXIS, "axis", "x y z or a vector", "direction of its z axis, z unless given")       \
    X(OBSTACLE_POSE, "pose", "a pose", "its pose, instead of 'at' and 'axis'; laws of t")          \
    X(OBSTACLE_SPACING, "spacing", "m",                                                            \
      "of contact points along the edges of boxes and cylinders that touch it, and along its own " \
      "where they touch it; the smaller of their smallest half widths unless given")               \
    X(OBSTACLE_NEAREST, "nearest", "true or false",                                                \
      "rods touch it where they are nearest to it, with a stiffness in N/m, not per length")       \
    LAW_KEYS(X, OBSTACLE)
#define RODS_KEYS(X)                                                                               \
    X(RODS_BETWEEN, "between", "a link, a layer, a list, or all",                                  \
      "links whose rods touch each other; all: of all links with a rod; required")                 \
    X(RODS_AGAINST, "against", "a link, a layer, or a list",                                       \
      "those of 'between' touch these instead of each other")                                      \
    X(RODS_INSIDE, "inside", "a link", "those of 'between' are in the bore of this rod")           \
    X(RODS_BORE, "bore", "m",                                                                      \
      "with 'inside': radius of the bore, that of its section unless given")                       \
    X(RODS_EXCEPT, "except", "list of pairs of links or layers", "pairs that do not touch")        \
    X(RODS_SELF, "self", "true or false",                                                          \
      "each rod of 'between' also touches itself; the default if it is only one")                  \
    X(RODS_RADIUS, "radius", "m", "of the surfaces; that of the sections unless given")            \
    X(RODS_STIFFNESS, "stiffness", "N/m^2",                                                        \
      "k: force per depth and per length of rods that lie side by side; required unless hard")     \
    X(RODS_CROSSING, "crossing", "N/m",                                                            \
      "force per depth where rods cross and at their ends, k times the sum of both radii unless "  \
      "given")                                                                                     \
    X(RODS_DAMPING, "damping", "s/m",                                                              \
      "d: the force is k depth (1 + d times the speed of approach), 0 unless given")               \
    X(RODS_RESTITUTION, "restitution", "{ratio: 0.7, speed: 2 m/s}; of a hard contact a number",   \
      "instead of the damping: ratio of the speeds after and before an impact with this speed")    \
    X(RODS_FRICTION, "friction", "number", "coefficient of dry friction, 0 unless given")          \
    X(RODS_CREEP, "creep", "m/s",                                                                  \
      "slip speed below which friction is smoothed, 1 mm/s unless given")                          \
    X(RODS_SMOOTH, "smooth", "m",                                                                  \
      "length over which the force sets in at the surface, 0.1 mm unless given")                   \
    X(RODS_HARD, "hard", "true or false",                                                          \
      "no penetration, and friction that holds without creep; needs scheme moreau, no stiffness")
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
      "at a station that moves along a rod: at rest is the section (unless given) or the station") \
    X(ANCHOR_TURNS, "turns", "none, across or freely",                                             \
      "rotations that it allows: none (unless given), those about y and z of the site, all")

enum { CONTACT_KEYS(SNW_KEY_CODE) CONTACT_N };
enum { GROUND_KEYS(SNW_KEY_CODE) GROUND_N };
enum { OBSTACLE_KEYS(SNW_KEY_CODE) OBSTACLE_N };
enum { RODS_KEYS(SNW_KEY_CODE) RODS_N };
enum { FRICTION_KEYS(SNW_KEY_CODE) FRICTION_N };
enum contact_law_key { LAW_KEYS(SNW_KEY_CODE, LAW) LAW_N };
SNW_KEYS(contact, "contact", "a contact", CONTACT_KEYS);
enum { WHEEL_KEYS(SNW_KEY_CODE) WHEEL_N };
enum { RING_KEYS(SNW_KEY_CODE) RING_N };
enum { ANCHOR_KEYS(SNW_KEY_CODE) ANCHOR_N };
SNW_KEYS(wheel, "wheel", "a wheel", WHEEL_KEYS);
SNW_KEYS(ring, "ring", "a ring", RING_KEYS);
SNW_KEYS(anchor, "anchor", "an anchor", ANCHOR_KEYS);
SNW_KEYS(ground, "ground", "a ground", GROUND_KEYS);
SNW_KEYS(obstacle, "obstacle", "an obstacle", OBSTACLE_KEYS);
SNW_KEYS(rods, "rods", "a contact of rods", RODS_KEYS);
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

// A hard contact has no compliance; its restitution is one number.
static snw_status read_hard_law(snw_reader *r, const snw_entry *const *e, snw_contact_desc *out) {
    static const int compliant[] = {LAW_STIFFNESS, LAW_ENDS, LAW_DAMPING, LAW_CREEP, LAW_SMOOTH};
    for (size_t i = 0; i < sizeof compliant / sizeof *compliant; i++) {
        const snw_entry *has = e[compliant[i]];
        if (!has) continue;
        return snw_fail_at(r->err, has->location,
                           "'%s' is hard and has no '%s'; leave out one of them", out->name,
                           has->key);
    }
    out->stiffness = 1; // of every contact point; its size has no meaning
    if (!e[LAW_RESTITUTION]) return SNW_OK;
    return snw_read_hard_restitution(r, e[LAW_RESTITUTION], &out->restitution);
}

// The law of the force on the links in contact; e: entries of LAW_KEYS.
static snw_status read_force_law(snw_reader *r, const snw_entry *const *e, snw_contact_desc *out) {
    const snw_dim per_length = {.m = -1, .kg = 1, .s = -2}, whole = {.kg = 1, .s = -2};
    bool rods = false;
    if (e[LAW_HARD]) SNW_TRY(snw_read_switch(r, e[LAW_HARD]->value, "hard", &out->hard));
    if (e[LAW_FRICTION]) SNW_TRY(contact_read_friction(r, e[LAW_FRICTION], out));
    if (e[LAW_POINTS]) SNW_TRY(read_points(r, e[LAW_POINTS], out));
    if (out->hard) return read_hard_law(r, e, out);
    if (!e[LAW_STIFFNESS]) {
        return snw_fail_at(
            r->err, out->location,
            "the contact '%s' needs 'stiffness', the force per depth, or 'hard: true'", out->name);
    }
    SNW_TRY(snw_read_are_rods(r, e[LAW_STIFFNESS], out->name, out->nlink, out->link, &rods));
    if (out->nearest && (!rods || e[LAW_ENDS])) {
        return snw_fail_at(r->err, out->location, "'%s' is 'nearest', and %s", out->name,
                           rods ? "the ends of rods have its stiffness; leave out 'ends'"
                                : "the bodies that touch it have contact points; leave it out");
    }
    SNW_TRY(snw_read_positive(r, e[LAW_STIFFNESS]->value, "stiffness",
                              rods && !out->nearest ? per_length : whole, &out->stiffness));
    if (e[LAW_ENDS]) SNW_TRY(snw_read_nonnegative(r, e[LAW_ENDS], whole, &out->ends));
    out->has_ends = e[LAW_ENDS] != NULL;
    if (e[LAW_DAMPING] && e[LAW_RESTITUTION]) {
        return snw_fail_at(r->err, e[LAW_RESTITUTION]->location,
                           "'%s' has 'damping' and 'restitution', which gives it; leave one out",
                           out->name);
    }
    if (e[LAW_DAMPING]) {
        SNW_TRY(snw_read_nonnegative(r, e[LAW_DAMPING], (snw_dim){.m = -1, .s = 1}, &out->damping));
    }
    if (e[LAW_RESTITUTION]) {
        SNW_TRY(
            snw_read_restitution(r, e[LAW_RESTITUTION], (snw_dim){.m = 1, .s = -1}, &out->damping));
    }
    if (e[LAW_CREEP]) {
        SNW_TRY(snw_read_positive(r, e[LAW_CREEP]->value, "creep", (snw_dim){.m = 1, .s = -1},
                                  &out->creep));
    }
    if (!e[LAW_SMOOTH]) return SNW_OK;
    return snw_read_positive(r, e[LAW_SMOOTH]->value, "smooth", SNW_DIM_LENGTH, &out->smooth);
}

static snw_status read_ground(snw_reader *r, const snw_entry *entry, snw_contact_desc *out) {
    const snw_entry *e[GROUND_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_ground, e));
    for (int i = 0; i < GROUND_N; i++) {
        if (e[i] || i != GROUND_ON) continue;
        return snw_fail_at(r->err, entry->location, "the ground '%s' needs '%s', %s", out->name,
                           snw_keys_ground.key[i].name, snw_keys_ground.key[i].meaning);
    }
    SNW_TRY(snw_read_group(r, e[GROUND_ON]->value, NULL, &out->nlink, &out->link));
    SNW_TRY(read_force_law(r, e + GROUND_STIFFNESS, out));
    if (e[GROUND_NORMAL]) {
        SNW_TRY(snw_read_direction(r, e[GROUND_NORMAL]->value, "normal", &out->normal));
    }
    if (!e[GROUND_AT]) return SNW_OK;
    return snw_read_vec3(r, e[GROUND_AT]->value, "at", SNW_DIM_LENGTH, &out->at);
}

// ---- obstacles ----------------------------------------------------------------------------------

// Largest radius of what touches the contact, and its onset: how far from a mesh distances are
// needed.
static snw_status touching_radius(snw_reader *r, const snw_contact_desc *c, double *out) {
    enum { STATIONS = 32 };
    for (int k = 0; k < c->nlink; k++) {
        const snw_link_desc *link = &r->desc->link[c->link[k]];
        for (int i = 0; link->has_body && !link->has_rod && i < link->body.nsolid; i++)
            *out = fmax(*out, snw_solid_largest_sphere(&link->body.solid[i].shape));
        if (!link->has_rod || !snw_section_table[link->rod.section.kind].shaped) continue;
        for (int i = 0; i <= STATIONS; i++) {
            snw_outline o;
            SNW_TRY(snw_section_outline(&link->rod, link->name, link->rod.length * i / STATIONS, &o,
                                        r->err));
            *out = fmax(*out, 0.5 * fmax(o.y, o.z));
        }
    }
    *out += 0.5 * c->smooth;
    return SNW_OK;
}

// Meshes of bodies that touch the obstacle know the distance of its spheres.
static snw_status widen_touching(snw_reader *r, const snw_contact_desc *c) {
    double margin = snw_solid_largest_sphere(&c->obstacle);
    for (int i = 1; c->body && i < c->body->nsolid; i++)
        margin = fmax(margin, snw_solid_largest_sphere(&c->body->solid[i].shape));
    for (int k = 0; k < c->nlink; k++) {
        const snw_body_desc *body = &r->desc->link[c->link[k]].body;
        for (int i = 0; i < body->nsolid; i++) {
            SNW_TRY(
                snw_read_wider(r, c->location, margin + 0.5 * c->smooth, &body->solid[i].shape));
        }
    }
    return SNW_OK;
}

// The shape of the body that carries the obstacle.
static snw_status read_body_shape(snw_reader *r, const snw_entry *const *e, snw_contact_desc *out) {
    for (int i = OBSTACLE_RADIUS; i <= OBSTACLE_POSE; i++) {
        if (!e[i] || i == OBSTACLE_ON) continue;
        return snw_fail_at(r->err, e[i]->location,
                           "the obstacle '%s' is a body, which has its own shape and place; leave "
                           "out '%s'",
                           out->name, e[i]->key);
    }
    const snw_link_desc *link =
        out->on.kind == SNW_SITE_END && !out->on.offset ? &r->desc->link[out->on.link] : NULL;
    if (!link || !link->has_body || link->body.nsolid == 0) {
        return snw_fail_at(r->err, e[OBSTACLE_SHAPE]->location,
                           "'shape: body' needs 'on', a link whose body is a box, a cylinder or a "
                           "sphere, or has shapes");
    }
    out->body = &link->body;
    double margin = 0;
    SNW_TRY(touching_radius(r, out, &margin));
    for (int i = 0; i < link->body.nsolid; i++)
        SNW_TRY(snw_read_wider(r, e[OBSTACLE_SHAPE]->location, margin, &link->body.solid[i].shape));
    const snw_body_solid *first = &link->body.solid[0];
    out->obstacle = first->shape;
    out->pose.R0 = first->pose.R;
    for (int i = 0; i < 3; i++) {
        out->pose.xyz[i] = snw_expr_constant(r->pool, first->pose.p.e[i]);
        if (!out->pose.xyz[i]) return snw_read_memory(r);
    }
    return SNW_OK;
}

static snw_status read_shape(snw_reader *r, const snw_entry *const *e, snw_contact_desc *out) {
    const char *word[SNW_OBSTACLE_COUNT + 1];
    int kind = 0;
    for (int i = 0; i < SNW_OBSTACLE_COUNT; i++) word[i] = snw_obstacle_table[i].name;
    word[SNW_OBSTACLE_COUNT] = "body";
    SNW_TRY(
        snw_read_word(r, e[OBSTACLE_SHAPE]->value, "shape", SNW_OBSTACLE_COUNT + 1, word, &kind));
    if (kind == SNW_OBSTACLE_COUNT) return read_body_shape(r, e, out);
    const snw_obstacle_type *type = &snw_obstacle_table[kind];
    out->obstacle.kind = (snw_obstacle_kind)kind;
    snw_shape_source source = {.name = out->name,
                               .shape = e[OBSTACLE_SHAPE],
                               .key = &snw_keys_obstacle.key[OBSTACLE_RADIUS],
                               .nkey = SNW_SHAPE_N};
    memcpy(source.size, e + OBSTACLE_RADIUS, sizeof source.size);
    double margin = 0;
    SNW_TRY(touching_radius(r, out, &margin));
    SNW_TRY(snw_read_shape(r, &source, margin, &out->obstacle));
    if (!e[OBSTACLE_INSIDE]) return SNW_OK;
    SNW_TRY(snw_read_switch(r, e[OBSTACLE_INSIDE]->value, "inside", &out->obstacle.inside));
    if (!out->obstacle.inside || type->can_be_inside) return SNW_OK;
    return snw_fail_at(r->err, e[OBSTACLE_INSIDE]->location,
                       "a %s has no inside; turn its axis instead", type->name);
}

static snw_status read_obstacle_carrier(snw_reader *r, const snw_entry *on, snw_contact_desc *out) {
    if (!on) return SNW_OK;
    SNW_TRY(snw_read_site(r, on->value, "on", &out->on));
    if (!out->on.sliding) return SNW_OK;
    return snw_fail_at(r->err, on->location,
                       "the obstacle '%s' is on a station that moves along its rod; use a "
                       "fixed station, or a pose that is a law of t",
                       out->name);
}

static snw_status read_obstacle(snw_reader *r, const snw_entry *entry, snw_contact_desc *out) {
    const snw_entry *e[OBSTACLE_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_obstacle, e));
    for (int i = 0; i < OBSTACLE_N; i++) {
        if (e[i] || (i != OBSTACLE_LINKS && i != OBSTACLE_SHAPE)) continue;
        return snw_fail_at(r->err, entry->location, "the obstacle '%s' needs '%s', %s", out->name,
                           snw_keys_obstacle.key[i].name, snw_keys_obstacle.key[i].meaning);
    }
    out->is_obstacle = true;
    if (e[OBSTACLE_NEAREST])
        SNW_TRY(snw_read_switch(r, e[OBSTACLE_NEAREST]->value, "nearest", &out->nearest));
    if (e[OBSTACLE_SPACING]) {
        SNW_TRY(snw_read_positive(r, e[OBSTACLE_SPACING]->value, "spacing", SNW_DIM_LENGTH,
                                  &out->spacing));
    }
    SNW_TRY(read_obstacle_carrier(r, e[OBSTACLE_ON], out));
    SNW_TRY(snw_read_touching(r, e[OBSTACLE_LINKS], e[OBSTACLE_WITHOUT], out));
    SNW_TRY(read_force_law(r, e + OBSTACLE_STIFFNESS, out));
    SNW_TRY(snw_read_frame(r, e[OBSTACLE_AT], e[OBSTACLE_AXIS], e[OBSTACLE_POSE], &out->pose));
    SNW_TRY(read_shape(r, e, out));
    SNW_TRY(widen_touching(r, out));
    return snw_read_both(r, out->location, snw_site_when(r->desc, &out->on), &out->when);
}

// ---- rods with rods -----------------------------------------------------------------------------

// Rods of `between` or `against`: of links by name, of layers, or all. Those of layers and all that
// are joined do not touch.
static snw_status read_rod_group(snw_reader *r, const snw_entry *e, snw_contact_desc *out, int *n,
                                 const int **link) {
    const snw_desc *d = r->desc;
    const snw_node *node = e->value;
    const int *all;
    bool *grouped = snw_pool_array(r->pool, (size_t)d->nlink, sizeof *grouped);
    int *rod = snw_pool_array(r->pool, (size_t)d->nlink, sizeof *rod), nall = 0;
    if (!grouped || !rod) return snw_read_memory(r);
    *n = 0;
    *link = rod;
    if (node->kind == SNW_NODE_TEXT && !strcmp(node->text, "all")) {
        for (int l = 0; l < d->nlink; l++) {
            if (d->link[l].has_rod) rod[(*n)++] = l;
        }
        out->grouped = true;
        return *n > 0 ? SNW_OK : snw_fail_at(r->err, node->location, "no link has a rod");
    }
    SNW_TRY(snw_read_group(r, node, grouped, &nall, &all));
    for (int i = 0; i < nall; i++) {
        const snw_link_desc *at = &d->link[all[i]];
        out->grouped = out->grouped || grouped[all[i]];
        if (at->has_rod) rod[(*n)++] = all[i];
        if (at->has_rod || grouped[all[i]]) continue;
        return snw_fail_at(r->err, e->location,
                           "'%s' names link '%s', which has no rod; for a body write 'obstacle', "
                           "carried by its link",
                           e->key, at->name);
    }
    if (*n > 0) return SNW_OK;
    return snw_fail_at(r->err, e->location, "'%s' names no link with a rod", e->key);
}

// Pairs of links: each of the first group with each of the second.
static snw_status read_except(snw_reader *r, const snw_entry *e, snw_contact_desc *out) {
    const snw_node *node = e->value;
    const bool list = node->kind == SNW_NODE_LIST;
    const size_t nlink = (size_t)r->desc->nlink;
    int *pair =
        snw_pool_array(r->pool, 2 * nlink * nlink * (size_t)(list ? node->n : 0) + 1, sizeof *pair);
    if (!pair) return snw_read_memory(r);
    out->except = pair;
    for (int i = 0; list && i < node->n; i++) {
        const snw_node *item = node->entry[i].value;
        const int *group[2];
        int n[2];
        if (item->kind != SNW_NODE_LIST || item->n != 2)
            return snw_fail_at(r->err, item->location,
                               "'except' lists pairs of links, e.g. [[left, right]]");
        for (int k = 0; k < 2; k++)
            SNW_TRY(snw_read_group(r, item->entry[k].value, NULL, &n[k], &group[k]));
        for (int k = 0; k < n[0] * n[1]; k++) {
            int *to = pair + 2 * (size_t)out->nexcept++;
            to[0] = group[0][k / n[1]], to[1] = group[1][k % n[1]];
        }
    }
    if (list) return SNW_OK;
    return snw_fail_at(r->err, node->location,
                       "'except' is a list of pairs of links, e.g. [[left, right]]");
}

// The rod in whose bore the others are, and its radius.
static snw_status read_bore(snw_reader *r, const snw_entry *const *e, snw_contact_desc *out) {
    static const int others[] = {RODS_AGAINST, RODS_SELF, RODS_RADIUS, RODS_CROSSING};
    if (!e[RODS_INSIDE])
        return snw_fail_at(r->err, e[RODS_BORE]->location, "'bore' is that of the rod 'inside'");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!e[others[i]]) continue;
        return snw_fail_at(r->err, e[others[i]]->location,
                           "rods 'inside' of another touch its bore along their length; leave out "
                           "'%s'",
                           e[others[i]]->key);
    }
    SNW_TRY(read_rod_group(r, e[RODS_INSIDE], out, &out->nagainst, &out->against));
    out->inside = true;
    out->grouped = false; // a rod may be on the one that it is in
    for (int k = 0; k < out->nlink; k++) {
        if (out->link[k] != out->against[0] && out->nagainst == 1) continue;
        return snw_fail_at(r->err, e[RODS_INSIDE]->location,
                           "'inside' is one link, which is not one of 'between'");
    }
    if (!e[RODS_BORE]) return SNW_OK;
    return snw_read_positive(r, e[RODS_BORE]->value, "bore", SNW_DIM_LENGTH, &out->bore);
}

static snw_status read_rods(snw_reader *r, const snw_entry *entry, snw_contact_desc *out) {
    const snw_entry *e[RODS_N], *law[LAW_N] = {0};
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_rods, e));
    if (!e[RODS_BETWEEN]) {
        return snw_fail_at(r->err, entry->location, "the contact of rods '%s' needs 'between', %s",
                           out->name, snw_keys_rods.key[RODS_BETWEEN].meaning);
    }
    out->is_rods = true;
    SNW_TRY(read_rod_group(r, e[RODS_BETWEEN], out, &out->nlink, &out->link));
    if (e[RODS_AGAINST])
        SNW_TRY(read_rod_group(r, e[RODS_AGAINST], out, &out->nagainst, &out->against));
    if (e[RODS_INSIDE] || e[RODS_BORE]) SNW_TRY(read_bore(r, e, out));
    if (e[RODS_EXCEPT]) SNW_TRY(read_except(r, e[RODS_EXCEPT], out));
    out->self = out->nlink == 1 && !out->nagainst;
    if (e[RODS_SELF]) SNW_TRY(snw_read_switch(r, e[RODS_SELF]->value, "self", &out->self));
    if (out->nlink == 1 && !out->nagainst && !out->self) {
        return snw_fail_at(r->err, entry->location,
                           "the contact of rods '%s' names one rod, which then touches itself; "
                           "leave out 'self: false', or name another rod",
                           out->name);
    }
    if (e[RODS_RADIUS])
        SNW_TRY(
            snw_read_positive(r, e[RODS_RADIUS]->value, "radius", SNW_DIM_LENGTH, &out->radius));
    if (e[RODS_CROSSING]) {
        SNW_TRY(snw_read_positive(r, e[RODS_CROSSING]->value, "crossing",
                                  (snw_dim){.kg = 1, .s = -2}, &out->crossing));
    }
    if (e[RODS_FRICTION] && e[RODS_FRICTION]->value->kind == SNW_NODE_MAP) {
        return snw_fail_at(r->err, e[RODS_FRICTION]->location,
                           "the friction between rods is one number; 'along' and 'across' are for "
                           "a ground or an obstacle");
    }
    law[LAW_STIFFNESS] = e[RODS_STIFFNESS];
    law[LAW_DAMPING] = e[RODS_DAMPING];
    law[LAW_RESTITUTION] = e[RODS_RESTITUTION];
    law[LAW_FRICTION] = e[RODS_FRICTION];
    law[LAW_CREEP] = e[RODS_CREEP];
    law[LAW_SMOOTH] = e[RODS_SMOOTH];
    law[LAW_HARD] = e[RODS_HARD];
    SNW_TRY(read_force_law(r, law, out));
    if (!out->hard || (!e[RODS_CROSSING] && !e[RODS_INSIDE])) return SNW_OK;
    const snw_entry *has = e[RODS_CROSSING] ? e[RODS_CROSSING] : e[RODS_INSIDE];
    return snw_fail_at(r->err, has->location, "'%s' is hard and has no '%s'; leave out one of them",
                       out->name, has->key);
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
    if (e[ANCHOR_TURNS]) {
        static const char *const turns[] = {"none", "across", "freely"};
        static const snw_nonholonomic_kind kind[] = {SNW_NONHOLONOMIC_ANCHOR, SNW_NONHOLONOMIC_FOOT,
                                                     SNW_NONHOLONOMIC_PIVOT};
        int choice = 0;
        SNW_TRY(snw_read_word(r, e[ANCHOR_TURNS]->value, "turns", 3, turns, &choice));
        out->nonholonomic = kind[choice];
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

// The support that the contact touches moves with another link, or by a law.
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

static snw_status read_preload(snw_reader *r, const snw_entry *e, snw_loop_desc *out) {
    const snw_dim force = {.m = 1, .kg = 1, .s = -2};
    if (!e) return SNW_OK;
    if (out->radius > 0 || out->slip[0] > 0 || out->slip[1] > 0) {
        return snw_fail_at(r->err, e->location,
                           "'preload' is for wheels without radius and without slip, whose only "
                           "reaction is along the axle");
    }
    return snw_read_constant(r, e->value, "preload", force, &out->preload);
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
                           .when = contact->when,
                           .weight = 1};
    contact->nonholonomic = ++d->nloop;
    contact->nnonholonomic = 1;
    contact->when = NULL;
    if (e[CONTACT_WEIGHT]) {
        SNW_TRY(
            snw_read_positive(r, e[CONTACT_WEIGHT]->value, "weight", SNW_DIM_NONE, &out->weight));
    }
    SNW_TRY(read_carrier(r, e, contact, out)); // before the loops of rings along a rod are copied
    if (e[CONTACT_WHEEL]) {
        SNW_TRY(read_wheel(r, e[CONTACT_WHEEL], out));
        SNW_TRY(check_slip(r, e, out));
        SNW_TRY(read_preload(r, e[CONTACT_PRELOAD], out));
    } else if (e[CONTACT_RING]) {
        out->nonholonomic = SNW_NONHOLONOMIC_RING;
        SNW_TRY(read_ring(r, e[CONTACT_RING], contact));
    } else {
        out->nonholonomic = SNW_NONHOLONOMIC_ANCHOR;
        SNW_TRY(read_anchor(r, e[CONTACT_ANCHOR], out));
    }
    if (e[CONTACT_PRELOAD] && !e[CONTACT_WHEEL]) {
        return snw_fail_at(r->err, e[CONTACT_PRELOAD]->location,
                           "'preload' is the force along an axle; contact '%s' is no wheel",
                           contact->name);
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
                              .on = {.kind = SNW_SITE_WORLD,
                                     .link = -1,
                                     .pose = snw_se3_identity(),
                                     .location = entry->location},
                              .pose = snw_pose_desc_identity(),
                              .normal = {{0, 0, 1}},
                              .creep = SNW_CREEP,
                              .smooth = SNW_CONTACT_SMOOTH};
    int kinds = 0;
    for (int i = CONTACT_GROUND; i <= CONTACT_ANCHOR; i++) kinds += e[i] != NULL;
    if (kinds != 1) {
        return snw_fail_at(
            r->err, entry->location,
            "contact '%s' needs one of ground, obstacle, rods, wheel, ring and anchor, e.g. "
            "'ground: {on: arm, stiffness: 10 kPa}' or 'wheel: {on: axle, axis: y}'",
            entry->key);
    }
    if (e[CONTACT_WHEN])
        SNW_TRY(snw_read_active_when(r, e[CONTACT_WHEN]->value, "when", &out->when));
    if (!e[CONTACT_GROUND] && !e[CONTACT_OBSTACLE] && !e[CONTACT_RODS])
        return read_nonholonomic(r, e, out);
    for (int i = CONTACT_CARRIER; i <= CONTACT_PRELOAD; i++) {
        if (!e[i]) continue;
        if (i >= CONTACT_WEIGHT) {
            return snw_fail_at(r->err, e[i]->location,
                               "'%s' is for wheels, rings and anchors, whose reactions are rows",
                               e[i]->key);
        }
        return snw_fail_at(r->err, e[i]->location, "'%s' is for wheels, rings and anchors; %s",
                           e[i]->key,
                           e[CONTACT_GROUND] ? "a ground is at rest"
                           : e[CONTACT_RODS] ? "rods move by themselves"
                                             : "an obstacle has 'on' and laws of its pose");
    }
    if (e[CONTACT_RODS]) return read_rods(r, e[CONTACT_RODS], out);
    return e[CONTACT_GROUND] ? read_ground(r, e[CONTACT_GROUND], out)
                             : read_obstacle(r, e[CONTACT_OBSTACLE], out);
}

snw_status snw_read_contacts(snw_reader *r) {
    const snw_node *node;
    snw_desc *d = r->desc;
    SNW_TRY(snw_read_section_entries(r, "contacts", &node, &d->ncontact));
    SNW_TRY(snw_check_layers(r));
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
