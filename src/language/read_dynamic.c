// SPDX-License-Identifier: MIT
//
// Reads dynamic and kinematic steps of the study: duration, end condition, time integrator, step
// size and their options.
#include "language/read.h"

#include "base/fail.h"

#define DYNAMIC_KEYS(X)                                                                            \
    X(DYNAMIC_NAME, "name", "a name", "of the step; 'dynamic', then 'dynamic.2', unless given")    \
    X(DYNAMIC_FROM, "from", "an earlier step's name",                                              \
      "start where that one ended, t included; else where the last one ended")                     \
    X(DYNAMIC_FOR, "for", "s", "how long, required")                                               \
    X(DYNAMIC_UNTIL, "until", "a condition on t and probes",                                       \
      "ends it earlier, as soon as this holds")                                                    \
    X(DYNAMIC_SCHEME, "scheme", "a scheme",                                                        \
      "how it goes through time, generalized-alpha unless given, of the shooting engine bdf2")     \
    X(DYNAMIC_STEP, "step", "s",                                                                   \
      "the time step; where steps are chosen by their error the longest one")                      \
    X(DYNAMIC_ADAPT, "adapt", "on or off",                                                         \
      "implicit schemes: choose the steps by their error; off unless given")                       \
    X(DYNAMIC_RHO, "rho", "0 to 1, hht 0.5 to 1",                                                  \
      "what a step leaves of the fastest motion, 1 all of it; 0.9 unless given")                   \
    X(DYNAMIC_ALPHA, "alpha", "-0.5 to 0", "of bdf-alpha, -0.2 unless given")                      \
    X(DYNAMIC_TOLERANCE, "tolerance", "number",                                                    \
      "fixed implicit steps: scaled residual; steps chosen by their error: relative error of "     \
      "one, 1e-6 unless given")                                                                    \
    X(DYNAMIC_BASE, "base", "se3 or split",                                                        \
      "implicit schemes: a free joint goes along screws (se3, unless given), or its rotation and " \
      "position apart")                                                                            \
    X(DYNAMIC_START, "start", "consistent or rest",                                                \
      "implicit schemes: accelerations at the start from the forces (unless given), or zero")      \
    X(DYNAMIC_LOOPS, "loop_velocities", "projected or scheme",                                     \
      "schemes without damping: velocities and forces at loops made to fit after each step "       \
      "(unless given), or as the scheme alone has them, with growing noise")                       \
    X(DYNAMIC_SHORTEN, "shorten", "on or off",                                                     \
      "fixed implicit steps: take shorter ones at impacts, behind releases and where the scheme "  \
      "would make energy (unless given), or all as long as 'step'")                                \
    X(DYNAMIC_REACTIONS, "reactions", "{torque: 1/m}",                                             \
      "weight of moments against forces where redundant contacts have reactions of minimum norm, " \
      "1 1/m unless given")                                                                        \
    X(DYNAMIC_ENGINE, "engine", "strain or shooting", "who computes it, strain unless given")      \
    X(DYNAMIC_SHOOTING, "shooting", "a map", "options of the shooting engine")

#define KINEMATIC_KEYS(X)                                                                          \
    X(KINEMATIC_NAME, "name", "a name",                                                            \
      "of the step; 'kinematic', then 'kinematic.2', unless given")                                \
    X(KINEMATIC_FROM, "from", "an earlier step's name",                                            \
      "start where that one ended, t included; else where the last one ended")                     \
    X(KINEMATIC_FOR, "for", "s", "how long, required")                                             \
    X(KINEMATIC_UNTIL, "until", "a condition on t and probes",                                     \
      "ends it earlier, as soon as this holds")                                                    \
    X(KINEMATIC_STEP, "step", "s", "of the Runge-Kutta method of order 4")                         \
    X(KINEMATIC_TOLERANCE, "tolerance", "number",                                                  \
      "choose steps by their error instead, relative to this")                                     \
    X(KINEMATIC_REACTIONS, "reactions", "{torque: 1/m}",                                           \
      "weight of moments against forces where redundant contacts have reactions of minimum norm, " \
      "1 1/m unless given")
#define REACTIONS_KEYS(X) X(REACTIONS_TORQUE, "torque", "1/m", "weight of a moment against a force")

enum { KINEMATIC_KEYS(SNW_KEY_CODE) KINEMATIC_N };
enum { REACTIONS_KEYS(SNW_KEY_CODE) REACTIONS_N };
SNW_KEYS(kinematic, "kinematic", "a kinematic step", KINEMATIC_KEYS);
SNW_KEYS(reactions, "reactions", "the norm of reactions", REACTIONS_KEYS);
enum { DYNAMIC_KEYS(SNW_KEY_CODE) DYNAMIC_N };
SNW_KEYS(dynamic, "dynamic", "a dynamic step", DYNAMIC_KEYS);

static const char *const schemes[] = {
#define X(code, name, meaning) name,
    SNW_METHOD_LIST(X)
#undef X
};
enum { NSCHEME = sizeof schemes / sizeof schemes[0] };

// ---- properties of schemes ----------------------------------------------------------------------

static bool is_implicit(snw_method m) {
    return m != SNW_METHOD_RK4 && m != SNW_METHOD_ADAPTIVE && m != SNW_METHOD_STIFF;
}

static bool is_collocation(snw_method m) {
    return m == SNW_METHOD_GAUSS4 || m == SNW_METHOD_GAUSS6 || m == SNW_METHOD_GAUSS8;
}

static bool chooses_steps(snw_method m) {
    return m == SNW_METHOD_ADAPTIVE || m == SNW_METHOD_STIFF;
}

static bool has_rho(snw_method m) {
    return m == SNW_METHOD_GENERALIZED_ALPHA || m == SNW_METHOD_HHT || m == SNW_METHOD_WBZ;
}

static snw_status refuse_scheme_key(snw_reader *r, const snw_entry *e, snw_method m,
                                    const char *who) {
    return snw_fail_at(r->err, e->location, "scheme '%s' has no '%s', %s", snw_method_name(m),
                       e->key, who);
}

static bool is_shooting_scheme(snw_method m) {
    return m == SNW_METHOD_EULER || m == SNW_METHOD_TRAPEZOIDAL || m == SNW_METHOD_BDF2 ||
           m == SNW_METHOD_BDF3 || m == SNW_METHOD_BDF_ALPHA;
}

// refuse schemes and keys that the selected engine does not support
static snw_status check_engine(snw_reader *r, const snw_entry *const *e, const snw_step_desc *s) {
    const snw_source_location at =
        e[DYNAMIC_SCHEME] ? e[DYNAMIC_SCHEME]->value->location : s->location;
    if (s->engine == SNW_ENGINE_STRAIN) {
        if (s->method != SNW_METHOD_BDF3) return SNW_OK;
        return snw_fail_at(r->err, at, "scheme 'bdf3' needs 'engine: shooting'");
    }
    if (!is_shooting_scheme(s->method)) {
        return snw_fail_at(r->err, at,
                           "the shooting engine has no scheme '%s'; it has euler, trapezoidal, "
                           "bdf2, bdf3 and bdf-alpha",
                           snw_method_name(s->method));
    }
    static const int foreign[] = {DYNAMIC_ADAPT, DYNAMIC_BASE, DYNAMIC_START, DYNAMIC_LOOPS,
                                  DYNAMIC_SHORTEN};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        if (!e[foreign[i]]) continue;
        return snw_fail_at(r->err, e[foreign[i]]->location, "the shooting engine has no '%s'",
                           e[foreign[i]]->key);
    }
    return SNW_OK;
}

// schemes without numerical damping for some rho or alpha
static bool may_conserve(snw_method m) {
    return has_rho(m) || m == SNW_METHOD_NEWMARK || m == SNW_METHOD_TRAPEZOIDAL ||
           m == SNW_METHOD_BDF_ALPHA;
}

// refuse keys that the scheme does not use
static snw_status check_keys(snw_reader *r, const snw_entry *const *e, snw_method m) {
    static const char implicit[] = "implicit ones have";
    if (e[DYNAMIC_RHO] && !has_rho(m)) {
        return refuse_scheme_key(r, e[DYNAMIC_RHO], m, "generalized-alpha, hht and wbz have");
    }
    if (e[DYNAMIC_ALPHA] && m != SNW_METHOD_BDF_ALPHA) {
        return refuse_scheme_key(r, e[DYNAMIC_ALPHA], m, "bdf-alpha has");
    }
    if (e[DYNAMIC_START] && is_collocation(m)) {
        return refuse_scheme_key(r, e[DYNAMIC_START], m,
                                 "its steps know nothing of the time before");
    }
    if (e[DYNAMIC_LOOPS] && !may_conserve(m)) {
        return refuse_scheme_key(
            r, e[DYNAMIC_LOOPS], m,
            "newmark, trapezoidal, and those that damp nothing with rho 1, alpha -0.5, "
            "have");
    }
    if (e[DYNAMIC_SHORTEN] && (is_collocation(m) || m == SNW_METHOD_CONSERVING)) {
        return refuse_scheme_key(r, e[DYNAMIC_SHORTEN], m,
                                 "its steps are as long as they are given");
    }
    if (is_implicit(m)) return SNW_OK;
    if (e[DYNAMIC_ADAPT]) {
        return refuse_scheme_key(r, e[DYNAMIC_ADAPT], m,
                                 chooses_steps(m) ? "it always chooses its steps"
                                                  : "take 'adaptive' for that");
    }
    if (e[DYNAMIC_BASE]) return refuse_scheme_key(r, e[DYNAMIC_BASE], m, implicit);
    if (e[DYNAMIC_SHORTEN]) return refuse_scheme_key(r, e[DYNAMIC_SHORTEN], m, implicit);
    if (e[DYNAMIC_START]) return refuse_scheme_key(r, e[DYNAMIC_START], m, implicit);
    if (e[DYNAMIC_TOLERANCE] && !chooses_steps(m)) {
        return refuse_scheme_key(r, e[DYNAMIC_TOLERANCE], m, "its steps are what they are");
    }
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

static snw_status read_scheme(snw_reader *r, const snw_entry *const *e, snw_step_desc *out) {
    const bool shooting = out->engine == SNW_ENGINE_SHOOTING;
    int method = shooting ? SNW_METHOD_BDF2 : SNW_METHOD_GENERALIZED_ALPHA;
    if (e[DYNAMIC_SCHEME]) {
        SNW_TRY(snw_read_word(r, e[DYNAMIC_SCHEME]->value, "scheme", NSCHEME, schemes, &method));
    }
    out->method = (snw_method)method;
    SNW_TRY(check_engine(r, e, out));
    SNW_TRY(check_keys(r, e, out->method));
    const snw_step_desc usual = snw_step_dynamic(out->method);
    out->rho = usual.rho;
    out->alpha = usual.alpha;
    if (e[DYNAMIC_RHO]) {
        const double min = out->method == SNW_METHOD_HHT ? 0.5 : 0;
        SNW_TRY(read_between(r, e[DYNAMIC_RHO], min, 1, &out->rho));
    }
    return e[DYNAMIC_ALPHA] ? read_between(r, e[DYNAMIC_ALPHA], -0.5, 0, &out->alpha) : SNW_OK;
}

static snw_status read_steps(snw_reader *r, const snw_entry *const *e, snw_source_location location,
                             snw_step_desc *out) {
    out->control = false;
    if (e[DYNAMIC_ADAPT]) {
        SNW_TRY(snw_read_switch(r, e[DYNAMIC_ADAPT]->value, "adapt", &out->control));
    }
    if (out->control && out->method == SNW_METHOD_CONSERVING) {
        return refuse_scheme_key(r, e[DYNAMIC_ADAPT], out->method,
                                 "its steps are equal; generalized-alpha and gauss4 choose theirs");
    }
    const bool chosen = out->control || chooses_steps(out->method);
    if (chosen) out->tolerance = SNW_STEP_ERROR;
    if (e[DYNAMIC_TOLERANCE]) {
        SNW_TRY(snw_read_tolerance(r, e[DYNAMIC_TOLERANCE]->value, &out->tolerance));
    }
    if (!e[DYNAMIC_STEP]) {
        if (chosen) return SNW_OK;
        const bool adapts = is_implicit(out->method) && out->method != SNW_METHOD_CONSERVING &&
                            out->engine == SNW_ENGINE_STRAIN;
        return snw_fail_at(r->err, location, "scheme '%s' needs 'step', e.g. 'step: 5 ms'%s",
                           snw_method_name(out->method), adapts ? ", or 'adapt: on'" : "");
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
    if (e[DYNAMIC_REACTIONS]) SNW_TRY(read_reactions(r, e[DYNAMIC_REACTIONS]->value, out));
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
    out->method = SNW_METHOD_RK4;
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
        out->method = SNW_METHOD_ADAPTIVE;
        SNW_TRY(snw_read_tolerance(r, e[KINEMATIC_TOLERANCE]->value, &out->tolerance));
    }
    if (!e[KINEMATIC_STEP]) {
        if (out->method == SNW_METHOD_ADAPTIVE) return SNW_OK;
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
