// SPDX-License-Identifier: MIT
//
// expr_op.h: operations of compiled expressions, their values, and the format of the program.
//
// An expression is a sequence of operations on a few registers, without jumps. Both branches of an
// `if` are computed and one is selected; a subexpression that is used twice is computed once.
#pragma once

#include "math/expr_spline.h"

#include <math.h>
#include <stdint.h>

// Operation, number of operands.
#define SNW_OP_LIST(X)                                                                             \
    X(SNW_OP_CONST, 0)                                                                             \
    X(SNW_OP_T, 0)                                                                                 \
    X(SNW_OP_X, 0)                                                                                 \
    X(SNW_OP_L, 0)                                                                                 \
    X(SNW_OP_SIGNAL, 0) /* its number in imm */                                                    \
    X(SNW_OP_ARG, 0)    /* unknown argument while a function is checked; never evaluated */        \
    X(SNW_OP_NEG, 1)                                                                               \
    X(SNW_OP_ADD, 2)                                                                               \
    X(SNW_OP_SUB, 2)                                                                               \
    X(SNW_OP_MUL, 2)                                                                               \
    X(SNW_OP_DIV, 2)                                                                               \
    X(SNW_OP_POW, 2)                                                                               \
    X(SNW_OP_POWI, 1) /* constant integer exponent in imm */                                       \
    X(SNW_OP_POWC, 1) /* other constant exponent in imm */                                         \
    X(SNW_OP_SIN, 1)                                                                               \
    X(SNW_OP_COS, 1)                                                                               \
    X(SNW_OP_TAN, 1)                                                                               \
    X(SNW_OP_ASIN, 1)                                                                              \
    X(SNW_OP_ACOS, 1)                                                                              \
    X(SNW_OP_ATAN, 1)                                                                              \
    X(SNW_OP_ATAN2, 2)                                                                             \
    X(SNW_OP_SINH, 1)                                                                              \
    X(SNW_OP_COSH, 1)                                                                              \
    X(SNW_OP_TANH, 1)                                                                              \
    X(SNW_OP_EXP, 1)                                                                               \
    X(SNW_OP_LOG, 1)                                                                               \
    X(SNW_OP_SQRT, 1)                                                                              \
    X(SNW_OP_ABS, 1)                                                                               \
    X(SNW_OP_MIN, 2)                                                                               \
    X(SNW_OP_MAX, 2)                                                                               \
    X(SNW_OP_MOD, 2)                                                                               \
    X(SNW_OP_FLOOR, 1)                                                                             \
    X(SNW_OP_CEIL, 1)                                                                              \
    X(SNW_OP_SIGN, 1)                                                                              \
    X(SNW_OP_STEP, 1)   /* of t - a */                                                             \
    X(SNW_OP_LINEAR, 1) /* of (t - a)/(b - a), as the next three */                                \
    X(SNW_OP_RAMP, 1)                                                                              \
    X(SNW_OP_POLY5, 1)                                                                             \
    X(SNW_OP_HAT, 1)                                                                               \
    X(SNW_OP_LT, 2)                                                                                \
    X(SNW_OP_LE, 2)                                                                                \
    X(SNW_OP_GT, 2)                                                                                \
    X(SNW_OP_GE, 2)                                                                                \
    X(SNW_OP_EQ, 2)                                                                                \
    X(SNW_OP_NE, 2)                                                                                \
    X(SNW_OP_AND, 2)                                                                               \
    X(SNW_OP_OR, 2)                                                                                \
    X(SNW_OP_NOT, 1)                                                                               \
    X(SNW_OP_IF, 3)                                                                                \
    X(SNW_OP_TABLE, 1)

typedef enum snw_op {
#define X(op, nargs) op,
    SNW_OP_LIST(X)
#undef X
} snw_op;

static inline int snw_op_nargs(snw_op op) {
    static const unsigned char nargs[] = {
#define X(code, n) n,
        SNW_OP_LIST(X)
#undef X
    };
    return nargs[op];
}

// a^n for an integer n, exact at zero and for small n: repeated squaring up to |n| = 64.
static inline double snw_powi(double a, double n) {
    if (!(fabs(n) <= 64)) return pow(a, n);
    double r = 1, base = a;
    for (int k = (int)fabs(n); k; k >>= 1) {
        if (k & 1) r *= base;
        base *= base;
    }
    return n < 0 ? 1 / r : r;
}

// Remainder of a/b in [0, b), for b < 0 in (b, 0]. A result that would round to b becomes the
// adjacent double.
static inline double snw_mod(double a, double b) {
    double r = fmod(a, b);
    if (r != 0 && (r < 0) != (b < 0)) r += b;
    return r == b ? nextafter(b, 0) : r;
}

// (z - sin z)/(2 pi) at z = 2 pi u; for small z by the series z^3/6 - z^5/120 + ..
static inline double snw_ramp(double u) {
    const double two_pi = 6.283185307179586477;
    if (u < 0) return 0;
    if (u >= 1) return 1;
    const double z = two_pi * u, zz = z * z;
    if (z > 0.2) return u - sin(z) / two_pi;
    return u * zz / 6 * (1 - zz / 20 * (1 - zz / 42 * (1 - zz / 72 * (1 - zz / 110))));
}

// Triangle on [0, 1] with the value 1 in the middle.
static inline double snw_op_hat(double u) {
    if (u < 0 || u >= 1) return 0;
    return u < 0.5 ? 2 * u : 2 - 2 * u;
}

// Value of one operation. NaN propagates through all operations except comparisons (false) and the
// branch of an `if` that is not selected.
static inline double snw_op_value(snw_op op, double imm, const snw_spline *spline, double a,
                                  double b, double c) {
    switch (op) {
    case SNW_OP_CONST:
        return imm;
    case SNW_OP_T:
    case SNW_OP_X:
    case SNW_OP_L:
    case SNW_OP_ARG:
    case SNW_OP_SIGNAL:
        return NAN; // not computed by this function
    case SNW_OP_NEG:
        return -a;
    case SNW_OP_ADD:
        return a + b;
    case SNW_OP_SUB:
        return a - b;
    case SNW_OP_MUL:
        return a * b;
    case SNW_OP_DIV:
        return a / b;
    case SNW_OP_POW:
        return pow(a, b);
    case SNW_OP_POWI:
        return snw_powi(a, imm);
    case SNW_OP_POWC:
        return pow(a, imm);
    case SNW_OP_SIN:
        return sin(a);
    case SNW_OP_COS:
        return cos(a);
    case SNW_OP_TAN:
        return tan(a);
    case SNW_OP_ASIN:
        return asin(a);
    case SNW_OP_ACOS:
        return acos(a);
    case SNW_OP_ATAN:
        return atan(a);
    case SNW_OP_ATAN2:
        return atan2(a, b);
    case SNW_OP_SINH:
        return sinh(a);
    case SNW_OP_COSH:
        return cosh(a);
    case SNW_OP_TANH:
        return tanh(a);
    case SNW_OP_EXP:
        return exp(a);
    case SNW_OP_LOG:
        return log(a);
    case SNW_OP_SQRT:
        return sqrt(a);
    case SNW_OP_ABS:
        return fabs(a);
    case SNW_OP_MIN:
        return a <= b ? a : b < a ? b : a + b;
    case SNW_OP_MAX:
        return a >= b ? a : b > a ? b : a + b;
    case SNW_OP_MOD:
        return snw_mod(a, b);
    case SNW_OP_FLOOR:
        return floor(a);
    case SNW_OP_CEIL:
        return ceil(a);
    case SNW_OP_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : a;
    case SNW_OP_STEP:
        return a >= 0 ? 1 : a < 0 ? 0 : a;
    case SNW_OP_LINEAR:
        return a < 0 ? 0 : a >= 1 ? 1 : a;
    case SNW_OP_RAMP:
        return snw_ramp(a);
    case SNW_OP_POLY5:
        return a < 0 ? 0 : a >= 1 ? 1 : a * a * a * (10 + a * (6 * a - 15));
    case SNW_OP_HAT:
        return snw_op_hat(a);
    case SNW_OP_LT:
        return a < b;
    case SNW_OP_LE:
        return a <= b;
    case SNW_OP_GT:
        return a > b;
    case SNW_OP_GE:
        return a >= b;
    case SNW_OP_EQ:
        return a == b;
    case SNW_OP_NE:
        return a != b;
    case SNW_OP_AND:
        return a != 0 && b != 0;
    case SNW_OP_OR:
        return a != 0 || b != 0;
    case SNW_OP_NOT:
        return a == 0;
    case SNW_OP_IF:
        return a != 0 ? b : c;
    case SNW_OP_TABLE:
        return snw_spline_value(spline, a);
    }
    return NAN;
}

enum {
    SNW_EXPR_OPS_MAX = 20000,  // operations of one expression
    SNW_EXPR_REGISTERS = 256,  // registers, including those of t, x and L
    SNW_EXPR_DEPTH_MAX = 200,  // nesting depth of brackets, calls and parameters
    SNW_EXPR_TEXT_MAX = 65536, // bytes of one text
};

// One line of the program: register dst <- op(registers arg).
typedef struct snw_line {
    uint8_t op;
    uint8_t vars;    // variables of the result
    bool switches;   // the result may be nonsmooth in time, see expr_breaks.c
    bool switches_x; // likewise in x
    uint16_t dst, arg[3];
    double imm;
    const snw_spline *spline;
} snw_line;

struct snw_expr {
    int vars;
    bool curved;   // a switching operation has an argument that is not piecewise linear in t
    bool switched; // a line switches
    int n;         // lines; 0 when the result is t, x or L itself
    int result;    // register
    double value;  // of a constant
#ifdef __cplusplus
    snw_line line[1]; // n
#else
    snw_line line[];
#endif
};

// Are these the same operations with the same numbers? Tables are the same if they are one.
bool snw_expr_same(const snw_expr *a, const snw_expr *b);
// The same operations, perhaps with other numbers? Numbers that decide where an operation jumps
// (step, if, sign, mod, ..), and exponents, must be equal: the derivative by them is another one.
bool snw_expr_alike(const snw_expr *a, const snw_expr *b);

// Value and derivatives of one line from those of its operands.
snw_jet snw_line_jet(const snw_line *l, snw_jet a, snw_jet b, snw_jet c);
// Value of one line from its operands, or from the array of signals.
static inline double snw_line_value(const snw_line *l, const double *signal, double a, double b,
                                    double c) {
    if (l->op == SNW_OP_SIGNAL) return signal[(int)l->imm];
    return snw_op_value((snw_op)l->op, l->imm, l->spline, a, b, c);
}

// Its numbers: how many, and out <- their values.
int snw_expr_constants(const snw_expr *e);
void snw_expr_read_constants(const snw_expr *e, double *out);
// Doubles of scratch for snw_expr_add_slopes and snw_expr_add_jet_slopes.
size_t snw_expr_slope_scratch(const snw_expr *e);
// bar (of its numbers) += weight times the derivatives of its value by them, in one sweep back.
void snw_expr_add_slopes(const snw_expr *e, snw_at at, double weight, double *scratch, double *bar);
// The same of a law of t with its first and second rates, weight (3) of each. Not with tables of
// something else than t or x, whose third derivative would be needed.
bool snw_expr_has_jet_slopes(const snw_expr *e);
void snw_expr_add_jet_slopes(const snw_expr *e, snw_at at, const double *weight, double *scratch,
                             double *bar);
