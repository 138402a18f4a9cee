// SPDX-License-Identifier: MIT
//
// Times at which an expression or one of its derivatives jumps, for integrators that stop there;
// and arc lengths, for quadrature along rods. Every operation that may switch has a state, a number
// that changes exactly at its switching times: the sign of an argument, an integer quotient. A hash
// of all states, the signature, shows whether an operation switched between two times; bisection on
// the signature locates the time to adjacent doubles.
//
// If all arguments of switching operations are piecewise linear in t, with pieces that end at other
// switching times, a signature never recurs: on an interval with equal signatures at both ends the
// states of all earlier operations are constant, so the argument is linear and its sign cannot
// change twice. Bisection is then complete. Otherwise the interval is searched in SAMPLES pieces.
#include "math/expr_op.h"

#include <float.h>
#include <string.h>

enum { SAMPLES = 1000 };

static double side(double a) { return a > 0 ? 1 : a < 0 ? -1 : a; }

// State of one line, from its operands.
static double expr_breaks_state(const snw_line *l, double a, double b) {
    switch ((snw_op)l->op) {
    case SNW_OP_MIN:
    case SNW_OP_MAX:
    case SNW_OP_LT:
    case SNW_OP_LE:
    case SNW_OP_GT:
    case SNW_OP_GE:
    case SNW_OP_EQ:
    case SNW_OP_NE:
        return side(a - b);
    case SNW_OP_FLOOR:
    case SNW_OP_CEIL:
        return floor(a) + ceil(a);
    case SNW_OP_MOD: {
        const double r = snw_mod(a, b);
        return 2 * nearbyint((a - r) / b) + (r != 0);
    }
    case SNW_OP_LINEAR:
        return side(a) + side(a - 1);
    case SNW_OP_HAT:
        return side(a) + side(a - 0.5) + side(a - 1);
    case SNW_OP_TABLE:
        return side(a - l->spline->x[0]) + side(a - l->spline->x[l->spline->n - 1]);
    case SNW_OP_ABS:
    case SNW_OP_SIGN:
    case SNW_OP_STEP:
    case SNW_OP_CONST:
    case SNW_OP_T:
    case SNW_OP_X:
    case SNW_OP_L:
    case SNW_OP_SIGNAL:
    case SNW_OP_ARG:
    case SNW_OP_NEG:
    case SNW_OP_ADD:
    case SNW_OP_SUB:
    case SNW_OP_MUL:
    case SNW_OP_DIV:
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
    case SNW_OP_AND:
    case SNW_OP_OR:
    case SNW_OP_NOT:
    case SNW_OP_IF:
        break;
    }
    return side(a);
}

static uint64_t expr_breaks_mix(uint64_t h, double s) {
    uint64_t bits[sizeof s / sizeof(uint64_t)]; // one, more of wider numbers
    s = isnan(s) ? 0.25 : s + 0.0;              // one bit pattern each for NaN and for zero
    memcpy(bits, &s, sizeof s);
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        h = (h ^ bits[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

// Interval of one variable: time, or the arc length along a rod of length L.
typedef struct breaks_line {
    const snw_expr *e;
    bool along; // of x, else of t
    double L;
} breaks_line;

// Operations that depend on the other variables as well are ignored.
static uint64_t expr_breaks_signature(const breaks_line *b, double at) {
    const snw_expr *e = b->e;
    double r[SNW_EXPR_REGISTERS];
    r[0] = b->along ? (double)NAN : at;
    r[1] = b->along ? at : (double)NAN;
    r[2] = b->along ? b->L : (double)NAN;
    uint64_t h = 0;
    for (const snw_line *l = e->line, *end = l + e->n; l < end; l++) {
        if (b->along ? l->switches_x : l->switches)
            h = expr_breaks_mix(h, expr_breaks_state(l, r[l->arg[0]], r[l->arg[1]]));
        r[l->dst] = snw_op_value((snw_op)l->op, l->imm, l->spline, r[l->arg[0]], r[l->arg[1]],
                                 r[l->arg[2]]);
    }
    return h;
}

// Smallest double above lo at which the signature differs from `before`, its value at lo; it
// differs at hi.
static double first_change(const breaks_line *b, double lo, double hi, uint64_t before) {
    for (int i = 0; i < 1200; i++) {
        const double mid = lo + 0.5 * (hi - lo);
        if (!(mid > lo && mid < hi)) break;
        if (expr_breaks_signature(b, mid) == before) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return hi;
}

// The first `max` changes of the signature in (t0, t1], searched in `pieces` parts.
static int find_changes(const breaks_line *b, int pieces, double t0, double t1, double *out,
                        int max) {
    // at its switching time an operation has a third state: step past it
    const double span = t1 - t0, tiny = 4 * DBL_EPSILON * 1e-3 * fmin(span, 1);
    double lo = t0 + fmax(tiny, 4 * DBL_EPSILON * fabs(t0));
    uint64_t before = expr_breaks_signature(b, lo);
    int n = 0;
    for (int i = 1; i <= pieces && n < max; i++) {
        const double hi = i == pieces ? t1 : t0 + span * i / pieces;
        if (!(hi > lo)) continue;
        const uint64_t end = expr_breaks_signature(b, hi);
        while (n < max && before != end) {
            const double t = first_change(b, lo, hi, before);
            out[n++] = t;
            lo = t + fmax(tiny, 4 * DBL_EPSILON * fabs(t));
            if (!(lo < hi)) break;
            before = expr_breaks_signature(b, lo);
        }
        if (lo < hi) lo = hi;
        before = expr_breaks_signature(b, lo);
    }
    return n;
}

int snw_expr_breaks_t(const snw_expr *e, double t0, double t1, double *out, int max) {
    if (!e->switched || !(t1 > t0) || !isfinite(t0)) return 0;
    if (!isfinite(t1)) t1 = DBL_MAX / 4;
    const breaks_line line = {.e = e};
    return find_changes(&line, e->curved ? SAMPLES : 1, t0, t1, out, max);
}

int snw_expr_breaks_x(const snw_expr *e, double L, double *out, int max) {
    bool any = false;
    for (int i = 0; i < e->n; i++) any |= e->line[i].switches_x;
    if (!any) return 0;
    const breaks_line line = {.e = e, .along = true, .L = L};
    return find_changes(&line, SAMPLES, 0, L, out, max);
}
