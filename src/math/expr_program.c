// SPDX-License-Identifier: MIT
//
// Compilation of the graph of an expression to a sequence of operations: topological order of the
// nodes and allocation of registers.
#include "math/expr_node.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <stdio.h>
#include <string.h>

enum {
    FIRST_FREE = 3,       // registers 0, 1, 2 hold t, x, L
    INITIAL_CAPACITY = 64 // nodes; most laws are short, and a model may have many
};

// Nodes in topological order: arguments before their users.
typedef struct node_order {
    snw_expr_node **order, **stack;
    int n, depth, capacity; // sizes of order and of stack, capacity of both
} node_order;

static int variable_register(snw_op op) {
    return op == SNW_OP_T ? 0 : op == SNW_OP_X ? 1 : op == SNW_OP_L ? 2 : -1;
}

// Of the arguments not in the order yet, the one that needs most registers; NULL when there is
// none.
static snw_expr_node *next_argument(const snw_expr_node *n) {
    snw_expr_node *next = NULL;
    for (int i = 0; i < snw_op_nargs(n->op); i++) {
        snw_expr_node *a = n->arg[i];
        if (!a->mark && (!next || a->need > next->need)) next = a;
    }
    return next;
}

static snw_status too_large(snw_source_location location, snw_error *err) {
    char text[128];
    (void)snprintf(text, sizeof text, "this needs more than %d operations, make it simpler",
                   SNW_EXPR_OPS_MAX);
    return snw_expr_fail(err, SNW_E_PARSE, location, text);
}

// ensure capacity for one more node in both lists
static snw_status ensure_capacity(node_order *u, snw_source_location location, snw_error *err) {
    if (u->n < u->capacity && u->depth < u->capacity) return SNW_OK;
    if (u->capacity == SNW_EXPR_OPS_MAX) return too_large(location, err);
    const int capacity = u->capacity == 0                     ? INITIAL_CAPACITY
                         : 4 * u->capacity < SNW_EXPR_OPS_MAX ? 4 * u->capacity
                                                              : SNW_EXPR_OPS_MAX;
    snw_expr_node ***const list[] = {&u->order, &u->stack};
    const int used[] = {u->n, u->depth};
    for (int i = 0; i < 2; i++) {
        snw_expr_node **larger = snw_alloc((size_t)capacity * sizeof *larger);
        if (!larger) return snw_fail_memory(err);
        if (used[i]) memcpy(larger, *list[i], (size_t)used[i] * sizeof *larger);
        snw_free(*list[i]);
        *list[i] = larger;
    }
    u->capacity = capacity;
    return SNW_OK;
}

// Depth-first traversal without recursion: a sum of ten thousand terms is ten thousand nodes deep.
static snw_status sort_nodes(node_order *u, snw_expr_node *root, snw_source_location location,
                             snw_error *err) {
    SNW_TRY(ensure_capacity(u, location, err));
    u->stack[u->depth++] = root;
    while (u->depth > 0) {
        snw_expr_node *n = u->stack[u->depth - 1];
        if (snw_expr_node_is_faulty(n)) {
            return snw_expr_fail(err, SNW_E_PARSE, n->fault ? *n->fault : location,
                                 "the result of this is not a finite number");
        }
        snw_expr_node *next = next_argument(n);
        if (next) {
            SNW_TRY(ensure_capacity(u, location, err));
            u->stack[u->depth++] = next;
            continue;
        }
        u->depth--;
        if (n->mark) continue;
        SNW_TRY(ensure_capacity(u, location, err));
        n->mark = 1;
        u->order[u->n++] = n;
    }
    return SNW_OK;
}

static snw_status node_order_create(node_order *u, snw_expr_node *root,
                                    snw_source_location location, snw_error *err) {
    *u = (node_order){0};
    return sort_nodes(u, root, location, err);
}

static void node_order_destroy(node_order *u) {
    for (int i = 0; i < u->n; i++) u->order[i]->mark = u->order[i]->last = u->order[i]->reg = 0;
    snw_free(u->order);
    snw_free(u->stack);
}

snw_status snw_expr_node_check(snw_expr_node *root, snw_source_location location, snw_error *err) {
    node_order u;
    const snw_status s = node_order_create(&u, root, location, err);
    node_order_destroy(&u);
    return s;
}

// ---- registers and lines -----------------------------------------------------------------------

// Register allocation: a register is free again after the last line that reads it.
typedef struct registers {
    uint16_t free[SNW_EXPR_REGISTERS];
    int nfree, fresh;
} registers;

static int take_register(registers *r) {
    if (r->nfree > 0) return r->free[--r->nfree];
    return r->fresh < SNW_EXPR_REGISTERS ? r->fresh++ : -1;
}

// Operations whose result or one of its first two derivatives may jump for a smooth argument.
static bool can_switch(snw_op op) {
    return (op >= SNW_OP_ABS && op <= SNW_OP_LINEAR) || op == SNW_OP_HAT ||
           (op >= SNW_OP_LT && op <= SNW_OP_NE) || op == SNW_OP_TABLE;
}

static void write_line(snw_expr_node *n, snw_line *l) {
    const int of_place = SNW_VAR_X | SNW_VAR_L;
    *l = (snw_line){.op = (uint8_t)n->op,
                    .vars = (uint8_t)n->vars,
                    .switches = can_switch(n->op) && n->vars == SNW_VAR_T,
                    .switches_x = can_switch(n->op) && (n->vars | SNW_VAR_L) == of_place,
                    .dst = (uint16_t)n->reg,
                    .imm = n->value,
                    .spline = n->spline};
    for (int i = 0; i < snw_op_nargs(n->op); i++) l->arg[i] = (uint16_t)n->arg[i]->reg;
}

static bool curved_switch(const snw_expr_node *n) {
    if (!can_switch(n->op) || n->vars != SNW_VAR_T) return false;
    for (int i = 0; i < snw_op_nargs(n->op); i++) {
        if (n->arg[i]->degree > 1) return true;
    }
    // mod with a time-dependent divisor
    return n->op == SNW_OP_MOD && n->degree > 1;
}

static snw_status program_assemble(const node_order *u, snw_source_location location, snw_expr *e,
                                   snw_error *err) {
    for (int i = 0; i < u->n; i++) {
        snw_expr_node *n = u->order[i];
        for (int k = 0; k < snw_op_nargs(n->op); k++) n->arg[k]->last = i;
    }
    registers regs = {.fresh = FIRST_FREE};
    for (int i = 0; i < u->n; i++) {
        snw_expr_node *n = u->order[i];
        SNW_ASSERT(n->op != SNW_OP_ARG);
        n->reg = variable_register(n->op);
        if (n->reg >= 0) continue;
        // registers of operands that are read here for the last time become free
        for (int k = 0; k < snw_op_nargs(n->op); k++) {
            snw_expr_node *a = n->arg[k];
            if (a->last != i || a->reg < FIRST_FREE) continue;
            regs.free[regs.nfree++] = (uint16_t)a->reg;
            a->last = -1; // only once, even if both operands are this node
        }
        n->reg = take_register(&regs);
        if (n->reg < 0) {
            return snw_expr_fail(err, SNW_E_PARSE, location,
                                 "this needs too many values at once, make it simpler");
        }
        snw_line *l = &e->line[e->n++];
        write_line(n, l);
        e->switched = e->switched || l->switches;
        e->curved = e->curved || curved_switch(n);
    }
    return SNW_OK;
}

snw_status snw_expr_node_program(snw_pool *pool, snw_expr_node *root, snw_source_location location,
                                 const snw_expr **out, snw_error *err) {
    node_order u;
    snw_expr *e = NULL;
    snw_status s = node_order_create(&u, root, location, err);
    if (s != SNW_OK) goto done;
    e = snw_pool_take(pool, sizeof *e + (size_t)u.n * sizeof(snw_line));
    if (!e) {
        s = snw_fail(err, SNW_E_MEMORY, "no memory for an expression of %d operations", u.n);
        goto done;
    }
    e->vars = root->vars;
    e->value = root->value;
    s = program_assemble(&u, location, e, err);
    if (s != SNW_OK) goto done;
    e->result = root->reg;
    *out = e;
done:
    node_order_destroy(&u);
    return s;
}

const snw_expr *snw_expr_constant(snw_pool *pool, double value) {
    snw_expr *e = snw_pool_take(pool, sizeof *e);
    if (e) e->value = value;
    return e;
}

const snw_expr *snw_expr_signal(snw_pool *pool, int slot) {
    snw_expr *e = snw_pool_take(pool, sizeof *e + sizeof(snw_line));
    if (!e) return NULL;
    e->vars = SNW_VAR_SIGNAL;
    e->n = 1;
    e->result = FIRST_FREE;
    e->line[0] =
        (snw_line){.op = SNW_OP_SIGNAL, .vars = SNW_VAR_SIGNAL, .dst = FIRST_FREE, .imm = slot};
    return e;
}

const snw_expr *snw_expr_both(snw_pool *pool, int a, int b) {
    const int slot[2] = {a, b};
    snw_expr *e = snw_pool_take(pool, sizeof *e + 3 * sizeof(snw_line));
    if (!e) return NULL;
    e->vars = SNW_VAR_SIGNAL;
    e->n = 3;
    e->result = FIRST_FREE;
    for (int i = 0; i < 2; i++) {
        e->line[i] = (snw_line){.op = SNW_OP_SIGNAL,
                                .vars = SNW_VAR_SIGNAL,
                                .dst = (uint16_t)(FIRST_FREE + i),
                                .imm = slot[i]};
    }
    e->line[2] = (snw_line){.op = SNW_OP_AND,
                            .vars = SNW_VAR_SIGNAL,
                            .dst = FIRST_FREE,
                            .arg = {FIRST_FREE, FIRST_FREE + 1}};
    return e;
}
