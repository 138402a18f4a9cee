// SPDX-License-Identifier: MIT
//
// Recursive-descent parser of expressions, with a check of dimensions at every operator, and the
// entry points. Operators from lowest to highest precedence:
//
//   or, and, not, comparison (no chains), + -, * /, unary -, ^ (to the right), value with unit
#include "math/expr_parser.h"

#include "base/fail.h"

#include <stdio.h>
#include <string.h>

enum { LEVEL_OR = 1, LEVEL_AND, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_POWER };

static const struct {
    const char *text;
    int level;
    snw_op op;
} operators[] = {
    // longer operators first
    {"<=", LEVEL_COMPARE, SNW_OP_LE}, {">=", LEVEL_COMPARE, SNW_OP_GE},
    {"==", LEVEL_COMPARE, SNW_OP_EQ}, {"!=", LEVEL_COMPARE, SNW_OP_NE},
    {"<", LEVEL_COMPARE, SNW_OP_LT},  {">", LEVEL_COMPARE, SNW_OP_GT},
    {"+", LEVEL_SUM, SNW_OP_ADD},     {"-", LEVEL_SUM, SNW_OP_SUB},
    {"*", LEVEL_PRODUCT, SNW_OP_MUL}, {"/", LEVEL_PRODUCT, SNW_OP_DIV},
    {"or", LEVEL_OR, SNW_OP_OR},      {"and", LEVEL_AND, SNW_OP_AND},
};

// Index of the operator at the current position, -1 when there is none.
static int next_operator(snw_parser *p) {
    snw_skip_blanks(p);
    const size_t word = snw_word_length(p->p);
    for (int i = 0; i < (int)(sizeof operators / sizeof operators[0]); i++) {
        const size_t n = strlen(operators[i].text);
        if (word ? snw_word_is(p->p, word, operators[i].text)
                 : strncmp(p->p, operators[i].text, n) == 0) {
            return i;
        }
    }
    return -1;
}

// ---- requirements on terms ---------------------------------------------------------------------

snw_status snw_want_value(const snw_parser *p, const snw_term *a) {
    if (!a->q.truth) return SNW_OK;
    return snw_parser_fail(p, a->at, "a number is wanted here, got a condition");
}

snw_status snw_want_condition(const snw_parser *p, const snw_term *a) {
    // the kind of an argument is checked when the function is called
    if (a->q.truth || a->node->op == SNW_OP_ARG) return SNW_OK;
    return snw_parser_fail(p, a->at, "a condition is wanted here, such as t < 1 s, or on or off");
}

// report a wrong dimension, with a hint when the name of a parameter was read as a unit
static snw_status fail_dimension(const snw_parser *p, int at, const char *want, snw_quantity q,
                                 const char *why) {
    char got[96], hint[200];
    snw_quantity_phrase(q, got, sizeof got);
    if (p->unit_clash) {
        (void)snprintf(hint, sizeof hint,
                       "; '%.40s' is a unit there, not the parameter: put brackets around the "
                       "number and its unit, (2 m)*%.40s",
                       p->unit_clash, p->unit_clash);
    }
    return snw_parser_fail(p, at, "%s is wanted here, got %s%s", want, got,
                           p->unit_clash ? hint : why);
}

snw_status snw_want_number(const snw_parser *p, const snw_term *a) {
    SNW_TRY(snw_want_value(p, a));
    if (snw_quantity_fits(a->q, SNW_DIM_NONE)) return SNW_OK;
    return fail_dimension(p, a->at, "a number or angle", a->q, "");
}

snw_status snw_want_alike(const snw_parser *p, const snw_term *a, const snw_term *b,
                          snw_quantity *out) {
    SNW_TRY(snw_want_value(p, a));
    SNW_TRY(snw_want_value(p, b));
    if (snw_quantity_join(a->q, b->q, out)) return SNW_OK;
    char want[96];
    snw_quantity_phrase(a->q, want, sizeof want);
    return fail_dimension(p, b->at, want, b->q, "");
}

snw_status snw_parser_make(snw_parser *p, int at, snw_op op, const snw_term *a, const snw_term *b,
                           const snw_term *c, snw_expr_node **out) {
    SNW_TRY(snw_parser_spend(p));
    snw_expr_node *n =
        snw_expr_node_make(p->pool, op, a ? a->node : NULL, b ? b->node : NULL, c ? c->node : NULL);
    if (!n) return snw_parser_no_memory(p);
    if (snw_expr_node_is_faulty(n) && !n->fault) {
        snw_source_location *location = snw_pool_take(p->pool, sizeof *location);
        if (!location) return snw_parser_no_memory(p);
        *location = snw_parser_location(p, at);
        n->fault = location;
    }
    *out = n;
    return SNW_OK;
}

// ---- operators ---------------------------------------------------------------------------------

static snw_status power_quantity(const snw_parser *p, const snw_term *a, const snw_term *b,
                                 snw_quantity *out) {
    SNW_TRY(snw_want_value(p, a));
    SNW_TRY(snw_want_number(p, b));
    if (snw_expr_node_is_constant(b->node)) {
        *out = snw_quantity_power(a->q, b->node->value);
        return SNW_OK;
    }
    if (b->node->vars & SNW_VAR_ARG) {
        *out = a->q.plain ? a->q : snw_quantity_any();
        return SNW_OK;
    }
    SNW_TRY(snw_want_number(p, a));
    *out = snw_quantity_plain();
    return SNW_OK;
}

// Dimension of `a op b` for an operator of this level.
static snw_status combined_quantity(const snw_parser *p, int level, snw_op op, const snw_term *a,
                                    const snw_term *b, snw_quantity *out) {
    if (level == LEVEL_POWER) return power_quantity(p, a, b, out);
    if (level == LEVEL_SUM) return snw_want_alike(p, a, b, out);
    if (level == LEVEL_PRODUCT) {
        SNW_TRY(snw_want_value(p, a));
        SNW_TRY(snw_want_value(p, b));
        *out = snw_quantity_times(a->q, b->q, op == SNW_OP_MUL ? 1 : -1);
        return SNW_OK;
    }
    if (level == LEVEL_COMPARE) {
        SNW_TRY(snw_want_alike(p, a, b, out));
    } else {
        SNW_TRY(snw_want_condition(p, a));
        SNW_TRY(snw_want_condition(p, b));
    }
    *out = snw_quantity_truth();
    return SNW_OK;
}

// left <- left op right; `at` is the offset of the operator.
static snw_status parse_combine(snw_parser *p, int at, int level, snw_op op, const snw_term *right,
                                snw_term *left) {
    snw_quantity q;
    snw_expr_node *n = NULL;
    SNW_TRY(combined_quantity(p, level, op, left, right, &q));
    SNW_TRY(snw_parser_make(p, at, op, left, right, NULL, &n));
    *left = (snw_term){.node = n, .q = q, .at = left->at};
    return SNW_OK;
}

// ---- grammar -----------------------------------------------------------------------------------

static snw_status parse_level(snw_parser *p, int level, snw_term *out);
static snw_status parse_unary(snw_parser *p, snw_term *out);

static snw_status missing_value(const snw_parser *p) {
    const int at = snw_parser_at(p);
    char got[64];
    snw_parser_quote(p, at, got, sizeof got);
    if (*p->p == '"' || *p->p == '\'') {
        return snw_parser_fail(p, at, "a text can only be an argument of table");
    }
    return snw_parser_fail(p, at, "a value is missing before %s", got);
}

static snw_status parse_bracket(snw_parser *p, snw_term *out) {
    const int at = snw_parser_at(p);
    p->p++;
    SNW_TRY(snw_parse_expression(p, out));
    if (*p->p != ')') {
        char got[64];
        snw_parser_quote(p, snw_parser_at(p), got, sizeof got);
        return snw_parser_fail(p, snw_parser_at(p), "')' is missing before %s", got);
    }
    p->p++;
    out->at = at;
    return snw_read_unit(p, out);
}

static snw_status parse_primary(snw_parser *p, snw_term *out) {
    snw_skip_blanks(p);
    if (snw_is_digit(p->p[0]) || (p->p[0] == '.' && snw_is_digit(p->p[1]))) {
        SNW_TRY(snw_read_number(p, out));
        return snw_read_unit(p, out);
    }
    if (*p->p == '(') return parse_bracket(p, out);
    const size_t word = snw_word_length(p->p);
    if (word == 0 || snw_word_is(p->p, word, "and") || snw_word_is(p->p, word, "or") ||
        snw_word_is(p->p, word, "not")) {
        return missing_value(p);
    }
    return snw_parse_name(p, word, out);
}

static snw_status parse_power(snw_parser *p, snw_term *out) {
    SNW_TRY(parse_primary(p, out));
    snw_skip_blanks(p);
    if (*p->p != '^') return SNW_OK;
    const int at = snw_parser_at(p);
    if (out->unit) {
        return snw_parser_fail(p, at,
                               "is the unit meant, as in 5 m^2, or the quantity, as in (5 m)^2?");
    }
    p->p++;
    snw_term exponent = {0};
    SNW_TRY(parse_unary(p, &exponent));
    return parse_combine(p, at, LEVEL_POWER, SNW_OP_POW, &exponent, out);
}

// A sign or `not`, and its operand.
static snw_status parse_signed(snw_parser *p, bool not_word, snw_term *out) {
    const int at = snw_parser_at(p);
    const bool minus = *p->p == '-';
    p->p += not_word ? 3 : 1;
    SNW_TRY(not_word ? parse_level(p, LEVEL_COMPARE, out) : parse_unary(p, out));
    SNW_TRY(not_word ? snw_want_condition(p, out) : snw_want_value(p, out));
    if (minus || not_word) {
        SNW_TRY(
            snw_parser_make(p, at, minus ? SNW_OP_NEG : SNW_OP_NOT, out, NULL, NULL, &out->node));
    }
    out->at = at;
    out->unit = false;
    return SNW_OK;
}

// Every recursion passes through this function, so the depth is counted here.
static snw_status parse_unary(snw_parser *p, snw_term *out) {
    snw_skip_blanks(p);
    SNW_TRY(snw_parser_enter(p));
    const size_t word = snw_word_length(p->p);
    const bool not_word = word && snw_word_is(p->p, word, "not");
    if (*p->p == '-' || *p->p == '+' || not_word) {
        SNW_TRY(parse_signed(p, not_word, out));
    } else {
        SNW_TRY(parse_power(p, out));
    }
    p->depth--;
    return SNW_OK;
}

static snw_status parse_level(snw_parser *p, int level, snw_term *out) {
    SNW_TRY(parse_unary(p, out));
    for (int compared = 0;;) {
        const int i = next_operator(p);
        if (i < 0 || operators[i].level < level) return SNW_OK;
        const int at = snw_parser_at(p);
        if (operators[i].level == LEVEL_COMPARE && compared++) {
            return snw_parser_fail(p, at, "comparisons do not chain, write a < b and b < c");
        }
        p->p += strlen(operators[i].text);
        snw_term right = {0};
        SNW_TRY(parse_level(p, operators[i].level + 1, &right));
        SNW_TRY(parse_combine(p, at, operators[i].level, operators[i].op, &right, out));
    }
}

snw_status snw_parse_expression(snw_parser *p, snw_term *out) {
    SNW_TRY(parse_level(p, LEVEL_OR, out));
    out->unit = false;
    return SNW_OK;
}

snw_status snw_parse_all(snw_parser *p, snw_term *out) {
    const size_t length = strlen(p->text);
    *p->budget -= (int)(length / 64); // reading takes time even if the text is blank
    if (length > SNW_EXPR_TEXT_MAX) {
        return snw_parser_fail(p, 0, "this expression is longer than %d characters",
                               SNW_EXPR_TEXT_MAX);
    }
    snw_skip_blanks(p);
    if (*p->p == '\0') return snw_parser_fail(p, 0, "an expression is missing");
    SNW_TRY(snw_parse_expression(p, out));
    snw_skip_blanks(p);
    if (*p->p == '\0') return SNW_OK;
    const int at = snw_parser_at(p);
    char got[64];
    snw_parser_quote(p, at, got, sizeof got);
    if (*p->p == ')') return snw_parser_fail(p, at, "this ')' closes nothing");
    if (*p->p == '=') return snw_parser_fail(p, at, "'=' compares nothing, write '=='");
    if (*p->p == '.' && p->p > p->text && snw_is_letter(p->p[-1])) {
        return snw_parser_fail(p, at, "names have no parts here, '.' cannot be used");
    }
    if (snw_is_letter(*p->p) || snw_is_digit(*p->p) || *p->p == '(') {
        return snw_parser_fail(p, at, "an operator is missing before %s", got);
    }
    return snw_parser_fail(p, at, "%s cannot be used here", got);
}

// ---- entry points ------------------------------------------------------------------------------

// fail unless the term satisfies the rules
static snw_status check_result(const snw_parser *p, const snw_expr_rules *rules,
                               const snw_term *term) {
    if (rules->condition) return snw_want_condition(p, term);
    SNW_TRY(snw_want_value(p, term));
    if (!rules->dim || snw_quantity_fits(term->q, *rules->dim)) return SNW_OK;
    char want[96];
    snw_dim_phrase(*rules->dim, want, sizeof want);
    // a bare number would be accepted; this one is a quotient of values with units, or an angle
    const char *why = snw_quantity_fits(term->q, SNW_DIM_NONE)
                          ? " that is made of units; a bare one would be SI"
                          : "";
    return fail_dimension(p, term->at, want, term->q, why);
}

static snw_status parse_text(snw_pool *pool, const snw_scope *scope, const char *text,
                             const snw_expr_rules *rules, snw_source_location location,
                             snw_quantity *q, const snw_expr **out, snw_error *err) {
    int budget = SNW_EXPR_OPS_MAX;
    snw_parser p = {.text = text,
                    .p = text,
                    .location = location,
                    .scope = scope,
                    .pool = pool,
                    .vars = rules->vars,
                    .budget = &budget,
                    .err = err};
    snw_term term = {0};
    SNW_TRY(snw_parse_all(&p, &term));
    SNW_TRY(check_result(&p, rules, &term));
    *q = term.q;
    return snw_expr_node_program(pool, term.node, snw_parser_location(&p, term.at), out, err);
}

snw_status snw_expr_parse(snw_pool *pool, const snw_scope *scope, const char *text,
                          const snw_expr_rules *rules, const char *file, int line, int column,
                          const snw_expr **out, snw_error *err) {
    snw_quantity q;
    return parse_text(pool, scope, text, rules, (snw_source_location){file, line, column}, &q, out,
                      err);
}

snw_status snw_expr_parse_constant(snw_pool *pool, const snw_scope *scope, const char *text,
                                   const char *file, int line, int column, double *value,
                                   snw_dim *dim, snw_error *err) {
    const snw_expr_rules constant = {0};
    const snw_expr *e = NULL;
    snw_quantity q;
    SNW_TRY(parse_text(pool, scope, text, &constant, (snw_source_location){file, line, column}, &q,
                       &e, err));
    *value = snw_expr_value(e, (snw_at){0});
    *dim = snw_quantity_dim(q);
    return SNW_OK;
}

snw_status snw_expr_parse_any(snw_pool *pool, const snw_scope *scope, const char *text, int vars,
                              const char *file, int line, int column, const snw_expr **out,
                              snw_dim *dim, snw_error *err) {
    const snw_expr_rules rules = {.vars = vars};
    snw_quantity q;
    SNW_TRY(parse_text(pool, scope, text, &rules, (snw_source_location){file, line, column}, &q,
                       out, err));
    *dim = snw_quantity_dim(q);
    return SNW_OK;
}
