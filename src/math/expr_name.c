// SPDX-License-Identifier: MIT
//
// Names in expressions: variables, parameters, list items, user-defined functions, and messages
// about unknown names.
#include "math/expr_parser.h"

#include "base/fail.h"

#include <stdio.h>

enum { ALL_VARS = SNW_VAR_T | SNW_VAR_X | SNW_VAR_L | SNW_VAR_SIGNAL };

// ---- variables ---------------------------------------------------------------------------------

// out <- "t and x" for a set of variables.
static void vars_text(const snw_parser *p, int vars, char *out, size_t size) {
    const snw_signal_source *signals = snw_parser_signals(p);
    const char *names[4];
    int n = 0;
    if (vars & SNW_VAR_T) names[n++] = "t";
    if (vars & SNW_VAR_X) names[n++] = "x";
    if (vars & SNW_VAR_L) names[n++] = "L";
    if (vars & SNW_VAR_SIGNAL) names[n++] = signals && signals->what ? signals->what : "probes";
    out[0] = '\0';
    size_t used = 0;
    for (int i = 0; i < n && used < size; i++) {
        const char *link = i == 0 ? "" : i == n - 1 ? " and " : ", ";
        used += (size_t)snprintf(out + used, size - used, "%s%s", link, names[i]);
    }
}

snw_status snw_check_vars(const snw_parser *p, int at, int used, const char *what) {
    const int wrong = used & ALL_VARS & ~p->vars;
    if (!wrong) return SNW_OK;
    if (p->vars == 0) {
        return snw_parser_fail(p, at, "%s cannot be used here: this number must be constant", what);
    }
    char allowed[40];
    vars_text(p, p->vars, allowed, sizeof allowed);
    // positions, lengths, volumes and laws along a rod cannot depend on probes
    const char *remedy =
        wrong & SNW_VAR_SIGNAL        ? "; probes are for forces, torques, efforts, stress "
                                        "and conditions"
        : !(p->vars & SNW_VAR_SIGNAL) ? ""
        : wrong & SNW_VAR_X ? "; it is the place along a rod, so a probe of this name needs another"
        : wrong & SNW_VAR_L ? "; it is the length of a rod, so a probe of this name needs another"
                            : "";
    return snw_parser_fail(p, at, "%s cannot be used here: only %s may vary%s", what, allowed,
                           remedy);
}

snw_status snw_parse_variable(snw_parser *p, snw_op op, int at, snw_term *out) {
    const snw_var v = op == SNW_OP_T ? SNW_VAR_T : op == SNW_OP_X ? SNW_VAR_X : SNW_VAR_L;
    SNW_TRY(snw_check_vars(p, at, v, v == SNW_VAR_T ? "'t'" : v == SNW_VAR_X ? "'x'" : "'L'"));
    SNW_TRY(snw_parser_spend(p));
    *out =
        (snw_term){.node = snw_expr_node_variable(p->pool, op), .q = snw_quantity_var(v), .at = at};
    return out->node ? SNW_OK : snw_parser_no_memory(p);
}

static snw_status expr_name_constant(snw_parser *p, double value, snw_quantity q, int at,
                                     snw_term *out) {
    SNW_TRY(snw_parser_spend(p));
    *out = (snw_term){.node = snw_expr_node_constant(p->pool, value), .q = q, .at = at};
    return out->node ? SNW_OK : snw_parser_no_memory(p);
}

// ---- parameters --------------------------------------------------------------------------------

// Report that the entry depends on itself, with the chain of names.
static snw_status fail_cycle(const snw_parser *p, const snw_expr_entry *e, int at) {
    const snw_expr_entry *chain[SNW_EXPR_DEPTH_MAX + 1];
    int n = 0;
    for (const snw_parser *q = p; q && n < SNW_EXPR_DEPTH_MAX; q = q->up) {
        if (q->entry) chain[n++] = q->entry;
        if (q->entry == e) break;
    }
    char text[300] = "";
    size_t used = 0;
    for (int i = n - 1; i >= 0 && used < sizeof text; i--) {
        const int wrote = snprintf(text + used, sizeof text - used, "%.40s -> ", chain[i]->name);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    return snw_parser_fail(p, at, "'%.40s' depends on itself: %s%.40s", e->name, text, e->name);
}

// Parser of the text of an entry, nested in p.
static snw_parser nested_parser(const snw_parser *p, const snw_expr_entry *e, int at) {
    return (snw_parser){.text = e->text,
                        .p = e->text,
                        .location = e->location,
                        .scope = e->scope,
                        .pool = p->pool,
                        .vars = p->vars,
                        .budget = p->budget,
                        .depth = p->depth,
                        .entry = e,
                        .call_at = at,
                        .up = p,
                        .err = p->err};
}

// Parse the text of a value at its first use; all uses share the node.
static snw_status parse_entry_once(const snw_parser *p, snw_expr_entry *e, int at) {
    if (e->done) return SNW_OK;
    if (e->busy) return fail_cycle(p, e, at);
    int budget = SNW_EXPR_OPS_MAX;
    snw_parser in = nested_parser(p, e, at);
    in.pool = e->scope->pool;
    in.budget = &budget;
    in.vars = ALL_VARS;
    SNW_TRY(snw_parser_enter(&in));
    e->busy = true;
    const snw_status s = snw_parse_all(&in, &e->term);
    e->busy = false;
    e->done = s == SNW_OK;
    if (e->done && snw_expr_node_is_constant(e->term.node)) e->term.node->named = true;
    e->unit_clash = in.unit_clash;
    return s;
}

static snw_status use_value(snw_parser *p, snw_expr_entry *e, int at, snw_term *out) {
    SNW_TRY(parse_entry_once(p, e, at));
    char what[128], on[40];
    vars_text(p, e->term.node->vars, on, sizeof on);
    (void)snprintf(what, sizeof what, "'%.40s' depends on %s and", e->name, on);
    SNW_TRY(snw_check_vars(p, at, e->term.node->vars, what));
    *out = e->term;
    out->at = at;
    if (!p->unit_clash) p->unit_clash = e->unit_clash;
    return SNW_OK;
}

// ---- lists and functions -----------------------------------------------------------------------

snw_status snw_term_whole(const snw_parser *p, const snw_term *a, const char *what, long *out) {
    SNW_TRY(snw_want_number(p, a));
    if (!snw_expr_node_is_constant(a->node)) {
        return snw_parser_fail(p, a->at, "%s must be constant", what);
    }
    const double v = a->node->value;
    if (!(v == floor(v) && fabs(v) < 1e9)) {
        return snw_parser_fail(p, a->at, "%s must be a whole number, got %g", what, v);
    }
    *out = (long)v;
    return SNW_OK;
}

snw_status snw_parse_argument(snw_parser *p, snw_term *out, bool *more) {
    SNW_TRY(snw_parse_expression(p, out));
    snw_skip_blanks(p);
    if (*p->p != ',' && *p->p != ')') {
        char got[64];
        snw_parser_quote(p, snw_parser_at(p), got, sizeof got);
        return snw_parser_fail(p, snw_parser_at(p), "',' or ')' is missing before %s", got);
    }
    *more = *p->p == ',';
    p->p++;
    return SNW_OK;
}

// List item a(1); of unknown dimension when the index depends on an argument without a value.
static snw_status use_item(snw_parser *p, const snw_expr_entry *e, int at, snw_term *out) {
    snw_term index = {0};
    bool more = false;
    SNW_TRY(snw_parse_argument(p, &index, &more));
    if (more) return snw_parser_fail(p, at, "'%.40s' takes one index", e->name);
    if (index.node->vars & SNW_VAR_ARG) {
        *out = (snw_term){.node = index.node, .q = snw_quantity_any(), .at = at};
        return SNW_OK;
    }
    long i = 0;
    SNW_TRY(snw_term_whole(p, &index, "an index", &i));
    if (i < 1 || i > e->nitems) {
        return snw_parser_fail(p, index.at, "'%.40s' has entries 1 to %d, not %ld", e->name,
                               e->nitems, i);
    }
    return use_value(p, &e->items[i - 1], at, out);
}

// Parse the body of a function with the values of its arguments.
static snw_status call_body(snw_parser *p, snw_expr_entry *e, const snw_term *args, int at,
                            snw_term *out) {
    if (e->busy) return fail_cycle(p, e, at);
    snw_parser in = nested_parser(p, e, at);
    in.args = args;
    SNW_TRY(snw_parser_enter(&in));
    SNW_TRY(snw_parser_spend(p));
    e->busy = true;
    const snw_status s = snw_parse_all(&in, out);
    e->busy = false;
    out->at = at;
    if (!p->unit_clash) p->unit_clash = in.unit_clash;
    return s;
}

static snw_status use_function(snw_parser *p, snw_expr_entry *e, int at, snw_term *out) {
    snw_term args[SNW_ARGS_MAX] = {0};
    int n = 0;
    for (bool more = true; more;) {
        snw_term arg = {0};
        SNW_TRY(snw_parse_argument(p, &arg, &more));
        if (n < e->nargs) args[n] = arg;
        n++;
    }
    if (n != e->nargs) {
        return snw_parser_fail(p, at, "'%.40s' takes %d argument%s, got %d", e->name, e->nargs,
                               e->nargs == 1 ? "" : "s", n);
    }
    return call_body(p, e, args, at, out);
}

// ---- words -------------------------------------------------------------------------------------

static snw_status fail_unknown_name(const snw_parser *p, int at, size_t length, bool call) {
    const snw_signal_source *signals = snw_parser_signals(p);
    const char *word = p->text + at;
    const int shown = (int)(length > 40 ? 40 : length);
    snw_unit_value unit;
    char text[200];
    (void)snprintf(text, sizeof text, "unknown %s '%.*s'", call ? "function" : "name", shown, word);
    snw_guess g = snw_guess_start(word, length);
    for (int i = 0; p->args && i < p->entry->nargs; i++) snw_guess_offer(&g, p->entry->args[i]);
    for (const snw_scope *s = p->scope; s; s = s->outer) {
        for (const snw_expr_entry *e = s->first; e; e = e->next) snw_guess_offer(&g, e->name);
    }
    for (int i = 0; signals && signals->name(signals->user, i); i++) {
        snw_guess_offer(&g, signals->name(signals->user, i));
    }
    snw_guess_functions(&g);
    if (!call) snw_guess_keywords(&g);
    snw_guess_append(&g, text, sizeof text);
    if (!g.best[0] && !call && snw_unit_word(word, length, &unit)) {
        return snw_parser_fail(p, at, "%s; a unit only follows a number, pi or ')'", text);
    }
    return snw_parser_fail(p, at, "%s", text);
}

static snw_status use_entry(snw_parser *p, snw_expr_entry *e, int at, bool call, snw_term *out) {
    if (call != (e->kind != SNW_EXPR_ENTRY_VALUE)) {
        const char *form = e->kind == SNW_EXPR_ENTRY_LIST       ? "a list, write %.40s(1)"
                           : e->kind == SNW_EXPR_ENTRY_FUNCTION ? "a function, write %.40s(..)"
                                                                : "neither a list nor a function";
        char text[128];
        (void)snprintf(text, sizeof text, form, e->name);
        return snw_parser_fail(p, at, "'%.40s' is %s", e->name, text);
    }
    if (!call) return use_value(p, e, at, out);
    p->p++;
    SNW_TRY(e->kind == SNW_EXPR_ENTRY_LIST ? use_item(p, e, at, out) : use_function(p, e, at, out));
    return snw_read_unit(p, out);
}

// Value of the words pi, on and off; false for other words.
static bool fixed_word(const char *word, size_t length, double *value, bool *truth) {
    *truth = !snw_word_is(word, length, "pi");
    *value = *truth ? snw_word_is(word, length, "on") : 3.14159265358979323846;
    return !*truth || *value != 0 || snw_word_is(word, length, "off");
}

snw_status snw_parse_name(snw_parser *p, size_t length, snw_term *out) {
    const char *word = p->p;
    const int at = snw_parser_at(p);
    p->p += length;
    const char *next = p->p;
    while (snw_is_blank(*next)) next++;
    const bool call = *next == '(';
    for (int i = 0; p->args && i < p->entry->nargs; i++) {
        if (!snw_word_is(word, length, p->entry->args[i])) continue;
        if (call) return snw_parser_fail(p, at, "'%.40s' is a number here", p->entry->args[i]);
        *out = p->args[i];
        out->at = at;
        return SNW_OK;
    }
    const snw_function *f = snw_function_find(word, length);
    if (f && !call)
        return snw_parser_fail(p, at, "%s is a function: %s(%s)", f->name, f->name, f->args);
    if (f) {
        p->p = next;
        SNW_TRY(snw_parse_call(p, f, at, out));
        return snw_read_unit(p, out);
    }
    double value;
    bool truth;
    if (!call && fixed_word(word, length, &value, &truth)) {
        SNW_TRY(expr_name_constant(p, value, truth ? snw_quantity_truth() : snw_quantity_plain(),
                                   at, out));
        return truth ? SNW_OK : snw_read_unit(p, out);
    }
    snw_expr_entry *e = snw_scope_find(p->scope, word, length);
    bool signal = false;
    // probes may be named t, x or L; a component makes them distinct: x.vz
    const bool alone = !call && *p->p != '.';
    if (!e && !alone) SNW_TRY(snw_parse_probe(p, length, at, call ? next : NULL, &signal, out));
    if (signal) return SNW_OK;
    if (!call && snw_word_is(word, length, "t")) return snw_parse_variable(p, SNW_OP_T, at, out);
    if (!call && snw_word_is(word, length, "x")) return snw_parse_variable(p, SNW_OP_X, at, out);
    if (!call && snw_word_is(word, length, "L")) return snw_parse_variable(p, SNW_OP_L, at, out);
    if (!e && alone) SNW_TRY(snw_parse_probe(p, length, at, NULL, &signal, out));
    if (signal) return SNW_OK;
    if (!e) return fail_unknown_name(p, at, length, call);
    if (call) p->p = next;
    return use_entry(p, e, at, call, out);
}

// ---- checks of unused entries ------------------------------------------------------------------

snw_status snw_expr_entry_check(snw_expr_entry *e, snw_error *err) {
    int budget = SNW_EXPR_OPS_MAX;
    snw_parser p = {.text = "",
                    .p = "",
                    .location = e->location,
                    .scope = e->scope,
                    .pool = e->scope->pool,
                    .vars = ALL_VARS,
                    .budget = &budget,
                    .err = err};
    if (e->kind == SNW_EXPR_ENTRY_VALUE) {
        SNW_TRY(parse_entry_once(&p, e, 0));
        return snw_expr_node_check(e->term.node, e->location, err);
    }
    for (int i = 0; i < e->nitems; i++) SNW_TRY(snw_expr_entry_check(&e->items[i], err));
    if (e->kind == SNW_EXPR_ENTRY_LIST) return SNW_OK;
    // a function is checked with arguments of unknown value and dimension
    snw_term args[SNW_ARGS_MAX], result = {0};
    for (int i = 0; i < e->nargs; i++) {
        args[i] =
            (snw_term){.node = snw_expr_node_variable(p.pool, SNW_OP_ARG), .q = snw_quantity_any()};
        if (!args[i].node) return snw_parser_no_memory(&p);
    }
    SNW_TRY(call_body(&p, e, args, 0, &result));
    return snw_expr_node_check(result.node, e->location, err);
}
