// SPDX-License-Identifier: MIT
//
// expr_node.h: directed acyclic graph of an expression during parsing, and its compilation to a
// program.
//
// A node is created after its arguments and is immutable, so a parameter that is used twice is one
// node. Constant subexpressions are folded.
#pragma once

#include "base/source_location.h"
#include "math/expr_op.h"

enum { SNW_VAR_ARG = 8 }; // depends on a function argument without a value

typedef struct snw_expr_node {
    snw_op op;
    int vars;
    int degree;   // in t: 0 constant, 1 piecewise linear, 2 other
    int need;     // number of registers for its evaluation
    double value; // of a constant; exponent of a power; number of a signal
    const snw_spline *spline;
    struct snw_expr_node *arg[3];
    const snw_source_location *fault; // location of the operation whose result is not finite
    bool named; // constant that depends on a parameter: 1*p and t - p keep their operation whatever
                // the value of p, so that laws are alike for all of them
    int last, reg, mark; // scratch of snw_expr_node_program, zero outside it
} snw_expr_node;

// All return NULL only when out of memory.
snw_expr_node *snw_expr_node_constant(snw_pool *pool, double value);
snw_expr_node *snw_expr_node_variable(snw_pool *pool, snw_op op);
snw_expr_node *snw_expr_node_signal(snw_pool *pool, int slot);
snw_expr_node *snw_expr_node_table(snw_pool *pool, const snw_spline *spline, snw_expr_node *t);
snw_expr_node *snw_expr_node_make(snw_pool *pool, snw_op op, snw_expr_node *a, snw_expr_node *b,
                                  snw_expr_node *c);

static inline bool snw_expr_node_is_constant(const snw_expr_node *n) {
    return n->op == SNW_OP_CONST;
}

// A constant that is not finite, such as 1/0. It is an error only where the value is used, since it
// may be in a branch that is never selected. The creator of the node sets its fault.
static inline bool snw_expr_node_is_faulty(const snw_expr_node *n) {
    return n->op == SNW_OP_CONST && !isfinite(n->value);
}

// Check the size of the graph and that all constants in it are finite; and compile it to a program.
// `location` is used by messages about the whole expression.
SNW_NODISCARD snw_status snw_expr_node_check(snw_expr_node *root, snw_source_location location,
                                             snw_error *err);
SNW_NODISCARD snw_status snw_expr_node_program(snw_pool *pool, snw_expr_node *root,
                                               snw_source_location location, const snw_expr **out,
                                               snw_error *err);

// Fail with this text at a location.
snw_status snw_expr_fail(snw_error *err, snw_status s, snw_source_location location,
                         const char *text);
