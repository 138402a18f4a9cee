// SPDX-License-Identifier: MIT
//
// Servos of joints: `servo` of an actuator becomes the law of an effort that reads two probes, of
// the coordinate and of its rate, which are added to the probes of the file.
#include "language/source.h"

#include "base/fail.h"

#include <string.h>

// text of a key of the servo; NULL: not given
static const char *servo_text(const snw_node *servo, const char *key) {
    const snw_node *node = snw_node_get(servo, key);
    return node && node->kind == SNW_NODE_TEXT ? node->text : NULL;
}

// *out <- name of the actuator with `suffix` before its index: "hip(2)", "_rate": "hip_rate(2)"
static snw_status servo_name(snw_builder *b, const char *name, const char *suffix, char **out) {
    const char *index = strchr(name, '(');
    const int stem = index ? (int)(index - name) : (int)strlen(name);
    *out = snw_pool_format(b->pool, "%.*s%s%s", stem, name, suffix, index ? index : "");
    return *out ? SNW_OK : snw_builder_memory(b);
}

static snw_status servo_node(snw_builder *b, const snw_node *like, snw_node_kind kind,
                             const char *text, snw_node **out) {
    snw_node *node = *out = snw_pool_take(b->pool, sizeof *node);
    if (!node || !text) return snw_builder_memory(b);
    *node =
        (snw_node){.kind = kind, .location = like->location, .text = text, .scope = like->scope};
    return SNW_OK;
}

// Add the probe {quantity: actuator}.
static snw_status add_probe(snw_builder *b, snw_node *root, const snw_entry *actuator,
                            const char *name, const char *quantity) {
    snw_node *probes = snw_node_get(root, "probes"), *probe = NULL, *of = NULL;
    if (!probes || probes->kind == SNW_NODE_NULL) {
        SNW_TRY(servo_node(b, actuator->value, SNW_NODE_MAP, "", &probes));
        SNW_TRY(snw_node_set(b, root, "probes", actuator->location, probes));
    }
    if (snw_node_get(probes, name))
        return snw_fail_at(b->err, actuator->location,
                           "the servo '%s' adds the probe '%s', and there is one of this name; "
                           "rename one of them",
                           actuator->key, name);
    SNW_TRY(servo_node(b, actuator->value, SNW_NODE_MAP, "", &probe));
    SNW_TRY(servo_node(b, actuator->value, SNW_NODE_TEXT, actuator->key, &of));
    SNW_TRY(snw_node_set(b, probe, quantity, actuator->location, of));
    return snw_node_set(b, probes, name, actuator->location, probe);
}

static snw_status check_servo(snw_builder *b, const snw_entry *actuator, const snw_node *servo) {
    static const char *const others[] = {"effort", "position", "rate", "hold"};
    const snw_node *of = snw_node_get(actuator->value, "joint");
    if (servo->kind != SNW_NODE_MAP)
        return snw_fail_at(b->err, servo->location,
                           "a servo has gains and a target, e.g. '{position: 30 deg, stiffness: 20 "
                           "N*m, damping: 1 N*m*s}'");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (snw_node_get(actuator->value, others[i]))
            return snw_fail_at(b->err, servo->location,
                               "actuator '%s' has a 'servo' and '%s'; give one of them",
                               actuator->key, others[i]);
    }
    if (!of || of->kind != SNW_NODE_TEXT)
        return snw_fail_at(b->err, servo->location,
                           "a servo is that of a joint with one coordinate; give 'joint: link'");
    const bool position = snw_node_get(servo, "position") != NULL,
               stiffness = snw_node_get(servo, "stiffness") != NULL,
               rate = snw_node_get(servo, "rate") != NULL,
               damping = snw_node_get(servo, "damping") != NULL;
    if (position != stiffness)
        return snw_fail_at(b->err, servo->location, "a servo with '%s' needs '%s'",
                           position ? "position" : "stiffness",
                           position ? "stiffness" : "position");
    if (damping || (position && !rate)) return SNW_OK;
    return snw_fail_at(b->err, servo->location,
                       rate ? "a servo with 'rate' needs 'damping', its gain"
                            : "a servo needs 'position' and 'stiffness', or 'rate' and 'damping'");
}

// effort + stiffness (position - q) + damping (rate - v)
static snw_status expand_servo(snw_builder *b, snw_node *root, const snw_entry *actuator) {
    const snw_node *servo = snw_node_get(actuator->value, "servo");
    SNW_TRY(check_servo(b, actuator, servo));
    const char *k = servo_text(servo, "stiffness"), *p = servo_text(servo, "position"),
               *d = servo_text(servo, "damping"), *v = servo_text(servo, "rate"),
               *f = servo_text(servo, "effort");
    char *q_name, *v_name, *text = "";
    SNW_TRY(servo_name(b, actuator->key, "_position", &q_name));
    SNW_TRY(servo_name(b, actuator->key, "_rate", &v_name));
    if (k && p) {
        text = snw_pool_format(b->pool, "(%s)*((%s) - %s)", k, p, q_name);
        SNW_TRY(add_probe(b, root, actuator, q_name, "value"));
    }
    if (text && d && v)
        text = snw_pool_format(b->pool, "%s + (%s)*((%s) - %s)", text, d, v, v_name);
    if (text && d && !v) text = snw_pool_format(b->pool, "%s - (%s)*%s", text, d, v_name);
    if (d) SNW_TRY(add_probe(b, root, actuator, v_name, "rate"));
    if (text && f) text = snw_pool_format(b->pool, "%s + (%s)", text, f);
    snw_node *effort = NULL;
    SNW_TRY(servo_node(b, servo->entry[0].value, SNW_NODE_TEXT, text, &effort));
    return snw_node_set(b, actuator->value, "effort", servo->location, effort);
}

snw_status snw_servos_expand(snw_builder *b, snw_node *root) {
    const snw_node *actuators = snw_node_get(root, "actuators");
    for (int i = 0; actuators && actuators->kind == SNW_NODE_MAP && i < actuators->n; i++) {
        if (!snw_node_get(actuators->entry[i].value, "servo")) continue;
        SNW_TRY(expand_servo(b, root, &actuators->entry[i]));
    }
    return SNW_OK;
}
