// SPDX-License-Identifier: MIT
//
// Calls of the functions of the language: reading of arguments, check of their number and
// dimensions, and the nodes of the result.
#include "math/expr_parser.h"

#include "base/fail.h"

#include <string.h>

// ---- tables ------------------------------------------------------------------------------------

// A text in quotes, copied to the pool.
static snw_status call_read_text(snw_parser *p, char **out) {
    snw_skip_blanks(p);
    const char quote = *p->p;
    const int at = snw_parser_at(p);
    if (quote != '"' && quote != '\'') {
        return snw_parser_fail(p, at, "a file name in quotes is wanted here");
    }
    const char *end = strchr(p->p + 1, quote);
    if (!end) return snw_parser_fail(p, at, "the closing quote is missing");
    *out = snw_pool_text(p->pool, p->p + 1, (size_t)(end - p->p - 1));
    p->p = end + 1;
    return *out ? SNW_OK : snw_parser_no_memory(p);
}

static const char table_form[] =
    "table takes a file, a column and optionally the argument: t - 2 s";

// *column <- a text, or the number that an expression gives; NULL when that depends on a function
// argument without a value. *more: another argument follows.
static snw_status call_read_column(snw_parser *p, char **column, bool *more) {
    snw_skip_blanks(p);
    if (*p->p == '"' || *p->p == '\'') {
        SNW_TRY(call_read_text(p, column));
        snw_skip_blanks(p);
        *more = *p->p == ',';
        if (*p->p == ')' || *more) {
            p->p++;
            return SNW_OK;
        }
        return snw_parser_fail(p, snw_parser_at(p), "')' is missing");
    }
    snw_term number = {0};
    SNW_TRY(snw_parse_argument(p, &number, more));
    *column = NULL;
    if (number.node->vars & SNW_VAR_ARG) return SNW_OK;
    long k = 0;
    SNW_TRY(snw_term_whole(p, &number, "a column", &k));
    if (k < 1) return snw_parser_fail(p, number.at, "columns are counted from 1, got %ld", k);
    *column = snw_pool_format(p->pool, "%ld", k);
    return *column ? SNW_OK : snw_parser_no_memory(p);
}

static snw_status load_table(snw_parser *p, int at, const char *file, const char *column,
                             snw_spline **out) {
    const snw_scope *s = p->scope;
    while (s && !s->table) s = s->outer;
    if (!s) return snw_parser_fail(p, at, "tables cannot be read here");
    snw_table samples = {0};
    snw_error why = {0};
    snw_status status = s->table(s->table_user, p->location.file, file, column, &samples, &why);
    if (status == SNW_OK) status = snw_spline_create(p->pool, samples, out, &why);
    if (status == SNW_OK) return SNW_OK;
    // an error in the file of the table keeps its own location
    if (why.line == 0) {
        return snw_parser_fail(p, at, "%.100s, column %.40s: %.250s", file, column, why.text);
    }
    if (p->err) *p->err = why;
    return status;
}

static snw_status parse_table(snw_parser *p, int at, snw_term *out) {
    char *file = NULL, *column = NULL;
    bool more = false;
    SNW_TRY(call_read_text(p, &file));
    snw_skip_blanks(p);
    if (*p->p != ',') return snw_parser_fail(p, snw_parser_at(p), "%s", table_form);
    p->p++;
    SNW_TRY(call_read_column(p, &column, &more));
    if (more) {
        SNW_TRY(snw_parse_argument(p, out, &more));
        SNW_TRY(snw_want_value(p, out));
        if (more) return snw_parser_fail(p, snw_parser_at(p) - 1, "%s", table_form);
        out->at = at;
    } else {
        SNW_TRY(snw_parse_variable(p, SNW_OP_T, at, out));
    }
    // measured numbers are SI and plain, whatever the dimension of the argument
    out->q = snw_quantity_plain();
    if (!column) return SNW_OK;
    snw_spline *spline = NULL;
    SNW_TRY(load_table(p, at, file, column, &spline));
    SNW_TRY(snw_parser_spend(p));
    out->node = snw_expr_node_table(p->pool, spline, out->node);
    return out->node ? SNW_OK : snw_parser_no_memory(p);
}

// ---- other functions ---------------------------------------------------------------------------

// min and max of any number of arguments, as a chain of binary operations.
static snw_status parse_many(snw_parser *p, snw_op op, int at, snw_term *out) {
    bool more = false;
    SNW_TRY(snw_parse_argument(p, out, &more));
    SNW_TRY(snw_want_value(p, out));
    while (more) {
        snw_term next = {0};
        SNW_TRY(snw_parse_argument(p, &next, &more));
        SNW_TRY(snw_want_alike(p, out, &next, &out->q));
        SNW_TRY(snw_parser_make(p, at, op, out, &next, NULL, &out->node));
    }
    out->at = at;
    return SNW_OK;
}

// Node of f((t - a)/(b - a)).
static snw_status make_rise(snw_parser *p, snw_op op, int at, const snw_term arg[3],
                            snw_term *out) {
    const snw_expr_node *a = arg[1].node, *b = arg[2].node;
    if (snw_expr_node_is_constant(a) && snw_expr_node_is_constant(b) && !(a->value < b->value)) {
        return snw_parser_fail(p, arg[2].at, "this must be above the previous value, %g, got %g",
                               a->value, b->value);
    }
    snw_term from = {0}, span = {0};
    SNW_TRY(snw_parser_make(p, at, SNW_OP_SUB, &arg[0], &arg[1], NULL, &from.node));
    SNW_TRY(snw_parser_make(p, at, SNW_OP_SUB, &arg[2], &arg[1], NULL, &span.node));
    SNW_TRY(snw_parser_make(p, at, SNW_OP_DIV, &from, &span, NULL, &from.node));
    return snw_parser_make(p, at, op, &from, NULL, NULL, &out->node);
}

// Node of a call with one to three arguments; their number has been checked.
static snw_status make_call(snw_parser *p, const snw_function *f, int at, const snw_term *arg,
                            int n, snw_term *out) {
    const snw_op op = (snw_op)f->op;
    snw_quantity q = arg[0].q;
    *out = (snw_term){.q = snw_quantity_plain(), .at = at};
    switch (f->kind) {
    case SNW_FUNCTION_NUMBER:
        SNW_TRY(snw_want_number(p, &arg[0]));
        break;
    case SNW_FUNCTION_SIGN:
        SNW_TRY(snw_want_value(p, &arg[0]));
        break;
    case SNW_FUNCTION_KEEP:
        SNW_TRY(snw_want_value(p, &arg[0]));
        out->q = q;
        break;
    case SNW_FUNCTION_ROOT:
        SNW_TRY(snw_want_value(p, &arg[0]));
        out->q = snw_quantity_power(q, 0.5);
        break;
    case SNW_FUNCTION_ALIKE:
        SNW_TRY(snw_want_alike(p, &arg[0], &arg[1], &out->q));
        break;
    case SNW_FUNCTION_RATIO:
        SNW_TRY(snw_want_alike(p, &arg[0], &arg[1], &q));
        break;
    case SNW_FUNCTION_RISE: {
        snw_term both = arg[0];
        SNW_TRY(snw_want_alike(p, &arg[0], &arg[1], &both.q));
        SNW_TRY(snw_want_alike(p, &both, &arg[2], &q));
        return make_rise(p, op, at, arg, out);
    }
    case SNW_FUNCTION_IF:
        SNW_TRY(snw_want_condition(p, &arg[0]));
        if (arg[1].q.truth) {
            SNW_TRY(snw_want_condition(p, &arg[2]));
            out->q = arg[1].q;
        } else {
            SNW_TRY(snw_want_alike(p, &arg[1], &arg[2], &out->q));
        }
        break;
    case SNW_FUNCTION_LIMIT: {
        snw_term both = arg[0];
        SNW_TRY(snw_want_alike(p, &arg[0], &arg[1], &both.q));
        SNW_TRY(snw_want_alike(p, &both, &arg[2], &out->q));
        SNW_TRY(snw_parser_make(p, at, SNW_OP_MAX, &arg[0], &arg[1], NULL, &both.node));
        return snw_parser_make(p, at, SNW_OP_MIN, &both, &arg[2], NULL, &out->node);
    }
    case SNW_FUNCTION_MEMORY:
        return snw_make_memory(p, (snw_memory)f->op, at, arg, out);
    case SNW_FUNCTION_TABLE:
        SNW_ASSERT(false);
        break;
    }
    if (op == SNW_OP_STEP) {
        snw_term from = {0};
        SNW_TRY(snw_parser_make(p, at, SNW_OP_SUB, &arg[0], &arg[1], NULL, &from.node));
        return snw_parser_make(p, at, op, &from, NULL, NULL, &out->node);
    }
    return snw_parser_make(p, at, op, &arg[0], n > 1 ? &arg[1] : NULL, n > 2 ? &arg[2] : NULL,
                           &out->node);
}

snw_status snw_parse_call(snw_parser *p, const snw_function *f, int at, snw_term *out) {
    p->p++;
    if (f->kind == SNW_FUNCTION_TABLE) return parse_table(p, at, out);
    if (f->max_args == 0) return parse_many(p, (snw_op)f->op, at, out);
    snw_term arg[3] = {0};
    int n = 0;
    for (bool more = true; more;) {
        snw_term next = {0};
        SNW_TRY(snw_parse_argument(p, &next, &more));
        if (n < 3) arg[n] = next;
        n++;
    }
    if (n < f->min_args || n > f->max_args) {
        return snw_parser_fail(p, at, "%s takes %d argument%s, %s(%s), got %d", f->name,
                               f->max_args, f->max_args == 1 ? "" : "s", f->name, f->args, n);
    }
    return make_call(p, f, at, arg, n, out);
}
