// SPDX-License-Identifier: MIT
//
// Reads actuators: active stress along rods, tendons and chambers, efforts on coordinates of joints
// and rods, and prescribed coordinates (drives).
#include "language/read.h"

#include "base/fail.h"

#include <string.h>

#define ACTUATOR_KEYS(X)                                                                           \
    X(ACTUATOR_JOINT, "joint", "a joint's link", "a motor on the coordinates of its joint")        \
    X(ACTUATOR_ROD, "rod", "a rod's link", "a drive on its strain coordinates, always a list")     \
    X(ACTUATOR_FEED, "feed", "a rod's link",                                                       \
      "varies the length of the rod: feeds it out of its root or draws it in; its position is "    \
      "the free length")                                                                           \
    X(ACTUATOR_WHEELS, "wheels", "a list of links",                                                \
      "one motor for all: the same effort on each revolute joint")                                 \
    X(ACTUATOR_TENDON, "tendon", "a tendon", "a cable through sections of rods")                   \
    X(ACTUATOR_CHAMBER, "chamber", "a chamber", "a cavity along rods, filled with a fluid")        \
    X(ACTUATOR_STRESS, "stress", "active stress", "a muscle along a rod")                          \
    X(ACTUATOR_EFFORT, "effort", "N m or N, laws of t and probes",                                 \
      "given effort, by coordinate; of a spherical joint three torques, in its own axes; tension " \
      "of a tendon, N; pressure in a chamber above ambient, Pa")                                   \
    X(ACTUATOR_POSITION, "position", "rad or m, laws of t",                                        \
      "given coordinate, its effort is an output; free in a list: not driven, free alone: "        \
      "determined by contacts; of a spherical joint a rotation")                                   \
    X(ACTUATOR_RATE, "rate", "rad/s or m/s, laws of t",                                            \
      "the coordinate given by its rate, from the initial value, or from its value when the "      \
      "actuator becomes active")                                                                   \
    X(ACTUATOR_HOLD, "hold", "{probe.component: law of t}",                                        \
      "of a joint or of wheels in kinematic steps: the effort keeps that velocity or rate on "     \
      "that law, and is an output")                                                                \
    X(ACTUATOR_SHORTENING, "shortening", "m, law of t",                                            \
      "of a tendon: given length pulled in; its tension is an output")                             \
    X(ACTUATOR_VOLUME, "volume", "m^3, law of t",                                                  \
      "of a chamber: given volume; its pressure is an output")                                     \
    X(ACTUATOR_GAS, "gas", "a gas", "given amount of gas in a chamber; its pressure is an output") \
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

enum { ACTUATOR_KEYS(SNW_KEY_CODE) ACTUATOR_N };
enum { STRESS_KEYS(SNW_KEY_CODE) STRESS_N };
SNW_KEYS(actuator, "actuator", "an actuator", ACTUATOR_KEYS);
SNW_KEYS(stress, "stress", "an active stress", STRESS_KEYS);

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

static snw_status read_stress_actuator(snw_reader *r, const snw_entry *entry,
                                       const snw_entry *const *e, snw_stress_desc *out) {
    out->name = entry->key;
    out->location = entry->location;
    for (int k = ACTUATOR_EFFORT; k <= ACTUATOR_HOLD; k++) {
        if (!e[k]) continue;
        return snw_fail_at(r->err, e[k]->location,
                           "an active stress is given by component, not by '%s'", e[k]->key);
    }
    SNW_TRY(read_stress(r, e[ACTUATOR_STRESS]->value, out));
    return e[ACTUATOR_WHEN] ? snw_read_when(r, e[ACTUATOR_WHEN]->value, "when", &out->when)
                            : SNW_OK;
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
    if (out->kind == SNW_MOTOR_EFFORT || out->holds) return SNW_OK;
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
        r->desc->link[out->link].rod.variable_length = true;
        out->n = 1;
        return SNW_OK;
    }
    if (out->rod) {
        SNW_TRY(snw_read_rod_name(r, of->value, of->key, &out->link));
        const snw_rod_desc *rod = &r->desc->link[out->link].rod;
        for (int i = 0; i < 6; i++) out->n += rod->active[i] ? rod->basis[i].nfun : 0;
        if (out->n > 0) return SNW_OK;
        if (prescribed_strain(rod)) return refuse_prescribed(r, of->value, out);
        return snw_fail_at(r->err, of->value->location,
                           "rod '%s' has no strain coordinates, see its 'strain'",
                           r->desc->link[out->link].name);
    }
    if (strcmp(of->key, "wheels") == 0) return read_first_wheel(r, of, out);
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
    if (snw_joint_table[joint].space == SNW_SPACE_SO3 && out->kind == SNW_MOTOR_RATE) {
        return snw_fail_at(r->err, of->value->location,
                           "the joint of link '%s' is %s and takes an 'effort' or a "
                           "'position'; its rates do not integrate to a rotation",
                           name, snw_joint_name(joint));
    }
    return SNW_OK;
}

static snw_status read_motor_law(snw_reader *r, const snw_node *node, const char *what,
                                 const snw_motor_desc *m, int k, snw_law *out) {
    const bool effort = m->kind == SNW_MOTOR_EFFORT;
    if (!effort && m->n > 1 && node->kind == SNW_NODE_TEXT && !strcmp(node->text, "free")) {
        return SNW_OK;
    }
    const int vars = SNW_VAR_T | (effort ? SNW_VAR_SIGNAL : 0);
    return snw_read_law(r, node, what, snw_motor_dim(r->desc, m, k), vars, out);
}

static snw_status read_motor_laws(snw_reader *r, const snw_entry *given, snw_motor_desc *out) {
    snw_law *list = snw_pool_array(r->pool, (size_t)out->n, sizeof *list);
    if (!list) return snw_read_memory(r);
    out->law = list;
    if (out->n == 1 && out->kind == SNW_MOTOR_POSITION && !out->rod && !out->feed &&
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
static snw_status read_hold(snw_reader *r, const snw_entry *const *e, snw_motor_desc *out) {
    const snw_entry *hold = e[ACTUATOR_HOLD];
    if (out->rod || out->feed || out->n != 1) {
        return snw_fail_at(r->err, hold->location,
                           "'hold' is for a joint with one coordinate, or for 'wheels'");
    }
    if (e[ACTUATOR_WHEN]) {
        return snw_fail_at(
            r->err, e[ACTUATOR_WHEN]->location,
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

static snw_status read_motor(snw_reader *r, const snw_entry *entry, const snw_entry *const *e,
                             snw_motor_desc *out) {
    static const snw_motor_kind kinds[] = {SNW_MOTOR_EFFORT, SNW_MOTOR_POSITION, SNW_MOTOR_RATE,
                                           SNW_MOTOR_POSITION};
    const snw_entry *given = NULL;
    out->name = entry->key;
    out->location = entry->location;
    out->rod = e[ACTUATOR_ROD] != NULL;
    out->feed = e[ACTUATOR_FEED] != NULL;
    for (int k = 0; k < 4; k++) {
        const snw_entry *one = e[ACTUATOR_EFFORT + k];
        if (!one) continue;
        if (given) {
            return snw_fail_at(r->err, one->location,
                               "actuator '%s' gives '%s' and '%s'; one follows from the other, "
                               "give one",
                               entry->key, given->key, one->key);
        }
        given = one;
        out->kind = kinds[k];
    }
    if (!given) {
        return snw_fail_at(r->err, entry->location,
                           "actuator '%s' needs 'effort', 'position', 'rate' or 'hold'",
                           entry->key);
    }
    out->holds = given == e[ACTUATOR_HOLD];
    const snw_entry *of = out->rod            ? e[ACTUATOR_ROD]
                          : out->feed         ? e[ACTUATOR_FEED]
                          : e[ACTUATOR_JOINT] ? e[ACTUATOR_JOINT]
                                              : e[ACTUATOR_WHEELS];
    if (of == e[ACTUATOR_WHEELS] && of->value->kind != SNW_NODE_LIST) {
        return snw_fail_at(r->err, of->value->location,
                           "'wheels' is a list of links, e.g. '[left, right]'; of one use 'joint'");
    }
    SNW_TRY(find_driven_coordinates(r, of, out));
    if (out->holds) return read_hold(r, e, out);
    out->turns = of == e[ACTUATOR_JOINT] && out->kind != SNW_MOTOR_EFFORT &&
                 snw_joint_table[r->desc->link[out->link].joint].space == SNW_SPACE_SO3;
    SNW_TRY(out->turns ? read_rotation_drive(r, given->value, out)
                       : read_motor_laws(r, given, out));
    const snw_entry *when = e[ACTUATOR_WHEN];
    if (out->kind == SNW_MOTOR_EFFORT) {
        return when ? snw_read_when(r, when->value, "when", &out->when) : SNW_OK;
    }
    if (when) SNW_TRY(snw_read_active_when(r, when->value, "when", &out->when));
    SNW_TRY(snw_read_both(r, entry->location, r->desc->link[out->link].when, &out->when));
    if (out->turns) r->desc->loop[out->loop].when = out->when;
    if (out->turns || out->kind == SNW_MOTOR_POSITION || !out->when ||
        snw_expr_vars(out->when) == 0) {
        return SNW_OK;
    }
    return snw_read_captured(r, entry->location, out->name, out->n, out->when, &out->captured);
}

// ---- actuators ----------------------------------------------------------------------------------

static snw_status read_actuator(snw_reader *r, const snw_entry *entry) {
    snw_desc *d = r->desc;
    const snw_entry *e[ACTUATOR_N], *of = NULL;
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_actuator, e));
    for (int k = ACTUATOR_JOINT; k <= ACTUATOR_STRESS; k++) {
        if (!e[k]) continue;
        if (of) {
            return snw_fail_at(
                r->err, e[k]->location,
                "an actuator drives one element, this has '%s' and '%s'; make it two", of->key,
                e[k]->key);
        }
        of = e[k];
    }
    if (!of) {
        return snw_fail_at(
            r->err, entry->location,
            "actuator '%s' drives nothing; give 'joint: link', 'rod: link', 'feed: link', "
            "'wheels: [links]', 'tendon: {along: ..}', 'chamber: {along: ..}' or "
            "'stress: {along: .., bend_y: ..}'",
            entry->key);
    }
    for (int k = ACTUATOR_SHORTENING; k <= ACTUATOR_GAS; k++) {
        const bool tendon = k == ACTUATOR_SHORTENING;
        if (!e[k] || of == e[tendon ? ACTUATOR_TENDON : ACTUATOR_CHAMBER]) continue;
        return snw_fail_at(r->err, e[k]->location, "'%s' is for a %s only", e[k]->key,
                           tendon ? "tendon" : "chamber");
    }
    if (of == e[ACTUATOR_TENDON] || of == e[ACTUATOR_CHAMBER]) {
        for (int k = ACTUATOR_POSITION; k <= ACTUATOR_HOLD; k++) {
            if (!e[k]) continue;
            return snw_fail_at(r->err, e[k]->location, "a %s has no '%s'; use '%s'", of->key,
                               e[k]->key, of == e[ACTUATOR_TENDON] ? "shortening" : "volume");
        }
        const snw_tendon_keys keys = {.tendon = e[ACTUATOR_TENDON],
                                      .chamber = e[ACTUATOR_CHAMBER],
                                      .effort = e[ACTUATOR_EFFORT],
                                      .shortening = e[ACTUATOR_SHORTENING],
                                      .volume = e[ACTUATOR_VOLUME],
                                      .gas = e[ACTUATOR_GAS],
                                      .when = e[ACTUATOR_WHEN]};
        return snw_read_tendon(r, entry, &keys, &d->tendon[d->ntendon++]);
    }
    if (of == e[ACTUATOR_STRESS])
        return read_stress_actuator(r, entry, e, &d->stress[d->nstress++]);
    SNW_TRY(read_motor(r, entry, e, &d->motor[d->nmotor++]));
    return of == e[ACTUATOR_WHEELS] ? add_other_wheels(r, of) : SNW_OK;
}

// number of links named in lists of wheels
static int count_wheels(const snw_node *node) {
    int n = 0;
    for (int i = 0; i < node->n; i++) {
        const snw_node *value = node->entry[i].value;
        for (int k = 0; value->kind == SNW_NODE_MAP && k < value->n; k++) {
            if (strcmp(value->entry[k].key, "wheels") == 0) n += value->entry[k].value->n;
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
    const int nmotor = n + (n > 0 ? count_wheels(node) : 0);
    d->motor = snw_pool_array(r->pool, (size_t)nmotor, sizeof *d->motor);
    d->tendon = snw_pool_array(r->pool, (size_t)n, sizeof *d->tendon);
    if (!d->stress || !d->motor || !d->tendon) return snw_read_memory(r);
    for (int i = 0; i < n; i++) SNW_TRY(read_actuator(r, &node->entry[i]));
    return SNW_OK;
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
            SNW_TRY(read_hold_target(r, &e[ACTUATOR_HOLD]->value->entry[0], m));
        }
    }
    return SNW_OK;
}
