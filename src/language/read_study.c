// SPDX-License-Identifier: MIT
//
// Reads the study: its list of static, dynamic, kinematic, modes, path, inverse,
// linearize and change steps.
#include "language/read.h"

#include "base/fail.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define STATIC_KEYS(X)                                                                             \
    X(STATIC_NAME, "name", "a name", "of the step; 'static', then 'static.2', unless given")       \
    X(STATIC_FROM, "from", "an earlier step's name",                                               \
      "start from its end, t included; else from the end of the last step")                        \
    X(STATIC_FOR, "for", "s",                                                                      \
      "duration of a path of equilibria; one equilibrium at the current t if absent")              \
    X(STATIC_STEP, "step", "s", "time between equilibria of the path, needed with for")            \
    X(STATIC_TOLERANCE, "tolerance", "number", "scaled residual of an accepted equilibrium")       \
    X(STATIC_MARCH, "march", "s, or a map",                                                        \
      "find each equilibrium by damped integration in pseudo-time, of this length")                \
    X(STATIC_PENALTY, "penalty", "N/m, or a map",                                                  \
      "close loops by springs with updated multipliers, instead of exactly")                       \
    X(STATIC_STEADY, "steady", "on or off",                                                        \
      "include the rates of drives and moving poses: equilibrium relative to a steady motion; "    \
      "off unless given")                                                                          \
    X(STATIC_BRANCH, "branch", "stable or follow",                                                 \
      "where a branch becomes unstable or ends: go to a stable equilibrium, or follow the "        \
      "branch; stable unless given")                                                               \
    X(STATIC_FRICTION, "friction", "on or off",                                                    \
      "hard contacts stick and slip along the path from the start; off unless given")              \
    X(STATIC_RELAXATION, "relaxation", "instant, relaxed or s",                                    \
      "of materials that relax, required there: branches as they are, after a long time, or "      \
      "after this time at constant strain")                                                        \
    X(STATIC_ENGINE, "engine", "strain or shooting", "the engine, strain unless given")            \
    X(STATIC_SHOOTING, "shooting", "a map", "options of the shooting engine")
#define MARCH_KEYS(X)                                                                              \
    X(MARCH_FOR, "for", "s", "length in pseudo-time, required without flow")                       \
    X(MARCH_STEP, "step", "s", "its step, chosen if absent")                                       \
    X(MARCH_GAIN, "gain", "1/s", "rate at which loops close; in every step unless given")          \
    X(MARCH_FLOW, "flow", "on or off",                                                             \
      "the pseudo-time is t, and the path of the damped flow is the result; off unless given")
#define PENALTY_KEYS(X)                                                                            \
    X(PENALTY_STIFFNESS, "stiffness", "N/m", "of the springs, required")                           \
    X(PENALTY_LENGTH, "length", "m", "by which rotations count, 100 mm unless given")              \
    X(PENALTY_UPDATES, "updates", "number",                                                        \
      "of the multipliers, 0: springs alone; until the loops are closed unless given")

#define MODES_KEYS(X)                                                                              \
    X(MODES_NAME, "name", "a name", "of the step; 'modes', then 'modes.2', unless given")          \
    X(MODES_FROM, "from", "an earlier step's name",                                                \
      "at the configuration at its end, t included; else at that of the last step")                \
    X(MODES_COUNT, "count", "number", "number of modes, besides null motions; 6 unless given")     \
    X(MODES_STEADY, "steady", "on or off",                                                         \
      "about the steady motion there, rates included; off unless given")

enum { STATIC_KEYS(SNW_KEY_CODE) STATIC_N };
enum { MARCH_KEYS(SNW_KEY_CODE) MARCH_N };
enum { PENALTY_KEYS(SNW_KEY_CODE) PENALTY_N };
SNW_KEYS(static, "static", "a static step", STATIC_KEYS);
enum { MODES_KEYS(SNW_KEY_CODE) MODES_N };
SNW_KEYS(modes, "modes", "a modes step", MODES_KEYS);
SNW_KEYS(march, "march", "a march", MARCH_KEYS);
SNW_KEYS(penalty, "penalty", "a penalty", PENALTY_KEYS);

enum { MAX_MODES = 10000 };
static const double MAX_STEPS = 1e7; // time steps of one study step, a limit on input

snw_status snw_check_step(snw_reader *r, const snw_node *node, double duration, double step) {
    if (!(step <= duration * (1 + 1e-12))) {
        return snw_fail_at(r->err, node->location,
                           "'step' must not be longer than 'for': %g s in %g s", step, duration);
    }
    if (duration / step <= MAX_STEPS) return SNW_OK;
    return snw_fail_at(r->err, node->location, "%g steps are too many, at most %g are possible",
                       ceil(duration / step), MAX_STEPS);
}

static snw_status read_march(snw_reader *r, const snw_node *node, snw_step_desc *out) {
    if (node->kind != SNW_NODE_MAP) {
        return snw_read_positive(r, node, "march", SNW_DIM_TIME, &out->march);
    }
    const snw_entry *e[MARCH_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_march, e));
    const snw_entry *flow = e[MARCH_FLOW];
    if (flow) SNW_TRY(snw_read_switch(r, flow->value, "flow", &out->march_flow));
    if (out->march_flow && (e[MARCH_FOR] || !(out->duration > 0))) {
        return snw_fail_at(r->err, flow->location,
                           "a march with 'flow' follows t: give 'for' and 'step' of the static "
                           "step, and no 'for' of the march");
    }
    if (!e[MARCH_FOR] && !out->march_flow) {
        return snw_fail_at(r->err, node->location,
                           "a march needs 'for', its length in pseudo-time");
    }
    if (e[MARCH_FOR]) {
        SNW_TRY(snw_read_positive(r, e[MARCH_FOR]->value, "for", SNW_DIM_TIME, &out->march));
    }
    if (e[MARCH_GAIN]) {
        SNW_TRY(snw_read_positive(r, e[MARCH_GAIN]->value, "gain", ((snw_dim){.s = -1}),
                                  &out->march_gain));
    }
    if (out->march_flow) out->march_step = out->step / 10;
    if (!e[MARCH_STEP]) return SNW_OK;
    const snw_node *step = e[MARCH_STEP]->value;
    SNW_TRY(snw_read_positive(r, step, "step", SNW_DIM_TIME, &out->march_step));
    return snw_check_step(r, step, out->march_flow ? out->duration : out->march, out->march_step);
}

static snw_status read_penalty(snw_reader *r, const snw_entry *const *of, snw_step_desc *out) {
    const snw_entry *own = of[STATIC_PENALTY];
    out->penalty_length = 0.1;
    out->penalty_updates = -1;
    if (!own) return SNW_OK;
    if (out->engine == SNW_ENGINE_SHOOTING || out->steady || out->follow || out->friction ||
        of[STATIC_MARCH]) {
        return snw_fail_at(r->err, own->location,
                           "a static step with 'penalty' has neither march, steady, branch: "
                           "follow, friction nor the shooting engine");
    }
    bool any = false;
    for (int i = 0; i < r->desc->nloop; i++) {
        const snw_loop_desc *l = &r->desc->loop[i];
        any = any || (!l->drive && !l->nonholonomic && !snw_loop_couples(l));
    }
    if (!any) {
        return snw_fail_at(r->err, own->location,
                           "'penalty' is the stiffness by which 'loops' are closed, and there are "
                           "none; leave it out");
    }
    if (own->value->kind != SNW_NODE_MAP) {
        return snw_read_positive(r, own->value, "penalty", ((snw_dim){.kg = 1, .s = -2}),
                                 &out->penalty);
    }
    const snw_entry *e[PENALTY_N];
    SNW_TRY(snw_read_map(r, own->value, &snw_keys_penalty, e));
    if (!e[PENALTY_STIFFNESS]) {
        return snw_fail_at(r->err, own->location, "a penalty needs its 'stiffness'");
    }
    SNW_TRY(snw_read_positive(r, e[PENALTY_STIFFNESS]->value, "stiffness",
                              ((snw_dim){.kg = 1, .s = -2}), &out->penalty));
    if (e[PENALTY_LENGTH]) {
        SNW_TRY(snw_read_positive(r, e[PENALTY_LENGTH]->value, "length", SNW_DIM_LENGTH,
                                  &out->penalty_length));
    }
    if (!e[PENALTY_UPDATES]) return SNW_OK;
    return snw_read_integer(r, e[PENALTY_UPDATES]->value, "updates", 0, 1000,
                            &out->penalty_updates);
}

snw_status snw_read_instants(snw_reader *r, const snw_entry *duration, const snw_entry *step,
                             snw_step_desc *out) {
    if (!duration && !step) return SNW_OK;
    if (!duration || !step) {
        return snw_fail_at(r->err, (duration ? duration : step)->location,
                           "'%s' needs '%s' beside it", duration ? "for" : "step",
                           duration ? "step" : "for");
    }
    SNW_TRY(snw_read_positive(r, duration->value, "for", SNW_DIM_TIME, &out->duration));
    SNW_TRY(snw_read_positive(r, step->value, "step", SNW_DIM_TIME, &out->step));
    return snw_check_step(r, step->value, out->duration, out->step);
}

snw_status snw_read_from(snw_reader *r, const snw_node *node, int index, int *out) {
    const char *name = "";
    SNW_TRY(snw_read_name(r, node, "from", &name));
    for (int i = 0; i < r->desc->nstep; i++) {
        const snw_step_desc *step = &r->desc->step[i];
        const bool own = i < index && strcmp(step->name, name) == 0;
        if (own) *out = i;
        if (*out >= 0 && i > *out && i < index && step->kind == SNW_STEP_INVERSE &&
            step->inverse.family.nparameter > 0)
            return snw_fail_at(r->err, node->location,
                               "'from' names a step before '%s', which finds numbers of the file; "
                               "make it a run of its own",
                               step->name);
    }
    if (*out >= 0) return SNW_OK;
    const snw_name *later = snw_names_find(&r->things, name);
    if (later && later->kind == (int)SNW_THING_STEP) {
        return snw_fail_at(r->err, node->location, "'from' names an earlier step, '%s' is not",
                           name);
    }
    return snw_find_thing(r, node, name, SNW_THING_STEP, out);
}

snw_status snw_read_tolerance(snw_reader *r, const snw_node *node, double *out) {
    SNW_TRY(snw_read_positive(r, node, "tolerance", SNW_DIM_NONE, out));
    if (*out < 1) return SNW_OK;
    return snw_fail_at(r->err, node->location, "'tolerance' must be below 1, got %g", *out);
}

static snw_status read_steady(snw_reader *r, const snw_entry *e, snw_step_desc *out) {
    out->steady = false;
    if (e) SNW_TRY(snw_read_switch(r, e->value, "steady", &out->steady));
    if (!out->steady || out->engine != SNW_ENGINE_SHOOTING) return SNW_OK;
    return snw_fail_at(r->err, e->location,
                       "the shooting engine has no 'steady'; use engine: strain");
}

static snw_status read_branch(snw_reader *r, const snw_entry *e, snw_step_desc *out) {
    static const char *const branches[] = {"stable", "follow"};
    int word = 0;
    if (e) SNW_TRY(snw_read_word(r, e->value, "branch", 2, branches, &word));
    out->follow = word == 1;
    return SNW_OK;
}

static snw_status read_static_relaxation(snw_reader *r, const snw_entry *e, snw_step_desc *out) {
    static const char *const words[] = {"instant", "relaxed"};
    if (!e) return SNW_OK;
    out->relaxation = (snw_relaxation_rule){SNW_RELAXED_AFTER, INFINITY};
    if (e->value->kind == SNW_NODE_TEXT && isdigit((unsigned char)e->value->text[0]))
        return snw_read_positive(r, e->value, "relaxation", SNW_DIM_TIME, &out->relaxation.time);
    int word = 0;
    SNW_TRY(snw_read_word(r, e->value, "relaxation", 2, words, &word));
    if (word == 0) out->relaxation.kind = SNW_RELAXED_INSTANT;
    return SNW_OK;
}

static snw_status read_static_friction(snw_reader *r, const snw_entry *const *e,
                                       snw_step_desc *out) {
    const snw_entry *own = e[STATIC_FRICTION];
    if (own) SNW_TRY(snw_read_switch(r, own->value, "friction", &out->friction));
    if (!out->friction) return SNW_OK;
    if (out->engine == SNW_ENGINE_SHOOTING || out->steady || out->follow || e[STATIC_MARCH]) {
        return snw_fail_at(r->err, own->location,
                           "a static step with 'friction' follows the loads with Newton's method "
                           "and has neither march, steady, branch: follow nor the shooting engine");
    }
    bool any = false;
    for (int i = 0; i < r->desc->ncontact; i++) {
        const snw_contact_desc *c = &r->desc->contact[i];
        any = any || (c->hard && (c->along > 0 || c->across > 0));
    }
    if (any) return SNW_OK;
    return snw_fail_at(r->err, own->location,
                       "'friction' of a static step is that of hard contacts, and none has "
                       "'friction'; give a contact hard: true and friction, or use a dynamic step");
}

static snw_status read_static(snw_reader *r, const snw_node *node, int index, snw_step_desc *out) {
    const snw_entry *e[STATIC_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_static, e));
    if (e[STATIC_NAME]) SNW_TRY(snw_read_name(r, e[STATIC_NAME]->value, "name", &out->name));
    if (e[STATIC_FROM]) SNW_TRY(snw_read_from(r, e[STATIC_FROM]->value, index, &out->from));
    SNW_TRY(snw_read_instants(r, e[STATIC_FOR], e[STATIC_STEP], out));
    if (e[STATIC_TOLERANCE]) {
        SNW_TRY(snw_read_tolerance(r, e[STATIC_TOLERANCE]->value, &out->tolerance));
    }
    SNW_TRY(snw_read_engine(r, e[STATIC_ENGINE], e[STATIC_SHOOTING], out));
    if (e[STATIC_MARCH] && out->engine == SNW_ENGINE_SHOOTING) {
        return snw_fail_at(r->err, e[STATIC_MARCH]->location,
                           "the shooting engine has no 'march'; choose another 'solver'");
    }
    SNW_TRY(read_steady(r, e[STATIC_STEADY], out));
    SNW_TRY(read_branch(r, e[STATIC_BRANCH], out));
    SNW_TRY(read_static_relaxation(r, e[STATIC_RELAXATION], out));
    SNW_TRY(read_static_friction(r, e, out));
    SNW_TRY(read_penalty(r, e, out));
    return e[STATIC_MARCH] ? read_march(r, e[STATIC_MARCH]->value, out) : SNW_OK;
}

static snw_status read_modes(snw_reader *r, const snw_node *node, int index, snw_step_desc *out) {
    out->count = SNW_STEP_MODES_COUNT;
    if (node->kind == SNW_NODE_NULL) return SNW_OK;
    const snw_entry *e[MODES_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_modes, e));
    if (e[MODES_NAME]) SNW_TRY(snw_read_name(r, e[MODES_NAME]->value, "name", &out->name));
    if (e[MODES_FROM]) SNW_TRY(snw_read_from(r, e[MODES_FROM]->value, index, &out->from));
    SNW_TRY(read_steady(r, e[MODES_STEADY], out));
    if (!e[MODES_COUNT]) return SNW_OK;
    return snw_read_integer(r, e[MODES_COUNT]->value, "count", 1, MAX_MODES, &out->count);
}

// `static`, then `static.2`
static snw_status default_name(snw_reader *r, const char *kind, int *unnamed, int index,
                               snw_step_desc *out) {
    ++*unnamed;
    out->name = *unnamed == 1 ? kind : snw_pool_format(r->pool, "%s.%d", kind, *unnamed);
    if (!out->name) return snw_read_memory(r);
    if (snw_names_find(&r->things, out->name)) {
        return snw_fail_at(r->err, out->location,
                           "'%s' is already a name, give this step another one", out->name);
    }
    const snw_name name = {
        .text = out->name, .kind = (int)SNW_THING_STEP, .index = index, .location = out->location};
    snw_names_add(&r->things, name);
    return SNW_OK;
}

// in the order of snw_step_kind; a kinematic step is a dynamic one with prescribed shape
static const char *const kinds[] = {"static", "dynamic", "modes",     "change",
                                    "path",   "inverse", "linearize", "kinematic"};
enum { NKIND = sizeof kinds / sizeof kinds[0], KINEMATIC = NKIND - 1 };

static snw_status study_read_keys(snw_reader *r, const snw_node *keys, int index,
                                  snw_step_desc *out) {
    switch (out->kind) {
    case SNW_STEP_STATIC:
        return keys->kind == SNW_NODE_NULL ? SNW_OK : read_static(r, keys, index, out);
    case SNW_STEP_DYNAMIC:
        return out->kinematic ? snw_read_kinematic(r, keys, index, out)
                              : snw_read_dynamic(r, keys, index, out);
    case SNW_STEP_MODES:
        return read_modes(r, keys, index, out);
    case SNW_STEP_CHANGE:
        return snw_read_change(r, keys, out);
    case SNW_STEP_PATH:
        return snw_read_path(r, keys, index, out);
    case SNW_STEP_INVERSE:
        return snw_read_inverse(r, keys, index, out);
    case SNW_STEP_LINEARIZE:
        return snw_read_linearize(r, keys, index, out);
    }
    return SNW_OK;
}

static snw_status read_step(snw_reader *r, const snw_node *node, int index, int unnamed[NKIND]) {
    snw_step_desc *out = &r->desc->step[index];
    out->from = -1;
    out->location = node->location;
    snw_node word = {.kind = SNW_NODE_TEXT, .location = node->location, .text = node->text};
    const snw_node nothing = {.kind = SNW_NODE_NULL, .location = node->location, .text = ""};
    const snw_node *keys = &nothing;
    if (node->kind == SNW_NODE_MAP && node->n >= 1) {
        word.text = node->entry[0].key;
        word.location = node->entry[0].location;
        keys = node->entry[0].value;
    } else if (node->kind != SNW_NODE_TEXT) {
        return snw_fail_at(r->err, node->location,
                           "a step is its kind and keys, e.g. 'static: {}'");
    }
    int kind = 0;
    SNW_TRY(snw_read_word(r, &word, "study", NKIND, kinds, &kind));
    if (node->kind == SNW_NODE_MAP && node->n > 1) {
        return snw_fail_at(r->err, node->entry[1].location,
                           "'%s' is outside the step; indent it under '%s:'", node->entry[1].key,
                           word.text);
    }
    out->kinematic = kind == KINEMATIC;
    for (int i = 0; out->kinematic && i < index; i++) {
        if (r->desc->step[i].kind != SNW_STEP_INVERSE) continue;
        return snw_fail_at(r->err, word.location,
                           "a kinematic step follows laws, and step '%s' before it holds inputs in "
                           "place of them; make it a run of its own",
                           r->desc->step[i].name);
    }
    out->kind = out->kinematic ? SNW_STEP_DYNAMIC : (snw_step_kind)kind;
    SNW_TRY(study_read_keys(r, keys, index, out));
    return out->name ? SNW_OK : default_name(r, kinds[kind], &unnamed[kind], index, out);
}

snw_status snw_read_study(snw_reader *r) {
    const snw_node *node = snw_node_get(r->root, "study");
    if (!node || node->kind == SNW_NODE_NULL) return SNW_OK;
    if (node->kind != SNW_NODE_LIST) {
        return snw_fail_at(r->err, node->location, "'study' is a list of steps, '- static: {..}'");
    }
    snw_desc *d = r->desc;
    d->step = snw_pool_array(r->pool, (size_t)node->n, sizeof *d->step);
    r->step_end = snw_pool_array(r->pool, (size_t)node->n, sizeof *r->step_end);
    if (!d->step || !r->step_end) return snw_read_memory(r);
    int unnamed[NKIND] = {0};
    for (int i = 0; i < node->n; i++) {
        SNW_TRY(read_step(r, node->entry[i].value, i, unnamed));
        d->nstep = i + 1;
        const int from = d->step[i].from >= 0 ? d->step[i].from : i - 1;
        const double start = from >= 0 ? r->step_end[from] : 0;
        r->step_end[i] = start + d->step[i].duration;
        r->t_first = i == 0 ? start : fmin(r->t_first, start);
        r->t_last = fmax(r->t_last, r->step_end[i]);
        if (d->step[i].kind == SNW_STEP_PATH && d->step[i].path.of < 0) {
            r->t_first = fmin(r->t_first, d->step[i].path.low);
            r->t_last = fmax(r->t_last, d->step[i].path.high);
        }
    }
    return SNW_OK;
}
