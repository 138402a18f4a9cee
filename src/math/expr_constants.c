// SPDX-License-Identifier: MIT
//
// Numbers of compiled expressions, and derivatives of a value by all of them in one sweep back over
// its operations.
#include "math/expr_op.h"

#include "math/jet.h"

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

size_t snw_expr_slope_scratch(const snw_expr *e) { return e->vars == 0 ? 0 : 9 * (size_t)e->n; }

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

// ---- with rates ---------------------------------------------------------------------------------

bool snw_expr_has_jet_slopes(const snw_expr *e) {
    for (int i = 0; i < e->n && e->vars != 0; i++) {
        const snw_line *l = &e->line[i];
        if (l->op == SNW_OP_SIGNAL || (l->op == SNW_OP_TABLE && l->arg[0] > 2)) return false;
    }
    return true;
}

static snw_jet number(double x) { return (snw_jet){x, 0, 0}; }

static snw_jet of(snw_op op, snw_jet a) {
    return snw_line_jet(&(snw_line){.op = (uint8_t)op}, a, a, a);
}

static snw_jet power_of(snw_jet a, snw_jet b) {
    return snw_line_jet(&(snw_line){.op = SNW_OP_POW}, a, b, a);
}

static snw_jet minus(snw_jet a, snw_jet b) { return snw_jet_add(a, snw_jet_scale(-1, b)); }

// Derivative of an operation of one operand as a function of time, with its two rates.
static snw_jet slope_of_one(const snw_line *l, snw_jet a) {
    const snw_jet one = number(1), square = snw_jet_mul(a, a);
    switch (l->op) {
    case SNW_OP_NEG:
        return number(-1);
    case SNW_OP_POWI:
    case SNW_OP_POWC: {
        const snw_line lower = {.op = l->op, .imm = l->imm - 1};
        return l->imm == 0 ? number(0) : snw_jet_scale(l->imm, snw_line_jet(&lower, a, a, a));
    }
    case SNW_OP_SIN:
        return of(SNW_OP_COS, a);
    case SNW_OP_COS:
        return snw_jet_scale(-1, of(SNW_OP_SIN, a));
    case SNW_OP_TAN: {
        const snw_jet t = of(SNW_OP_TAN, a);
        return snw_jet_add(one, snw_jet_mul(t, t));
    }
    case SNW_OP_ASIN:
    case SNW_OP_ACOS:
        return snw_jet_div(number(l->op == SNW_OP_ASIN ? 1 : -1),
                           of(SNW_OP_SQRT, minus(one, square)));
    case SNW_OP_ATAN:
        return snw_jet_div(one, snw_jet_add(one, square));
    case SNW_OP_SINH:
        return of(SNW_OP_COSH, a);
    case SNW_OP_COSH:
        return of(SNW_OP_SINH, a);
    case SNW_OP_TANH: {
        const snw_jet t = of(SNW_OP_TANH, a);
        return minus(one, snw_jet_mul(t, t));
    }
    case SNW_OP_EXP:
        return of(SNW_OP_EXP, a);
    case SNW_OP_LOG:
        return snw_jet_div(one, a);
    case SNW_OP_SQRT:
        return snw_jet_div(number(0.5), of(SNW_OP_SQRT, a));
    case SNW_OP_RAMP: { // 1 - cos(2 pi u)
        const double two_pi = 6.283185307179586477;
        if (a.v < 0 || a.v >= 1) return number(0);
        return minus(one, of(SNW_OP_COS, snw_jet_scale(two_pi, a)));
    }
    case SNW_OP_POLY5: {
        const snw_jet p = minus(a, square);
        return a.v < 0 || a.v >= 1 ? number(0) : snw_jet_scale(30, snw_jet_mul(p, p));
    }
    default: // piecewise linear: a constant
        return number(snw_line_jet(l, (snw_jet){a.v, 1, 0}, a, a).d);
    }
}

// Derivative of an operation by operand k, likewise.
static snw_jet slope_of_line(const snw_line *l, const snw_jet *arg, int k) {
    const snw_jet a = arg[0], b = arg[1];
    switch (l->op) {
    case SNW_OP_MUL:
        return k == 0 ? b : a;
    case SNW_OP_DIV:
        return k == 0 ? snw_jet_div(number(1), b)
                      : snw_jet_scale(-1, snw_jet_div(a, snw_jet_mul(b, b)));
    case SNW_OP_POW:
        return k == 0 ? snw_jet_mul(b, power_of(a, minus(b, number(1))))
                      : snw_jet_mul(of(SNW_OP_LOG, a), power_of(a, b));
    case SNW_OP_ATAN2: {
        const snw_jet rr = snw_jet_add(snw_jet_mul(a, a), snw_jet_mul(b, b));
        return k == 0 ? snw_jet_div(b, rr) : snw_jet_scale(-1, snw_jet_div(a, rr));
    }
    case SNW_OP_TABLE: // of t or x, which are no numbers of the law
        return number(0);
    default:
        break;
    }
    if (snw_op_nargs((snw_op)l->op) == 1) return slope_of_one(l, a);
    // sums, the smaller and larger of two, choices: the coefficients are constant
    const snw_jet at[3] = {{a.v, k == 0, 0}, {b.v, k == 1, 0}, {arg[2].v, k == 2, 0}};
    return number(snw_line_jet(l, at[0], at[1], at[2]).d);
}

void snw_expr_add_jet_slopes(const snw_expr *e, snw_at at, const double *weight, double *scratch,
                             double *bar) {
    if (e->vars == 0) {
        *bar += weight[0];
        return;
    }
    snw_jet r[SNW_EXPR_REGISTERS] = {{at.t, 1, 0}, {at.x, 0, 0}, {at.L, 0, 0}};
    snw_jet by[SNW_EXPR_REGISTERS] = {{0}};
    snw_jet *kept = (snw_jet *)(void *)scratch; // operands of each line
    int constant = 0;
    for (int i = 0; i < e->n; i++) {
        const snw_line *l = &e->line[i];
        snw_jet *arg = kept + 3 * (size_t)i;
        for (int k = 0; k < 3; k++) arg[k] = r[l->arg[k]];
        r[l->dst] =
            l->op == SNW_OP_CONST ? number(l->imm) : snw_line_jet(l, arg[0], arg[1], arg[2]);
        constant += l->op == SNW_OP_CONST;
    }
    by[e->result] = number(1);
    for (int i = e->n - 1; i >= 0; i--) { // derivatives by registers, as functions of time
        const snw_line *l = &e->line[i];
        const snw_jet *arg = kept + 3 * (size_t)i, down = by[l->dst];
        by[l->dst] = number(0);
        if (l->op == SNW_OP_CONST)
            bar[--constant] += weight[0] * down.v + weight[1] * down.d + weight[2] * down.dd;
        if (down.v == 0 && down.d == 0 && down.dd == 0) continue;
        for (int k = 0; k < snw_op_nargs((snw_op)l->op); k++)
            by[l->arg[k]] = snw_jet_add(by[l->arg[k]], snw_jet_mul(down, slope_of_line(l, arg, k)));
    }
}
