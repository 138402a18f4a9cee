// SPDX-License-Identifier: MIT
//
// expr_node.h: an expression as a graph while it is parsed, and its way into a program.
//
// A node is made after its arguments and never changes its meaning, so a parameter used twice is
// one node used twice. What depends on nothing is computed at once.
#pragma once

#include "base/source_location.h"
#include "math/expr_op.h"

enum { SNW_VAR_ARG = 8 }; // depends on an argument that has no value yet

typedef struct snw_expr_node {
    snw_op op;
    int vars;
    int degree;   // in t: 0, 1 for piecewise linear, 2 for the rest
    int need;     // registers for computing it
    double value; // of a constant, or the exponent of a power
    const snw_spline *spline;
    struct snw_expr_node *arg[3];
    const snw_source_location *fault; // of a constant that is not finite: where that came from
    int last, reg, mark;              // scratch of snw_expr_node_program, zero outside it
} snw_expr_node;

// All return NULL only when memory is out.
snw_expr_node *snw_expr_node_constant(snw_pool *pool, double value);
snw_expr_node *snw_expr_node_variable(snw_pool *pool, snw_op op);
snw_expr_node *snw_expr_node_signal(snw_pool *pool, int slot);
snw_expr_node *snw_expr_node_table(snw_pool *pool, const snw_spline *spline, snw_expr_node *t);
snw_expr_node *snw_expr_node_make(snw_pool *pool, snw_op op, snw_expr_node *a, snw_expr_node *b,
                                  snw_expr_node *c);

static inline bool snw_expr_node_is_constant(const snw_expr_node *n) {
    return n->op == SNW_OP_CONST;
}

// 1/0 and the like. Not an error before it is known that the value is used: it may stand in a
// branch that is never taken. Whoever makes such a node says where, in its fault.
static inline bool snw_expr_node_is_faulty(const snw_expr_node *n) {
    return n->op == SNW_OP_CONST && !isfinite(n->value);
}

// Refuses what is too large and constants that are not finite; `place` is for the former.
SNW_NODISCARD snw_status snw_expr_node_check(snw_expr_node *root, snw_source_location location,
                                             snw_error *err);
SNW_NODISCARD snw_status snw_expr_node_program(snw_pool *pool, snw_expr_node *root,
                                               snw_source_location location, const snw_expr **out,
                                               snw_error *err);

// Raise a failure at a place.
snw_status snw_expr_fail(snw_error *err, snw_status s, snw_source_location location,
                         const char *text);
