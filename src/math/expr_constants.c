// SPDX-License-Identifier: MIT
//
// Numbers of compiled expressions, and derivatives of a value by all of them in one sweep back over
// its operations.
#include "math/expr_op.h"

#include <string.h>

// Does the result jump where the operands pass some value?
static bool op_jumps(snw_op op) {
    return (op >= SNW_OP_MOD && op <= SNW_OP_STEP) || (op >= SNW_OP_LT && op <= SNW_OP_NOT);
}

int snw_expr_constants(const snw_expr *e) {
    if (e->vars == 0) return 1;
    int n = 0;
    for (int i = 0; i < e->n; i++) n += e->line[i].op == SNW_OP_CONST;
    return n;
}

void snw_expr_read_constants(const snw_expr *e, double *out) {
    if (e->vars == 0) {
        *out = e->value;
        return;
    }
    for (int i = 0; i < e->n; i++) {
        if (e->line[i].op == SNW_OP_CONST) *out++ = e->line[i].imm;
    }
}

bool snw_expr_alike(const snw_expr *a, const snw_expr *b) {
    if (a->vars != b->vars) return false;
    if (a->vars == 0) return true;
    if (a->n != b->n || a->result != b->result) return false;
    bool decides[SNW_EXPR_REGISTERS] = {false}; // does the value of the register decide a jump?
    for (int i = a->n - 1; i >= 0; i--) {
        const snw_line *x = &a->line[i], *y = &b->line[i];
        const snw_op op = (snw_op)x->op;
        if (x->op != y->op || x->dst != y->dst || x->spline != y->spline ||
            memcmp(x->arg, y->arg, sizeof x->arg) != 0)
            return false;
        const bool fixed = decides[x->dst] || op != SNW_OP_CONST;
        if (fixed && memcmp(&x->imm, &y->imm, sizeof x->imm) != 0) return false;
        const bool on = decides[x->dst] || op_jumps(op);
        decides[x->dst] = false;
        for (int k = 0; k < snw_op_nargs(op); k++) {
            const bool condition = op == SNW_OP_IF && k == 0;
            if (on || condition) decides[x->arg[k]] = true;
        }
    }
    return true;
}

size_t snw_expr_slope_scratch(const snw_expr *e) { return e->vars == 0 ? 0 : 3 * (size_t)e->n; }

void snw_expr_add_slopes(const snw_expr *e, snw_at at, double weight, double *scratch,
                         double *bar) {
    if (e->vars == 0) {
        *bar += weight;
        return;
    }
    double r[SNW_EXPR_REGISTERS] = {at.t, at.x, at.L}, by[SNW_EXPR_REGISTERS] = {0};
    int constant = 0;
    for (int i = 0; i < e->n; i++) {
        const snw_line *l = &e->line[i];
        double *arg = scratch + 3 * (size_t)i;
        for (int k = 0; k < 3; k++) arg[k] = r[l->arg[k]];
        r[l->dst] = snw_line_value(l, at.signal, arg[0], arg[1], arg[2]);
        constant += l->op == SNW_OP_CONST;
    }
    by[e->result] = weight;
    for (int i = e->n - 1; i >= 0; i--) { // a register belongs to the lines after its own
        const snw_line *l = &e->line[i];
        const double *arg = scratch + 3 * (size_t)i, down = by[l->dst];
        by[l->dst] = 0;
        if (l->op == SNW_OP_CONST) bar[--constant] += down;
        const int n = l->op == SNW_OP_SIGNAL ? 0 : snw_op_nargs((snw_op)l->op);
        for (int k = 0; k < n && down != 0; k++) {
            const snw_jet a = {arg[0], k == 0, 0}, b = {arg[1], k == 1, 0}, c = {arg[2], k == 2, 0};
            by[l->arg[k]] += down * snw_line_jet(l, a, b, c).d;
        }
    }
}
