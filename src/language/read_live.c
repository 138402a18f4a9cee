// SPDX-License-Identifier: MIT
//
// Reads `live`: the actuators and parameters that the user may change during a live simulation,
// with their ranges.
#include "language/read.h"

#include "base/fail.h"

#include <string.h>

// index of an actuator as of snw_robot_actuator, and the dimension of its input; -1: none
static int live_find_actuator(const snw_desc *d, const char *name, snw_dim *dim) {
    const int actuator = snw_actuator_find(d, name);
    *dim = actuator >= 0 ? snw_actuator_dim(d, actuator, 0) : SNW_DIM_NONE;
    return actuator;
}

// value and dimension of a parameter that is a constant number
static snw_status live_find_parameter(snw_reader *r, const snw_entry *e, snw_knob_desc *out) {
    const snw_node *all = snw_node_get(r->root, "parameters"), *node = snw_node_get(all, e->key);
    const char **known = snw_pool_array(r->pool, (size_t)(all ? all->n : 0) + 1, sizeof *known);
    if (!known) return snw_read_memory(r);
    for (int i = 0; all && i < all->n; i++) known[i] = all->entry[i].key;
    if (!node) {
        const char *near = snw_nearest(e->key, all ? all->n : 0, known);
        return snw_fail_at(r->err, e->location, "there is no actuator and no parameter '%s'%s",
                           e->key, snw_hint_text(near).text);
    }
    snw_error why = {0};
    const snw_status status = snw_expr_parse_constant(r->pool, r->root->scope, e->key, "live", 1, 1,
                                                      &out->value, &out->dim, &why);
    if (node->kind == SNW_NODE_TEXT && status == SNW_OK) return SNW_OK;
    return snw_fail_at(r->err, e->location,
                       "parameter '%s' is not a constant number, so it cannot be a control; name "
                       "the constants that it is made of",
                       e->key);
}

static bool is_plain(snw_dim d) { return !d.m && !d.kg && !d.s && !d.A && !d.K && !d.mol; }

// one end of the range of a parameter; either end may be a plain number if the other has a unit
static snw_status read_parameter_bound(snw_reader *r, const snw_node *node, snw_knob_desc *knob,
                                       double *out) {
    snw_dim dim = SNW_DIM_NONE;
    const snw_source_location at = node->location;
    if (node->kind != SNW_NODE_TEXT) {
        return snw_fail_at(r->err, at, "'%s' is a range of two numbers, [low, high]", knob->name);
    }
    SNW_TRY(snw_expr_parse_constant(r->pool, snw_read_scope(r, node), node->text, at.file, at.line,
                                    at.column, out, &dim, r->err));
    if (is_plain(knob->dim)) knob->dim = dim;
    // with a unit, check it against the dimension of the parameter
    return is_plain(dim) ? SNW_OK : snw_read_constant(r, node, knob->name, knob->dim, out);
}

static snw_status read_knob(snw_reader *r, const snw_entry *e, snw_knob_desc *out) {
    *out = (snw_knob_desc){.name = e->key};
    out->actuator = live_find_actuator(r->desc, e->key, &out->dim);
    if (out->actuator < 0) SNW_TRY(live_find_parameter(r, e, out));
    SNW_TRY(snw_read_list(r, e->value, e->key, 2));
    const snw_node *low = e->value->entry[0].value, *high = e->value->entry[1].value;
    if (out->actuator < 0) {
        SNW_TRY(read_parameter_bound(r, low, out, &out->low));
        SNW_TRY(read_parameter_bound(r, high, out, &out->high));
    } else {
        SNW_TRY(snw_read_constant(r, low, e->key, out->dim, &out->low));
        SNW_TRY(snw_read_constant(r, high, e->key, out->dim, &out->high));
    }
    if (out->low < out->high) return SNW_OK;
    return snw_fail_at(r->err, e->value->location,
                       "'%s' must go from its lower to its higher end, not from %g to %g", e->key,
                       out->low, out->high);
}

snw_status snw_read_live(snw_reader *r) {
    const snw_node *node = NULL;
    int n = 0;
    SNW_TRY(snw_read_section_entries(r, "live", &node, &n));
    snw_knob_desc *knob = snw_pool_array(r->pool, (size_t)n + 1, sizeof *knob);
    if (!knob) return snw_read_memory(r);
    for (int i = 0; i < n; i++) SNW_TRY(read_knob(r, &node->entry[i], &knob[i]));
    r->desc->nknob = n;
    r->desc->knob = knob;
    return SNW_OK;
}
