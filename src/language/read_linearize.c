// SPDX-License-Identifier: MIT
//
// Reads linearize steps of the study: inputs, outputs, and the time step of a discrete model.
#include "language/read.h"

#include "base/fail.h"
#include "model/probe_kind.h"
#include "model/scheme.h"
#include "study/linear_model.h"

#include <string.h>

#define LINEARIZE_KEYS(X)                                                                          \
    X(LINEARIZE_NAME, "name", "a name", "of the step; 'linearize', then 'linearize.2'")            \
    X(LINEARIZE_FROM, "from", "an earlier step's name",                                            \
      "about its end; else about the end of the last step")                                        \
    X(LINEARIZE_INPUT, "input", "an input, or a list of inputs",                                   \
      "actuators, coordinates of them (drive.2), loads or their components (push.fy), numbers of " \
      "the file named as overrides, or t, a shift of the time of all laws; all actuators unless "  \
      "given")                                                                                     \
    X(LINEARIZE_PROBE, "probe", "a probe, or a list of probes",                                    \
      "outputs: probes or their components (tip.x); all probes unless given")                      \
    X(LINEARIZE_THREE, "three_inputs", "on or off",                                                \
      "given coordinates enter with value, rate and acceleration as three inputs, not as states; " \
      "off unless given")                                                                          \
    X(LINEARIZE_STEP, "step", "s",                                                                 \
      "the discrete model of a step of this length, into which given coordinates enter with "      \
      "value, "                                                                                    \
      "rate and acceleration at its end; else continuous")                                         \
    X(LINEARIZE_SCHEME, "scheme", "a scheme",                                                      \
      "of the step: an implicit one, conserving or moreau; generalized-alpha unless given")        \
    X(LINEARIZE_RHO, "rho", "number", "spectral radius of the scheme at infinity")                 \
    X(LINEARIZE_ALPHA, "alpha", "number", "parameter of bdf-alpha")                                \
    X(LINEARIZE_REDUCE, "reduce", "on or off",                                                     \
      "displacements and rates as the only states, the input constant over the step; for schemes " \
      "of one step; off unless given")

enum { LINEARIZE_KEYS(SNW_KEY_CODE) LINEARIZE_N };
SNW_KEYS(linearize, "linearize", "a linearize step", LINEARIZE_KEYS);

// ---- inputs and outputs -------------------------------------------------------------------------

// entry k of a list of names, or the one name
static const snw_node *name_at(const snw_node *node, int k) {
    return node->kind == SNW_NODE_LIST ? node->entry[k].value : node;
}

static int name_count(const snw_node *node) { return node->kind == SNW_NODE_LIST ? node->n : 1; }

static snw_status text_of(snw_reader *r, const snw_node *node, const char *what, const char **out) {
    if (node->kind != SNW_NODE_TEXT)
        return snw_fail_at(r->err, node->location, "'%s' is a name, or a list of names", what);
    *out = node->text;
    return SNW_OK;
}

static snw_status add_number(snw_reader *r, const snw_node *node, const char *name, int index,
                             snw_linearize_desc *d, snw_inverse_input_desc *out) {
    int k = d->family.nparameter;
    if (strcmp(name, "t") == 0) {
        if (k == SNW_PARAMETERS)
            return snw_fail_at(r->err, node->location, "at most %d parameters", SNW_PARAMETERS);
        snw_parameter_desc *p = (snw_parameter_desc *)&d->family.parameter[k]; // of the pool
        *p = (snw_parameter_desc){.name = name, .dim = SNW_DIM_TIME};
        d->family.nparameter++;
    } else {
        snw_error *const err = r->err;
        snw_error why = {0};
        r->err = &why;
        const snw_status s =
            snw_read_family_add(r, node, name, index, "the linear model", &d->family, &k);
        r->err = err;
        if (s == SNW_E_MEMORY) return snw_read_memory(r);
        if (s != SNW_OK)
            return snw_fail_at(r->err, node->location,
                               "'%s' is no input: no actuator, no load, not the time t, and as a "
                               "number of the file: %.200s",
                               name, why.text);
    }
    *out = (snw_inverse_input_desc){.parameter = k + 1, .actuator = -1, .name = name};
    return SNW_OK;
}

static snw_status read_inputs(snw_reader *r, const snw_entry *e, int index, snw_linearize_desc *d) {
    d->all = !e;
    if (!e) return SNW_OK;
    const snw_node *node = e->value;
    size_t most = 1;
    for (int i = 0; i < snw_actuators(r->desc); i++) most += (size_t)snw_actuator_at(r->desc, i).n;
    most = (most + 6) * (size_t)name_count(node);
    snw_inverse_input_desc *list = snw_pool_array(r->pool, most, sizeof *list);
    if (!list) return snw_read_memory(r);
    d->input = list;
    SNW_TRY(snw_read_family(r, index, &d->family));
    for (int i = 0; i < name_count(node); i++) {
        const snw_node *at = name_at(node, i);
        const char *name = "";
        SNW_TRY(text_of(r, at, "input", &name));
        snw_inverse_input_desc found = {0};
        if (!snw_find_input(r, name, &found)) {
            SNW_TRY(add_number(r, at, name, index, d, &list[d->ninput++]));
            continue;
        }
        const bool load = found.actuator < 0;
        const int n = load ? 6 : snw_actuator_at(r->desc, found.actuator).n, before = d->ninput;
        for (int k = 0; k < n; k++) {
            snw_inverse_input_desc x = found;
            if (found.component >= 0 && found.component != k) continue;
            if (found.component < 0 && load && !snw_load_has(&r->desc->load[found.load], k))
                continue;
            x.component = k;
            x.name = snw_input_name(r, &x);
            if (!x.name) return snw_read_memory(r);
            list[d->ninput++] = x;
        }
        if (d->ninput == before)
            return snw_fail_at(r->err, at->location,
                               "load '%s' has no components in the file; name one, such as "
                               "'%s.fy'",
                               name, name);
    }
    return SNW_OK;
}

// Columns of a probe that are functions of the state; `named`: it has at least one.
static snw_status add_columns(snw_reader *r, snw_source_location at, const snw_probe_part *part,
                              bool named, snw_linearize_desc *d, snw_inverse_target_desc *list) {
    const snw_probe_desc *p = &r->desc->probe[part->probe];
    snw_probe_part own = *part;
    const int width = snw_probe_components(p->kind, p->joint, own.component), before = d->noutput;
    const int stations = part->station < 0 && p->along > 0 ? p->along : 1;
    for (int k = 0; k < stations; k++) {
        if (stations > 1) own.station = k;
        for (int i = 0; i < part->count; i++) {
            const int c = part->first + i;
            const int column = (own.station < 0 ? 0 : own.station) * width + c;
            if (!snw_linear_is_output(p, column)) continue;
            list[d->noutput] = (snw_inverse_target_desc){
                .probe = part->probe,
                .column = column,
                .name = snw_probe_column(r, &own, c),
                .dim = p->kind == SNW_PROBE_LAW ? p->dim : own.component[c].dim};
            if (!list[d->noutput++].name) return snw_read_memory(r);
        }
    }
    if (!named || d->noutput > before) return SNW_OK;
    return snw_fail_at(r->err, at,
                       "probe '%s' is not a function of the state, so it is no output of a linear "
                       "model",
                       p->name);
}

static snw_status read_outputs(snw_reader *r, const snw_entry *e, snw_linearize_desc *d) {
    size_t most = 1;
    for (int i = 0; i < r->desc->nprobe; i++) most += (size_t)snw_probe_columns(&r->desc->probe[i]);
    if (e) most *= (size_t)name_count(e->value) + 1;
    snw_inverse_target_desc *list = snw_pool_array(r->pool, most, sizeof *list);
    if (!list) return snw_read_memory(r);
    d->output = list;
    for (int i = 0; e && i < name_count(e->value); i++) {
        const snw_node *at = name_at(e->value, i);
        const char *name = "";
        snw_probe_part part;
        SNW_TRY(text_of(r, at, "probe", &name));
        SNW_TRY(snw_find_columns(r, at, name, 0, &part));
        SNW_TRY(add_columns(r, at->location, &part, true, d, list));
    }
    for (int i = 0; !e && i < r->desc->nprobe; i++) {
        const snw_probe_desc *p = &r->desc->probe[i];
        snw_probe_part part = {.probe = i, .station = -1, .count = 1};
        if (p->kind != SNW_PROBE_LAW)
            snw_probe_primary(p->kind, p->joint, 0, &part.first, &part.count);
        SNW_TRY(add_columns(r, r->root->location, &part, false, d, list));
    }
    return SNW_OK;
}

// ---- the step -----------------------------------------------------------------------------------

// Keys of a discrete model without one.
static snw_status check_discrete(snw_reader *r, const snw_entry *const *e) {
    static const int keys[] = {LINEARIZE_SCHEME, LINEARIZE_RHO, LINEARIZE_ALPHA, LINEARIZE_REDUCE};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (e[keys[i]])
            return snw_fail_at(r->err, e[keys[i]]->location,
                               "'%s' is of the discrete model of a time step; give its 'step' too",
                               e[keys[i]]->key);
    }
    return SNW_OK;
}

static snw_status read_discrete(snw_reader *r, const snw_entry *const *e, snw_step_desc *out) {
    if (!e[LINEARIZE_STEP]) return check_discrete(r, e);
    SNW_TRY(snw_read_positive(r, e[LINEARIZE_STEP]->value, "step", SNW_DIM_TIME, &out->step));
    const char *name[SNW_SCHEME_COUNT];
    for (int i = 0; i < SNW_SCHEME_COUNT; i++) name[i] = snw_scheme_table[i].name;
    int scheme = SNW_SCHEME_GENERALIZED_ALPHA;
    const snw_entry *own = e[LINEARIZE_SCHEME];
    if (own) SNW_TRY(snw_read_word(r, own->value, "scheme", SNW_SCHEME_COUNT, name, &scheme));
    const snw_scheme_info *row = &snw_scheme_table[scheme];
    const snw_step_desc defaults = snw_step_dynamic((snw_scheme_kind)scheme);
    out->scheme = (snw_scheme_kind)scheme;
    out->rho = defaults.rho;
    out->alpha = defaults.alpha;
    const struct {
        const snw_entry *e;
        int option;
        double low, high, *to;
    } number[] = {{e[LINEARIZE_RHO], SNW_SCHEME_TAKES_RHO, row->rho_min, 1, &out->rho},
                  {e[LINEARIZE_ALPHA], SNW_SCHEME_TAKES_ALPHA, -0.5, 0, &out->alpha}};
    for (int i = 0; i < 2; i++) {
        if (!number[i].e) continue;
        if (!(row->options & number[i].option))
            return snw_fail_at(r->err, number[i].e->location, "scheme '%s' has no '%s'", row->name,
                               number[i].e->key);
        SNW_TRY(
            snw_read_constant(r, number[i].e->value, number[i].e->key, SNW_DIM_NONE, number[i].to));
        if (*number[i].to >= number[i].low && *number[i].to <= number[i].high) continue;
        return snw_fail_at(r->err, number[i].e->location, "'%s' must be from %g to %g, got %g",
                           number[i].e->key, number[i].low, number[i].high, *number[i].to);
    }
    if (!e[LINEARIZE_REDUCE]) return SNW_OK;
    return snw_read_switch(r, e[LINEARIZE_REDUCE]->value, "reduce", &out->linearize.reduce);
}

snw_status snw_read_linearize(snw_reader *r, const snw_node *node, int index, snw_step_desc *out) {
    const snw_entry *e[LINEARIZE_N] = {0};
    snw_linearize_desc *d = &out->linearize;
    if (node->kind != SNW_NODE_NULL) SNW_TRY(snw_read_map(r, node, &snw_keys_linearize, e));
    if (e[LINEARIZE_NAME]) SNW_TRY(snw_read_name(r, e[LINEARIZE_NAME]->value, "name", &out->name));
    if (e[LINEARIZE_FROM]) SNW_TRY(snw_read_from(r, e[LINEARIZE_FROM]->value, index, &out->from));
    for (int i = 0; i < index; i++) {
        if (r->desc->step[i].engine != SNW_ENGINE_SHOOTING) continue;
        return snw_fail_at(r->err, node->location,
                           "linear models are those of the strain engine; step '%s' before it is "
                           "one of shooting, so make it a run of its own",
                           r->desc->step[i].name);
    }
    SNW_TRY(read_outputs(r, e[LINEARIZE_PROBE], d));
    SNW_TRY(read_inputs(r, e[LINEARIZE_INPUT], index, d));
    if (e[LINEARIZE_THREE])
        SNW_TRY(snw_read_switch(r, e[LINEARIZE_THREE]->value, "three_inputs", &d->three));
    return read_discrete(r, e, out);
}
