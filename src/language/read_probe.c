// SPDX-License-Identifier: MIT
//
// Reads probes and the selection of those to record.
#include "language/read.h"

#include "base/fail.h"
#include "language/signals.h"

#include <string.h>

// keys of the quantities come first, in the order of snw_probe_kind
enum { PROBE_IN = SNW_PROBE_COUNT, PROBE_ALONG, PROBE_N };

#define QUANTITY_KEY(code, name, form, meaning, subject, axes, reading, columns, bare)             \
    SNW_KEY_ROW(code, name, form, meaning)
#define PROBE_KEYS(X)                                                                              \
    SNW_PROBE_LIST(QUANTITY_KEY)                                                                   \
    X(PROBE_IN, "in", "world or body",                                                             \
      "frame of the components of velocity, twist, acceleration, reaction and pull; world unless " \
      "given")                                                                                     \
    X(PROBE_ALONG, "along", "number",                                                              \
      "at this number of equally spaced stations of the rod or of the tendon's path, ends "        \
      "included")

SNW_KEYS(probe, "probe", "a probe", PROBE_KEYS);

enum { MAX_ALONG = 10000 };

static snw_subject subject_of(snw_probe_kind kind) { return snw_probe_table[kind].subject; }

bool snw_probe_kind_written(const snw_node *probe, snw_probe_kind *kind) {
    for (int k = 0; k < SNW_PROBE_COUNT; k++) {
        const char *name = snw_keys_probe.key[k].name;
        const bool word = probe->kind == SNW_NODE_TEXT && strcmp(probe->text, name) == 0;
        if (!word && !snw_node_get(probe, name)) continue;
        *kind = (snw_probe_kind)k;
        return true;
    }
    return false;
}

// a probe of the whole robot, `e: energy`
static snw_status read_robot_probe(snw_reader *r, const snw_node *node, snw_probe_desc *out) {
    const char *words[SNW_PROBE_COUNT]; // quantities of the whole robot
    snw_probe_kind kinds[SNW_PROBE_COUNT];
    int n = 0;
    const char *dot = strchr(node->text, '.');
    if (dot && strncmp(node->text, "energy", (size_t)(dot - node->text)) == 0) {
        return snw_fail_at(r->err, node->location,
                           "a probe has all components; write '%s: energy' and use '%s.%s'",
                           out->name, out->name, dot + 1);
    }
    for (int k = 0; k < SNW_PROBE_COUNT; k++) {
        if (subject_of((snw_probe_kind)k) == SNW_OF_ROBOT) {
            kinds[n] = (snw_probe_kind)k;
            words[n++] = snw_probe_table[k].name;
        } else if (strcmp(node->text, snw_probe_table[k].name) == 0) {
            return snw_fail_at(r->err, node->location, "'%s' needs an object, write '{%s: %s}'",
                               node->text, node->text, snw_keys_probe.key[k].form);
        }
    }
    int word = 0;
    SNW_TRY(snw_read_word(r, node, "probe", n, words, &word));
    out->kind = kinds[word];
    return SNW_OK;
}

static snw_status probe_of_sites(snw_reader *r, const snw_entry *e, snw_probe_desc *out) {
    const snw_node *list = e->value;
    if (list->kind != SNW_NODE_LIST || list->n != 2) {
        return snw_fail_at(r->err, list->location,
                           "'%s' is of two sites, the second seen from the first, e.g. '[base, "
                           "arm.tip]'",
                           e->key);
    }
    SNW_TRY(snw_read_site(r, list->entry[0].value, e->key, &out->from));
    return snw_read_site(r, list->entry[1].value, e->key, &out->site);
}

// `[site, actuator]`, or `[site, actuator, actuator]` of a curvature
static snw_status probe_of_shape(snw_reader *r, const snw_entry *e, snw_probe_desc *out) {
    const snw_node *list = e->value;
    const int n = out->kind == SNW_PROBE_CURVATURE ? 2 : 1;
    if (list->kind != SNW_NODE_LIST || list->n != 1 + n) {
        return snw_fail_at(r->err, list->location, "'%s' is of a site and %s, e.g. '[head, %s]'",
                           e->key, n == 2 ? "two actuators" : "an actuator",
                           n == 2 ? "bend1, bend2" : "bend1");
    }
    SNW_TRY(snw_read_site(r, list->entry[0].value, e->key, &out->site));
    for (int k = 0; k < n; k++) {
        const snw_node *item = list->entry[1 + k].value;
        const char *name = "";
        int actuator;
        SNW_TRY(snw_read_name(r, item, e->key, &name));
        SNW_TRY(snw_find_thing(r, item, name, SNW_THING_ACTUATOR, &actuator));
        const snw_actuator a = snw_actuator_at(r->desc, snw_actuator_find(r->desc, name));
        if (!a.motor || a.motor->n != 1 || a.motor->rod || a.motor->feed ||
            !snw_gives_motion(a.motor->given) || a.motor->nsame > 0) {
            return snw_fail_at(r->err, item->location,
                               "actuator '%s' does not give the position or rate of a joint with "
                               "one coordinate, by which the connection of '%s' could be taken",
                               name, out->name);
        }
        if (k == 0) out->item = a.item;
        if (k == 1) out->other = a.item;
    }
    return SNW_OK;
}

static snw_status probe_of_station(snw_reader *r, const snw_entry *e, snw_probe_desc *out) {
    const snw_node *node = e->value;
    SNW_TRY(snw_read_site(r, node, e->key, &out->site));
    if (out->site.link < 0 || !r->desc->link[out->site.link].has_rod || out->site.offset) {
        return snw_fail_at(r->err, node->location,
                           "'%s' is taken at a rod's station, e.g. 'arm@50%%'", e->key);
    }
    out->body = true;
    return SNW_OK;
}

// true if a thing of this kind has the name
static bool probe_is_named(const snw_reader *r, const char *name, snw_thing kind) {
    const snw_name *found = snw_names_find(&r->things, name);
    return found && found->kind == (int)kind;
}

// length, rate or tension of a spring, cable or damper, or the wrench on its second end
static snw_status probe_of_spring(snw_reader *r, const snw_entry *e, const char *name,
                                  snw_probe_desc *out) {
    out->of = SNW_PROBE_OF_FORCE_ELEMENT;
    out->site.location = e->value->location;
    out->joint = SNW_JOINT_PRISMATIC; // its rate is that of a length
    SNW_TRY(snw_find_thing(r, e->value, name, SNW_THING_SPRING, &out->item));
    const snw_force_element_type *type =
        &snw_force_element_table[r->desc->force_element[out->item].kind];
    const bool line = out->kind == SNW_PROBE_LENGTH || out->kind == SNW_PROBE_RATE ||
                      out->kind == SNW_PROBE_TENSION;
    if (out->kind == SNW_PROBE_REACTION || (line && !type->frames)) return SNW_OK;
    return snw_fail_at(r->err, e->value->location, "the %s '%s' has no '%s'; use %s", type->name,
                       name, e->key,
                       type->frames ? "'reaction', and 'relative' of its ends"
                                    : "'length', 'rate', 'tension' or 'reaction'");
}

static snw_status probe_of_link(snw_reader *r, const snw_entry *e, snw_probe_desc *out) {
    const char *name = "";
    SNW_TRY(snw_read_name(r, e->value, e->key, &name));
    if (probe_is_named(r, name, SNW_THING_LOOP)) {
        out->of = SNW_PROBE_OF_LOOP;
        return snw_find_thing(r, e->value, name, SNW_THING_LOOP, &out->item);
    }
    if (probe_is_named(r, name, SNW_THING_CONTACT)) {
        out->of = SNW_PROBE_OF_CONTACT;
        SNW_TRY(snw_find_thing(r, e->value, name, SNW_THING_CONTACT, &out->item));
        const int loop = r->desc->contact[out->item].nonholonomic;
        if (r->desc->contact[out->item].nnonholonomic == 1)
            out->of = SNW_PROBE_OF_LOOP, out->item = loop - 1;
        return SNW_OK;
    }
    if (probe_is_named(r, name, SNW_THING_SPRING)) return probe_of_spring(r, e, name, out);
    out->site.kind = SNW_SITE_END;
    out->site.location = e->value->location;
    SNW_TRY(snw_find_thing(r, e->value, name, SNW_THING_LINK, &out->site.link));
    if (r->desc->link[out->site.link].joint != SNW_JOINT_FREE) return SNW_OK;
    return snw_fail_at(r->err, e->value->location, "link '%s' has a free joint and no reaction",
                       name);
}

// a concentric tube: its end, or a station beyond the exit
static snw_status probe_of_tube(snw_reader *r, const snw_entry *e, snw_probe_desc *out) {
    const snw_desc *d = r->desc;
    const char *text = "";
    int link = 0;
    SNW_TRY(snw_read_name(r, e->value, e->key, &text));
    const size_t stem = snw_thing_stem(r, text);
    const char *name = snw_pool_text(r->pool, text, stem);
    if (!name) return snw_read_memory(r);
    SNW_TRY(snw_find_thing(r, e->value, name, SNW_THING_LINK, &link));
    while (out->item < d->ntube && d->tube[out->item].base != link) out->item++;
    if (out->item == d->ntube)
        return snw_fail_at(r->err, e->value->location, "link '%s' is no tube of 'tubes'", name);
    out->of = SNW_PROBE_OF_TUBE;
    out->site.link = d->tube[out->item].own;
    out->site.location = e->value->location;
    SNW_TRY(snw_read_site_on_link(r, e->value, text + stem, &out->site));
    // a part of the tube: while tubes slide the rod of its twist is longer (model/tube_layout.c)
    if (out->site.kind == SNW_SITE_AT && strchr(text, '%'))
        out->site.x *= d->tube[out->item].length / d->link[out->site.link].rod.length;
    return SNW_OK;
}

static snw_status probe_of_contact(snw_reader *r, const snw_entry *e, snw_probe_desc *out) {
    const char *name = "";
    SNW_TRY(snw_read_name(r, e->value, e->key, &name));
    SNW_TRY(snw_find_thing(r, e->value, name, SNW_THING_CONTACT, &out->item));
    out->of = SNW_PROBE_OF_CONTACT;
    if (!r->desc->contact[out->item].nonholonomic) return SNW_OK;
    return snw_fail_at(r->err, e->value->location,
                       "contact '%s' constrains velocities and has no gap; use 'reaction'", name);
}

// `.root`, `.tip` or `@50%` after the name of a tendon
static snw_status locate_on_tendon(snw_reader *r, const snw_entry *e, const char *name,
                                   const char *suffix, snw_probe_desc *out) {
    const bool pull = out->kind == SNW_PROBE_PULL;
    if (strcmp(suffix, ".root") == 0 || (suffix[0] == '\0' && !pull)) return SNW_OK;
    if (strcmp(suffix, ".tip") == 0) {
        out->tied = true;
        out->fraction = 1;
        return SNW_OK;
    }
    const size_t length = strlen(suffix);
    if (suffix[0] != '@' || suffix[length - 1] != '%' || pull) {
        return snw_fail_at(
            r->err, e->value->location,
            "'%s' is taken at '%s.root', where the tendon is pulled%s '%s.tip', where it is fixed",
            e->key, name, pull ? ", or" : ", at a part of its path like '@50%', or", name);
    }
    const char *text = snw_pool_text(r->pool, suffix + 1, length - 2);
    if (!text) return snw_read_memory(r);
    double percent = 0;
    SNW_TRY(snw_read_constant_in(r, e->value, text, strlen(name) + 1, "station", SNW_DIM_NONE, 0,
                                 &percent));
    out->fraction = percent / 100;
    if (percent >= 0 && percent <= 100) return SNW_OK;
    return snw_fail_at(r->err, e->value->location, "a path goes from 0 to 100 %%, got %g %%",
                       percent);
}

// site of the frame at an end of a tendon: a section of a rod, or a site
static void locate_tendon_end(const snw_desc *d, snw_probe_desc *out) {
    const snw_tendon_desc *t = &d->tendon[out->item];
    const snw_tendon_segment_desc *first = t->nsegment > 0 ? &t->segment[0] : NULL;
    const snw_tendon_segment_desc *last = first ? &t->segment[t->nsegment - 1] : NULL;
    const snw_source_location location = out->site.location;
    if (out->tied ? last && last->after == t->nlink : first && first->after == 0) {
        out->site = out->tied ? last->b : first->a;
    } else {
        out->site.kind = SNW_SITE_AT;
        out->site.link = t->link[out->tied ? t->nlink - 1 : 0];
        out->site.x = out->tied ? t->to : t->from;
    }
    out->site.location = location;
}

static snw_status probe_of_tendon(snw_reader *r, const snw_entry *e, snw_probe_desc *out) {
    const bool along = out->kind == SNW_PROBE_TENSION || out->kind == SNW_PROBE_PULL;
    const bool tendon = subject_of(out->kind) == SNW_OF_TENDON;
    const char *name = "", *suffix = "";
    SNW_TRY(snw_read_name(r, e->value, e->key, &name));
    if (along) {
        const size_t stem = snw_thing_stem(r, name);
        suffix = name + stem;
        name = snw_pool_text(r->pool, name, stem);
        if (!name) return snw_read_memory(r);
    }
    if (tendon && suffix[0] == '\0' && probe_is_named(r, name, SNW_THING_SPRING))
        return probe_of_spring(r, e, name, out);
    int actuator;
    SNW_TRY(snw_find_thing(r, e->value, name, SNW_THING_ACTUATOR, &actuator));
    const snw_actuator a = snw_actuator_at(r->desc, snw_actuator_find(r->desc, name));
    out->of = SNW_PROBE_OF_TENDON;
    out->item = a.item;
    out->site.location = e->value->location;
    if (a.tendon && a.type->is_length == tendon) {
        if (along) SNW_TRY(locate_on_tendon(r, e, name, suffix, out));
        if (out->kind == SNW_PROBE_PULL) locate_tendon_end(r->desc, out);
        return SNW_OK;
    }
    return snw_fail_at(r->err, e->value->location, "actuator '%s' is not a %s and has no '%s'",
                       name, tendon ? "tendon" : "chamber", e->key);
}

// joint quantity of an actuator: that of the joint, or one number per coordinate of a rod
static snw_status probe_of_actuator_joint(snw_reader *r, const snw_entry *e, const char *name,
                                          snw_probe_desc *out) {
    const snw_actuator a = snw_actuator_at(r->desc, snw_actuator_find(r->desc, name));
    out->item = a.item;
    if (a.tendon) {
        out->of = SNW_PROBE_OF_TENDON;
        out->joint = SNW_JOINT_PRISMATIC; // length, rate and force, as for a prismatic joint
        if (a.type->is_length && out->kind != SNW_PROBE_ANGLE) return SNW_OK;
        return snw_fail_at(r->err, e->value->location, "actuator '%s' has no '%s'; use %s", name,
                           e->key,
                           a.type->is_length ? "'length' or 'tension'" : "'volume' or 'pressure'");
    }
    if (a.stress) {
        return snw_fail_at(r->err, e->value->location,
                           "actuator '%s' is an %s and has no '%s'; see the strain and wrench of "
                           "its rod",
                           name, a.type->noun, e->key);
    }
    out->of = SNW_PROBE_OF_MOTOR;
    if (a.type->strains) {
        out->along = a.n;
    } else {
        out->site.kind = SNW_SITE_END;
        out->site.link = a.motor->link;
    }
    return SNW_OK;
}

static snw_status probe_of_actuator(snw_reader *r, const snw_entry *e, snw_probe_desc *out) {
    const char *name = "";
    int ignored = 0;
    SNW_TRY(snw_read_name(r, e->value, e->key, &name));
    SNW_TRY(snw_find_thing(r, e->value, name, SNW_THING_ACTUATOR, &ignored));
    const snw_actuator a = snw_actuator_at(r->desc, snw_actuator_find(r->desc, name));
    out->of = a.motor ? SNW_PROBE_OF_MOTOR : a.tendon ? SNW_PROBE_OF_TENDON : SNW_PROBE_OF_STRESS;
    out->item = a.item;
    return SNW_OK;
}

// arc length of a rod at the loop that it slides through, or its rate
static snw_status probe_of_sliding_loop(snw_reader *r, const snw_entry *e, const char *name,
                                        snw_probe_desc *out) {
    SNW_TRY(snw_find_thing(r, e->value, name, SNW_THING_LOOP, &out->item));
    const snw_loop_desc *loop = &r->desc->loop[out->item];
    out->of = SNW_PROBE_OF_LOOP;
    out->joint = SNW_JOINT_PRISMATIC;
    out->site = loop->b;
    out->site.location = e->value->location;
    const bool known = out->kind == SNW_PROBE_VALUE || out->kind == SNW_PROBE_RATE;
    if (loop->slides && known) return SNW_OK;
    return snw_fail_at(r->err, e->value->location,
                       loop->slides
                           ? "loop '%s' has no '%s'; use 'value', 'rate' or 'reaction'"
                           : "loop '%s' has no '%s': no rod slides through it; use 'reaction'",
                       name, e->key);
}

static snw_status probe_of_joint(snw_reader *r, const snw_entry *e, snw_probe_desc *out) {
    const char *name = "";
    SNW_TRY(snw_read_name(r, e->value, e->key, &name));
    out->site.location = e->value->location;
    if (probe_is_named(r, name, SNW_THING_SPRING)) return probe_of_spring(r, e, name, out);
    if (probe_is_named(r, name, SNW_THING_LOOP)) return probe_of_sliding_loop(r, e, name, out);
    if (probe_is_named(r, name, SNW_THING_ACTUATOR)) {
        SNW_TRY(probe_of_actuator_joint(r, e, name, out));
        if (out->along > 0 && out->kind == SNW_PROBE_ANGLE) {
            return snw_fail_at(r->err, e->value->location, "actuator '%s' is on a rod; use 'value'",
                               name);
        }
        if (out->along > 0 || out->of == SNW_PROBE_OF_TENDON) return SNW_OK;
    } else {
        out->site.kind = SNW_SITE_END;
        SNW_TRY(snw_find_thing(r, e->value, name, SNW_THING_LINK, &out->site.link));
    }
    const bool feed = out->of == SNW_PROBE_OF_MOTOR && r->desc->motor[out->item].feed;
    out->joint = feed ? SNW_JOINT_PRISMATIC : r->desc->link[out->site.link].joint;
    if (out->joint == SNW_JOINT_FIXED || out->joint == SNW_JOINT_FREE) {
        return snw_fail_at(r->err, e->value->location,
                           "the joint of link '%s' is %s and has no '%s'%s", name,
                           snw_joint_name(out->joint), e->key,
                           out->joint == SNW_JOINT_FREE ? "; use pose and twist" : "");
    }
    if (out->kind == SNW_PROBE_ANGLE && !snw_joint_is_rotary(out->joint)) {
        return snw_fail_at(r->err, e->value->location, "the joint of link '%s' is %s; use 'value'",
                           r->desc->link[out->site.link].name, snw_joint_name(out->joint));
    }
    return SNW_OK;
}

static snw_status read_along(snw_reader *r, const snw_entry *along, const snw_entry *quantity,
                             snw_probe_desc *out) {
    const snw_subject of = subject_of(out->kind);
    const snw_site *s = &out->site;
    const int parent =
        s->link >= 0 && s->kind != SNW_SITE_WORLD ? r->desc->link[s->link].on.link : -1;
    if (parent >= 0 && r->desc->link[parent].beyond == 1 + s->link) {
        return snw_fail_at(r->err, along->location,
                           "rod '%s' slides through a loop, and 'along' cannot follow both of its "
                           "parts; give stations one by one, e.g. '%s@25%%'",
                           r->desc->link[parent].name, r->desc->link[parent].name);
    }
    if (out->kind == SNW_PROBE_TENSION && out->of == SNW_PROBE_OF_TENDON &&
        !strpbrk(quantity->value->text, ".@")) {
        return snw_read_integer(r, along->value, "along", 2, MAX_ALONG, &out->along);
    }
    if ((of != SNW_OF_SITE && of != SNW_OF_STATION && of != SNW_OF_TUBE) ||
        s->kind != SNW_SITE_END || s->offset || strpbrk(quantity->value->text, ".@") ||
        !r->desc->link[s->link].has_rod) {
        return snw_fail_at(r->err, along->location,
                           "'along' needs a quantity of a whole rod, e.g. '{wrench: arm, along: "
                           "41}'");
    }
    return snw_read_integer(r, along->value, "along", 2, MAX_ALONG, &out->along);
}

static snw_status read_in(snw_reader *r, const snw_entry *e, snw_probe_desc *out) {
    static const char *const frames[] = {"world", "body"};
    int frame = 0;
    SNW_TRY(snw_read_word(r, e->value, "frame", 2, frames, &frame));
    const char *name = snw_probe_name(out->kind);
    if (out->of == SNW_PROBE_OF_CONTACT) {
        return snw_fail_at(r->err, e->location,
                           "the force of a contact, or along a rod, is always in the world");
    }
    switch (snw_probe_table[out->kind].axes) {
    case SNW_PROBE_IN_NONE:
        return snw_fail_at(r->err, e->location, "'%s' is a number and has no axes", name);
    case SNW_PROBE_IN_SITE:
        return snw_fail_at(r->err, e->location, "'%s' is in the axes of the first site", name);
    case SNW_PROBE_IN_JOINT:
        return snw_fail_at(r->err, e->location, "'%s' is along the joint's own axes", name);
    case SNW_PROBE_IN_SECTION:
        if (frame == 1) break;
        return snw_fail_at(r->err, e->location, "'%s' is always in the section's frame", name);
    case SNW_PROBE_IN_WORLD:
        if (subject_of(out->kind) == SNW_OF_ROBOT) {
            return snw_fail_at(r->err, e->location, "'%s' is always in the world", name);
        }
        if (frame == 0) break;
        return snw_fail_at(r->err, e->location,
                           "'%s' is always in the world; 'in: body' is for velocity, twist, "
                           "acceleration and reaction",
                           name);
    case SNW_PROBE_IN_EITHER:
        break;
    }
    out->body = frame == 1;
    return SNW_OK;
}

static snw_status read_probe_entry(snw_reader *r, const snw_entry *entry, snw_probe_desc *out) {
    out->name = entry->key;
    out->location = entry->location;
    out->site = (snw_site){.kind = SNW_SITE_WORLD, .link = -1, .location = entry->location};
    out->site.pose = snw_se3_identity();
    if (entry->value->kind == SNW_NODE_TEXT) return read_robot_probe(r, entry->value, out);

    const snw_entry *e[PROBE_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_probe, e));
    const snw_entry *quantity = NULL;
    for (int k = 0; k < SNW_PROBE_COUNT; k++) {
        if (!e[k]) continue;
        if (quantity) {
            return snw_fail_at(r->err, e[k]->location,
                               "a probe has one quantity, this has '%s' and '%s'; make it two",
                               quantity->key, e[k]->key);
        }
        quantity = e[k];
        out->kind = (snw_probe_kind)k;
    }
    if (!quantity) {
        return snw_fail_at(r->err, entry->location,
                           "probe '%s' has no quantity, e.g. '{position: arm.tip}'", entry->key);
    }
    switch (subject_of(out->kind)) {
    case SNW_OF_SITE:
        SNW_TRY(snw_read_site(r, quantity->value, quantity->key, &out->site));
        break;
    case SNW_OF_SITES:
        SNW_TRY(probe_of_sites(r, quantity, out));
        break;
    case SNW_OF_STATION:
        SNW_TRY(probe_of_station(r, quantity, out));
        break;
    case SNW_OF_LINK:
        SNW_TRY(probe_of_link(r, quantity, out));
        break;
    case SNW_OF_CONTACT:
        SNW_TRY(probe_of_contact(r, quantity, out));
        break;
    case SNW_OF_JOINT:
        SNW_TRY(probe_of_joint(r, quantity, out));
        break;
    case SNW_OF_ACTUATOR:
        SNW_TRY(probe_of_actuator(r, quantity, out));
        break;
    case SNW_OF_TENDON:
    case SNW_OF_CHAMBER:
        SNW_TRY(probe_of_tendon(r, quantity, out));
        break;
    case SNW_OF_TUBE:
        SNW_TRY(probe_of_tube(r, quantity, out));
        break;
    case SNW_OF_SHAPE:
        SNW_TRY(probe_of_shape(r, quantity, out));
        break;
    case SNW_OF_PROBES: // read after all other probes
        break;
    case SNW_OF_ROBOT:
        if (quantity->value->kind == SNW_NODE_NULL) break;
        return snw_fail_at(r->err, quantity->location,
                           "'%s' is a quantity of the whole robot; write '%s: %s'", quantity->key,
                           entry->key, quantity->key);
    }
    if (e[PROBE_IN]) SNW_TRY(read_in(r, e[PROBE_IN], out));
    return e[PROBE_ALONG] ? read_along(r, e[PROBE_ALONG], quantity, out) : SNW_OK;
}

// ---- probes defined by laws of other probes -----------------------------------------------------

// Numbers the probes that a law reads separately for each probe: they are evaluated for output only
// and are not signals of the model.
typedef struct law_reader {
    snw_reader *r;
    snw_probe_desc *probe;
} law_reader;

// *slot <- that of number `column` of probe `probe` (-1: a state) in the law; a new one where it
// reads it for the first time, or for the parameters' signal `given` (-1: none).
static snw_status law_reads(snw_probe_desc *p, int probe, int column, int given, int *slot,
                            snw_error *err) {
    int k = 0;
    while (k < p->nread && (given >= 0 || p->read_slot[k] < SNW_SIGNALS_MAX ||
                            p->read_probe[k] != probe || p->read_column[k] != column))
        k++;
    if (k == SNW_LAW_READS)
        return snw_fail(err, SNW_E_PARSE, "a probe's law reads at most %d numbers", SNW_LAW_READS);
    if (k == p->nread) {
        p->read_probe[k] = probe;
        p->read_column[k] = column;
        p->read_slot[k] = given >= 0 ? given : SNW_SIGNALS_MAX + k;
        p->nread++;
    }
    *slot = p->read_slot[k];
    return SNW_OK;
}

static snw_status read_other_probe(const law_reader *l, const char *name, const char *component,
                                   int given, int *slot, snw_dim *dim, snw_error *err) {
    const snw_name *found = snw_names_find(&l->r->probes, name);
    int column = 0;
    *slot = -1;
    if (!found && !component[0]) {
        int state = -1;
        double initial = 0;
        SNW_TRY(snw_signals_state(l->r->signals, name, &state, &initial, dim, err));
        return state < 0 ? SNW_OK : law_reads(l->probe, -1, state, given, slot, err);
    }
    if (!found) return SNW_OK;
    const snw_probe_desc *other = &l->r->desc->probe[found->index];
    if (other->kind == SNW_PROBE_LAW || other->along > 0) {
        return snw_fail(err, SNW_E_PARSE, "'%s' is a probe %s, which a probe's law cannot read",
                        name, other->along > 0 ? "of many stations" : "by a law itself");
    }
    SNW_TRY(snw_signal_column(other->kind, other->joint, name, component, &column, dim, err));
    if (snw_probe_columns(other) > SNW_LAW_WIDTH)
        return snw_fail(err, SNW_E_PARSE, "a probe's law reads at most %d numbers", SNW_LAW_READS);
    return law_reads(l->probe, found->index, column, given, slot, err);
}

static snw_status find_other_probe(void *user, const char *name, const char *component, int *slot,
                                   snw_dim *dim, snw_error *err) {
    return read_other_probe(user, name, component, -1, slot, dim, err);
}

// Signal i of the file, which a parameter in the law reads, becomes a number of the law.
static snw_status read_signal_of_parameter(const law_reader *l, int i, snw_error *err) {
    const snw_signals *s = l->r->signals;
    const snw_signal_kind kind = s->slot[i].kind;
    snw_dim dim;
    int slot;
    if (kind != SNW_SIGNAL_PROBE && kind != SNW_SIGNAL_STATE)
        return snw_fail(err, SNW_E_PARSE,
                        "a parameter in it has memory ('%.60s'), which a probe's law cannot have",
                        s->text[i]);
    SNW_TRY(read_other_probe(l, s->text[i], s->component[i], i, &slot, &dim, err));
    if (slot == i) return SNW_OK;
    return snw_fail(err, SNW_E_PARSE,
                    "a parameter in it reads the probe '%s'; write that before it", s->text[i]);
}

static snw_status refuse_stored_value(void *user, snw_memory memory, const char *text,
                                      const snw_expr *law, double period, int *slot,
                                      snw_error *err) {
    (void)user, (void)memory, (void)law, (void)period, (void)slot;
    return snw_fail(err, SNW_E_PARSE, "'%.60s' has memory, which a probe's law cannot have", text);
}

static const char *other_probe_name(void *user, int i) {
    const law_reader *l = user;
    return i < l->r->desc->nprobe ? l->r->desc->probe[i].name : NULL;
}

static snw_status probe_read_law(snw_reader *r, const snw_entry *entry, snw_probe_desc *out) {
    const snw_node *node = snw_node_get(entry->value, "law");
    if (!node || node->kind != SNW_NODE_TEXT) {
        return snw_fail_at(r->err, entry->location,
                           "the law of probe '%s' is an expression of probes, e.g. tip.x - base.x",
                           out->name);
    }
    law_reader *l = snw_pool_take(r->pool, sizeof *l);
    snw_signal_source *source = snw_pool_take(r->pool, sizeof *source);
    snw_scope *scope = snw_scope_create(r->pool, node->scope);
    if (!l || !source || !scope) return snw_read_memory(r);
    *l = (law_reader){r, out};
    *source = (snw_signal_source){.user = l,
                                  .probe = find_other_probe,
                                  .memory = refuse_stored_value,
                                  .name = other_probe_name};
    snw_scope_signals(scope, source);
    SNW_TRY(snw_expr_parse_any(r->pool, scope, node->text, SNW_VAR_T | SNW_VAR_SIGNAL,
                               node->location.file, node->location.line,
                               node->location.column + (node->quoted ? 1 : 0), &out->law, &out->dim,
                               r->err));
    for (int i = 0; i < SNW_SIGNALS_MAX; i++) {
        if (!snw_expr_reads(out->law, i)) continue;
        const snw_status status = read_signal_of_parameter(l, i, r->err);
        if (status != SNW_OK)
            return snw_fail_at_location(r->err, status, node->location.file, node->location.line,
                                        node->location.column);
    }
    return SNW_OK;
}

snw_status snw_read_probes(snw_reader *r) {
    const snw_node *node;
    snw_desc *d = r->desc;
    SNW_TRY(snw_read_section_entries(r, "probes", &node, &d->nprobe));
    d->probe = snw_pool_array(r->pool, (size_t)d->nprobe, sizeof *d->probe);
    if (!d->probe || !snw_names_init(&r->probes, r->pool, d->nprobe)) return snw_read_memory(r);
    for (int i = 0; i < d->nprobe; i++) {
        const snw_entry *e = &node->entry[i];
        SNW_TRY(snw_check_name(r, e->key, e->location));
        if (snw_names_find(&r->probes, e->key)) {
            return snw_fail_at(r->err, e->location, "probe '%s' is given twice", e->key);
        }
        snw_names_add(&r->probes, (snw_name){.text = e->key, .index = i, .location = e->location});
        SNW_TRY(read_probe_entry(r, e, &d->probe[i]));
    }
    for (int i = 0; i < d->nprobe; i++) {
        if (d->probe[i].kind == SNW_PROBE_LAW)
            SNW_TRY(probe_read_law(r, &node->entry[i], &d->probe[i]));
    }
    return SNW_OK;
}

snw_status snw_find_probe(snw_reader *r, snw_source_location location, const char *name,
                          int *index) {
    const snw_name *found = snw_names_find(&r->probes, name);
    if (found) {
        *index = found->index;
        return SNW_OK;
    }
    const char *near = snw_names_nearest(&r->probes, name);
    return snw_fail_at(r->err, location, "there is no probe '%s'%s", name,
                       snw_hint_text(near).text);
}

// ---- record -------------------------------------------------------------------------------------

#define RECORD_KEYS(X)                                                                             \
    X(RECORD_EVERY, "every", "s", "time between frames; every computed step unless given")         \
    X(RECORD_ONLY, "only", "list of probes", "probes to record, all unless given")

enum { RECORD_KEYS(SNW_KEY_CODE) RECORD_N };
SNW_KEYS(record, "record", "what to record", RECORD_KEYS);

static snw_status read_only(snw_reader *r, const snw_node *node) {
    const bool one = node->kind == SNW_NODE_TEXT;
    if (!one && node->kind != SNW_NODE_LIST) {
        return snw_fail_at(r->err, node->location, "'only' is a list of probes");
    }
    snw_desc *d = r->desc;
    const int n = one ? 1 : node->n;
    int *list = snw_pool_array(r->pool, (size_t)n, sizeof *list);
    if (!list) return snw_read_memory(r);
    for (int i = 0; i < n; i++) {
        const snw_node *item = one ? node : node->entry[i].value;
        const char *name = "";
        SNW_TRY(snw_read_name(r, item, "only", &name));
        SNW_TRY(snw_find_probe(r, item->location, name, &list[i]));
        for (int j = 0; j < i; j++) {
            if (list[j] != list[i]) continue;
            return snw_fail_at(r->err, item->location, "probe '%s' is listed twice", name);
        }
    }
    d->nrecord = n;
    d->record = list;
    return SNW_OK;
}

snw_status snw_read_record(snw_reader *r) {
    const snw_node *node = snw_node_get(r->root, "record");
    r->desc->nrecord = -1;
    if (!node || node->kind == SNW_NODE_NULL) return SNW_OK;
    const snw_entry *e[RECORD_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_record, e));
    if (e[RECORD_EVERY]) {
        SNW_TRY(snw_read_positive(r, e[RECORD_EVERY]->value, "every", SNW_DIM_TIME,
                                  &r->desc->record_every));
    }
    return e[RECORD_ONLY] ? read_only(r, e[RECORD_ONLY]->value) : SNW_OK;
}
