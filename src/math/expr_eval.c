// SPDX-License-Identifier: MIT
//
// Evaluation of compiled expressions: values, and first and second derivatives in one variable by
// forward differentiation.
#include "math/expr_op.h"

#include "math/jet.h"

#include <string.h>

double snw_expr_value(const snw_expr *e, snw_at at) {
    if (e->vars == 0) return e->value;
    double r[SNW_EXPR_REGISTERS];
    r[0] = at.t;
    r[1] = at.x;
    r[2] = at.L;
    for (const snw_line *l = e->line, *end = l + e->n; l < end; l++) {
        r[l->dst] = snw_line_value(l, at.signal, r[l->arg[0]], r[l->arg[1]], r[l->arg[2]]);
    }
    return r[e->result];
}

// ---- margins of conditions ---------------------------------------------------------------------

static bool is_order(snw_op op) {
    return op == SNW_OP_LT || op == SNW_OP_LE || op == SNW_OP_GT || op == SNW_OP_GE;
}

int snw_expr_margins(const snw_expr *e, snw_at at, double *out, int max) {
    if (!(e->vars & SNW_VAR_SIGNAL)) return 0;
    double r[SNW_EXPR_REGISTERS];
    int n = 0;
    r[0] = at.t;
    r[1] = at.x;
    r[2] = at.L;
    for (const snw_line *l = e->line, *end = l + e->n; l < end; l++) {
        if (is_order((snw_op)l->op) && (l->vars & SNW_VAR_SIGNAL)) {
            if (n < max) out[n] = r[l->arg[0]] - r[l->arg[1]];
            n++;
        }
        r[l->dst] = snw_line_value(l, at.signal, r[l->arg[0]], r[l->arg[1]], r[l->arg[2]]);
    }
    return n;
}

// Does the operation jump where its operands are continuous?
static bool op_jumps(snw_op op) {
    return op == SNW_OP_MOD || op == SNW_OP_FLOOR || op == SNW_OP_CEIL || op == SNW_OP_SIGN ||
           op == SNW_OP_STEP || op == SNW_OP_IF;
}

bool snw_expr_margins_jump(const snw_expr *e) {
    bool jumps[SNW_EXPR_REGISTERS] = {false};
    bool found = false;
    for (const snw_line *l = e->line, *end = l + e->n; l < end; l++) {
        const snw_op op = (snw_op)l->op;
        const bool reads = (l->vars & SNW_VAR_SIGNAL) != 0, order = is_order(op);
        const bool equality = op == SNW_OP_EQ || op == SNW_OP_NE;
        bool sides = false;
        for (int i = 0; i < snw_op_nargs(op); i++) sides = sides || jumps[l->arg[i]];
        found = found || (reads && (equality || (order && sides)));
        jumps[l->dst] = reads && (sides || order || equality || op_jumps(op));
    }
    return found;
}

// ---- derivatives -------------------------------------------------------------------------------

// f(a) with f' = f1, f'' = f2. The derivative for a constant argument is zero, even if f1 is
// infinite.
static inline snw_jet chain(snw_jet a, double f, double f1, double f2) {
    const double d2 = a.d == 0 ? 0 : f2 * a.d * a.d;
    return (snw_jet){f, a.d == 0 ? 0 : f1 * a.d, a.dd == 0 ? d2 : d2 + f1 * a.dd};
}

// a^n with integer n. A derivative with coefficient zero is zero, even if its power is infinite.
static snw_jet powi(snw_jet a, double n) {
    const double f1 = n == 0 ? 0 : n * snw_powi(a.v, n - 1);
    const double f2 = n == 0 || n == 1 ? 0 : n * (n - 1) * snw_powi(a.v, n - 2);
    return chain(a, snw_powi(a.v, n), f1, f2);
}

// a^b = exp(b log a); for a = 0 the limit, if b > 2.
static snw_jet power(snw_jet a, snw_jet b) {
    const double f = pow(a.v, b.v);
    if (b.d == 0 && b.dd == 0) {
        return chain(a, f, b.v * pow(a.v, b.v - 1), b.v * (b.v - 1) * pow(a.v, b.v - 2));
    }
    if (a.v == 0 && b.v > 2) return (snw_jet){f, 0, 0};
    const snw_jet e = snw_jet_mul(b, chain(a, log(a.v), 1 / a.v, -1 / (a.v * a.v)));
    return chain(e, f, f, f);
}

static snw_jet atan2_(snw_jet y, snw_jet x) {
    const double rr = x.v * x.v + y.v * y.v;
    snw_jet r = {.v = atan2(y.v, x.v)};
    const double turn = x.v * y.d - y.v * x.d; // rr times the derivative
    r.d = turn / rr;
    r.dd = (x.v * y.dd - y.v * x.dd) / rr - 2 * r.d * (x.v * x.d + y.v * y.d) / rr;
    return r;
}

// a - q b with a constant integer q
static snw_jet mod(snw_jet a, snw_jet b) {
    const double r = snw_mod(a.v, b.v), q = nearbyint((a.v - r) / b.v);
    return (snw_jet){r, b.d == 0 ? a.d : a.d - q * b.d, b.dd == 0 ? a.dd : a.dd - q * b.dd};
}

// linear, ramp, poly5 and hat of u = (t - a)/(b - a); constant for u < 0 and u >= 1.
static snw_jet eval_transition(snw_op op, snw_jet u) {
    const double f = snw_op_value(op, 0, NULL, u.v, 0, 0), two_pi = 6.283185307179586477;
    const double w = u.v;
    if (w < 0 || w >= 1) return (snw_jet){f, 0, 0};
    if (op == SNW_OP_LINEAR) return chain(u, f, 1, 0);
    if (op == SNW_OP_HAT) return chain(u, f, w < 0.5 ? 2 : -2, 0);
    if (op == SNW_OP_POLY5) {
        const double p = w * (1 - w);
        return chain(u, f, 30 * p * p, 60 * p * (1 - 2 * w));
    }
    const double s = sin(0.5 * two_pi * w);
    return chain(u, f, 2 * s * s, two_pi * sin(two_pi * w));
}

snw_jet snw_line_jet(const snw_line *l, snw_jet a, snw_jet b, snw_jet c) {
    const snw_op op = (snw_op)l->op;
    if (op == SNW_OP_TABLE) {
        const snw_jet s = snw_spline_jet(l->spline, a.v);
        return chain(a, s.v, s.d, s.dd);
    }
    if (op == SNW_OP_IF) return a.v != 0 ? b : c;
    const double f = snw_op_value(op, l->imm, NULL, a.v, b.v, c.v), v = a.v;
    switch (op) {
    case SNW_OP_NEG:
        return (snw_jet){-a.v, -a.d, -a.dd};
    case SNW_OP_ADD:
        return (snw_jet){f, a.d + b.d, a.dd + b.dd};
    case SNW_OP_SUB:
        return (snw_jet){f, a.d - b.d, a.dd - b.dd};
    case SNW_OP_MUL:
        return snw_jet_mul(a, b);
    case SNW_OP_DIV:
        return snw_jet_div(a, b);
    case SNW_OP_POW:
        return power(a, b);
    case SNW_OP_POWI:
        return powi(a, l->imm);
    case SNW_OP_POWC: {
        const double p = l->imm;
        return chain(a, f, p * pow(v, p - 1), p * (p - 1) * pow(v, p - 2));
    }
    case SNW_OP_SIN:
        return chain(a, f, cos(v), -f);
    case SNW_OP_COS:
        return chain(a, f, -sin(v), -f);
    case SNW_OP_TAN:
        return chain(a, f, 1 + f * f, 2 * f * (1 + f * f));
    case SNW_OP_ASIN: {
        const double w = (1 - v) * (1 + v), s = sqrt(w);
        return chain(a, f, 1 / s, v / (w * s));
    }
    case SNW_OP_ACOS: {
        const double w = (1 - v) * (1 + v), s = sqrt(w);
        return chain(a, f, -1 / s, -v / (w * s));
    }
    case SNW_OP_ATAN: {
        const double w = 1 / (1 + v * v);
        return chain(a, f, w, -2 * v * w * w);
    }
    case SNW_OP_ATAN2:
        return atan2_(a, b);
    case SNW_OP_SINH:
        return chain(a, f, cosh(v), f);
    case SNW_OP_COSH:
        return chain(a, f, sinh(v), f);
    case SNW_OP_TANH: {
        const double s = 1 / cosh(v);
        return chain(a, f, s * s, -2 * f * s * s);
    }
    case SNW_OP_EXP:
        return chain(a, f, f, f);
    case SNW_OP_LOG:
        return chain(a, f, 1 / v, -1 / (v * v));
    case SNW_OP_SQRT:
        return chain(a, f, 0.5 / f, -0.25 / (f * v));
    case SNW_OP_ABS:
        return v >= 0 ? a : (snw_jet){f, -a.d, -a.dd};
    case SNW_OP_MIN:
        return a.v <= b.v ? a : b.v < a.v ? b : (snw_jet){f, f, f};
    case SNW_OP_MAX:
        return a.v >= b.v ? a : b.v > a.v ? b : (snw_jet){f, f, f};
    case SNW_OP_MOD:
        return mod(a, b);
    case SNW_OP_LINEAR:
    case SNW_OP_RAMP:
    case SNW_OP_POLY5:
    case SNW_OP_HAT:
        return eval_transition(op, a);
    // the derivative of steps and truth values is zero; the others were handled above
    case SNW_OP_FLOOR:
    case SNW_OP_CEIL:
    case SNW_OP_SIGN:
    case SNW_OP_STEP:
    case SNW_OP_LT:
    case SNW_OP_LE:
    case SNW_OP_GT:
    case SNW_OP_GE:
    case SNW_OP_EQ:
    case SNW_OP_NE:
    case SNW_OP_AND:
    case SNW_OP_OR:
    case SNW_OP_NOT:
    case SNW_OP_CONST:
    case SNW_OP_T:
    case SNW_OP_X:
    case SNW_OP_L:
    case SNW_OP_SIGNAL:
    case SNW_OP_ARG:
    case SNW_OP_IF:
    case SNW_OP_TABLE:
        break;
    }
    return (snw_jet){f, 0, 0};
}

// Margins of comparisons, at most `max`; their number.
typedef struct margins {
    snw_jet *out;
    int n, max;
} margins;

// Direction in which an expression is differentiated: the variables that vary, and the rates of t,
// of x, and of the signals: of `slot` and slot + 1, or of all of them in `signals`.
typedef struct direction {
    int vars;
    double t, x;
    int slot;
    double signal[2];
    const double *signals;
} direction;

static const direction along_t = {.vars = SNW_VAR_T, .t = 1, .slot = -2},
                       along_x = {.vars = SNW_VAR_X, .x = 1, .slot = -2};

static direction along_signal(int slot) {
    return (direction){.vars = SNW_VAR_SIGNAL, .slot = slot, .signal = {1, 0}};
}

// value and derivatives along a direction; those of the margins (NULL: not wanted)
static snw_jet evaluate_lines(const snw_expr *e, snw_at at, const direction *d, margins *found) {
    snw_jet r[SNW_EXPR_REGISTERS];
    r[0] = (snw_jet){at.t, d->t, 0};
    r[1] = (snw_jet){at.x, d->x, 0};
    r[2] = (snw_jet){at.L, 0, 0};
    for (const snw_line *l = e->line, *end = l + e->n; l < end; l++) {
        if (found && is_order((snw_op)l->op) && found->n++ < found->max) {
            const snw_jet a = r[l->arg[0]], b = r[l->arg[1]];
            found->out[found->n - 1] = (snw_jet){a.v - b.v, a.d - b.d, a.dd - b.dd};
        }
        if (l->op == SNW_OP_SIGNAL) {
            const int k = (int)l->imm - d->slot;
            const double rate = d->signals         ? d->signals[(int)l->imm]
                                : k == 0 || k == 1 ? d->signal[k]
                                                   : 0;
            r[l->dst] = (snw_jet){at.signal[(int)l->imm], rate, 0};
        } else if (l->vars & d->vars) {
            r[l->dst] = snw_line_jet(l, r[l->arg[0]], r[l->arg[1]], r[l->arg[2]]);
        } else {
            const double v =
                snw_line_value(l, at.signal, r[l->arg[0]].v, r[l->arg[1]].v, r[l->arg[2]].v);
            r[l->dst] = (snw_jet){v, 0, 0};
        }
    }
    return r[e->result];
}

static snw_jet evaluate_jet(const snw_expr *e, snw_at at, const direction *d) {
    if ((e->vars & d->vars) == 0) return (snw_jet){snw_expr_value(e, at), 0, 0};
    return evaluate_lines(e, at, d, NULL);
}

int snw_expr_margin_jets(const snw_expr *e, snw_at at, int slot, snw_jet *out, int max) {
    margins found = {.out = out, .max = max};
    const direction d = slot < 0 ? along_t : along_signal(slot);
    if (e->vars) (void)evaluate_lines(e, at, &d, &found);
    return found.n;
}

snw_jet snw_expr_jet_t(const snw_expr *e, snw_at at) { return evaluate_jet(e, at, &along_t); }

snw_jet snw_expr_jet_x(const snw_expr *e, snw_at at) { return evaluate_jet(e, at, &along_x); }

snw_jet snw_expr_jet_signal(const snw_expr *e, snw_at at, int slot) {
    const direction d = along_signal(slot);
    return evaluate_jet(e, at, &d);
}

snw_jet snw_expr_jet_along(const snw_expr *e, snw_at at, int slot, const double u[3]) {
    const direction d = {
        .vars = SNW_VAR_X | SNW_VAR_SIGNAL, .x = u[0], .slot = slot, .signal = {u[1], u[2]}};
    return evaluate_jet(e, at, &d);
}

snw_jet snw_expr_jet_signals(const snw_expr *e, snw_at at, const double *u) {
    const direction d = {.vars = SNW_VAR_SIGNAL, .signals = u};
    return evaluate_jet(e, at, &d);
}

bool snw_expr_reads(const snw_expr *e, int slot) {
    if (!(e->vars & SNW_VAR_SIGNAL)) return false;
    for (int i = 0; i < e->n; i++) {
        if (e->line[i].op == SNW_OP_SIGNAL && (int)e->line[i].imm == slot) return true;
    }
    return false;
}

int snw_expr_vars(const snw_expr *e) { return e->vars; }

bool snw_expr_same(const snw_expr *a, const snw_expr *b) {
    if (a->vars != b->vars || a->n != b->n || a->result != b->result) return false;
    if (memcmp(&a->value, &b->value, sizeof a->value) != 0) return false;
    for (int i = 0; i < a->n; i++) {
        const snw_line *x = &a->line[i], *y = &b->line[i];
        if (x->op != y->op || x->dst != y->dst || x->spline != y->spline ||
            memcmp(x->arg, y->arg, sizeof x->arg) != 0 ||
            memcmp(&x->imm, &y->imm, sizeof x->imm) != 0)
            return false;
    }
    return true;
}
