// SPDX-License-Identifier: MIT
//
// Reads the joint of a link and its initial position and rate. A value by coordinate is one number
// if all coordinates have the same dimension, else a list.
#include "language/read.h"

#include "base/fail.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STOP_KEYS(X)                                                                               \
    X(STOP_STIFFNESS, "stiffness", "N m/rad or N/m, by coordinate",                                \
      "k: torque or force per depth beyond a limit; required unless hard")                         \
    X(STOP_DAMPING, "damping", "s/rad or s/m, by coordinate",                                      \
      "d: the force is k depth (1 + d times the speed of approach), 0 unless given")               \
    X(STOP_RESTITUTION, "restitution", "{ratio: 0.7, speed: 2 rad/s}; of a hard stop a number",    \
      "instead of damping: ratio of the speeds after and before an impact")                        \
    X(STOP_SMOOTH, "smooth", "rad or m, by coordinate",                                            \
      "depth over which the force sets in at the limit, 1e-4 unless given")                        \
    X(STOP_HARD, "hard", "true or false",                                                          \
      "the coordinate never passes the limit: reactions and impacts instead of a stiffness, by "   \
      "the scheme moreau and in equilibria; false unless given")

enum { STOP_KEYS(SNW_KEY_CODE) STOP_N };
SNW_KEYS(stop, "stop", "a stop", STOP_KEYS);

#define ARMATURE_KEYS(X)                                                                           \
    X(ARMATURE_INERTIA, "inertia", "kg m^2", "of the rotor about its axis, required")              \
    X(ARMATURE_GEAR, "gear", "number; of a slide 1/m, by coordinate",                              \
      "turns of the rotor per turn of the joint, or radians per metre; 1 unless given")

enum { ARMATURE_KEYS(SNW_KEY_CODE) ARMATURE_N };
SNW_KEYS(armature, "armature", "a rotor with its gear", ARMATURE_KEYS);

#define MIMIC_KEYS(X)                                                                              \
    X(MIMIC_JOINT, "joint", "a joint's link, or a list",                                           \
      "whose coordinate it follows; of several the sum, required")                                 \
    X(MIMIC_RATIO, "ratio", "number, m or 1/m; of several a list",                                 \
      "its coordinate per coordinate of the other; negative: the other way, 1 unless given")       \
    X(MIMIC_OFFSET, "offset", "rad or m",                                                          \
      "its coordinate where the others are zero, 0 unless given")

enum { MIMIC_KEYS(SNW_KEY_CODE) MIMIC_N };
SNW_KEYS(mimic, "mimic", "a joint that follows others", MIMIC_KEYS);

static const double SQUARE =
    1e-6; // tolerance on the dot product of two axes that must be perpendicular

// Dimension of a value by coordinate, for angles and for lengths.
typedef struct quantity {
    snw_dim turn, slide;
} quantity;

static const quantity position = {{0}, {.m = 1}};
static const quantity rate = {{.s = -1}, {.m = 1, .s = -1}};
static const quantity effort = {{.m = 2, .kg = 1, .s = -2}, {.m = 1, .kg = 1, .s = -2}};
static const quantity stiffness = {{.m = 2, .kg = 1, .s = -2}, {.kg = 1, .s = -2}};
static const quantity damping = {{.m = 2, .kg = 1, .s = -1}, {.kg = 1, .s = -1}};
static const quantity inertia = {{.m = 2, .kg = 1}, {.kg = 1}};
static const quantity gear = {{0}, {.m = -1}};
static const quantity per_rate = {{.s = 1}, {.m = -1, .s = 1}};

static snw_dim joint_dim_of(const quantity *q, const snw_joint_coordinate *c) {
    return c->turn ? q->turn : q->slide;
}

// is its position a rotation?
static bool is_rotation(snw_joint_kind joint) {
    return snw_joint_table[joint].space == SNW_SPACE_SO3;
}

static bool same_dimension(int n, const snw_joint_coordinate *c) {
    for (int i = 1; i < n; i++) {
        if (c[i].turn != c[0].turn) return false;
    }
    return true;
}

// out[i] <- the value for coordinate i
static snw_status read_by_coordinate(snw_reader *r, const snw_node *node, const char *what,
                                     snw_joint_kind joint, const quantity *q,
                                     double out[SNW_JOINT_MOST]) {
    int n = 0;
    const snw_joint_coordinate *c = snw_joint_coordinates(joint, &n);
    if (node->kind != SNW_NODE_LIST && same_dimension(n, c)) {
        SNW_TRY(snw_read_constant(r, node, what, joint_dim_of(q, &c[0]), &out[0]));
        for (int i = 1; i < n; i++) out[i] = out[0];
        return SNW_OK;
    }
    SNW_TRY(snw_read_list(r, node, what, n));
    for (int i = 0; i < n; i++) {
        SNW_TRY(snw_read_constant(r, node->entry[i].value, what, joint_dim_of(q, &c[i]), &out[i]));
    }
    return SNW_OK;
}

// the same for a nonnegative value; a spherical joint has one value for all directions
static snw_status read_nonnegative_by_coordinate(snw_reader *r, const snw_entry *e,
                                                 snw_joint_kind joint, const quantity *q,
                                                 double out[SNW_JOINT_MOST]) {
    if (!e) return SNW_OK;
    if (is_rotation(joint) && e->value->kind == SNW_NODE_LIST) {
        return snw_fail_at(
            r->err, e->value->location,
            "'%s' of a %s joint is one number, the same about every axis%s", e->key,
            snw_joint_name(joint),
            q == &stiffness || q == &damping ? "" : "; stiffness and damping may differ by axis");
    }
    SNW_TRY(read_by_coordinate(r, e->value, e->key, joint, q, out));
    for (int i = 0; i < SNW_JOINT_MOST; i++) {
        if (out[i] >= 0) continue;
        return snw_fail_at(r->err, e->value->location, "'%s' must not be negative, got %g", e->key,
                           out[i]);
    }
    return SNW_OK;
}

// ---- axes ---------------------------------------------------------------------------------------

// out <- names of the joints with an option: "universal or ..."
static void joints_that_take(int option, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < SNW_JOINT_COUNT; i++) {
        if (!(snw_joint_table[i].options & option) || used >= size) continue;
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " or " : "",
                                 snw_joint_table[i].name);
    }
}

static snw_status joint_read_axes(snw_reader *r, const snw_joint_keys *k, snw_joint_kind joint,
                                  snw_joint_desc *out) {
    snw_vec3 third;
    out->axis = (snw_vec3){{0, 0, 1}};
    if (k->axis) SNW_TRY(snw_read_direction(r, k->axis->value, "axis", &out->axis));
    snw_joint_across(out->axis, &out->second, &third);
    if (!k->axes) return SNW_OK;
    if (!(snw_joint_table[joint].options & SNW_JOINT_TAKES_AXES)) {
        char names[100];
        joints_that_take(SNW_JOINT_TAKES_AXES, names, sizeof names);
        return snw_fail_at(r->err, k->axes->location,
                           "'axes' are those of a %s joint; a %s joint has one axis", names,
                           snw_joint_name(joint));
    }
    if (k->axis) {
        return snw_fail_at(r->err, k->axes->location, "give 'axis' or both 'axes', not both");
    }
    const snw_node *list = k->axes->value;
    SNW_TRY(snw_read_list(r, list, "axes", 2));
    SNW_TRY(snw_read_direction(r, list->entry[0].value, "axes", &out->axis));
    SNW_TRY(snw_read_direction(r, list->entry[1].value, "axes", &out->second));
    const double c = snw_dot(out->axis, out->second);
    if (fabs(c) <= SQUARE) return SNW_OK;
    return snw_fail_at(r->err, list->location,
                       "the 'axes' of a %s joint are at a right angle, these are at %.6g degrees",
                       snw_joint_name(joint), acos(fmax(-1, fmin(1, c))) * 180 / M_PI);
}

// ---- rest position and limits -------------------------------------------------------------------

static snw_status read_rest(snw_reader *r, const snw_entry *e, snw_joint_kind joint,
                            snw_joint_desc *out) {
    if (!is_rotation(joint))
        return read_by_coordinate(r, e->value, "rest", joint, &position, out->rest);
    snw_se3 pose;
    SNW_TRY(snw_read_pose_constant(r, e->value, &pose));
    out->has_rest_turn = true;
    out->rest_turn = pose.R;
    return SNW_OK;
}

// largest angle between the x axes of both sides of a spherical joint
static snw_status read_cone(snw_reader *r, const snw_entry *e, snw_joint_desc *out) {
    if (e->value->kind == SNW_NODE_LIST) {
        return snw_fail_at(r->err, e->value->location,
                           "'limits' of a spherical joint is one angle, that of a cone about its x "
                           "axis, e.g. 40 deg");
    }
    SNW_TRY(snw_read_positive(r, e->value, "limits", position.turn, &out->high[0]));
    out->limited[0] = true;
    if (out->high[0] < M_PI) return SNW_OK;
    return snw_fail_at(r->err, e->value->location,
                       "'limits' of a spherical joint is an angle below 180 degrees, got %g",
                       out->high[0] * 180 / M_PI);
}

// a limit, or `free`
static snw_status read_limit(snw_reader *r, const snw_node *node, snw_dim dim, double none,
                             double *out) {
    *out = none;
    if (node->kind == SNW_NODE_TEXT && strcmp(node->text, "free") == 0) return SNW_OK;
    return snw_read_constant(r, node, "limits", dim, out);
}

// [low, high], or a list of such pairs
static snw_status read_limits(snw_reader *r, const snw_entry *e, snw_joint_kind joint,
                              snw_joint_desc *out) {
    int n = 0;
    if (is_rotation(joint)) return read_cone(r, e, out);
    const snw_joint_coordinate *c = snw_joint_coordinates(joint, &n);
    if (n > 1) SNW_TRY(snw_read_list(r, e->value, "limits", n));
    for (int i = 0; i < n; i++) {
        const snw_node *pair = n > 1 ? e->value->entry[i].value : e->value;
        SNW_TRY(snw_read_list(r, pair, "limits", 2));
        const snw_dim dim = joint_dim_of(&position, &c[i]);
        SNW_TRY(read_limit(r, pair->entry[0].value, dim, -INFINITY, &out->low[i]));
        SNW_TRY(read_limit(r, pair->entry[1].value, dim, INFINITY, &out->high[i]));
        out->limited[i] = true;
        if (out->low[i] <= out->high[i]) continue;
        return snw_fail_at(r->err, pair->location, "'limits' are [low, high], got [%g, %g]",
                           out->low[i], out->high[i]);
    }
    return SNW_OK;
}

static snw_status read_stop_restitution(snw_reader *r, const snw_entry *e, snw_joint_kind joint,
                                        snw_joint_desc *out) {
    int n = 0;
    const snw_joint_coordinate *c = snw_joint_coordinates(joint, &n);
    if (!same_dimension(n, c)) {
        return snw_fail_at(r->err, e->location,
                           "the coordinates of a %s joint are angles and lengths, whose speeds "
                           "differ; give 'damping' for each",
                           snw_joint_name(joint));
    }
    double d = 0;
    SNW_TRY(snw_read_restitution(r, e, joint_dim_of(&rate, &c[0]), &d));
    for (int i = 0; i < n; i++) out->stop_damping[i] = d;
    return SNW_OK;
}

// A hard stop has no compliance; its restitution is one number for all coordinates.
static snw_status read_hard_stop(snw_reader *r, const snw_entry *const *e, const snw_link_desc *l,
                                 snw_joint_desc *out) {
    static const int compliant[] = {STOP_STIFFNESS, STOP_DAMPING, STOP_SMOOTH};
    for (size_t i = 0; i < sizeof compliant / sizeof *compliant; i++) {
        const snw_entry *has = e[compliant[i]];
        if (!has) continue;
        return snw_fail_at(r->err, has->location,
                           "the 'stop' of link '%s' is hard and has no '%s'; leave out one of them",
                           l->name, has->key);
    }
    for (int i = 0; i < SNW_JOINT_MOST && out->limited[i]; i++) {
        if (out->high[i] > out->low[i]) continue;
        return snw_fail_at(
            r->err, e[STOP_HARD]->location,
            "the limits of the hard stop of link '%s' are the same, %g; a joint that "
            "does not move is fixed",
            l->name, out->low[i]);
    }
    if (!e[STOP_RESTITUTION]) return SNW_OK;
    return snw_read_hard_restitution(r, e[STOP_RESTITUTION], &out->stop_restitution);
}

static snw_status read_stop(snw_reader *r, const snw_joint_keys *k, const snw_link_desc *l,
                            snw_joint_desc *out) {
    const snw_entry *e[STOP_N];
    SNW_TRY(snw_read_map(r, k->stop->value, &snw_keys_stop, e));
    if (!k->limits) {
        return snw_fail_at(r->err, k->stop->location,
                           "the 'stop' of link '%s' needs 'limits', e.g. 'limits: [-30 deg, 30 "
                           "deg]'",
                           l->name);
    }
    if (e[STOP_HARD]) SNW_TRY(snw_read_switch(r, e[STOP_HARD]->value, "hard", &out->stop_hard));
    if (out->stop_hard) return read_hard_stop(r, e, l, out);
    if (!e[STOP_STIFFNESS]) {
        return snw_fail_at(r->err, k->stop->location,
                           "the 'stop' of link '%s' needs 'stiffness', or 'hard: true'", l->name);
    }
    if (e[STOP_DAMPING] && e[STOP_RESTITUTION]) {
        return snw_fail_at(r->err, e[STOP_RESTITUTION]->location,
                           "a 'stop' has 'damping' or 'restitution', not both");
    }
    SNW_TRY(read_nonnegative_by_coordinate(r, e[STOP_STIFFNESS], l->joint, &stiffness,
                                           out->stop_stiffness));
    SNW_TRY(
        read_nonnegative_by_coordinate(r, e[STOP_DAMPING], l->joint, &per_rate, out->stop_damping));
    if (e[STOP_RESTITUTION]) SNW_TRY(read_stop_restitution(r, e[STOP_RESTITUTION], l->joint, out));
    for (int i = 0; i < SNW_JOINT_MOST; i++) out->stop_smooth[i] = SNW_CONTACT_SMOOTH;
    SNW_TRY(
        read_nonnegative_by_coordinate(r, e[STOP_SMOOTH], l->joint, &position, out->stop_smooth));
    for (int i = 0; i < SNW_JOINT_MOST && out->limited[i]; i++) {
        if (out->stop_smooth[i] > 0 && out->high[i] - out->low[i] > out->stop_smooth[i]) continue;
        return snw_fail_at(r->err, e[STOP_SMOOTH] ? e[STOP_SMOOTH]->location : k->stop->location,
                           "'smooth' is positive and less than the distance of the limits, got %g "
                           "and %g",
                           out->stop_smooth[i], out->high[i] - out->low[i]);
    }
    return SNW_OK;
}

// ---- rotor and gear -----------------------------------------------------------------------------

// A rotor of inertia J that turns `gear` times as fast as the joint has the reflected inertia
// gear^2 J there.
static snw_status read_armature(snw_reader *r, const snw_entry *own, snw_joint_kind joint,
                                double out[SNW_JOINT_MOST]) {
    const snw_entry *e[ARMATURE_N];
    double ratio[SNW_JOINT_MOST] = {0}, rotor = 0;
    int n = 0;
    const snw_joint_coordinate *c = snw_joint_coordinates(joint, &n);
    if (own->value->kind != SNW_NODE_MAP)
        return read_nonnegative_by_coordinate(r, own, joint, &inertia, out);
    SNW_TRY(snw_read_map(r, own->value, &snw_keys_armature, e));
    if (!e[ARMATURE_INERTIA])
        return snw_fail_at(r->err, own->location,
                           "a rotor needs its 'inertia', e.g. '{inertia: 1e-5, gear: 100}'");
    SNW_TRY(snw_read_nonnegative(r, e[ARMATURE_INERTIA], inertia.turn, &rotor));
    for (int i = 0; i < n && !e[ARMATURE_GEAR]; i++) {
        ratio[i] = 1;
        if (c[i].turn) continue;
        return snw_fail_at(r->err, own->location,
                           "the rotor of a %s joint needs its 'gear', radians per metre, e.g. "
                           "'gear: 2*pi/(5 mm)'",
                           snw_joint_name(joint));
    }
    if (e[ARMATURE_GEAR])
        SNW_TRY(read_by_coordinate(r, e[ARMATURE_GEAR]->value, "gear", joint, &gear, ratio));
    for (int i = 0; i < n; i++) out[i] = ratio[i] * ratio[i] * rotor;
    return SNW_OK;
}

// one coordinate of a joint that can be a term of a gear
static snw_status check_gear_joint(snw_reader *r, snw_source_location at, const snw_link_desc *l) {
    if (snw_joint_dof(l->joint) == 1) return SNW_OK;
    return snw_fail_at(r->err, at,
                       "'mimic' joins joints with one coordinate, and that of link '%s' is %s; put "
                       "links without a body in series, each with one coordinate",
                       l->name, snw_joint_name(l->joint));
}

// dimension of a coordinate over that of another: 1, m or 1/m
static snw_dim ratio_dim(const snw_link_desc *own, const snw_link_desc *other) {
    const bool turn = snw_joint_table[own->joint].coordinate[0].turn,
               other_turn = snw_joint_table[other->joint].coordinate[0].turn;
    return (snw_dim){.m = turn == other_turn ? 0 : turn ? -1 : 1};
}

snw_status snw_read_mimic(snw_reader *r, const snw_entry *entry, int link, snw_loop_desc *out) {
    const snw_desc *d = r->desc;
    const snw_link_desc *own = &d->link[link];
    const snw_entry *e[MIMIC_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_mimic, e));
    if (!e[MIMIC_JOINT])
        return snw_fail_at(r->err, entry->location,
                           "'mimic' needs the 'joint' that is followed, e.g. '{joint: left, ratio: "
                           "-1}'");
    SNW_TRY(check_gear_joint(r, entry->location, own));
    const snw_node *of = e[MIMIC_JOINT]->value,
                   *ratio = e[MIMIC_RATIO] ? e[MIMIC_RATIO]->value : NULL;
    const bool several = of->kind == SNW_NODE_LIST;
    const int n = several ? of->n : 1;
    if (several && ratio) SNW_TRY(snw_read_list(r, ratio, "ratio", n));
    snw_coupled_desc *c = snw_pool_array(r->pool, (size_t)n + 1, sizeof *c);
    *out = (snw_loop_desc){.location = entry->location,
                           .a = {.kind = SNW_SITE_WORLD, .link = -1, .location = entry->location},
                           .b = {.kind = SNW_SITE_END, .link = link, .location = entry->location},
                           .joint = SNW_JOINT_FREE,
                           .pose = snw_pose_desc_identity(),
                           .ncoupled = n + 1,
                           .coupled = c};
    out->a.pose = out->b.pose = snw_se3_identity();
    out->name = snw_pool_format(r->pool, "%s.mimic", own->name);
    if (!c || !out->name) return snw_read_memory(r);
    c[0] = (snw_coupled_desc){link, 1};
    for (int i = 0; i < n; i++) {
        const snw_node *one = several ? of->entry[i].value : of;
        const char *name = "";
        double value = 1;
        SNW_TRY(snw_read_name(r, one, "joint", &name));
        SNW_TRY(snw_find_thing(r, one, name, SNW_THING_LINK, &c[1 + i].link));
        const snw_link_desc *other = &d->link[c[1 + i].link];
        SNW_TRY(check_gear_joint(r, one->location, other));
        for (int k = 0; k <= i; k++) {
            if (c[k].link != c[1 + i].link) continue;
            return snw_fail_at(r->err, one->location, "the joint of link '%s' %s", name,
                               k == 0 ? "cannot mimic itself" : "is given twice");
        }
        const snw_dim dim = ratio_dim(own, other);
        if (!ratio && dim.m != 0)
            return snw_fail_at(
                r->err, entry->location,
                "'mimic' of link '%s' needs its 'ratio': one of the joints turns and "
                "one slides",
                own->name);
        if (ratio) {
            const snw_node *node = several ? ratio->entry[i].value : ratio;
            SNW_TRY(snw_read_constant(r, node, "ratio", dim, &value));
            if (value == 0)
                return snw_fail_at(r->err, node->location,
                                   "'ratio' must not be zero; a joint that stays is fixed");
        }
        c[1 + i].factor = -value;
        SNW_TRY(snw_read_both(r, entry->location, other->when, &out->when));
    }
    SNW_TRY(snw_read_both(r, entry->location, own->when, &out->when));
    if (!e[MIMIC_OFFSET]) return SNW_OK;
    const snw_dim dim = joint_dim_of(&position, &snw_joint_table[own->joint].coordinate[0]);
    return snw_read_constant(r, e[MIMIC_OFFSET]->value, "offset", dim, &out->offset);
}

// ---- joint --------------------------------------------------------------------------------------

// refuse keys that this kind of joint does not take, and require those that it needs
static snw_status check_joint_keys(snw_reader *r, const snw_joint_keys *k, const snw_link_desc *l) {
    const struct {
        const snw_entry *entry;
        int options; // of the table, any of them
    } all[] = {{k->axis, SNW_JOINT_TAKES_AXIS},
               {k->axes, SNW_JOINT_TAKES_AXIS | SNW_JOINT_TAKES_AXES},
               {k->limits, SNW_JOINT_TAKES_LIMITS},
               {k->stop, SNW_JOINT_TAKES_LIMITS},
               {k->stiffness, SNW_JOINT_TAKES_SPRING},
               {k->damping, SNW_JOINT_TAKES_SPRING},
               {k->friction, SNW_JOINT_TAKES_SPRING},
               {k->creep, SNW_JOINT_TAKES_SPRING},
               {k->rest, SNW_JOINT_TAKES_SPRING},
               {k->armature, SNW_JOINT_TAKES_SPRING},
               {k->mimic, SNW_JOINT_TAKES_SPRING},
               {k->pitch, SNW_JOINT_TAKES_PITCH}};
    const snw_joint_type *joint = &snw_joint_table[l->joint];
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const snw_entry *e = all[i].entry;
        if (!e || (joint->options & all[i].options)) continue;
        if (l->joint == SNW_JOINT_FREE && (e == k->stiffness || e == k->damping || e == k->rest))
            continue;
        if (!joint->options) {
            return snw_fail_at(r->err, all[i].entry->location,
                               "'%s' is for joints with axes or a centre; the joint of link '%s' "
                               "is %s%s",
                               all[i].entry->key, l->name, joint->name,
                               l->joint == SNW_JOINT_FIXED ? ", give e.g. 'joint: revolute'" : "");
        }
        if (all[i].entry == k->pitch) {
            return snw_fail_at(r->err, k->pitch->location,
                               "'pitch' is that of a screw, e.g. 'joint: screw, pitch: 2 mm'");
        }
        return snw_fail_at(r->err, all[i].entry->location, "a %s joint has no '%s'", joint->name,
                           all[i].entry->key);
    }
    if (!(joint->options & SNW_JOINT_TAKES_PITCH) || k->pitch) return SNW_OK;
    return snw_fail_at(r->err, k->joint->location,
                       "a %s needs its 'pitch', e.g. 'joint: %s, pitch: 2 mm'", joint->name,
                       joint->name);
}

// Has the spring or damper of a joint numbers of its own for each axis? Then it is a bushing.
static bool is_by_axis(const snw_joint_keys *k, snw_joint_kind joint) {
    if (joint == SNW_JOINT_FREE) return k->stiffness || k->damping;
    return is_rotation(joint) && ((k->stiffness && k->stiffness->value->kind == SNW_NODE_LIST) ||
                                  (k->damping && k->damping->value->kind == SNW_NODE_LIST));
}

snw_status snw_read_joint(snw_reader *r, const snw_joint_keys *k, snw_link_desc *l) {
    const char *joints[SNW_JOINT_COUNT];
    for (int i = 0; i < SNW_JOINT_COUNT; i++) joints[i] = snw_joint_table[i].name;
    int joint = SNW_JOINT_FIXED;
    if (k->joint)
        SNW_TRY(snw_read_word(r, k->joint->value, "joint", SNW_JOINT_COUNT, joints, &joint));
    l->joint = (snw_joint_kind)joint;
    SNW_TRY(check_joint_keys(r, k, l));
    snw_joint_desc *m = &l->moves;
    m->by_axis = is_by_axis(k, l->joint);
    if (l->joint == SNW_JOINT_FREE && k->rest && !m->by_axis)
        return snw_fail_at(r->err, k->rest->location,
                           "'rest' of a free joint is that of its spring; give 'stiffness'");
    if (!snw_joint_table[l->joint].options) return SNW_OK;
    SNW_TRY(joint_read_axes(r, k, l->joint, m));
    if (k->pitch) {
        SNW_TRY(snw_read_constant(r, k->pitch->value, "pitch", SNW_DIM_LENGTH, &m->pitch));
    }
    if (!m->by_axis) {
        SNW_TRY(
            read_nonnegative_by_coordinate(r, k->stiffness, l->joint, &stiffness, m->stiffness));
        SNW_TRY(read_nonnegative_by_coordinate(r, k->damping, l->joint, &damping, m->damping));
    }
    SNW_TRY(read_nonnegative_by_coordinate(r, k->friction, l->joint, &effort, m->friction));
    SNW_TRY(read_nonnegative_by_coordinate(r, k->creep, l->joint, &rate, m->creep));
    for (int i = 0; k->creep && i < SNW_JOINT_MOST && m->friction[i] > 0; i++) {
        if (m->creep[i] > 0) continue;
        return snw_fail_at(r->err, k->creep->value->location, "'creep' must be positive, got %g",
                           m->creep[i]);
    }
    if (k->rest) SNW_TRY(read_rest(r, k->rest, l->joint, m));
    if (k->armature) SNW_TRY(read_armature(r, k->armature, l->joint, m->armature));
    if (k->limits) SNW_TRY(read_limits(r, k->limits, l->joint, m));
    return k->stop ? read_stop(r, k, l, m) : SNW_OK;
}

// ---- initial position and rate ------------------------------------------------------------------

snw_status snw_read_joint_start(snw_reader *r, const snw_node *at, const snw_node *speed,
                                const snw_link_desc *l, snw_initial_desc *out) {
    if (!is_rotation(l->joint)) {
        out->has_position = at != NULL;
        out->has_speed = speed != NULL;
        if (at) SNW_TRY(read_by_coordinate(r, at, "position", l->joint, &position, out->position));
        return speed ? read_by_coordinate(r, speed, "rate", l->joint, &rate, out->speed) : SNW_OK;
    }
    if (at && at->kind != SNW_NODE_MAP) {
        return snw_fail_at(r->err, at->location,
                           "the position of a spherical joint is a rotation, e.g. '{position: "
                           "{axis: x, angle: 30 deg}}'");
    }
    if (at) {
        out->has_pose = true;
        SNW_TRY(snw_read_pose_constant(r, at, &out->pose));
    }
    return speed ? snw_read_vec3(r, speed, "rate", rate.turn, &out->twist.w) : SNW_OK;
}
