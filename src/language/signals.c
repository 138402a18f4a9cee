// SPDX-License-Identifier: MIT
//
// Assigns signal numbers while laws are parsed: finds the probe component or stored value that an
// expression refers to, or adds a new one. The signals are resolved in read_signals.c.
#include "language/signals.h"

#include "base/fail.h"
#include "language/read.h"

#include <stdio.h>
#include <string.h>

static const char *probe_name(void *user, int i) {
    const snw_signals *s = user;
    const int n = s->probes ? s->probes->n : 0;
    if (i < n) return s->probes->entry[i].key;
    return s->states && i - n < s->states->n ? s->states->entry[i - n].key : NULL;
}

static snw_status signals_add(snw_signals *s, snw_signal_desc slot, const char *text,
                              const char *component, int *out, snw_error *err) {
    if (s->n == SNW_SIGNALS_MAX) {
        return snw_fail(err, SNW_E_PARSE, "laws read more than %d numbers", SNW_SIGNALS_MAX);
    }
    s->text[s->n] = snw_pool_text(s->pool, text, strlen(text));
    s->component[s->n] = snw_pool_text(s->pool, component, strlen(component));
    if (!s->text[s->n] || !s->component[s->n]) {
        return snw_fail(err, SNW_E_MEMORY, "no memory left for the model");
    }
    s->slot[s->n] = slot;
    *out = s->n++;
    return SNW_OK;
}

// ---- probes -------------------------------------------------------------------------------------

snw_status snw_signal_column(snw_probe_kind kind, snw_joint_kind joint, const char *name,
                             const char *component, int *column, snw_dim *dim, snw_error *err) {
    snw_component c[SNW_PROBE_WIDTH];
    const int n = snw_probe_components(kind, joint, c);
    for (int i = 0; i < n; i++) {
        if (strcmp(c[i].name, component) != 0) continue;
        *column = i;
        *dim = c[i].dim;
        return SNW_OK;
    }
    char known[200] = "";
    size_t used = 0;
    for (int i = 0; i < n && used + 16 < sizeof known; i++) {
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", c[i].name);
    }
    if (!component[0]) {
        return snw_fail(err, SNW_E_PARSE,
                        "'%s' is a probe of several numbers, write one of%s:"
                        " %s.%s",
                        name, known, name, c[0].name);
    }
    return snw_fail(err, SNW_E_PARSE, "probe '%s' has no '%s', it has%s", name, component, known);
}

// name in a node, with indices evaluated; false: there is none
static bool name_in_node(const snw_signals *s, const snw_node *node, const char **out) {
    snw_error ignored;
    return node && node->kind == SNW_NODE_TEXT &&
           snw_name_resolve(node, s->pool, out, &ignored) == SNW_OK;
}

// joint kind of the link or actuator that a probe refers to, taken from the tree because links are
// not read yet; false if it cannot be determined
static bool joint_of_probe(const snw_signals *s, const snw_node *of, snw_joint_kind *out) {
    const char *name = "";
    if (!s->robot || !name_in_node(s, of, &name)) return false;
    const snw_node *actuator = s->actuators ? snw_node_get(s->actuators, name) : NULL;
    for (int k = 0; actuator && k < SNW_ACTUATOR_COUNT; k++) {
        const snw_actuator_type *type = &snw_actuator_table[k];
        if (!(type->feeds || type->is_length) || !snw_node_get(actuator, type->name)) continue;
        *out = SNW_JOINT_PRISMATIC; // length, rate and force, as for a prismatic joint
        return true;
    }
    if (s->loops && snw_node_get(s->loops, name)) {
        *out = SNW_JOINT_PRISMATIC; // arc length of a rod that slides through it
        return true;
    }
    if (actuator && !name_in_node(s, snw_node_get(actuator, "joint"), &name)) return false;
    const snw_node *link = snw_node_get(s->robot, name);
    const snw_node *joint = link ? snw_node_get(link, "joint") : NULL;
    if (!joint || joint->kind != SNW_NODE_TEXT) return false;
    int n = 0;
    for (int k = 0; k < SNW_JOINT_COUNT; k++) {
        *out = (snw_joint_kind)k;
        (void)snw_joint_coordinates(*out, &n);
        if (n > 0 && strcmp(joint->text, snw_joint_name(*out)) == 0) return true;
    }
    *out = SNW_JOINT_FIXED;
    return false;
}

static snw_status find_probe(void *user, const char *name, const char *component, int *slot,
                             snw_dim *dim, snw_error *err) {
    snw_signals *s = user;
    const snw_node *probe = s->probes ? snw_node_get(s->probes, name) : NULL;
    snw_probe_kind kind;
    int column = 0;
    double initial = 0;
    *slot = -1;
    if (!component[0]) SNW_TRY(snw_signals_state(s, name, slot, &initial, dim, err));
    if (!probe || *slot >= 0) return SNW_OK;
    if (!snw_probe_kind_written(probe, &kind)) {
        return snw_fail(err, SNW_E_PARSE, "probe '%s' is not a quantity that laws can read", name);
    }
    if (snw_probe_table[kind].reading == SNW_READ_NEVER || snw_node_get(probe, "along")) {
        return snw_fail(err, SNW_E_PARSE, "laws and conditions cannot read probe '%s'", name);
    }
    // a link without a joint is refused later
    snw_joint_kind at = SNW_JOINT_FIXED;
    const bool joint = snw_probe_table[kind].subject == SNW_OF_JOINT;
    if (!joint || joint_of_probe(s, snw_node_get(probe, snw_probe_name(kind)), &at)) {
        SNW_TRY(snw_signal_column(kind, at, name, component, &column, dim, err));
    }
    for (int i = 0; i < s->n; i++) {
        if (s->slot[i].kind != SNW_SIGNAL_PROBE || strcmp(s->text[i], name) != 0) continue;
        if (strcmp(s->component[i], component) != 0) continue;
        *slot = i;
        return SNW_OK;
    }
    const snw_signal_desc desc = {.kind = SNW_SIGNAL_PROBE, .probe = -1, .column = column};
    return signals_add(s, desc, name, component, slot, err);
}

// ---- states -------------------------------------------------------------------------------------

snw_status snw_signals_state(snw_signals *s, const char *name, int *slot, double *value,
                             snw_dim *dim, snw_error *err) {
    const snw_node *state = s->states ? snw_node_get(s->states, name) : NULL;
    const snw_node *initial =
        state && state->kind == SNW_NODE_MAP ? snw_node_get(state, "initial") : NULL;
    *slot = -1;
    if (!initial || initial->kind != SNW_NODE_TEXT) return SNW_OK; // refused when states are read
    const snw_source_location at = snw_text_location(initial, 0);
    SNW_TRY(snw_expr_parse_constant(s->pool, initial->scope ? initial->scope : s->scope,
                                    initial->text, at.file, at.line, at.column, value, dim, err));
    for (int i = 0; i < s->n; i++) {
        if (s->slot[i].kind != SNW_SIGNAL_STATE || strcmp(s->text[i], name) != 0) continue;
        *slot = i;
        return SNW_OK;
    }
    return signals_add(s, (snw_signal_desc){.kind = SNW_SIGNAL_STATE}, name, "", slot, err);
}

// ---- stored values ------------------------------------------------------------------------------

// the first signal of this kind and text that this tree does not use yet, else a new one
static snw_status signals_find_or_add(snw_signals *s, snw_signal_kind kind, const char *text,
                                      snw_law law, double period, int *slot, snw_error *err) {
    for (int i = 0; i < s->n; i++) {
        if (s->slot[i].kind != kind || s->use[i].source || strcmp(s->text[i], text) != 0) continue;
        s->use[i] = (snw_signal_use){.source = law, .period = period};
        *slot = i;
        return SNW_OK;
    }
    SNW_TRY(signals_add(s, (snw_signal_desc){.kind = kind}, text, "", slot, err));
    s->use[*slot] = (snw_signal_use){.source = law, .period = period};
    return SNW_OK;
}

static snw_status find_memory(void *user, snw_memory memory, const char *text, const snw_expr *law,
                              double period, int *slot, snw_error *err) {
    static const snw_signal_kind kinds[] = {SNW_SIGNAL_INTEGRAL, SNW_SIGNAL_SAMPLED,
                                            SNW_SIGNAL_ONCE};
    return signals_find_or_add(user, kinds[memory], text, law, period, slot, err);
}

snw_status snw_signals_condition(snw_signals *s, const char *text, snw_law *law, snw_error *err) {
    int slot = 0;
    SNW_TRY(signals_find_or_add(s, SNW_SIGNAL_CONDITION, text, *law, 0, &slot, err));
    *law = snw_expr_signal(s->pool, slot);
    return *law ? SNW_OK : snw_fail(err, SNW_E_MEMORY, "no memory left for the model");
}

// index of the condition signal that a law reads
static int signals_condition_of(const snw_signals *s, snw_law law) {
    int i = 0;
    while (i < s->n - 1 && !(s->slot[i].kind == SNW_SIGNAL_CONDITION && snw_expr_reads(law, i)))
        i++;
    return i;
}

snw_status snw_signals_both(snw_signals *s, snw_law a, snw_law b, snw_law *out, snw_error *err) {
    const int x = signals_condition_of(s, a), y = signals_condition_of(s, b);
    const char *text = snw_pool_format(s->pool, "(%s) and (%s)", s->text[x], s->text[y]);
    *out = snw_expr_both(s->pool, x, y);
    if (!text || !*out) return snw_fail(err, SNW_E_MEMORY, "no memory left for the model");
    return snw_signals_condition(s, text, out, err);
}

snw_status snw_signals_captured(snw_signals *s, const char *name, int n, snw_law law, int *first,
                                snw_error *err) {
    // added in one sequence, so their indices are consecutive
    for (int i = 0; i < n; i++) {
        char text[200];
        int slot = 0;
        (void)snprintf(text, sizeof text, "%.150s, captured %d", name, i + 1);
        SNW_TRY(signals_find_or_add(s, SNW_SIGNAL_CAPTURED, text, law, 0, &slot, err));
        if (i == 0) *first = slot + 1;
    }
    return SNW_OK;
}

// ---- creation -----------------------------------------------------------------------------------

snw_signals *snw_signals_create(snw_pool *pool) {
    snw_signals *s = snw_pool_take(pool, sizeof *s);
    if (!s) return NULL;
    s->pool = pool;
    s->source = (snw_signal_source){
        .user = s, .probe = find_probe, .memory = find_memory, .name = probe_name};
    return s;
}

snw_status snw_signals_begin(snw_signals *s, const snw_node *root, snw_error *err) {
    const snw_node *probes = snw_node_get(root, "probes");
    const snw_node *robot = snw_node_get(root, "robot");
    const snw_node *actuators = snw_node_get(root, "actuators");
    const snw_node *loops = snw_node_get(root, "loops");
    s->actuators = actuators && actuators->kind == SNW_NODE_MAP ? actuators : NULL;
    s->loops = loops && loops->kind == SNW_NODE_MAP ? loops : NULL;
    s->probes = probes && probes->kind == SNW_NODE_MAP ? probes : NULL;
    const snw_node *states = snw_node_get(root, "states");
    s->states = states && states->kind == SNW_NODE_MAP ? states : NULL;
    s->scope = root->scope;
    s->robot = robot && robot->kind == SNW_NODE_MAP ? robot : NULL;
    s->use = snw_pool_array(s->pool, SNW_SIGNALS_MAX, sizeof *s->use);
    return s->use ? SNW_OK : snw_fail(err, SNW_E_MEMORY, "no memory left for the model");
}
