// SPDX-License-Identifier: MIT
//
// Reads `optimize`: the variables with their bounds, the cost and the constraints of an
// optimisation.
#include "language/read.h"

#include "base/fail.h"
#include "sinew/optimize.h"

#include <math.h>
#include <string.h>

#define OPTIMIZE_KEYS(X)                                                                           \
    X(OPTIMIZE_VARIABLES, "variables", "variables by path",                                        \
      "what may change: numbers of the file, named as by --set, and laws; required")               \
    X(OPTIMIZE_MINIMISE, "minimise", "a scalar of the study", "the cost")                          \
    X(OPTIMIZE_MAXIMISE, "maximise", "a scalar of the study", "its negative is the cost")          \
    X(OPTIMIZE_SUBJECT, "subject", "list of constraints", "limits of scalars of the study")        \
    X(OPTIMIZE_METHOD, "method", "slsqp, mma or ccsaq",                                            \
      "slsqp unless given; the others are for many variables and take no equalities")              \
    X(OPTIMIZE_EVALUATIONS, "evaluations", "number", "most runs of the study; 500 unless given")
#define VARIABLE_KEYS(X)                                                                           \
    X(VARIABLE_LOW, "low", "number", "lower bound; none unless given")                             \
    X(VARIABLE_HIGH, "high", "number", "upper bound; none unless given")                           \
    X(VARIABLE_START, "start", "number",                                                           \
      "start of the search; the value in the file unless given")                                   \
    X(VARIABLE_SCALE, "scale", "number",                                                           \
      "a typical change; the range of the bounds, else the start, unless given")                   \
    X(VARIABLE_LAW, "law", "hold, linear or smooth",                                               \
      "the path is a law of t, and its values at knots are found; it holds each value until the "  \
      "next knot, or passes by straight lines or smoothly (poly5) from knot to knot")              \
    X(VARIABLE_KNOTS, "knots", "number", "of a law: how many, equally spaced")                     \
    X(VARIABLE_FROM, "from", "s", "of a law: first knot; 0 s unless given")                        \
    X(VARIABLE_UNTIL, "until", "s", "of a law: its end; the last knot, or the end of its piece")   \
    X(VARIABLE_UNIT, "unit", "a unit", "of the values of a law; a plain number unless given")      \
    X(VARIABLE_EFFORT, "effort", "number",                                                         \
      "of a law: this times the integral of its square over time is added to the cost")
#define SUBJECT_KEYS(X)                                                                            \
    X(SUBJECT_VALUE, "value", "a scalar of the study", "that is limited, required")                \
    X(SUBJECT_IS, "is", "number", "its value")                                                     \
    X(SUBJECT_ABOVE, "above", "number", "its least value")                                         \
    X(SUBJECT_BELOW, "below", "number", "its largest value")

enum { OPTIMIZE_KEYS(SNW_KEY_CODE) OPTIMIZE_N };
SNW_KEYS(optimize, "optimize", "an optimisation", OPTIMIZE_KEYS);
enum { VARIABLE_KEYS(SNW_KEY_CODE) VARIABLE_N };
SNW_KEYS(variable, "variable", "a variable of an optimisation", VARIABLE_KEYS);
enum { SUBJECT_KEYS(SNW_KEY_CODE) SUBJECT_N };
SNW_KEYS(subject, "subject", "a constraint of an optimisation", SUBJECT_KEYS);

enum { MOST_KNOTS = 100000, MOST_EVALUATIONS = 1000000 };

// A constant of any dimension, in SI units; unchanged when it is not given.
static snw_status read_number(snw_reader *r, const snw_entry *e, double *out) {
    if (!e) return SNW_OK;
    const snw_node *node = e->value;
    const snw_source_location at = node->location;
    snw_dim dim;
    if (node->kind != SNW_NODE_TEXT)
        return snw_fail_at(r->err, at, "'%s' is a number, e.g. '%s: 2'", e->key, e->key);
    SNW_TRY(snw_expr_parse_constant(r->pool, snw_read_scope(r, node), node->text, at.file, at.line,
                                    at.column, out, &dim, r->err));
    if (isfinite(*out)) return SNW_OK;
    return snw_fail_at(r->err, at, "'%s' is not finite", e->key);
}

// Equally spaced knots of a law.
static snw_status read_knots(snw_reader *r, const snw_entry *entry, const snw_entry *const *e,
                             snw_optimize_variable *out) {
    static const char *const rule[] = {"hold", "linear", "smooth"};
    int k = 0, n = 0;
    double from = 0;
    SNW_TRY(snw_read_word(r, e[VARIABLE_LAW]->value, "law", 3, rule, &k));
    out->of.rule = (snw_knot_rule)k;
    if (!e[VARIABLE_KNOTS] || !e[VARIABLE_UNTIL])
        return snw_fail_at(r->err, entry->location, "the law '%s' needs 'knots' and 'until'",
                           entry->key);
    const bool hold = out->of.rule == SNW_KNOTS_HOLD;
    SNW_TRY(snw_read_integer(r, e[VARIABLE_KNOTS]->value, "knots", hold ? 1 : 2, MOST_KNOTS, &n));
    if (e[VARIABLE_FROM])
        SNW_TRY(snw_read_constant(r, e[VARIABLE_FROM]->value, "from", SNW_DIM_TIME, &from));
    SNW_TRY(snw_read_constant(r, e[VARIABLE_UNTIL]->value, "until", SNW_DIM_TIME, &out->until));
    if (!(from < out->until))
        return snw_fail_at(r->err, e[VARIABLE_UNTIL]->value->location,
                           "the law '%s' must end after it begins, at %g s", entry->key, from);
    if (e[VARIABLE_UNIT]) SNW_TRY(snw_read_text(r, e[VARIABLE_UNIT]->value, "unit", &out->of.unit));
    double *knot = snw_pool_array(r->pool, (size_t)n, sizeof *knot);
    if (!knot) return snw_read_memory(r);
    for (int i = 0; i < n; i++) knot[i] = from + i * (out->until - from) / (hold ? n : n - 1);
    out->of.nknot = n;
    out->of.knot = knot;
    return SNW_OK;
}

static snw_status read_variable(snw_reader *r, const snw_entry *entry, snw_optimize_variable *out) {
    const snw_entry *e[VARIABLE_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_variable, e));
    *out = (snw_optimize_variable){
        .of = {.name = entry->key}, .low = NAN, .high = NAN, .start = NAN, .scale = NAN};
    SNW_TRY(read_number(r, e[VARIABLE_LOW], &out->low));
    SNW_TRY(read_number(r, e[VARIABLE_HIGH], &out->high));
    SNW_TRY(read_number(r, e[VARIABLE_START], &out->start));
    SNW_TRY(read_number(r, e[VARIABLE_SCALE], &out->scale));
    if (out->low >= out->high)
        return snw_fail_at(r->err, entry->location, "'%s': 'low' must be below 'high'", entry->key);
    if (out->start < out->low || out->start > out->high)
        return snw_fail_at(r->err, entry->location, "'%s': 'start' must be within the bounds",
                           entry->key);
    if (out->scale <= 0)
        return snw_fail_at(r->err, e[VARIABLE_SCALE]->location, "'scale' must be positive");
    if (e[VARIABLE_LAW]) {
        SNW_TRY(read_number(r, e[VARIABLE_EFFORT], &out->effort));
        return read_knots(r, entry, e, out);
    }
    for (int k = VARIABLE_KNOTS; k <= VARIABLE_EFFORT; k++) {
        if (e[k])
            return snw_fail_at(r->err, e[k]->location,
                               "'%s' belongs to a law through knots; add 'law'", e[k]->key);
    }
    return SNW_OK;
}

static snw_status read_subject(snw_reader *r, const snw_node *node, snw_optimize_constraint *out) {
    const snw_entry *e[SUBJECT_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_subject, e));
    *out = (snw_optimize_constraint){.low = NAN, .high = NAN};
    if (!e[SUBJECT_VALUE] || (!e[SUBJECT_IS] && !e[SUBJECT_ABOVE] && !e[SUBJECT_BELOW]))
        return snw_fail_at(r->err, node->location,
                           "a constraint has a 'value' and 'is', 'above' or 'below'");
    if (e[SUBJECT_IS] && (e[SUBJECT_ABOVE] || e[SUBJECT_BELOW]))
        return snw_fail_at(r->err, node->location, "'is' leaves nothing to 'above' and 'below'");
    SNW_TRY(snw_read_text(r, e[SUBJECT_VALUE]->value, "value", &out->value));
    SNW_TRY(read_number(r, e[SUBJECT_IS], &out->low));
    out->high = out->low;
    SNW_TRY(read_number(r, e[SUBJECT_ABOVE], &out->low));
    SNW_TRY(read_number(r, e[SUBJECT_BELOW], &out->high));
    if (out->low > out->high)
        return snw_fail_at(r->err, node->location, "'above' must not exceed 'below'");
    return SNW_OK;
}

static snw_status read_lists(snw_reader *r, const snw_entry *const *e, snw_optimize_options *out) {
    const snw_node *all = e[OPTIMIZE_VARIABLES]->value;
    if (all->kind != SNW_NODE_MAP || all->n == 0)
        return snw_fail_at(r->err, all->location,
                           "'variables' has the paths of what may change, e.g. {A: {low: 0}}");
    snw_optimize_variable *variable = snw_pool_array(r->pool, (size_t)all->n, sizeof *variable);
    if (!variable) return snw_read_memory(r);
    for (int i = 0; i < all->n; i++) SNW_TRY(read_variable(r, &all->entry[i], &variable[i]));
    out->nvariable = all->n;
    out->variable = variable;
    if (!e[OPTIMIZE_SUBJECT]) return SNW_OK;
    const snw_node *list = e[OPTIMIZE_SUBJECT]->value;
    if (list->kind != SNW_NODE_LIST)
        return snw_fail_at(r->err, list->location, "'subject' is a list of constraints");
    snw_optimize_constraint *to = snw_pool_array(r->pool, (size_t)list->n + 1, sizeof *to);
    if (!to) return snw_read_memory(r);
    for (int i = 0; i < list->n; i++) SNW_TRY(read_subject(r, list->entry[i].value, &to[i]));
    out->nconstraint = list->n;
    out->constraint = to;
    return SNW_OK;
}

snw_status snw_read_optimize(snw_reader *r, const snw_optimize_options **out) {
    static const char *const method[] = {
#define X(code, name, meaning) name,
        SNW_OPTIMIZE_LIST(X)
#undef X
    };
    const snw_node *node = snw_node_get(r->root, "optimize");
    if (!node) return SNW_OK;
    const snw_entry *e[OPTIMIZE_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_optimize, e));
    if (!e[OPTIMIZE_VARIABLES])
        return snw_fail_at(r->err, node->location, "'variables' are missing: what may change?");
    snw_optimize_options *o = snw_pool_take(r->pool, sizeof *o);
    if (!o) return snw_read_memory(r);
    *o = (snw_optimize_options){0};
    SNW_TRY(read_lists(r, e, o));
    const snw_entry *cost = e[OPTIMIZE_MAXIMISE] ? e[OPTIMIZE_MAXIMISE] : e[OPTIMIZE_MINIMISE];
    o->maximise = e[OPTIMIZE_MAXIMISE] != NULL;
    if (e[OPTIMIZE_MAXIMISE] && e[OPTIMIZE_MINIMISE])
        return snw_fail_at(r->err, e[OPTIMIZE_MAXIMISE]->location,
                           "'maximise' beside 'minimise': give one of them");
    if (cost) SNW_TRY(snw_read_text(r, cost->value, cost->key, &o->cost));
    bool any = cost != NULL;
    for (int i = 0; i < o->nvariable; i++) any |= o->variable[i].effort != 0;
    if (!any)
        return snw_fail_at(r->err, node->location,
                           "there is no cost; give 'minimise' or 'maximise', or the 'effort' of a "
                           "law");
    int k = 0;
    if (e[OPTIMIZE_METHOD])
        SNW_TRY(snw_read_word(r, e[OPTIMIZE_METHOD]->value, "method", SNW_OPTIMIZE_METHODS, method,
                              &k));
    o->method = (snw_optimize_method)k;
    if (e[OPTIMIZE_EVALUATIONS])
        SNW_TRY(snw_read_integer(r, e[OPTIMIZE_EVALUATIONS]->value, "evaluations", 1,
                                 MOST_EVALUATIONS, &o->evaluations));
    *out = o;
    return SNW_OK;
}
