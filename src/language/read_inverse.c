// SPDX-License-Identifier: MIT
//
// Reads inverse steps of the study: targets, the actuators and loads that may change with their
// limits, and the instants of a moving target. It also reads which of them a change releases.
#include "language/read.h"

#include "base/fail.h"
#include "study/linear_inputs.h"
#include "study/linear_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INVERSE_KEYS(X)                                                                            \
    X(INVERSE_NAME, "name", "a name", "of the step; 'inverse', then 'inverse.2', unless given")    \
    X(INVERSE_FROM, "from", "an earlier step's name",                                              \
      "start from its end, t and held inputs included; else from the end of the last step")        \
    X(INVERSE_TARGET, "target", "values by probe or component",                                    \
      "desired values, laws of t, required: {tip: [10 cm, 0, 20 cm]}, {tip.x: 5 cm*sin(t/1 s)}; "  \
      "a rotation as its three or four components")                                                \
    X(INVERSE_ACTUATORS, "actuators", "list of names, or limits by input",                         \
      "actuators, coordinates of them (drive.2), loads or their components (push.fy), or numbers " \
      "of the file named as overrides, that may change: {left: [0, 20 N]}; all actuators unless "  \
      "given")                                                                                     \
    X(INVERSE_WEIGHT, "weight", "numbers by probe or component",                                   \
      "weights per SI unit; 1 for angles, 1/length of the robot for lengths, 1/largest value for " \
      "others unless given")                                                                       \
    X(INVERSE_FOR, "for", "s", "duration in which the targets move; one instant if absent")        \
    X(INVERSE_STEP, "step", "s", "time between the equilibria, needed with for")                   \
    X(INVERSE_INTERVAL, "interval", "s",                                                           \
      "time in which the inputs come to those of the first instant: rates hold over it; unless "   \
      "given they hold between the instants only")                                                 \
    X(INVERSE_TOLERANCE, "tolerance", "number",                                                    \
      "weighted distance from the targets that counts as reached; 1e-9 unless given")              \
    X(INVERSE_UNREACHABLE, "unreachable", "stop or nearest",                                       \
      "where a target is not reached: stop the run, or go on from the nearest point; stop unless " \
      "given")
#define INVERSE_LIMITS_KEYS(X)                                                                     \
    X(LIMITS_LOW, "low", "in the unit of the input",                                               \
      "lowest value; none unless given, 0 of tensions")                                            \
    X(LIMITS_HIGH, "high", "in the unit of the input", "highest value; none unless given")         \
    X(LIMITS_RATE, "rate", "its unit per s", "largest change per second; none unless given")       \
    X(LIMITS_REST, "rest", "in the unit of the input",                                             \
      "value to which redundancy leads; 0 unless given")

enum { INVERSE_KEYS(SNW_KEY_CODE) INVERSE_N };
SNW_KEYS(inverse, "inverse", "an inverse step", INVERSE_KEYS);
enum { INVERSE_LIMITS_KEYS(SNW_KEY_CODE) LIMITS_N };
SNW_KEYS(inverse_limits, "inverse_limits", "the limits of an input", INVERSE_LIMITS_KEYS);

enum { MOST_TARGETS = 10000 };

// ---- targets ------------------------------------------------------------------------------------

const char *snw_probe_column(snw_reader *r, const snw_probe_part *part, int k) {
    const char *probe = r->desc->probe[part->probe].name, *own = part->component[k].name;
    const char *dot = own[0] ? "." : "";
    return part->station < 0
               ? snw_pool_format(r->pool, "%s%s%s", probe, dot, own)
               : snw_pool_format(r->pool, "%s@%d%s%s", probe, part->station, dot, own);
}

static snw_status read_target(snw_reader *r, const snw_entry *e, snw_inverse_desc *d,
                              snw_inverse_target_desc *list) {
    const bool several = e->value->kind == SNW_NODE_LIST;
    const snw_node key = {.kind = SNW_NODE_TEXT, .location = e->location, .text = e->key};
    snw_probe_part part;
    SNW_TRY(snw_find_columns(r, &key, e->key, several ? e->value->n : 1, &part));
    const snw_probe_desc *p = &r->desc->probe[part.probe];
    if ((several ? e->value->n : 1) != part.count) {
        return snw_fail_at(r->err, e->value->location,
                           "target '%s' needs %d values, one for each component; or name a "
                           "component, such as '%s'",
                           e->key, part.count, snw_probe_column(r, &part, part.first));
    }
    const int width = snw_probe_components(p->kind, p->joint, part.component);
    for (int i = 0; i < part.count; i++) {
        const int k = part.first + i;
        snw_inverse_target_desc *to = &list[d->ntarget++];
        *to = (snw_inverse_target_desc){.probe = part.probe,
                                        .column = (part.station < 0 ? 0 : part.station) * width + k,
                                        .name = snw_probe_column(r, &part, k),
                                        .dim = p->kind == SNW_PROBE_LAW ? p->dim
                                                                        : part.component[k].dim,
                                        .weight = NAN};
        if (!to->name) return snw_read_memory(r);
        if (!snw_linear_is_output(p, to->column)) {
            return snw_fail_at(r->err, e->location,
                               "target '%s' is not a function of the state, so no inputs give it "
                               "a value",
                               to->name);
        }
        for (int j = 0; j + 1 < d->ntarget; j++) {
            if (list[j].probe == to->probe && list[j].column == to->column)
                return snw_fail_at(r->err, e->location, "'%s' has two targets", to->name);
        }
        const snw_node *value = several ? e->value->entry[i].value : e->value;
        SNW_TRY(snw_read_law(r, value, e->key, to->dim, SNW_VAR_T, &to->value));
    }
    return SNW_OK;
}

static snw_status read_targets(snw_reader *r, const snw_node *node, snw_inverse_desc *d) {
    if (node->kind != SNW_NODE_MAP || node->n == 0) {
        return snw_fail_at(r->err, node->location,
                           "'target' is a map of probes and values, e.g. 'target: {tip: [10 cm, "
                           "0, 20 cm]}'");
    }
    int most = 0;
    for (int i = 0; i < node->n; i++) {
        const snw_node *value = node->entry[i].value;
        most += value->kind == SNW_NODE_LIST ? value->n : 1;
        if (most > MOST_TARGETS)
            return snw_fail_at(r->err, value->location, "at most %d targets", MOST_TARGETS);
    }
    snw_inverse_target_desc *list = snw_pool_array(r->pool, (size_t)most + 1, sizeof *list);
    if (!list) return snw_read_memory(r);
    d->target = list;
    for (int i = 0; i < node->n; i++) SNW_TRY(read_target(r, &node->entry[i], d, list));
    return SNW_OK;
}

// does the name of a target denote this column? "tip" and "tip.x" denote "tip.x"
static bool denotes(const char *name, const char *column) {
    const size_t n = strlen(name);
    return strncmp(name, column, n) == 0 &&
           (column[n] == '\0' || column[n] == '.' || column[n] == '@');
}

static snw_status read_weights(snw_reader *r, const snw_node *node, snw_inverse_desc *d) {
    snw_inverse_target_desc *list = (snw_inverse_target_desc *)d->target; // of the pool
    if (node->kind != SNW_NODE_MAP)
        return snw_fail_at(r->err, node->location, "'weight' is a map of targets and numbers");
    for (int i = 0; i < node->n; i++) {
        const snw_entry *e = &node->entry[i];
        double weight;
        bool any = false;
        SNW_TRY(snw_read_positive(r, e->value, e->key, SNW_DIM_NONE, &weight));
        for (int k = 0; k < d->ntarget; k++) {
            if (!denotes(e->key, list[k].name)) continue;
            list[k].weight = weight;
            any = true;
        }
        if (!any) return snw_fail_at(r->err, e->location, "'%s' is no target of the step", e->key);
    }
    return SNW_OK;
}

// ---- inputs -------------------------------------------------------------------------------------

static snw_dim input_dim(const snw_desc *d, const snw_inverse_desc *step,
                         const snw_inverse_input_desc *x) {
    if (x->parameter) return step->family.parameter[x->parameter - 1].dim;
    if (x->actuator >= 0) return snw_actuator_dim(d, x->actuator, x->component);
    const bool along = d->load[x->load].along;
    if (x->component < 3) return along ? SNW_DIM_FORCE : SNW_DIM_TORQUE;
    return along ? (snw_dim){.kg = 1, .s = -2} : SNW_DIM_FORCE;
}

static snw_status read_limits(snw_reader *r, const snw_node *node, const snw_inverse_desc *d,
                              snw_inverse_input_desc *x) {
    if (node->kind == SNW_NODE_NULL) return SNW_OK;
    const snw_dim dim = input_dim(r->desc, d, x);
    if (node->kind == SNW_NODE_LIST) {
        SNW_TRY(snw_read_list(r, node, x->name, 2));
        SNW_TRY(snw_read_constant(r, node->entry[0].value, x->name, dim, &x->low));
        SNW_TRY(snw_read_constant(r, node->entry[1].value, x->name, dim, &x->high));
    } else {
        const snw_entry *e[LIMITS_N];
        SNW_TRY(snw_read_map(r, node, &snw_keys_inverse_limits, e));
        double *const to[LIMITS_N] = {&x->low, &x->high, &x->rate, &x->rest};
        for (int i = 0; i < LIMITS_N; i++) {
            snw_dim own = dim;
            if (i == LIMITS_RATE) own.s--;
            if (e[i]) SNW_TRY(snw_read_constant(r, e[i]->value, e[i]->key, own, to[i]));
        }
        if (x->rate < 0)
            return snw_fail_at(r->err, e[LIMITS_RATE]->location,
                               "'rate' must not be negative, got %g", x->rate);
    }
    if (!(x->low > x->high)) return SNW_OK;
    return snw_fail_at(r->err, node->location,
                       "'%s': the low limit %g is above the high one, %g, so that no value is "
                       "within both",
                       x->name, x->low, x->high);
}

bool snw_find_input(snw_reader *r, const char *name, snw_inverse_input_desc *out) {
    const snw_desc *d = r->desc;
    out->actuator = snw_actuator_find(d, name);
    out->component = -1;
    if (out->actuator >= 0) return true;
    for (out->load = 0; out->load < d->nload; out->load++) {
        if (strcmp(d->load[out->load].name, name) == 0) return true;
    }
    const char *dot = strrchr(name, '.');
    const char *whole = dot ? snw_pool_text(r->pool, name, (size_t)(dot - name)) : NULL;
    if (!whole || !snw_find_input(r, whole, out) || out->component >= 0) return false;
    if (out->actuator >= 0) {
        char *end;
        const long k = strtol(dot + 1, &end, 10);
        out->component = (int)k - 1;
        return end > dot + 1 && !*end && k >= 1 && k <= snw_actuator_at(d, out->actuator).n;
    }
    for (int k = 0; k < 6; k++) {
        if (strcmp(dot + 1, snw_load_component[k]) == 0) out->component = k;
    }
    return out->component >= 0;
}

const char *snw_input_name(snw_reader *r, const snw_inverse_input_desc *x) {
    const snw_desc *d = r->desc;
    if (x->actuator < 0)
        return snw_pool_format(r->pool, "%s.%s", d->load[x->load].name,
                               snw_load_component[x->component]);
    const snw_actuator a = snw_actuator_at(d, x->actuator);
    return a.n == 1 ? a.name : snw_pool_format(r->pool, "%s.%d", a.name, x->component + 1);
}

static bool same_input(const snw_inverse_input_desc *a, const snw_inverse_input_desc *b) {
    return !a->parameter && a->actuator == b->actuator && a->component == b->component &&
           (a->actuator >= 0 || a->load == b->load);
}

static snw_status refuse_input(snw_reader *r, snw_source_location at, const char *name,
                               const char *why) {
    return snw_fail_at(r->err, at,
                       "there is no actuator and no load '%s'; name one of the file, a coordinate "
                       "of an actuator such as 'drive.2', or a component of a load such as "
                       "'push.fy'. As a number of the file: %.200s",
                       name, why);
}

bool snw_load_has(const snw_load_desc *d, int k) {
    return (k < 3 ? d->torque[k] : d->force[k - 3]) != NULL;
}

// add a number of the file with its limits
static snw_status add_number(snw_reader *r, const snw_node *name, const char *text,
                             const snw_node *limits, int index, snw_inverse_desc *d,
                             snw_inverse_input_desc *x, snw_inverse_input_desc *list) {
    snw_error *const err = r->err;
    snw_error why = {0};
    int k = 0;
    if (!d->family.at) SNW_TRY(snw_read_family(r, index, &d->family));
    r->err = &why;
    const snw_status s =
        snw_read_family_add(r, name, text, index, "the inverse step", &d->family, &k);
    r->err = err;
    if (s == SNW_E_MEMORY) return snw_read_memory(r);
    if (s != SNW_OK) return refuse_input(r, name->location, text, why.text);
    for (int i = 0; i < d->ninput; i++) {
        if (list[i].parameter == k + 1)
            return snw_fail_at(r->err, name->location, "'%s' is given twice", text);
    }
    x->parameter = k + 1;
    x->name = text;
    SNW_TRY(read_limits(r, limits, d, x));
    list[d->ninput++] = *x;
    return SNW_OK;
}

// add the inputs of a name with their limits; a component that was given before keeps its own
static snw_status add_input(snw_reader *r, const snw_node *name, const snw_node *limits, int index,
                            snw_inverse_desc *d, snw_inverse_input_desc *list) {
    const char *text = "";
    snw_inverse_input_desc found = {.low = NAN, .high = NAN, .rate = NAN, .rest = NAN};
    SNW_TRY(snw_read_name(r, name, "actuators", &text));
    if (!snw_find_input(r, text, &found)) {
        found.actuator = -1;
        return add_number(r, name, text, limits, index, d, &found, list);
    }
    const bool load = found.actuator < 0;
    const int n = load ? 6 : snw_actuator_at(r->desc, found.actuator).n;
    const int before = d->ninput;
    for (int k = 0; k < n; k++) {
        snw_inverse_input_desc x = found;
        if (found.component >= 0 && found.component != k) continue;
        if (found.component < 0 && load && !snw_load_has(&r->desc->load[found.load], k)) continue;
        x.component = k;
        x.name = snw_input_name(r, &x);
        if (!x.name) return snw_read_memory(r);
        for (int i = 0; i < d->ninput; i++) {
            if (same_input(&list[i], &x))
                return snw_fail_at(r->err, name->location, "'%s' is given twice", x.name);
        }
        SNW_TRY(read_limits(r, limits, d, &x));
        list[d->ninput++] = x;
    }
    if (d->ninput > before) return SNW_OK;
    return snw_fail_at(r->err, name->location,
                       "load '%s' has no components in the file; name one, such as '%s.fy'", text,
                       text);
}

// a motor is held as a whole: its other coordinates keep their values
static snw_status add_fixed(snw_reader *r, snw_inverse_desc *d, snw_inverse_input_desc *list) {
    const int named = d->ninput;
    for (int i = 0; i < named; i++) {
        if (list[i].parameter || list[i].actuator < 0) continue;
        const int n = snw_actuator_at(r->desc, list[i].actuator).n;
        for (int k = 0; k < n; k++) {
            snw_inverse_input_desc x = {.actuator = list[i].actuator,
                                        .component = k,
                                        .low = NAN,
                                        .high = NAN,
                                        .rate = NAN,
                                        .rest = NAN,
                                        .fixed = true};
            bool there = false;
            for (int j = 0; j < d->ninput; j++) there = there || same_input(&list[j], &x);
            if (there) continue;
            x.name = snw_input_name(r, &x);
            if (!x.name) return snw_read_memory(r);
            list[d->ninput++] = x;
        }
    }
    return SNW_OK;
}

static snw_status read_inputs(snw_reader *r, const snw_entry *e, int index, snw_inverse_desc *d) {
    d->all = !e;
    if (!e) {
        if (snw_actuators(r->desc) > 0) return SNW_OK;
        return snw_fail_at(r->err, r->root->location,
                           "an inverse step needs actuators, and the file has none; add some, or "
                           "name loads in its 'actuators'");
    }
    const snw_node *node = e->value, nothing = {.kind = SNW_NODE_NULL, .location = e->location};
    const bool map = node->kind == SNW_NODE_MAP;
    if (!map && node->kind != SNW_NODE_LIST)
        return snw_fail_at(r->err, node->location,
                           "'actuators' is a list of names, [left, right], or a map to limits, "
                           "{left: [0, 20 N]}");
    size_t most = 6 * (size_t)r->desc->nload + (size_t)node->n + 1;
    for (int i = 0; i < snw_actuators(r->desc); i++) most += (size_t)snw_actuator_at(r->desc, i).n;
    snw_inverse_input_desc *list = snw_pool_array(r->pool, most, sizeof *list);
    if (!list) return snw_read_memory(r);
    d->input = list;
    for (int i = 0; i < node->n; i++) {
        const snw_entry *own = &node->entry[i];
        const snw_node key = {.kind = SNW_NODE_TEXT, .location = own->location, .text = own->key};
        SNW_TRY(map ? add_input(r, &key, own->value, index, d, list)
                    : add_input(r, own->value, &nothing, index, d, list));
    }
    if (d->ninput == 0) return snw_fail_at(r->err, node->location, "'actuators' names nothing");
    return add_fixed(r, d, list);
}

// ---- the step -----------------------------------------------------------------------------------

static snw_status check_rates(snw_reader *r, const snw_node *node, const snw_step_desc *out) {
    bool rates = false;
    for (int i = 0; i < out->inverse.ninput; i++) rates |= !isnan(out->inverse.input[i].rate);
    if (!rates || out->duration > 0 || out->inverse.interval > 0) return SNW_OK;
    return snw_fail_at(r->err, node->location,
                       "a 'rate' needs a time: 'interval', in which the inputs change, or 'for' "
                       "and 'step' of a moving target");
}

snw_status snw_read_inverse(snw_reader *r, const snw_node *node, int index, snw_step_desc *out) {
    static const char *const otherwise[] = {"stop", "nearest"};
    const snw_entry *e[INVERSE_N] = {0};
    snw_inverse_desc *d = &out->inverse;
    if (node->kind != SNW_NODE_NULL) SNW_TRY(snw_read_map(r, node, &snw_keys_inverse, e));
    if (!e[INVERSE_TARGET]) {
        return snw_fail_at(r->err, node->location,
                           "an inverse step needs 'target', e.g. 'inverse: {target: {tip.x: 10 "
                           "cm}}'");
    }
    if (e[INVERSE_NAME]) SNW_TRY(snw_read_name(r, e[INVERSE_NAME]->value, "name", &out->name));
    if (e[INVERSE_FROM]) SNW_TRY(snw_read_from(r, e[INVERSE_FROM]->value, index, &out->from));
    SNW_TRY(read_targets(r, e[INVERSE_TARGET]->value, d));
    if (e[INVERSE_WEIGHT]) SNW_TRY(read_weights(r, e[INVERSE_WEIGHT]->value, d));
    SNW_TRY(read_inputs(r, e[INVERSE_ACTUATORS], index, d));
    SNW_TRY(snw_read_instants(r, e[INVERSE_FOR], e[INVERSE_STEP], out));
    if (e[INVERSE_INTERVAL]) {
        SNW_TRY(snw_read_positive(r, e[INVERSE_INTERVAL]->value, "interval", SNW_DIM_TIME,
                                  &d->interval));
    }
    out->tolerance = 1e-9;
    if (e[INVERSE_TOLERANCE])
        SNW_TRY(snw_read_tolerance(r, e[INVERSE_TOLERANCE]->value, &out->tolerance));
    int word = 0;
    if (e[INVERSE_UNREACHABLE])
        SNW_TRY(
            snw_read_word(r, e[INVERSE_UNREACHABLE]->value, "unreachable", 2, otherwise, &word));
    d->nearest = word == 1;
    return check_rates(r, node, out);
}

// ---- what a change releases ---------------------------------------------------------------------

// A number that an inverse step found keeps that value.
static snw_status refuse_found_number(snw_reader *r, snw_source_location at, const char *path) {
    for (int i = 0; i < r->desc->nstep; i++) {
        const snw_step_desc *step = &r->desc->step[i];
        for (int k = 0; step->kind == SNW_STEP_INVERSE && k < step->inverse.family.nparameter;
             k++) {
            if (strcmp(step->inverse.family.parameter[k].name, path) != 0) continue;
            return snw_fail_at(r->err, at,
                               "'%s' is an unknown of step '%s' before, which finds its value; "
                               "leave one of them out",
                               path, step->name);
        }
    }
    return SNW_OK;
}

snw_status snw_read_releases(snw_reader *r, const snw_node *change, snw_step_desc *out) {
    const int n = snw_actuators(r->desc);
    bool *releases = snw_pool_array(r->pool, (size_t)(n + r->desc->nload) + 1, sizeof *releases);
    if (!releases) return snw_read_memory(r);
    out->releases = releases;
    for (int i = 0; i < change->n; i++) {
        // "left", "left.effort", "actuators.left.effort"
        const char *path = change->entry[i].key;
        SNW_TRY(refuse_found_number(r, change->entry[i].location, path));
        if (strncmp(path, "actuators.", 10) == 0) path += 10;
        if (strncmp(path, "loads.", 6) == 0) path += 6;
        const char *name = snw_pool_text(r->pool, path, snw_thing_stem(r, path));
        if (!name) return snw_read_memory(r);
        snw_inverse_input_desc found;
        if (!snw_find_input(r, name, &found)) continue;
        releases[found.actuator >= 0 ? found.actuator : n + found.load] = true;
    }
    return SNW_OK;
}
