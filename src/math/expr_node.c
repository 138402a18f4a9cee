// SPDX-License-Identifier: MIT
//
// Nodes of the graph of an expression, with constant folding and the properties that compilation
// needs: variables, degree in time, number of registers.
#include "math/expr_node.h"

#include "base/fail.h"

#include <stdio.h>

snw_status snw_expr_fail(snw_error *err, snw_status s, snw_source_location location,
                         const char *text) {
    if (err) {
        (void)snprintf(err->file, sizeof err->file, "%s", location.file ? location.file : "");
        err->line = location.line;
        err->column = location.column;
    }
    return snw_fail(err, s, "%s", text);
}

snw_expr_node *snw_expr_node_constant(snw_pool *pool, double value) {
    snw_expr_node *n = snw_pool_take(pool, sizeof *n);
    if (!n) return NULL;
    n->op = SNW_OP_CONST;
    n->value = value;
    n->need = 1;
    return n;
}

snw_expr_node *snw_expr_node_variable(snw_pool *pool, snw_op op) {
    snw_expr_node *n = snw_pool_take(pool, sizeof *n);
    if (!n) return NULL;
    n->op = op;
    n->vars = op == SNW_OP_T   ? SNW_VAR_T
              : op == SNW_OP_X ? SNW_VAR_X
              : op == SNW_OP_L ? SNW_VAR_L
                               : SNW_VAR_ARG;
    n->degree = op == SNW_OP_T;
    return n;
}

snw_expr_node *snw_expr_node_signal(snw_pool *pool, int slot) {
    snw_expr_node *n = snw_pool_take(pool, sizeof *n);
    if (!n) return NULL;
    n->op = SNW_OP_SIGNAL;
    n->vars = SNW_VAR_SIGNAL;
    n->degree = 2; // unknown function of time
    n->value = slot;
    n->need = 1;
    return n;
}

// Degree in t of the result, from those of the arguments. 1 means piecewise linear, with pieces
// that end where a line of the program switches.
static int degree(snw_op op, const snw_expr_node *a, const snw_expr_node *b,
                  const snw_expr_node *c) {
    const int da = a ? a->degree : 0, db = b ? b->degree : 0, dc = c ? c->degree : 0;
    const int most = da > db ? (da > dc ? da : dc) : (db > dc ? db : dc);
    if (most == 0) return 0;
    switch (op) {
    case SNW_OP_MUL:
        return da && db ? 2 : most;
    case SNW_OP_DIV:
    case SNW_OP_MOD:
        return db ? 2 : da;
    case SNW_OP_NEG:
    case SNW_OP_ADD:
    case SNW_OP_SUB:
    case SNW_OP_ABS:
    case SNW_OP_MIN:
    case SNW_OP_MAX:
    case SNW_OP_FLOOR:
    case SNW_OP_CEIL:
    case SNW_OP_SIGN:
    case SNW_OP_STEP:
    case SNW_OP_LINEAR:
    case SNW_OP_HAT:
    case SNW_OP_LT:
    case SNW_OP_LE:
    case SNW_OP_GT:
    case SNW_OP_GE:
    case SNW_OP_EQ:
    case SNW_OP_NE:
    case SNW_OP_AND:
    case SNW_OP_OR:
    case SNW_OP_NOT:
    case SNW_OP_IF:
        return most;
    case SNW_OP_CONST:
    case SNW_OP_T:
    case SNW_OP_X:
    case SNW_OP_L:
    case SNW_OP_SIGNAL:
    case SNW_OP_ARG:
    case SNW_OP_POW:
    case SNW_OP_POWI:
    case SNW_OP_POWC:
    case SNW_OP_SIN:
    case SNW_OP_COS:
    case SNW_OP_TAN:
    case SNW_OP_ASIN:
    case SNW_OP_ACOS:
    case SNW_OP_ATAN:
    case SNW_OP_ATAN2:
    case SNW_OP_SINH:
    case SNW_OP_COSH:
    case SNW_OP_TANH:
    case SNW_OP_EXP:
    case SNW_OP_LOG:
    case SNW_OP_SQRT:
    case SNW_OP_RAMP:
    case SNW_OP_POLY5:
    case SNW_OP_TABLE:
        break;
    }
    return 2;
}

// Number of registers if the argument that needs most of them is computed first.
static int registers(snw_expr_node *const arg[3], int nargs) {
    int need[3] = {0};
    for (int i = 0; i < nargs; i++) need[i] = arg[i]->need;
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            if (need[j] >= need[j + 1]) continue;
            const int t = need[j];
            need[j] = need[j + 1];
            need[j + 1] = t;
        }
    }
    int most = 1;
    for (int i = 0; i < 3; i++) {
        if (need[i] > 0 && need[i] + i > most) most = need[i] + i;
    }
    return most;
}

static bool is_value(const snw_expr_node *n, double value) {
    return n && n->op == SNW_OP_CONST && n->value == value && !n->named;
}

// The argument to which the operation reduces (t - 0, 1*t, `if` of a constant condition); NULL when
// it does not.
static snw_expr_node *simplify(snw_op op, snw_expr_node *a, snw_expr_node *b, snw_expr_node *c) {
    if (op == SNW_OP_IF && snw_expr_node_is_constant(a) && !snw_expr_node_is_faulty(a))
        return a->value != 0 ? b : c;
    if (op == SNW_OP_ADD && is_value(a, 0)) return b;
    if ((op == SNW_OP_ADD || op == SNW_OP_SUB) && is_value(b, 0)) return a;
    if (op == SNW_OP_MUL && is_value(a, 1)) return b;
    if ((op == SNW_OP_MUL || op == SNW_OP_DIV) && is_value(b, 1)) return a;
    return NULL;
}

// Constant result of constant arguments; NaN with the location of the fault if one is faulty.
static snw_expr_node *fold_constants(snw_pool *pool, snw_op op, double imm,
                                     snw_expr_node *const arg[3]) {
    double v[3] = {0};
    const snw_expr_node *faulty = NULL;
    bool named = false;
    for (int i = 0; i < snw_op_nargs(op); i++) {
        v[i] = arg[i]->value;
        named = named || arg[i]->named;
        if (!faulty && snw_expr_node_is_faulty(arg[i])) faulty = arg[i];
    }
    snw_expr_node *n =
        snw_expr_node_constant(pool, faulty ? NAN : snw_op_value(op, imm, NULL, v[0], v[1], v[2]));
    if (n && faulty) n->fault = faulty->fault;
    if (n) n->named = named;
    return n;
}

snw_expr_node *snw_expr_node_make(snw_pool *pool, snw_op op, snw_expr_node *a, snw_expr_node *b,
                                  snw_expr_node *c) {
    snw_expr_node *same = simplify(op, a, b, c);
    if (same) return same;
    // powers with a constant exponent have operations of their own
    double imm = 0;
    if (op == SNW_OP_POW && snw_expr_node_is_constant(b) && !snw_expr_node_is_faulty(b)) {
        imm = b->value;
        op = imm == floor(imm) ? SNW_OP_POWI : SNW_OP_POWC;
        b = NULL;
        if (imm == 1) return a;
    }
    snw_expr_node *arg[3] = {a, b, c};
    const int nargs = snw_op_nargs(op);
    bool constant = true;
    int vars = 0;
    for (int i = 0; i < nargs; i++) {
        constant = constant && snw_expr_node_is_constant(arg[i]);
        vars |= arg[i]->vars;
    }
    if (constant) return fold_constants(pool, op, imm, arg);
    snw_expr_node *n = snw_pool_take(pool, sizeof *n);
    if (!n) return NULL;
    n->op = op;
    n->vars = vars;
    n->value = imm;
    n->degree = degree(op, a, b, c);
    n->need = registers(arg, nargs);
    for (int i = 0; i < nargs; i++) n->arg[i] = arg[i];
    return n;
}

snw_expr_node *snw_expr_node_table(snw_pool *pool, const snw_spline *spline, snw_expr_node *t) {
    if (snw_expr_node_is_constant(t)) {
        return snw_expr_node_is_faulty(t)
                   ? t
                   : snw_expr_node_constant(pool, snw_spline_value(spline, t->value));
    }
    snw_expr_node *n = snw_expr_node_make(pool, SNW_OP_TABLE, t, NULL, NULL);
    if (n) n->spline = spline;
    return n;
}

snw_status snw_expr_steps(snw_pool *pool, int n, const double *at, const double *value,
                          const snw_expr **out, snw_error *err) {
    snw_expr_node *x = snw_expr_node_variable(pool, SNW_OP_X);
    snw_expr_node *law = snw_expr_node_constant(pool, value[n]);
    for (int i = n - 1; x && law && i >= 0; i--) {
        snw_expr_node *place = snw_expr_node_constant(pool, at[i]);
        snw_expr_node *here = snw_expr_node_constant(pool, value[i]);
        snw_expr_node *before =
            place && here ? snw_expr_node_make(pool, SNW_OP_LT, x, place, NULL) : NULL;
        law = before ? snw_expr_node_make(pool, SNW_OP_IF, before, here, law) : NULL;
    }
    if (!x || !law) return snw_fail_memory(err);
    return snw_expr_node_program(pool, law, (snw_source_location){0}, out, err);
}
