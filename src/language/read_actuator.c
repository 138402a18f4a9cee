// SPDX-License-Identifier: MIT
//
// Reads actuators: active stress along rods, tendons and chambers, efforts on coordinates of joints
// and rods, and prescribed coordinates (drives).
#include "language/read.h"

#include "base/fail.h"

#include <string.h>

// kinds come first, in the order of snw_actuator_kind, then what controls them
enum {
    ACTUATOR_CONTROL = SNW_ACTUATOR_COUNT,
    ACTUATOR_EFFORT_LIMIT = ACTUATOR_CONTROL + SNW_CONTROL_COUNT,
    ACTUATOR_RATE_LIMIT,
    ACTUATOR_WHEN
};
enum { ACTUATOR_N = ACTUATOR_WHEN + 1 };
#define ACTUATOR_KEYS(X)                                                                           \
    SNW_ACTUATOR_LIST(X)                                                                           \
    SNW_CONTROL_LIST(X)                                                                            \
    X(ACTUATOR_EFFORT_LIMIT, "effort_limit", "N m or N, by coordinate",                            \
      "of a motor: its effort stays within plus and minus this, a run tells when; the effort of "  \
      "a given motion is not cut off, and a run warns")                                            \
    X(ACTUATOR_RATE_LIMIT, "rate_limit", "rad/s or m/s, by coordinate",                            \
      "of a motor: a run warns when it moves faster")                                              \
    X(ACTUATOR_WHEN, "when", "a condition on t and probes",                                        \
      "active while this holds; always unless given")
#define STRESS_KEYS(X)                                                                             \
    X(STRESS_TWIST, "twist", "N m, law of t, x, probes", "moment about the tangent")               \
    X(STRESS_BEND_Y, "bend_y", "N m, law of t, x, probes", "moment about local y")                 \
    X(STRESS_BEND_Z, "bend_z", "N m, law of t, x, probes", "moment about local z")                 \
    X(STRESS_STRETCH, "stretch", "N, law of t, x, probes", "force along the tangent")              \
    X(STRESS_SHEAR_Y, "shear_y", "N, law of t, x, probes", "force along local y")                  \
    X(STRESS_SHEAR_Z, "shear_z", "N, law of t, x, probes", "force along local z")                  \
    X(STRESS_ALONG, "along", "a rod's link", "the rod, required")

enum { STRESS_KEYS(SNW_KEY_CODE) STRESS_N };
SNW_KEYS(actuator, "actuator", "an actuator", ACTUATOR_KEYS);
SNW_KEYS(stress, "stress", "an active stress", STRESS_KEYS);

snw_status snw_check_control(snw_reader *r, const snw_actuator_entry *a) {
    if (a->given) return SNW_OK;
    char names[160];
    snw_control_names(a->kind, " or ", names, sizeof names);
    return snw_fail_at(r->err, a->entry->location, "actuator '%s' needs %s", a->entry->key, names);
}

// ---- active stress ------------------------------------------------------------------------------

static snw_status read_stress(snw_reader *r, const snw_node *node, snw_stress_desc *out) {
    const snw_entry *e[STRESS_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_stress, e));
    if (!e[STRESS_ALONG]) {
        return snw_fail_at(r->err, node->location, "an active stress needs 'along:', a rod's link");
    }
    SNW_TRY(snw_read_rod_name(r, e[STRESS_ALONG]->value, "along", &out->link));
    if (node->n < 2) {
        return snw_fail_at(r->err, node->location,
                           "an active stress needs at least one component, e.g. 'bend_y: 1 N*m'");
    }
    const int vars = SNW_VAR_T | SNW_VAR_X | SNW_VAR_L | SNW_VAR_SIGNAL;
    for (int i = 0; i < 6; i++) {
        if (!e[i]) continue;
        const snw_dim dim = i < 3 ? SNW_DIM_TORQUE : SNW_DIM_FORCE;
        SNW_TRY(snw_read_law(r, e[i]->value, e[i]->key, dim, vars, &out->stress[i]));
    }
    const snw_link_desc *link = &r->desc->link[out->link];
    for (int i = 0; i < 6; i++) {
        if (out->stress[i] && (link->rod.active[i] || link->rod.given[i])) return SNW_OK;
    }
    return snw_fail_at(r->err, node->location,
                       "rod '%s' has none of the strains that this muscle acts on, so it has no "
                       "effect; add one, e.g. 'strain: {bend_y: legendre 3, stretch: legendre 2}'",
                       link->name);
}

static snw_status read_stress_actuator(snw_reader *r, const snw_actuator_entry *a,
                                       snw_stress_desc *out) {
    out->name = a->entry->key;
    out->location = a->entry->location;
    SNW_TRY(read_stress(r, a->of->value, out));
    return a->when ? snw_read_when(r, a->when->value, "when", &out->when) : SNW_OK;
}

// ---- coordinates --------------------------------------------------------------------------------

// name of a prescribed strain, which has no coordinates to drive; NULL: none is prescribed
static const char *prescribed_strain(const snw_rod_desc *rod) {
    for (int i = 0; i < 6; i++) {
        if (rod->given[i]) return snw_strain_name[i];
    }
    return NULL;
}

static snw_status refuse_prescribed(snw_reader *r, const snw_node *node, const snw_motor_desc *m) {
    const snw_link_desc *link = &r->desc->link[m->link];
    return snw_fail_at(r->err, node->location,
                       "'%s' of rod '%s' follows a law already and cannot be driven as well; it "
                       "has no coordinates, the others of the rod have %d. Give it a basis under "
                       "'strain' or leave it out here",
                       prescribed_strain(&link->rod), link->name, m->n);
}

// read a list of wheels; the motor describes the first of them
static snw_status read_first_wheel(snw_reader *r, const snw_entry *of, snw_motor_desc *out) {
    const int *link = NULL;
    if (of->value->kind != SNW_NODE_LIST) {
        return snw_fail_at(r->err, of->value->location,
                           "'wheels' is a list of links, e.g. '[left, right]'; of one use 'joint'");
    }
    SNW_TRY(snw_read_links(r, of->value, &out->nsame, &link));
    out->link = link[0];
    out->n = 1;
    for (int i = 0; i < out->nsame; i++) {
        const snw_link_desc *wheel = &r->desc->link[link[i]];
        if (wheel->joint == SNW_JOINT_REVOLUTE) continue;
        return snw_fail_at(r->err, of->value->location,
                           "'wheels' need revolute joints, and the joint of link '%s' is %s; give "
                           "it 'joint: revolute' about its axle",
                           wheel->name, snw_joint_name(wheel->joint));
    }
    if (snw_gives_effort(out->given) || out->holds) return SNW_OK;
    return snw_fail_at(r->err, of->location,
                       "'wheels' have one effort, so give 'effort' or 'hold'; to give each its "
                       "motion make an actuator for each joint");
}

// add a motor for each of the other wheels: the same effort law or, with `hold`, the same unknown
// effort
static snw_status add_other_wheels(snw_reader *r, const snw_entry *of) {
    snw_desc *d = r->desc;
    const int lead = d->nmotor - 1, *link = NULL;
    int n = 0;
    SNW_TRY(snw_read_links(r, of->value, &n, &link));
    d->motor[lead].same = lead + 1;
    for (int i = 1; i < n; i++) {
        snw_motor_desc *out = &d->motor[d->nmotor++];
        *out = d->motor[lead];
        out->name = snw_pool_format(r->pool, "%s(%d)", d->motor[lead].name, i + 1);
        if (!out->name) return snw_read_memory(r);
        out->link = link[i];
        out->nsame = 0;
        out->holds = false; // the first motor carries the target of the group
    }
    return SNW_OK;
}

// find the link whose coordinates are driven, and their number
static snw_status find_driven_coordinates(snw_reader *r, const snw_entry *of, snw_motor_desc *out) {
    if (out->feed) {
        SNW_TRY(snw_read_rod_name(r, of->value, of->key, &out->link));
        snw_rod_desc *rod = &r->desc->link[out->link].rod;
        const bool grows = snw_actuator_table[out->kind].grows;
        if (rod->variable_length && (grows || rod->grows))
            return snw_fail_at(
                r->err, of->location,
                "the length of rod '%s' varies already; a feed pushes it out, or it grows "
                "at its tip or slides through a loop",
                r->desc->link[out->link].name);
        rod->variable_length = true;
        if (grows) rod->grows = rod->fixed_root = true;
        out->n = 1;
        return SNW_OK;
    }
    if (out->rod) {
        SNW_TRY(snw_read_rod_name(r, of->value, of->key, &out->link));
        const snw_rod_desc *rod = &r->desc->link[out->link].rod;
        if (r->desc->link[out->link].beyond) {
            return snw_fail_at(r->err, of->value->location,
                               "rod '%s' slides through a loop, and its strain coordinates are "
                               "those of two parts; bend it by loads",
                               r->desc->link[out->link].name);
        }
        for (int i = 0; i < 6; i++) out->n += rod->active[i] ? rod->basis[i].nfun : 0;
        if (out->n > 0) return SNW_OK;
        if (prescribed_strain(rod)) return refuse_prescribed(r, of->value, out);
        return snw_fail_at(r->err, of->value->location,
                           "rod '%s' has no strain coordinates, see its 'strain'",
                           r->desc->link[out->link].name);
    }
    if (out->kind == SNW_ACTUATOR_WHEELS) return read_first_wheel(r, of, out);
    const char *name = "";
    SNW_TRY(snw_read_name(r, of->value, of->key, &name));
    SNW_TRY(snw_find_thing(r, of->value, name, SNW_THING_LINK, &out->link));
    const snw_joint_kind joint = r->desc->link[out->link].joint;
    out->n = snw_joint_dof(joint);
    if (joint == SNW_JOINT_FIXED || joint == SNW_JOINT_FREE) {
        return snw_fail_at(
            r->err, of->value->location, "the joint of link '%s' is %s and has no motor; %s", name,
            snw_joint_name(joint),
            joint == SNW_JOINT_FREE ? "use a load, or laws in the 'pose' of a fixed link"
                                    : "give e.g. 'joint: revolute', or laws in its 'pose'");
    }
    if (snw_joint_table[joint].space == SNW_SPACE_SO3 && snw_gives_rate(out->given)) {
        return snw_fail_at(r->err, of->value->location,
                           "the joint of link '%s' is %s and takes an 'effort' or a "
                           "'position'; its rates do not integrate to a rotation",
                           name, snw_joint_name(joint));
    }
    return SNW_OK;
}

// *out <- positive limits of the n coordinates of a motor; `rate`: of their rates, else of efforts
static snw_status read_motor_limits(snw_reader *r, const snw_entry *e, bool rate,
                                    const snw_motor_desc *m, const double **out) {
    double *limit = snw_pool_array(r->pool, (size_t)m->n, sizeof *limit);
    const bool list = e->value->kind == SNW_NODE_LIST;
    if (!limit) return snw_read_memory(r);
    if (list) SNW_TRY(snw_read_list(r, e->value, e->key, m->n));
    snw_motor_desc of = *m;
    of.given = rate ? SNW_GIVEN_RATE : SNW_GIVEN_EFFORT;
    for (int k = 0; k < m->n; k++) {
        const snw_node *node = list ? e->value->entry[k].value : e->value;
        SNW_TRY(snw_read_positive(r, node, e->key, snw_motor_dim(r->desc, &of, k), &limit[k]));
    }
    *out = limit;
    return SNW_OK;
}

// *out <- the node of an effort with its limit, "limit(law, -20, 20)"; columns of messages stay
static snw_status limited_node(snw_reader *r, const snw_node *node, double limit, snw_node *out) {
    static const char call[] = "limit(";
    *out = *node;
    out->text = snw_pool_format(r->pool, "%s%s, -%.17g, %.17g)", call, node->text, limit, limit);
    if (!out->text) return snw_read_memory(r);
    if (out->location.column > (int)strlen(call)) out->location.column -= (int)strlen(call);
    return SNW_OK;
}

static snw_status read_motor_law(snw_reader *r, const snw_node *node, const char *what,
                                 const snw_motor_desc *m, int k, snw_law *out) {
    const bool effort = snw_gives_effort(m->given);
    if (!effort && m->n > 1 && node->kind == SNW_NODE_TEXT && !strcmp(node->text, "free")) {
        return SNW_OK;
    }
    const int vars = SNW_VAR_T | (effort ? SNW_VAR_SIGNAL : 0);
    snw_node limited;
    if (effort && m->effort_limit && node->kind == SNW_NODE_TEXT) {
        SNW_TRY(limited_node(r, node, m->effort_limit[k], &limited));
        node = &limited;
    }
    return snw_read_law(r, node, what, snw_motor_dim(r->desc, m, k), vars, out);
}

static snw_status read_motor_laws(snw_reader *r, const snw_entry *given, snw_motor_desc *out) {
    snw_law *list = snw_pool_array(r->pool, (size_t)out->n, sizeof *list);
    if (!list) return snw_read_memory(r);
    out->law = list;
    if (out->n == 1 && out->given == SNW_GIVEN_MOTION && !out->rod && !out->feed &&
        given->value->kind == SNW_NODE_TEXT && strcmp(given->value->text, "free") == 0) {
        out->passive = true;
        return SNW_OK;
    }
    if (out->n == 1 && given->value->kind != SNW_NODE_LIST) {
        return read_motor_law(r, given->value, given->key, out, 0, &list[0]);
    }
    if (out->rod && given->value->kind == SNW_NODE_LIST && given->value->n > out->n &&
        prescribed_strain(&r->desc->link[out->link].rod)) {
        return refuse_prescribed(r, given->value, out);
    }
    SNW_TRY(snw_read_list(r, given->value, given->key, out->n));
    bool any = false;
    for (int k = 0; k < out->n; k++) {
        SNW_TRY(read_motor_law(r, given->value->entry[k].value, given->key, out, k, &list[k]));
        any = any || list[k];
    }
    return any ? SNW_OK
               : snw_fail_at(r->err, given->value->location,
                             "actuator '%s' drives nothing: all coordinates are free", out->name);
}

// The rotation of a spherical joint is prescribed by a driven loop closure from the base of the
// joint to its end, whose relative pose follows the law.
static snw_status read_rotation_drive(snw_reader *r, const snw_node *node, snw_motor_desc *out) {
    snw_desc *d = r->desc;
    if (node->kind != SNW_NODE_MAP) {
        return snw_fail_at(r->err, node->location,
                           "the position of a spherical joint is a rotation, e.g. '{axis: x, "
                           "angle: 30 deg*t/(1 s)}' or '{rpy: [.., .., ..]}'");
    }
    snw_loop_desc *all = snw_pool_array(r->pool, (size_t)d->nloop + 1, sizeof *all);
    snw_law *none = snw_pool_array(r->pool, (size_t)out->n, sizeof *none);
    if (!all || !none) return snw_read_memory(r);
    for (int i = 0; i < d->nloop; i++) all[i] = d->loop[i];
    const snw_site base = {.kind = SNW_SITE_BASE, .link = out->link, .pose = snw_se3_identity()};
    snw_loop_desc *loop = &all[d->nloop];
    *loop = (snw_loop_desc){.name = out->name,
                            .location = out->location,
                            .a = base,
                            .b = base,
                            .pose = snw_pose_desc_identity(),
                            .drive = true};
    loop->a.location = loop->b.location = node->location;
    loop->b.kind = d->link[out->link].has_rod ? SNW_SITE_ROOT : SNW_SITE_END;
    SNW_TRY(snw_read_pose(r, node, &loop->pose));
    for (int i = 0; i < 3; i++) {
        if (!loop->pose.xyz[i]) continue;
        return snw_fail_at(r->err, node->location,
                           "a spherical joint only rotates and has no 'xyz'");
    }
    out->law = none;
    out->loop = d->nloop++;
    d->loop = all;
    return SNW_OK;
}

// `hold` in kinematic steps; its target is read by snw_read_holds, after the probes
static snw_status read_hold(snw_reader *r, const snw_actuator_entry *a, snw_motor_desc *out) {
    const snw_entry *hold = a->given;
    if (out->rod || out->feed || out->n != 1) {
        return snw_fail_at(r->err, hold->location,
                           "'hold' is for a joint with one coordinate, or for 'wheels'");
    }
    if (a->when) {
        return snw_fail_at(
            r->err, a->when->location,
            "an actuator with 'hold' is always active; leave 'when' out, or make it a run");
    }
    if (hold->value->kind != SNW_NODE_MAP || hold->value->n != 1) {
        return snw_fail_at(r->err, hold->value->location,
                           "'hold' names one component of a probe and its law, e.g. '{car.vx: 1 "
                           "m/s}'");
    }
    snw_law *none = snw_pool_array(r->pool, 1, sizeof *none);
    if (!none) return snw_read_memory(r);
    out->law = none;
    out->passive = true;
    return SNW_OK;
}

static snw_status read_motor(snw_reader *r, const snw_actuator_entry *a, snw_motor_desc *out) {
    const snw_entry *entry = a->entry, *when = a->when;
    SNW_TRY(snw_check_control(r, a));
    out->name = entry->key;
    out->location = entry->location;
    out->kind = a->kind;
    out->given = a->control->given;
    out->rod = a->type->strains;
    out->feed = a->type->feeds;
    out->holds = a->control->key == SNW_CONTROL_HOLD;
    SNW_TRY(find_driven_coordinates(r, a->of, out));
    if (a->effort_limit)
        SNW_TRY(read_motor_limits(r, a->effort_limit, false, out, &out->effort_limit));
    if (a->rate_limit) SNW_TRY(read_motor_limits(r, a->rate_limit, true, out, &out->rate_limit));
    if (out->holds) return read_hold(r, a, out);
    out->turns = !out->rod && !out->feed && snw_gives_motion(out->given) &&
                 snw_joint_table[r->desc->link[out->link].joint].space == SNW_SPACE_SO3;
    SNW_TRY(out->turns ? read_rotation_drive(r, a->given->value, out)
                       : read_motor_laws(r, a->given, out));
    if (snw_gives_effort(out->given)) {
        return when ? snw_read_when(r, when->value, "when", &out->when) : SNW_OK;
    }
    if (when) SNW_TRY(snw_read_active_when(r, when->value, "when", &out->when));
    SNW_TRY(snw_read_both(r, entry->location, r->desc->link[out->link].when, &out->when));
    if (out->turns) r->desc->loop[out->loop].when = out->when;
    if (out->turns || !snw_gives_rate(out->given) || !out->when || snw_expr_vars(out->when) == 0) {
        return SNW_OK;
    }
    return snw_read_captured(r, entry->location, out->name, out->n, out->when, &out->captured);
}

// ---- actuators ----------------------------------------------------------------------------------

// find the key of the kind; there must be one
static snw_status find_kind(snw_reader *r, const snw_entry *const *e, snw_actuator_entry *a) {
    for (int k = 0; k < SNW_ACTUATOR_COUNT; k++) {
        if (!e[k]) continue;
        if (a->of) {
            return snw_fail_at(
                r->err, e[k]->location,
                "an actuator drives one element, this has '%s' and '%s'; make it two", a->of->key,
                e[k]->key);
        }
        a->of = e[k];
        a->kind = (snw_actuator_kind)k;
        a->type = &snw_actuator_table[k];
    }
    if (a->of) return SNW_OK;
    char forms[400];
    snw_actuator_forms(forms, sizeof forms);
    return snw_fail_at(r->err, a->entry->location, "actuator '%s' drives nothing; give %s",
                       a->entry->key, forms);
}

// error: the kind does not take this key
static snw_status refuse_control(snw_reader *r, const snw_actuator_entry *a, snw_control_key key,
                                 const snw_entry *given) {
    const int owner = snw_control_owner(key);
    if (a->type->control[0].key == SNW_CONTROL_NO_KEY) {
        return snw_fail_at(r->err, given->location, "an %s is given by component, not by '%s'",
                           a->type->noun, given->key);
    }
    char names[160];
    snw_control_names(a->kind, " or ", names, sizeof names);
    if (owner >= 0) {
        return snw_fail_at(r->err, given->location, "'%s' is for a %s only; a %s has %s",
                           given->key, snw_actuator_table[owner].noun, a->type->noun, names);
    }
    return snw_fail_at(r->err, given->location, "a %s has no '%s'; use %s", a->type->noun,
                       given->key, names);
}

// find the quantity that controls the actuator, if it is given; at most one is
static snw_status find_control(snw_reader *r, const snw_entry *const *e, snw_actuator_entry *a) {
    const snw_entry *second = NULL;
    for (int k = 0; k < SNW_CONTROL_COUNT; k++) {
        const snw_entry *given = e[ACTUATOR_CONTROL + k];
        if (!given) continue;
        const snw_control_type *control = snw_control_by_key(a->kind, (snw_control_key)k);
        if (!control) return refuse_control(r, a, (snw_control_key)k, given);
        if (a->given) {
            second = given;
        } else {
            a->given = given;
            a->control = control;
        }
    }
    if (second) {
        return snw_fail_at(
            r->err, second->location,
            "actuator '%s' gives '%s' and '%s'; one follows from the other, give one",
            a->entry->key, a->given->key, second->key);
    }
    return SNW_OK;
}

static snw_status read_actuator(snw_reader *r, const snw_entry *entry) {
    snw_desc *d = r->desc;
    const snw_entry *e[ACTUATOR_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_actuator, e));
    snw_actuator_entry a = {.entry = entry,
                            .when = e[ACTUATOR_WHEN],
                            .effort_limit = e[ACTUATOR_EFFORT_LIMIT],
                            .rate_limit = e[ACTUATOR_RATE_LIMIT]};
    SNW_TRY(find_kind(r, e, &a));
    const snw_entry *limit = a.effort_limit ? a.effort_limit : a.rate_limit;
    if (limit && a.type->acts != SNW_ACTUATES_COORDINATES)
        return snw_fail_at(r->err, limit->location,
                           "'%s' is for motors on coordinates; limit the law of a %s, "
                           "e.g. 'effort: limit(law, 0 N, 50 N)'",
                           limit->key, a.type->noun);
    SNW_TRY(find_control(r, e, &a));
    switch (a.type->acts) {
    case SNW_ACTUATES_COORDINATES:
        SNW_TRY(read_motor(r, &a, &d->motor[d->nmotor++]));
        return a.kind == SNW_ACTUATOR_WHEELS ? add_other_wheels(r, a.of) : SNW_OK;
    case SNW_ACTUATES_PATH:
        return snw_read_tendon(r, &a, &d->tendon[d->ntendon++]);
    case SNW_ACTUATES_STRAIN:
        break;
    }
    return read_stress_actuator(r, &a, &d->stress[d->nstress++]);
}

// number of links named in lists of wheels
static int count_wheels(const snw_node *node) {
    const char *wheels = snw_actuator_table[SNW_ACTUATOR_WHEELS].name;
    int n = 0;
    for (int i = 0; i < node->n; i++) {
        const snw_node *value = node->entry[i].value;
        for (int k = 0; value->kind == SNW_NODE_MAP && k < value->n; k++) {
            if (strcmp(value->entry[k].key, wheels) == 0) n += value->entry[k].value->n;
        }
    }
    return n;
}

snw_status snw_read_actuators(snw_reader *r) {
    const snw_node *node;
    snw_desc *d = r->desc;
    int n = 0;
    SNW_TRY(snw_read_section_entries(r, "actuators", &node, &n));
    d->stress = snw_pool_array(r->pool, (size_t)n, sizeof *d->stress);
    // a lock of each loop, a motor of each tube
    const int nmotor = n + (n > 0 ? count_wheels(node) : 0) + d->nloop + d->ntube;
    d->motor = snw_pool_array(r->pool, (size_t)nmotor, sizeof *d->motor);
    d->tendon = snw_pool_array(r->pool, (size_t)n, sizeof *d->tendon);
    if (!d->stress || !d->motor || !d->tendon) return snw_read_memory(r);
    for (int i = 0; i < n; i++) SNW_TRY(read_actuator(r, &node->entry[i]));
    SNW_TRY(snw_read_tube_rotations(r));
    return snw_read_locks(r);
}

// ---- hold ---------------------------------------------------------------------------------------

// velocities and rates only: they are linear in the generalised velocities
static bool can_be_held(const snw_probe_desc *p) {
    return p->along == 0 && (p->kind == SNW_PROBE_VELOCITY || p->kind == SNW_PROBE_TWIST ||
                             (p->kind == SNW_PROBE_RATE && p->of == SNW_PROBE_OF_LINK));
}

static snw_status read_hold_target(snw_reader *r, const snw_entry *e, snw_motor_desc *out) {
    const char *dot = strrchr(e->key, '.');
    const size_t length = dot ? (size_t)(dot - e->key) : strlen(e->key);
    const char *name = snw_pool_text(r->pool, e->key, length);
    if (!name) return snw_read_memory(r);
    SNW_TRY(snw_find_probe(r, e->location, name, &out->probe));
    const snw_probe_desc *p = &r->desc->probe[out->probe];
    if (!can_be_held(p)) {
        return snw_fail_at(r->err, e->location,
                           "actuator '%s' cannot hold '%s', which is not a 'velocity', 'twist' or "
                           "'rate' of a link; hold its rate",
                           out->name, name);
    }
    snw_component known[SNW_PROBE_WIDTH];
    const int n = snw_probe_components(p->kind, p->joint, known);
    while (out->component < n && strcmp(known[out->component].name, dot ? dot + 1 : "") != 0) {
        out->component++;
    }
    if (out->component == n) {
        return snw_fail_at(r->err, e->location, "'hold' names one component of '%s', e.g. '%s%s%s'",
                           name, name, known[0].name[0] ? "." : "", known[0].name);
    }
    return snw_read_law(r, e->value, e->key, known[out->component].dim, SNW_VAR_T, &out->target);
}

snw_status snw_read_holds(snw_reader *r) {
    const snw_node *node;
    int n = 0;
    SNW_TRY(snw_read_section_entries(r, "actuators", &node, &n));
    for (int i = 0; i < r->desc->nmotor; i++) {
        snw_motor_desc *m = &r->desc->motor[i];
        for (int k = 0; m->holds && k < n; k++) {
            const snw_entry *e[ACTUATOR_N];
            if (strcmp(node->entry[k].key, m->name) != 0) continue;
            SNW_TRY(snw_read_map(r, node->entry[k].value, &snw_keys_actuator, e));
            SNW_TRY(
                read_hold_target(r, &e[ACTUATOR_CONTROL + SNW_CONTROL_HOLD]->value->entry[0], m));
        }
    }
    return SNW_OK;
}
