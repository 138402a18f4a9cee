// SPDX-License-Identifier: MIT
//
// Reads loop closures: two sites connected by a joint, optionally under a condition.
#include "language/read.h"

#include "base/fail.h"

#include <string.h>

#define LOOP_KEYS(X)                                                                               \
    X(LOOP_JOIN, "join", "two sites", "the two sites, required")                                   \
    X(LOOP_AS, "as", "a joint", "type of the joint, required; free has no effect")                 \
    X(LOOP_AXIS, "axis", "x y z or a vector", "of the joint, z unless given; normal of planar")    \
    X(LOOP_AXES, "axes", "two, at a right angle", "of a joint with two, instead of axis")          \
    X(LOOP_PITCH, "pitch", "m", "of a screw: advance per turn; negative: left-handed")             \
    X(LOOP_POSE, "pose", "a pose, laws of t; or at_closing",                                       \
      "of the second site in the first; identity unless given; at_closing: its value when the "    \
      "loop closes")                                                                               \
    X(LOOP_SLIDES, "slides", "on or off",                                                          \
      "the rod of the second site slides through it; the station is where it is at first")         \
    X(LOOP_FRICTION, "friction", "number", "coefficient of dry friction of a rod that slides")     \
    X(LOOP_CREEP, "creep", "m/s", "rate of sliding below which it is smoothed, 1e-3 unless given") \
    X(LOOP_WHEN, "when", "a condition on t and probes",                                            \
      "closed while this holds; always unless given")

enum { LOOP_KEYS(SNW_KEY_CODE) LOOP_N };
SNW_KEYS(loop, "loop", "a loop", LOOP_KEYS);

// `pose: at_closing`: the relative pose is stored at the instant at which the loop closes, also at
// the start
static snw_status read_captured_pose(snw_reader *r, const snw_entry *pose, snw_loop_desc *out) {
    double always = 0;
    if (!out->when) out->when = snw_expr_constant(r->pool, 1);
    if (!out->when) return snw_read_memory(r);
    if (snw_law_constant(out->when, &always) && always == 0) return SNW_OK; // never closes
    if (snw_expr_vars(out->when) == 0)
        SNW_TRY(snw_read_condition_signal(r, pose->location, "on", &out->when));
    return snw_read_captured(r, pose->location, out->name, 7, out->when, &out->pose.captured);
}

static snw_status read_slip_friction(snw_reader *r, const snw_entry *friction,
                                     const snw_entry *creep, snw_loop_desc *out) {
    const snw_dim speed = {.m = 1, .s = -1};
    out->creep = 1e-3;
    if (!friction && !creep) return SNW_OK;
    if (!out->slides || !friction) {
        const snw_entry *e = friction ? friction : creep;
        return snw_fail_at(r->err, e->location, "'%s' needs '%s'", e->key,
                           out->slides ? "friction: .." : "slides: on");
    }
    SNW_TRY(snw_read_constant(r, friction->value, "friction", SNW_DIM_NONE, &out->friction));
    if (!(out->friction >= 0)) {
        return snw_fail_at(r->err, friction->value->location,
                           "'friction' must not be negative, got %g", out->friction);
    }
    if (!creep) return SNW_OK;
    SNW_TRY(snw_read_constant(r, creep->value, "creep", speed, &out->creep));
    if (out->creep > 0) return SNW_OK;
    return snw_fail_at(r->err, creep->value->location, "'creep' must be positive, got %g",
                       out->creep);
}

static snw_status read_loop(snw_reader *r, const snw_entry *entry, snw_loop_desc *out) {
    const snw_entry *e[LOOP_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_loop, e));
    out->name = entry->key;
    out->location = entry->location;
    out->pose = snw_pose_desc_identity();
    if (!e[LOOP_JOIN] || !e[LOOP_AS]) {
        return snw_fail_at(r->err, entry->location,
                           "loop '%s' needs '%s', e.g. '{join: [arm.tip, plate], as: revolute}'",
                           entry->key, e[LOOP_JOIN] ? "as" : "join");
    }
    const snw_node *join = e[LOOP_JOIN]->value;
    SNW_TRY(snw_read_list(r, join, "join", 2));
    SNW_TRY(snw_read_site(r, join->entry[0].value, "join", &out->a));
    SNW_TRY(snw_read_site(r, join->entry[1].value, "join", &out->b));
    // the same joint kinds as for links, without springs
    snw_link_desc joint = {.name = entry->key};
    const snw_joint_keys keys = {
        .joint = e[LOOP_AS], .axis = e[LOOP_AXIS], .axes = e[LOOP_AXES], .pitch = e[LOOP_PITCH]};
    SNW_TRY(snw_read_joint(r, &keys, &joint));
    if (e[LOOP_PITCH] && joint.moves.pitch == 0)
        return snw_fail_at(r->err, e[LOOP_PITCH]->value->location,
                           "a screw without 'pitch' is a revolute joint: 'as: revolute'");
    out->joint = joint.joint;
    out->axis = joint.moves.axis;
    out->second = joint.moves.second;
    out->pitch = joint.moves.pitch;
    if (e[LOOP_WHEN]) SNW_TRY(snw_read_active_when(r, e[LOOP_WHEN]->value, "when", &out->when));
    // a loop is open while a link it joins is inactive
    SNW_TRY(snw_read_both(r, entry->location, snw_site_when(r->desc, &out->a), &out->when));
    SNW_TRY(snw_read_both(r, entry->location, snw_site_when(r->desc, &out->b), &out->when));
    bool slides = false;
    if (e[LOOP_SLIDES]) SNW_TRY(snw_read_switch(r, e[LOOP_SLIDES]->value, "slides", &slides));
    if (slides) SNW_TRY(snw_read_sliding_loop(r, e[LOOP_WHEN], out));
    SNW_TRY(read_slip_friction(r, e[LOOP_FRICTION], e[LOOP_CREEP], out));
    if (!e[LOOP_POSE]) return SNW_OK;
    const snw_node *pose = e[LOOP_POSE]->value;
    if (pose->kind == SNW_NODE_TEXT && strcmp(pose->text, "at_closing") == 0 && !slides) {
        return read_captured_pose(r, e[LOOP_POSE], out);
    }
    if (pose->kind == SNW_NODE_TEXT) {
        return snw_fail_at(r->err, pose->location,
                           "'%.40s' is not a pose: write a map, 'xyz: ..', or at_closing, the pose "
                           "of the sites when the loop closes",
                           pose->text);
    }
    return snw_read_pose(r, pose, &out->pose);
}

// the entry `mimic` of an entry of `robot`; NULL: it has none
static const snw_entry *mimic_in(const snw_entry *link) {
    for (int k = 0; link->value->kind == SNW_NODE_MAP && k < link->value->n; k++) {
        if (strcmp(link->value->entry[k].key, "mimic") == 0) return &link->value->entry[k];
    }
    return NULL;
}

snw_status snw_read_loops(snw_reader *r) {
    const snw_node *node, *robot;
    snw_desc *d = r->desc;
    int nlink = 0;
    SNW_TRY(snw_read_section_entries(r, "loops", &node, &d->nloop));
    SNW_TRY(snw_read_section_entries(r, "robot", &robot, &nlink));
    const int written = d->nloop;
    d->loop = snw_pool_array(r->pool, 2 * (size_t)written + (size_t)nlink, sizeof *d->loop);
    if (!d->loop) return snw_read_memory(r);
    for (int i = 0; i < written; i++) SNW_TRY(read_loop(r, &node->entry[i], &d->loop[i]));
    for (int i = 0; i < written; i++) {
        if (d->loop[i].slides) SNW_TRY(snw_add_length_loop(r, &d->loop[i], &d->loop[d->nloop++]));
    }
    for (int i = 0; i < nlink; i++) {
        const snw_entry *link = &robot->entry[i], *mimic = mimic_in(link);
        int index = 0;
        if (!mimic) continue;
        SNW_TRY(snw_find_thing(r, link->value, link->key, SNW_THING_LINK, &index));
        SNW_TRY(snw_read_mimic(r, mimic, index, &d->loop[d->nloop++]));
    }
    return SNW_OK;
}
