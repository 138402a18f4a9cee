// SPDX-License-Identifier: MIT
//
// Reads dynamic and kinematic steps of the study: duration, end condition, time integrator, step
// size and their options.
#include "language/read.h"

#include "base/fail.h"

#include <stdio.h>
#include <string.h>

#define DYNAMIC_KEYS(X)                                                                            \
    X(DYNAMIC_NAME, "name", "a name", "of the step; 'dynamic', then 'dynamic.2', unless given")    \
    X(DYNAMIC_FROM, "from", "an earlier step's name",                                              \
      "start from its end, t included; else from the end of the last step")                        \
    X(DYNAMIC_FOR, "for", "s", "duration, required")                                               \
    X(DYNAMIC_UNTIL, "until", "a condition on t and probes",                                       \
      "ends it earlier, as soon as this holds")                                                    \
    X(DYNAMIC_SCHEME, "scheme", "a scheme",                                                        \
      "time integration scheme, generalized-alpha unless given; with hard contacts or stops "      \
      "moreau, of "                                                                                \
      "the "                                                                                       \
      "shooting engine bdf2")                                                                      \
    X(DYNAMIC_STEP, "step", "s", "the time step; with error control the longest one")              \
    X(DYNAMIC_ADAPT, "adapt", "on or off",                                                         \
      "implicit schemes: step-size control by estimated error; off unless given")                  \
    X(DYNAMIC_RHO, "rho", "0 to 1, hht 0.5 to 1",                                                  \
      "spectral radius at infinite frequency, 1: no damping; 0.9 unless given")                    \
    X(DYNAMIC_ALPHA, "alpha", "-0.5 to 0", "of bdf-alpha, -0.2 unless given")                      \
    X(DYNAMIC_TOLERANCE, "tolerance", "number",                                                    \
      "fixed implicit steps: scaled residual; with error control: relative error of a step, 1e-6 " \
      "unless given")                                                                              \
    X(DYNAMIC_BASE, "base", "se3 or split",                                                        \
      "implicit schemes: integrate a free joint on SE(3) (se3, unless given), or rotation and "    \
      "position separately")                                                                       \
    X(DYNAMIC_START, "start", "consistent or rest",                                                \
      "implicit schemes: initial accelerations from the forces (unless given), or zero; with the " \
      "shooting engine: the first step by backward Euler (unless given), or uniform motion "       \
      "before")                                                                                    \
    X(DYNAMIC_LOOPS, "loop_velocities", "projected or scheme",                                     \
      "schemes without damping: project velocities and forces of loops after each step (unless "   \
      "given), or keep those of the scheme, with growing oscillations")                            \
    X(DYNAMIC_SHORTEN, "shorten", "on or off",                                                     \
      "fixed implicit steps: shorten them at impacts, after releases and where the scheme would "  \
      "create energy (unless given), or keep all at 'step'")                                       \
    X(DYNAMIC_REACTIONS, "reactions", "{torque: 1/m}",                                             \
      "weight of moments against forces where redundant contacts have reactions of minimum norm, " \
      "1 1/m unless given")                                                                        \
    X(DYNAMIC_ENGINE, "engine", "strain or shooting", "the engine, strain unless given")           \
    X(DYNAMIC_SHOOTING, "shooting", "a map", "options of the shooting engine")

#define KINEMATIC_KEYS(X)                                                                          \
    X(KINEMATIC_NAME, "name", "a name",                                                            \
      "of the step; 'kinematic', then 'kinematic.2', unless given")                                \
    X(KINEMATIC_FROM, "from", "an earlier step's name",                                            \
      "start from its end, t included; else from the end of the last step")                        \
    X(KINEMATIC_FOR, "for", "s", "duration, required")                                             \
    X(KINEMATIC_UNTIL, "until", "a condition on t and probes",                                     \
      "ends it earlier, as soon as this holds")                                                    \
    X(KINEMATIC_STEP, "step", "s", "time step of the Runge-Kutta method of order 4")               \
    X(KINEMATIC_TOLERANCE, "tolerance", "number",                                                  \
      "instead of 'step': step-size control with this relative error")                             \
    X(KINEMATIC_REACTIONS, "reactions", "{torque: 1/m, least: norm}",                              \
      "how redundant contacts share a load: reactions of minimum norm, or least efforts of the "   \
      "drives")
#define REACTIONS_KEYS(X)                                                                          \
    X(REACTIONS_TORQUE, "torque", "1/m", "weight of a moment against a force, 1 1/m unless given") \
    X(REACTIONS_LEAST, "least", "norm or efforts",                                                 \
      "kinematic steps: reactions of minimum norm (unless given), or those for which the efforts " \
      "of the drives have the least sum of squares")                                               \
    X(REACTIONS_FORM, "form", "distributive, projective or balanced",                              \
      "kinematic steps: all contacts together balance the base (unless given); each contact "      \
      "takes what its rows can of the wrench that arrives from behind, which leaves a wrench on "  \
      "the base; or the contacts balance that wrench too, with minimum norm")

enum { KINEMATIC_KEYS(SNW_KEY_CODE) KINEMATIC_N };
enum { REACTIONS_KEYS(SNW_KEY_CODE) REACTIONS_N };
SNW_KEYS(kinematic, "kinematic", "a kinematic step", KINEMATIC_KEYS);
SNW_KEYS(reactions, "reactions", "the norm of reactions", REACTIONS_KEYS);
enum { DYNAMIC_KEYS(SNW_KEY_CODE) DYNAMIC_N };
SNW_KEYS(dynamic, "dynamic", "a dynamic step", DYNAMIC_KEYS);

// ---- schemes and their keys ---------------------------------------------------------------------

// out <- the schemes with an option, as in "generalized-alpha, hht and wbz have"
static void owners_text(int option, char *out, size_t size) {
    snw_scheme_names(option, 0, out, size);
    const size_t used = strlen(out);
    (void)snprintf(out + used, size - used, strstr(out, " and ") ? " have it" : " has it");
}

// refuse schemes and keys that the selected engine does not support
static snw_status check_engine(snw_reader *r, const snw_entry *const *e, const snw_step_desc *s) {
    const snw_source_location at =
        e[DYNAMIC_SCHEME] ? e[DYNAMIC_SCHEME]->value->location : s->location;
    const snw_scheme_info *scheme = &snw_scheme_table[s->scheme];
    if (s->engine == SNW_ENGINE_STRAIN) {
        if (scheme->works & SNW_SCHEME_ON_STRAIN) return SNW_OK;
        return snw_fail_at(r->err, at, "scheme '%s' needs 'engine: shooting'", scheme->name);
    }
    if (!(scheme->works & SNW_SCHEME_ON_SHOOTING)) {
        char names[100];
        snw_scheme_names(0, SNW_SCHEME_ON_SHOOTING, names, sizeof names);
        return snw_fail_at(r->err, at, "the shooting engine has no scheme '%s'; it has %s",
                           scheme->name, names);
    }
    static const int foreign[] = {DYNAMIC_ADAPT, DYNAMIC_BASE, DYNAMIC_LOOPS, DYNAMIC_SHORTEN};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        if (!e[foreign[i]]) continue;
        return snw_fail_at(r->err, e[foreign[i]]->location, "the shooting engine has no '%s'",
                           e[foreign[i]]->key);
    }
    return SNW_OK;
}

// out <- why a scheme does not take an option
static void reason_text(const snw_scheme_info *s, int option, char *out, size_t size) {
    const bool steps_of_ode = s->family == SNW_FAMILY_ODE;
    const char *reason = "implicit schemes have it";
    switch (option) {
    case SNW_SCHEME_TAKES_RHO:
    case SNW_SCHEME_TAKES_ALPHA:
        owners_text(option, out, size);
        return;
    case SNW_SCHEME_TAKES_LOOP_VELOCITIES:
        reason = "newmark, trapezoidal, and schemes without damping (rho 1, alpha -0.5) have it";
        break;
    case SNW_SCHEME_TAKES_TOLERANCE:
        reason = "its steps are fixed";
        break;
    case SNW_SCHEME_TAKES_ADAPT:
        reason = s->chooses_steps ? "it always controls its step size"
                 : steps_of_ode   ? "use 'adaptive' for that"
                                  : "its steps are equal; generalized-alpha and gauss4 have "
                                    "step-size control";
        break;
    case SNW_SCHEME_TAKES_START:
        if (!steps_of_ode) reason = "its steps use no accelerations of earlier steps";
        break;
    case SNW_SCHEME_TAKES_SHORTEN:
        if (!steps_of_ode) reason = "its steps are fixed";
        break;
    default:
        break;
    }
    (void)snprintf(out, size, "%s", reason);
}

static snw_status refuse_option(snw_reader *r, const snw_entry *e, const snw_scheme_info *s,
                                int option) {
    char reason[120];
    reason_text(s, option, reason, sizeof reason);
    return snw_fail_at(r->err, e->location, "scheme '%s' has no '%s', %s", s->name, e->key, reason);
}

// refuse keys that the scheme does not use; `adapt: off` suits all schemes with equal steps
static snw_status check_keys(snw_reader *r, const snw_entry *const *e, const snw_scheme_info *s) {
    static const struct {
        int key, option;
    } all[] = {{DYNAMIC_RHO, SNW_SCHEME_TAKES_RHO},
               {DYNAMIC_ALPHA, SNW_SCHEME_TAKES_ALPHA},
               {DYNAMIC_START, SNW_SCHEME_TAKES_START},
               {DYNAMIC_LOOPS, SNW_SCHEME_TAKES_LOOP_VELOCITIES},
               {DYNAMIC_SHORTEN, SNW_SCHEME_TAKES_SHORTEN},
               {DYNAMIC_BASE, SNW_SCHEME_TAKES_BASE},
               {DYNAMIC_TOLERANCE, SNW_SCHEME_TAKES_TOLERANCE}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (e[all[i].key] && !(s->options & all[i].option))
            return refuse_option(r, e[all[i].key], s, all[i].option);
    }
    if (e[DYNAMIC_ADAPT] && s->chooses_steps)
        return refuse_option(r, e[DYNAMIC_ADAPT], s, SNW_SCHEME_TAKES_ADAPT);
    return SNW_OK;
}

// ---- reading ------------------------------------------------------------------------------------

static snw_status read_between(snw_reader *r, const snw_entry *e, double min, double max,
                               double *out) {
    SNW_TRY(snw_read_constant(r, e->value, e->key, SNW_DIM_NONE, out));
    if (*out >= min && *out <= max) return SNW_OK;
    return snw_fail_at(r->err, e->value->location, "'%s' must be from %g to %g, got %g", e->key,
                       min, max, *out);
}

// Has it hard contacts or hard stops?
static bool has_hard_contact(const snw_desc *d) {
    for (int i = 0; i < d->ncontact; i++) {
        if (d->contact[i].hard) return true;
    }
    for (int i = 0; i < d->nlink; i++) {
        if (d->link[i].moves.stop_hard) return true;
    }
    return false;
}

static snw_status read_scheme(snw_reader *r, const snw_entry *const *e, snw_step_desc *out) {
    const bool shooting = out->engine == SNW_ENGINE_SHOOTING;
    int scheme = shooting                    ? SNW_SCHEME_BDF2
                 : has_hard_contact(r->desc) ? SNW_SCHEME_MOREAU
                                             : SNW_SCHEME_GENERALIZED_ALPHA;
    if (e[DYNAMIC_SCHEME]) {
        const char *names[SNW_SCHEME_COUNT];
        for (int i = 0; i < SNW_SCHEME_COUNT; i++) names[i] = snw_scheme_table[i].name;
        SNW_TRY(
            snw_read_word(r, e[DYNAMIC_SCHEME]->value, "scheme", SNW_SCHEME_COUNT, names, &scheme));
    }
    out->scheme = (snw_scheme_kind)scheme;
    SNW_TRY(check_engine(r, e, out));
    SNW_TRY(check_keys(r, e, &snw_scheme_table[scheme]));
    const snw_step_desc usual = snw_step_dynamic(out->scheme);
    out->rho = usual.rho;
    out->alpha = usual.alpha;
    if (e[DYNAMIC_RHO]) {
        const double min = snw_scheme_table[scheme].rho_min;
        SNW_TRY(read_between(r, e[DYNAMIC_RHO], min, 1, &out->rho));
    }
    return e[DYNAMIC_ALPHA] ? read_between(r, e[DYNAMIC_ALPHA], -0.5, 0, &out->alpha) : SNW_OK;
}

static snw_status read_steps(snw_reader *r, const snw_entry *const *e, snw_source_location location,
                             snw_step_desc *out) {
    const snw_scheme_info *scheme = &snw_scheme_table[out->scheme];
    const bool takes_adapt = (scheme->options & SNW_SCHEME_TAKES_ADAPT) != 0;
    out->control = false;
    if (e[DYNAMIC_ADAPT]) {
        SNW_TRY(snw_read_switch(r, e[DYNAMIC_ADAPT]->value, "adapt", &out->control));
    }
    if (out->control && !takes_adapt)
        return refuse_option(r, e[DYNAMIC_ADAPT], scheme, SNW_SCHEME_TAKES_ADAPT);
    const bool chosen = out->control || scheme->chooses_steps;
    if (chosen) out->tolerance = SNW_STEP_ERROR;
    if (e[DYNAMIC_TOLERANCE]) {
        SNW_TRY(snw_read_tolerance(r, e[DYNAMIC_TOLERANCE]->value, &out->tolerance));
    }
    if (!e[DYNAMIC_STEP]) {
        if (chosen) return SNW_OK;
        const bool adapts = takes_adapt && out->engine == SNW_ENGINE_STRAIN;
        return snw_fail_at(r->err, location, "scheme '%s' needs 'step', e.g. 'step: 5 ms'%s",
                           scheme->name, adapts ? ", or 'adapt: on'" : "");
    }
    const snw_node *step = e[DYNAMIC_STEP]->value;
    SNW_TRY(snw_read_positive(r, step, "step", SNW_DIM_TIME, &out->step));
    return snw_check_step(r, step, out->duration, out->step);
}

static snw_status read_until(snw_reader *r, const snw_node *node, snw_law *out) {
    SNW_TRY(snw_read_condition(r, node, "until", out));
    if (snw_expr_vars(*out)) return SNW_OK;
    return snw_fail_at(r->err, node->location,
                       "'until' must depend on t or probes, this one never changes");
}

static snw_status read_reactions(snw_reader *r, const snw_node *node, snw_step_desc *out) {
    const snw_entry *e[REACTIONS_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_reactions, e));
    if (e[REACTIONS_LEAST]) {
        static const char *const least[] = {"norm", "efforts"};
        int word = 0;
        SNW_TRY(snw_read_word(r, e[REACTIONS_LEAST]->value, "least", 2, least, &word));
        out->least_efforts = word == 1;
    }
    if (e[REACTIONS_FORM]) {
        static const char *const forms[] = {"distributive", "projective", "balanced"};
        int word = 0;
        SNW_TRY(snw_read_word(r, e[REACTIONS_FORM]->value, "form", 3, forms, &word));
        out->form = (snw_reaction_form)word;
    }
    if (!e[REACTIONS_TORQUE]) return SNW_OK;
    return snw_read_positive(r, e[REACTIONS_TORQUE]->value, "torque", (snw_dim){.m = -1},
                             &out->torque);
}

snw_status snw_read_dynamic(snw_reader *r, const snw_node *node, int index, snw_step_desc *out) {
    static const char *const bases[] = {"se3", "split"};
    static const char *const starts[] = {"consistent", "rest"};
    const snw_entry *e[DYNAMIC_N] = {NULL};
    out->torque = 1;
    if (node->kind != SNW_NODE_NULL) SNW_TRY(snw_read_map(r, node, &snw_keys_dynamic, e));
    if (e[DYNAMIC_NAME]) SNW_TRY(snw_read_name(r, e[DYNAMIC_NAME]->value, "name", &out->name));
    if (e[DYNAMIC_FROM]) SNW_TRY(snw_read_from(r, e[DYNAMIC_FROM]->value, index, &out->from));
    if (!e[DYNAMIC_FOR]) {
        return snw_fail_at(r->err, out->location, "a dynamic step needs 'for', e.g. 'for: 1 s'");
    }
    SNW_TRY(snw_read_positive(r, e[DYNAMIC_FOR]->value, "for", SNW_DIM_TIME, &out->duration));
    if (e[DYNAMIC_UNTIL]) SNW_TRY(read_until(r, e[DYNAMIC_UNTIL]->value, &out->until));
    SNW_TRY(snw_read_engine(r, e[DYNAMIC_ENGINE], e[DYNAMIC_SHOOTING], out));
    if (e[DYNAMIC_REACTIONS]) {
        SNW_TRY(read_reactions(r, e[DYNAMIC_REACTIONS]->value, out));
        if (out->least_efforts || out->form != SNW_REACTIONS_DISTRIBUTIVE) {
            return snw_fail_at(
                r->err, e[DYNAMIC_REACTIONS]->location,
                "%s is for kinematic steps; in dynamic steps redundant contacts have reactions of "
                "minimum norm",
                out->least_efforts ? "'least: efforts'" : "'form'");
        }
    }
    SNW_TRY(read_scheme(r, e, out));
    SNW_TRY(read_steps(r, e, out->location, out));
    static const char *const loop_words[] = {"projected", "scheme"};
    int base = 0, start = 0, loops = 0;
    bool shorten = true;
    if (e[DYNAMIC_BASE]) {
        SNW_TRY(snw_read_word(r, e[DYNAMIC_BASE]->value, "base", 2, bases, &base));
    }
    if (e[DYNAMIC_START]) {
        SNW_TRY(snw_read_word(r, e[DYNAMIC_START]->value, "start", 2, starts, &start));
    }
    if (e[DYNAMIC_LOOPS]) {
        SNW_TRY(snw_read_word(r, e[DYNAMIC_LOOPS]->value, "loops", 2, loop_words, &loops));
    }
    if (e[DYNAMIC_SHORTEN]) {
        SNW_TRY(snw_read_switch(r, e[DYNAMIC_SHORTEN]->value, "shorten", &shorten));
    }
    out->split = base == 1;
    out->fixed_length = !shorten;
    out->undamped_velocities = loops == 1;
    out->uniform_past = start == 1;
    return SNW_OK;
}

snw_status snw_read_kinematic(snw_reader *r, const snw_node *node, int index, snw_step_desc *out) {
    const snw_entry *e[KINEMATIC_N] = {NULL};
    out->torque = 1;
    out->scheme = SNW_SCHEME_RK4;
    if (node->kind != SNW_NODE_NULL) SNW_TRY(snw_read_map(r, node, &snw_keys_kinematic, e));
    if (e[KINEMATIC_NAME]) SNW_TRY(snw_read_name(r, e[KINEMATIC_NAME]->value, "name", &out->name));
    if (e[KINEMATIC_FROM]) SNW_TRY(snw_read_from(r, e[KINEMATIC_FROM]->value, index, &out->from));
    if (!e[KINEMATIC_FOR]) {
        return snw_fail_at(r->err, out->location, "a kinematic step needs 'for', e.g. 'for: 1 s'");
    }
    SNW_TRY(snw_read_positive(r, e[KINEMATIC_FOR]->value, "for", SNW_DIM_TIME, &out->duration));
    if (e[KINEMATIC_UNTIL]) SNW_TRY(read_until(r, e[KINEMATIC_UNTIL]->value, &out->until));
    if (e[KINEMATIC_REACTIONS]) SNW_TRY(read_reactions(r, e[KINEMATIC_REACTIONS]->value, out));
    if (e[KINEMATIC_TOLERANCE]) {
        out->scheme = SNW_SCHEME_ADAPTIVE;
        SNW_TRY(snw_read_tolerance(r, e[KINEMATIC_TOLERANCE]->value, &out->tolerance));
    }
    if (!e[KINEMATIC_STEP]) {
        if (e[KINEMATIC_TOLERANCE]) return SNW_OK;
        return snw_fail_at(r->err, out->location,
                           "a kinematic step needs 'step' or 'tolerance', e.g. 'step: 5 ms'");
    }
    SNW_TRY(snw_read_positive(r, e[KINEMATIC_STEP]->value, "step", SNW_DIM_TIME, &out->step));
    return snw_check_step(r, e[KINEMATIC_STEP]->value, out->duration, out->step);
}

bool snw_study_has_dynamic(const snw_node *study) {
    for (int i = 0; study && study->kind == SNW_NODE_LIST && i < study->n; i++) {
        const snw_node *step = study->entry[i].value;
        if (step->kind == SNW_NODE_MAP &&
            (snw_node_get(step, "dynamic") || snw_node_get(step, "kinematic")))
            return true;
    }
    return false;
}
