// SPDX-License-Identifier: MIT
//
// read_actuator.c: what drives the robot: active stress along rods, tendons and chambers, efforts on coordinates of
// joints and rods, and coordinates that follow a law.
#include "io/read.h"

#include "base/fail.h"

#include <string.h>

#define ACTUATOR_KEYS(X)                                                                           \
    X(ACTUATOR_JOINT, "joint", "a joint's link", "a motor on the coordinates of its joint")        \
    X(ACTUATOR_ROD, "rod", "a rod's link", "a drive on its strain coordinates, always a list")     \
    X(ACTUATOR_FEED, "feed", "a rod's link",                                                       \
      "pushes the rod out of its root or draws it in; its position is the free length")            \
    X(ACTUATOR_TENDON, "tendon", "a tendon", "a cord through sections of rods")                    \
    X(ACTUATOR_CHAMBER, "chamber", "a chamber", "a cavity along rods, filled with a fluid")        \
    X(ACTUATOR_STRESS, "stress", "active stress", "a muscle along a rod")                          \
    X(ACTUATOR_EFFORT, "effort", "N m or N, laws of t and probes",                                 \
      "given effort, by coordinate; of a spherical joint three torques, its own axes; tension of " \
      "a tendon, N; pressure in a chamber beyond that outside, Pa")                                \
    X(ACTUATOR_POSITION, "position", "rad or m, laws of t",                                        \
      "given coordinate, its effort is an output; free in a list: not driven; of a spherical "     \
      "joint a rotation")                                                                          \
    X(ACTUATOR_RATE, "rate", "rad/s or m/s, laws of t",                                            \
      "the same by its rate, from the initial value on, or from where it is when it begins to "    \
      "act")                                                                                       \
    X(ACTUATOR_SHORTENING, "shortening", "m, law of t",                                            \
      "of a tendon, given length pulled in; its tension is an output")                             \
    X(ACTUATOR_VOLUME, "volume", "m^3, law of t", "of a chamber; its pressure is an output")       \
    X(ACTUATOR_GAS, "gas", "a gas", "what fills a chamber; its pressure is an output")             \
    X(ACTUATOR_WHEN, "when", "a condition on t and probes", "when it acts, always unless given")
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

static snw_status stress(snw_reader *r, const snw_node *node, snw_stress_desc *out) {
    const snw_entry *e[STRESS_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_stress, e));
    if (!e[STRESS_ALONG]) {
        return snw_fail_at(r->err, node->place, "an active stress needs 'along:', a rod's link");
    }
    SNW_TRY(snw_read_rod_name(r, e[STRESS_ALONG]->value, "along", &out->link));
    if (node->n < 2) {
        return snw_fail_at(r->err, node->place,
                           "an active stress needs at least one component, e.g. 'bend_y: 1 N*m'");
    }
    const int vars = SNW_VAR_T | SNW_VAR_X | SNW_VAR_L | SNW_VAR_SIGNAL;
    for (int i = 0; i < 6; i++) {
        if (!e[i]) continue;
        const snw_dim dim = i < 3 ? SNW_DIM_TORQUE : SNW_DIM_FORCE;
        SNW_TRY(snw_read_law(r, e[i]->value, e[i]->key, dim, vars, &out->stress[i]));
    }
    return SNW_OK;
}

static snw_status muscle(snw_reader *r, const snw_entry *entry, const snw_entry *const *e,
                         snw_stress_desc *out) {
    out->name = entry->key;
    out->place = entry->place;
    for (int k = ACTUATOR_EFFORT; k <= ACTUATOR_RATE; k++) {
        if (!e[k]) continue;
        return snw_fail_at(r->err, e[k]->place,
                           "an active stress is given by component, not by '%s'", e[k]->key);
    }
    SNW_TRY(stress(r, e[ACTUATOR_STRESS]->value, out));
    return e[ACTUATOR_WHEN] ? snw_read_when(r, e[ACTUATOR_WHEN]->value, "when", &out->when)
                            : SNW_OK;
}

// ---- coordinates --------------------------------------------------------------------------------

// a strain that follows a law has no coordinate that could be driven; NULL: none does
static const char *given_strain(const snw_rod_desc *rod) {
    for (int i = 0; i < 6; i++) {
        if (rod->given[i]) return snw_strain_name[i];
    }
    return NULL;
}

static snw_status refuse_given(snw_reader *r, const snw_node *node, const snw_motor_desc *m) {
    const snw_link_desc *link = &r->desc->link[m->link];
    return snw_fail_at(r->err, node->place,
                       "'%s' of rod '%s' follows a law already and cannot be driven as well; it "
                       "has no coordinates, the others of the rod have %d. Give it a basis under "
                       "'strain' or leave it out here",
                       given_strain(&link->rod), link->name, m->n);
}

// the link whose coordinates are meant, and how many they are
static snw_status coordinates(snw_reader *r, const snw_entry *of, snw_motor_desc *out) {
    if (out->feed) {
        SNW_TRY(snw_read_rod_name(r, of->value, of->key, &out->link));
        r->desc->link[out->link].rod.fed = true;
        out->n = 1;
        return SNW_OK;
    }
    if (out->rod) {
        SNW_TRY(snw_read_rod_name(r, of->value, of->key, &out->link));
        const snw_rod_desc *rod = &r->desc->link[out->link].rod;
        for (int i = 0; i < 6; i++) out->n += rod->active[i] ? rod->basis[i].nfun : 0;
        if (out->n > 0) return SNW_OK;
        if (given_strain(rod)) return refuse_given(r, of->value, out);
        return snw_fail_at(r->err, of->value->place,
                           "rod '%s' has no strain coordinates, see its 'strain'",
                           r->desc->link[out->link].name);
    }
    const char *name = "";
    SNW_TRY(snw_read_name(r, of->value, of->key, &name));
    SNW_TRY(snw_find_thing(r, of->value, name, SNW_THING_LINK, &out->link));
    const snw_joint_kind joint = r->desc->link[out->link].joint;
    out->n = snw_joint_dof(joint);
    if (joint == SNW_JOINT_FIXED || joint == SNW_JOINT_FREE) {
        return snw_fail_at(
            r->err, of->value->place, "the joint of link '%s' is %s and has no motor; %s", name,
            snw_joint_name(joint),
            joint == SNW_JOINT_FREE ? "use a load, or laws in the 'pose' of a fixed link"
                                    : "give e.g. 'joint: revolute', or laws in its 'pose'");
    }
    if (joint == SNW_JOINT_SPHERICAL && out->kind == SNW_MOTOR_RATE) {
        return snw_fail_at(r->err, of->value->place,
                           "the joint of link '%s' is spherical and takes an 'effort' or a "
                           "'position'; the rates of a rotation do not add up to one",
                           name);
    }
    return SNW_OK;
}

static snw_status law(snw_reader *r, const snw_node *node, const char *what,
                      const snw_motor_desc *m, int k, snw_law *out) {
    const bool effort = m->kind == SNW_MOTOR_EFFORT;
    if (!effort && m->n > 1 && node->kind == SNW_NODE_TEXT && !strcmp(node->text, "free")) {
        return SNW_OK;
    }
    const int vars = SNW_VAR_T | (effort ? SNW_VAR_SIGNAL : 0);
    return snw_read_law(r, node, what, snw_motor_dim(r->desc, m, k), vars, out);
}

static snw_status laws(snw_reader *r, const snw_entry *given, snw_motor_desc *out) {
    snw_law *list = snw_pool_array(r->pool, (size_t)out->n, sizeof *list);
    if (!list) return snw_read_memory(r);
    out->law = list;
    if (out->n == 1 && out->kind == SNW_MOTOR_POSITION && !out->rod && !out->feed &&
        given->value->kind == SNW_NODE_TEXT && strcmp(given->value->text, "free") == 0) {
        out->follows = true;
        return SNW_OK;
    }
    if (out->n == 1 && given->value->kind != SNW_NODE_LIST) {
        return law(r, given->value, given->key, out, 0, &list[0]);
    }
    if (out->rod && given->value->kind == SNW_NODE_LIST && given->value->n > out->n &&
        given_strain(&r->desc->link[out->link].rod)) {
        return refuse_given(r, given->value, out);
    }
    SNW_TRY(snw_read_list(r, given->value, given->key, out->n));
    bool any = false;
    for (int k = 0; k < out->n; k++) {
        SNW_TRY(law(r, given->value->entry[k].value, given->key, out, k, &list[k]));
        any = any || list[k];
    }
    return any ? SNW_OK
               : snw_fail_at(r->err, given->value->place, "actuator '%s' drives nothing: all free",
                             out->name);
}

// A ball whose rotation is given is held by a loop from where its joint begins, turned by the law.
static snw_status rotation(snw_reader *r, const snw_node *node, snw_motor_desc *out) {
    snw_desc *d = r->desc;
    if (node->kind != SNW_NODE_MAP) {
        return snw_fail_at(r->err, node->place,
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
                            .place = out->place,
                            .a = base,
                            .b = base,
                            .pose = snw_pose_desc_identity(),
                            .drive = true};
    loop->a.place = loop->b.place = node->place;
    loop->b.kind = d->link[out->link].has_rod ? SNW_SITE_ROOT : SNW_SITE_END;
    SNW_TRY(snw_read_pose(r, node, &loop->pose));
    for (int i = 0; i < 3; i++) {
        if (!loop->pose.xyz[i]) continue;
        return snw_fail_at(r->err, node->place, "a spherical joint turns and has no 'xyz'");
    }
    out->law = none;
    out->loop = d->nloop++;
    d->loop = all;
    return SNW_OK;
}

static snw_status motor(snw_reader *r, const snw_entry *entry, const snw_entry *const *e,
                        snw_motor_desc *out) {
    static const snw_motor_kind kinds[] = {SNW_MOTOR_EFFORT, SNW_MOTOR_POSITION, SNW_MOTOR_RATE};
    const snw_entry *given = NULL;
    out->name = entry->key;
    out->place = entry->place;
    out->rod = e[ACTUATOR_ROD] != NULL;
    out->feed = e[ACTUATOR_FEED] != NULL;
    for (int k = 0; k < 3; k++) {
        const snw_entry *one = e[ACTUATOR_EFFORT + k];
        if (!one) continue;
        if (given) {
            return snw_fail_at(r->err, one->place,
                               "actuator '%s' gives '%s' and '%s'; one follows from the other, "
                               "give one",
                               entry->key, given->key, one->key);
        }
        given = one;
        out->kind = kinds[k];
    }
    if (!given) {
        return snw_fail_at(r->err, entry->place,
                           "actuator '%s' needs 'effort', 'position' or 'rate'", entry->key);
    }
    const snw_entry *of = out->rod    ? e[ACTUATOR_ROD]
                          : out->feed ? e[ACTUATOR_FEED]
                                      : e[ACTUATOR_JOINT];
    SNW_TRY(coordinates(r, of, out));
    out->turns = of == e[ACTUATOR_JOINT] && out->kind != SNW_MOTOR_EFFORT &&
                 r->desc->link[out->link].joint == SNW_JOINT_SPHERICAL;
    SNW_TRY(out->turns ? rotation(r, given->value, out) : laws(r, given, out));
    const snw_entry *when = e[ACTUATOR_WHEN];
    if (out->kind == SNW_MOTOR_EFFORT) {
        return when ? snw_read_when(r, when->value, "when", &out->when) : SNW_OK;
    }
    if (when) SNW_TRY(snw_read_switch(r, when->value, "when", &out->when));
    SNW_TRY(snw_read_both(r, entry->place, r->desc->link[out->link].when, &out->when));
    if (out->turns) r->desc->loop[out->loop].when = out->when;
    if (out->turns || out->kind == SNW_MOTOR_POSITION || !out->when ||
        snw_expr_vars(out->when) == 0) {
        return SNW_OK;
    }
    return snw_read_met(r, entry->place, out->name, out->n, out->when, &out->met);
}

// ---- all ----------------------------------------------------------------------------------------

static snw_status actuator(snw_reader *r, const snw_entry *entry) {
    snw_desc *d = r->desc;
    const snw_entry *e[ACTUATOR_N], *of = NULL;
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_actuator, e));
    for (int k = ACTUATOR_JOINT; k <= ACTUATOR_STRESS; k++) {
        if (!e[k]) continue;
        if (of) {
            return snw_fail_at(r->err, e[k]->place,
                               "an actuator drives one thing, this has '%s' and '%s'; make it two",
                               of->key, e[k]->key);
        }
        of = e[k];
    }
    if (!of) {
        return snw_fail_at(
            r->err, entry->place,
            "actuator '%s' drives nothing; give 'joint: link', 'rod: link', 'feed: link', "
            "'tendon: {along: ..}', 'chamber: {along: ..}' or "
            "'stress: {along: .., bend_y: ..}'",
            entry->key);
    }
    for (int k = ACTUATOR_SHORTENING; k <= ACTUATOR_GAS; k++) {
        const bool tendon = k == ACTUATOR_SHORTENING;
        if (!e[k] || of == e[tendon ? ACTUATOR_TENDON : ACTUATOR_CHAMBER]) continue;
        return snw_fail_at(r->err, e[k]->place, "'%s' is given of a %s only", e[k]->key,
                           tendon ? "tendon" : "chamber");
    }
    if (of == e[ACTUATOR_TENDON] || of == e[ACTUATOR_CHAMBER]) {
        for (int k = ACTUATOR_POSITION; k <= ACTUATOR_RATE; k++) {
            if (!e[k]) continue;
            return snw_fail_at(r->err, e[k]->place, "a %s has no '%s'; use '%s'", of->key,
                               e[k]->key, of == e[ACTUATOR_TENDON] ? "shortening" : "volume");
        }
        const snw_measure_keys keys = {.tendon = e[ACTUATOR_TENDON],
                                       .chamber = e[ACTUATOR_CHAMBER],
                                       .effort = e[ACTUATOR_EFFORT],
                                       .shortening = e[ACTUATOR_SHORTENING],
                                       .volume = e[ACTUATOR_VOLUME],
                                       .gas = e[ACTUATOR_GAS],
                                       .when = e[ACTUATOR_WHEN]};
        return snw_read_measure(r, entry, &keys, &d->measure[d->nmeasure++]);
    }
    if (of == e[ACTUATOR_STRESS]) return muscle(r, entry, e, &d->stress[d->nstress++]);
    return motor(r, entry, e, &d->motor[d->nmotor++]);
}

snw_status snw_read_actuators(snw_reader *r) {
    const snw_node *node;
    snw_desc *d = r->desc;
    int n = 0;
    SNW_TRY(snw_read_section_of_file(r, "actuators", &node, &n));
    d->stress = snw_pool_array(r->pool, (size_t)n, sizeof *d->stress);
    d->motor = snw_pool_array(r->pool, (size_t)n, sizeof *d->motor);
    d->measure = snw_pool_array(r->pool, (size_t)n, sizeof *d->measure);
    if (!d->stress || !d->motor || !d->measure) return snw_read_memory(r);
    for (int i = 0; i < n; i++) SNW_TRY(actuator(r, &node->entry[i]));
    return SNW_OK;
}
