// SPDX-License-Identifier: MIT
//
// Rods that slide through a loop (theory.md 3.18): each becomes two rods of variable length, up to
// the loop and beyond it, and a loop keeps the sum of their lengths.
#include "language/read.h"

#include "base/fail.h"

// the value of `slides` in an entry of `loops`; NULL: it has none
static const snw_node *slides_in(const snw_entry *entry) {
    return entry->value->kind == SNW_NODE_MAP ? snw_node_get(entry->value, "slides") : NULL;
}

snw_status snw_count_sliding_rods(snw_reader *r, int *out) {
    const snw_node *node;
    int n = 0;
    SNW_TRY(snw_read_section_entries(r, "loops", &node, &n));
    *out = 0;
    for (int i = 0; i < n; i++) *out += slides_in(&node->entry[i]) != NULL;
    return SNW_OK;
}

// *out <- station of the second site of the loop, where the rod is at first
static snw_status sliding_station(snw_reader *r, const snw_entry *entry, snw_site *out) {
    const snw_node *join = snw_node_get(entry->value, "join");
    if (!join) return snw_fail_at(r->err, entry->location, "loop '%s' needs 'join'", entry->key);
    SNW_TRY(snw_read_list(r, join, "join", 2));
    const snw_node *second = join->entry[1].value;
    SNW_TRY(snw_read_site(r, second, "join", out));
    const snw_link_desc *link = out->link >= 0 ? &r->desc->link[out->link] : NULL;
    if (link && link->has_rod && !out->offset && out->kind == SNW_SITE_AT && out->x > 0 &&
        out->x < link->rod.length)
        return SNW_OK;
    return snw_fail_at(r->err, second->location,
                       "loop '%s' slides along a rod: its second site must be a station between "
                       "the ends of a rod, e.g. 'arm@60%%', which is where the rod is at first",
                       entry->key);
}

// link `number` <- the part of the rod beyond its station at x; the link keeps the part up to it
static snw_status split_rod(snw_reader *r, const snw_entry *entry, const snw_site *at, int number) {
    snw_link_desc *link = &r->desc->link[at->link], *beyond = &r->desc->link[number];
    const snw_joint_keys fixed = {0};
    for (int i = 0; i < 6; i++) {
        if (!link->rod.active[i] || !link->rod.basis[i].set) continue;
        return snw_fail_at(r->err, entry->location,
                           "rod '%s' slides through loop '%s', and functions of x would be those "
                           "of two parts of it; give %s a basis such as 'legendre 4'",
                           link->name, entry->key, snw_strain_name[i]);
    }
    if (link->rod.variable_length) { // it, or the part beyond the other loop
        return snw_fail_at(r->err, entry->location,
                           "loop '%s': '%s' already slides through another loop; in this "
                           "version a rod slides through one",
                           entry->key, link->name);
    }
    *beyond = (snw_link_desc){.location = link->location,
                              .pose = snw_pose_desc_identity(),
                              .has_rod = true,
                              .has_body = link->has_body,
                              .rod = link->rod,
                              .body = link->body};
    beyond->name = snw_pool_format(r->pool, "%s beyond %s", link->name, entry->key);
    if (!beyond->name) return snw_read_memory(r);
    SNW_TRY(snw_read_joint(r, &fixed, beyond));
    beyond->on = (snw_site){.kind = SNW_SITE_END, .link = at->link, .location = at->location};
    beyond->on.pose = snw_se3_identity();
    link->rod.variable_length = beyond->rod.variable_length = true;
    link->rod.fixed_root = true;
    link->rod.length = at->x;
    beyond->rod.length -= at->x;
    link->has_body = false;
    link->beyond = 1 + number;
    return SNW_OK;
}

snw_status snw_read_sliding_rods(snw_reader *r) {
    const snw_node *node;
    snw_desc *d = r->desc;
    int n = 0;
    SNW_TRY(snw_read_section_entries(r, "loops", &node, &n));
    for (int i = 0; i < n; i++) {
        const snw_node *slides = slides_in(&node->entry[i]);
        bool on = false;
        snw_site at;
        if (!slides) continue;
        SNW_TRY(snw_read_switch(r, slides, "slides", &on));
        if (!on) continue;
        SNW_TRY(sliding_station(r, &node->entry[i], &at));
        SNW_TRY(split_rod(r, &node->entry[i], &at, d->nlink++));
    }
    return SNW_OK;
}

// loop->open <- the opposite of its `when`
static snw_status read_opening(snw_reader *r, const snw_entry *when, snw_loop_desc *loop) {
    double closed = 0;
    if (snw_law_constant(loop->when, &closed)) {
        if (closed == 0) loop->open = snw_expr_constant(r->pool, 1);
        return closed == 0 && !loop->open ? snw_read_memory(r) : SNW_OK;
    }
    snw_node opposite = *when->value;
    opposite.text = snw_pool_format(r->pool, "not (%s)", when->value->text);
    if (!opposite.text) return snw_read_memory(r);
    return snw_read_active_when(r, &opposite, "when", &loop->open);
}

snw_status snw_read_sliding_loop(snw_reader *r, const snw_entry *when, snw_loop_desc *loop) {
    const bool places = loop->joint == SNW_JOINT_FIXED || loop->joint == SNW_JOINT_REVOLUTE ||
                        loop->joint == SNW_JOINT_UNIVERSAL || loop->joint == SNW_JOINT_SPHERICAL;
    if (!places) {
        return snw_fail_at(r->err, loop->location,
                           "loop '%s' slides, and a %s joint slides too, so that no section is at "
                           "it; use spherical (an eye), revolute about x (a sleeve), universal or "
                           "fixed",
                           loop->name, snw_joint_name(loop->joint));
    }
    if (snw_site_when(r->desc, &loop->a)) {
        return snw_fail_at(r->err, loop->location,
                           "loop '%s' slides, and its first site is on a conditional link; in this "
                           "version give the 'when' to the loop and make the link permanent",
                           loop->name);
    }
    if (when) SNW_TRY(read_opening(r, when, loop));
    // the station is the root of the part beyond the loop; the loop holds the tip of the other part
    const snw_source_location location = loop->b.location;
    loop->b = r->desc->link[loop->b.link].on;
    loop->b.location = location;
    loop->slides = true;
    return SNW_OK;
}

// While the loop is open, C has neither mass nor stiffness: a motor keeps it.
snw_status snw_read_locks(snw_reader *r) {
    snw_desc *d = r->desc;
    for (int i = 0; i < d->nloop; i++) {
        const snw_loop_desc *loop = &d->loop[i];
        if (!loop->open) continue;
        snw_law *rest = snw_pool_array(r->pool, 1, sizeof *rest);
        if (!rest) return snw_read_memory(r);
        rest[0] = snw_expr_constant(r->pool, 0);
        snw_motor_desc *lock = &d->motor[d->nmotor++];
        *lock = (snw_motor_desc){.location = loop->location,
                                 .kind = SNW_ACTUATOR_FEED,
                                 .given = SNW_GIVEN_RATE,
                                 .link = loop->b.link,
                                 .feed = true,
                                 .n = 1,
                                 .law = rest,
                                 .when = loop->open};
        lock->name = snw_pool_format(r->pool, "%s.lock", loop->name);
        if (!lock->name || !rest[0]) return snw_read_memory(r);
        if (snw_expr_vars(lock->when) == 0) continue;
        SNW_TRY(snw_read_captured(r, lock->location, lock->name, 1, lock->when, &lock->captured));
    }
    return SNW_OK;
}

snw_status snw_add_length_loop(snw_reader *r, const snw_loop_desc *loop, snw_loop_desc *out) {
    *out = (snw_loop_desc){.location = loop->location,
                           .a = {.kind = SNW_SITE_WORLD, .link = -1, .location = loop->location},
                           .b = loop->b,
                           .joint = SNW_JOINT_FREE,
                           .axis = loop->axis,
                           .second = loop->second,
                           .pose = snw_pose_desc_identity(),
                           .keeps_length = true};
    out->a.pose = snw_se3_identity();
    out->name = snw_pool_format(r->pool, "%s.length", loop->name);
    return out->name ? SNW_OK : snw_read_memory(r);
}
