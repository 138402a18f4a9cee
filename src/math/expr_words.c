// SPDX-License-Identifier: MIT
//
// Tables of the functions and keywords of the expression language, for parser, suggestions and
// help.
#include "math/expr_words.h"

#include "math/expr_op.h"

#include <stdio.h>
#include <string.h>

static const snw_function functions[] = {
    {"sin", "a", "sine", 1, 1, SNW_FUNCTION_NUMBER, SNW_OP_SIN},
    {"cos", "a", "cosine", 1, 1, SNW_FUNCTION_NUMBER, SNW_OP_COS},
    {"tan", "a", "tangent", 1, 1, SNW_FUNCTION_NUMBER, SNW_OP_TAN},
    {"asin", "a", "inverse sine, -pi/2 .. pi/2", 1, 1, SNW_FUNCTION_NUMBER, SNW_OP_ASIN},
    {"acos", "a", "inverse cosine, 0 .. pi", 1, 1, SNW_FUNCTION_NUMBER, SNW_OP_ACOS},
    {"atan", "a", "inverse tangent, -pi/2 .. pi/2", 1, 1, SNW_FUNCTION_NUMBER, SNW_OP_ATAN},
    {"atan2", "y, x", "angle of the point (x, y), -pi .. pi", 2, 2, SNW_FUNCTION_RATIO,
     SNW_OP_ATAN2},
    {"sinh", "a", "hyperbolic sine", 1, 1, SNW_FUNCTION_NUMBER, SNW_OP_SINH},
    {"cosh", "a", "hyperbolic cosine", 1, 1, SNW_FUNCTION_NUMBER, SNW_OP_COSH},
    {"tanh", "a", "hyperbolic tangent", 1, 1, SNW_FUNCTION_NUMBER, SNW_OP_TANH},
    {"exp", "a", "exponential", 1, 1, SNW_FUNCTION_NUMBER, SNW_OP_EXP},
    {"log", "a", "natural logarithm", 1, 1, SNW_FUNCTION_NUMBER, SNW_OP_LOG},
    {"sqrt", "a", "square root", 1, 1, SNW_FUNCTION_ROOT, SNW_OP_SQRT},
    {"abs", "a", "magnitude", 1, 1, SNW_FUNCTION_KEEP, SNW_OP_ABS},
    {"min", "a, ..", "smallest of its arguments", 1, 0, SNW_FUNCTION_ALIKE, SNW_OP_MIN},
    {"max", "a, ..", "largest of its arguments", 1, 0, SNW_FUNCTION_ALIKE, SNW_OP_MAX},
    {"mod", "a, b", "a - b*floor(a/b), in [0, b)", 2, 2, SNW_FUNCTION_ALIKE, SNW_OP_MOD},
    {"floor", "a", "largest whole number not above", 1, 1, SNW_FUNCTION_NUMBER, SNW_OP_FLOOR},
    {"ceil", "a", "smallest whole number not below", 1, 1, SNW_FUNCTION_NUMBER, SNW_OP_CEIL},
    {"sign", "a", "-1, 0 or 1", 1, 1, SNW_FUNCTION_SIGN, SNW_OP_SIGN},
    {"step", "t, a", "0 before a, 1 from a on", 2, 2, SNW_FUNCTION_RATIO, SNW_OP_STEP},
    {"linear", "t, a, b", "linear rise from 0 at a to 1 at b", 3, 3, SNW_FUNCTION_RISE,
     SNW_OP_LINEAR},
    {"ramp", "t, a, b", "smooth rise, u - sin(2 pi u)/(2 pi), twice differentiable", 3, 3,
     SNW_FUNCTION_RISE, SNW_OP_RAMP},
    {"poly5", "t, a, b", "smooth rise, 10 u^3 - 15 u^4 + 6 u^5, twice differentiable", 3, 3,
     SNW_FUNCTION_RISE, SNW_OP_POLY5},
    {"hat", "t, a, b", "triangle between a and b, 1 in the middle", 3, 3, SNW_FUNCTION_RISE,
     SNW_OP_HAT},
    {"if", "c, a, b", "a where the condition c holds, b elsewhere", 3, 3, SNW_FUNCTION_IF,
     SNW_OP_IF},
    {"limit", "a, lo, hi", "a, but not below lo nor above hi", 3, 3, SNW_FUNCTION_LIMIT,
     SNW_OP_MIN},
    {"integral", "e", "its integral over time, 0 at the start of the study", 1, 1,
     SNW_FUNCTION_MEMORY, SNW_MEMORY_INTEGRAL},
    {"sampled", "e, T", "e at the last multiple of the period T, held until the next", 2, 2,
     SNW_FUNCTION_MEMORY, SNW_MEMORY_SAMPLED},
    {"once", "c", "holds from the first moment at which c holds", 1, 1, SNW_FUNCTION_MEMORY,
     SNW_MEMORY_ONCE},
    {"table", "\"file\", column, at",
     "cubic spline of a column over the file's first column, at t or at `at`", 2, 3,
     SNW_FUNCTION_TABLE, SNW_OP_TABLE},
};

static const char *const keywords[] = {"t", "x", "L", "pi", "on", "off", "and", "or", "not"};

enum {
    NFUNCTION = sizeof functions / sizeof functions[0],
    NKEYWORD = sizeof keywords / sizeof keywords[0],
};

const snw_function *snw_functions(int *n) {
    *n = NFUNCTION;
    return functions;
}

bool snw_word_is(const char *word, size_t length, const char *other) {
    return strlen(other) == length && memcmp(word, other, length) == 0;
}

const snw_function *snw_function_find(const char *word, size_t length) {
    for (int i = 0; i < NFUNCTION; i++) {
        if (snw_word_is(word, length, functions[i].name)) return &functions[i];
    }
    return NULL;
}

bool snw_word_reserved(const char *word) {
    const size_t length = strlen(word);
    for (int i = 0; i < NKEYWORD; i++) {
        if (snw_word_is(word, length, keywords[i])) return true;
    }
    return snw_function_find(word, length) != NULL;
}

void snw_guess_functions(snw_guess *g) {
    for (int i = 0; i < NFUNCTION; i++) snw_guess_offer(g, functions[i].name);
}

void snw_guess_keywords(snw_guess *g) {
    for (int i = 0; i < NKEYWORD; i++) snw_guess_offer(g, keywords[i]);
}

void snw_guess_units(snw_guess *g) {
    int nunits, nprefixes;
    const snw_unit *u = snw_units(&nunits);
    const snw_prefix *p = snw_prefixes(&nprefixes);
    for (int i = 0; i < nunits; i++) {
        snw_guess_offer(g, u[i].symbol);
        for (int j = 0; j < nprefixes; j++) {
            if (!strchr(u[i].prefixes, p[j].letter)) continue;
            char text[16];
            (void)snprintf(text, sizeof text, "%s%s", p[j].symbol, u[i].symbol);
            snw_guess_offer(g, text);
        }
    }
    // Nm, Pas: two units without `*`
    for (size_t k = 1; k < g->length && g->length < 12; k++) {
        snw_unit_value ignored;
        if (!snw_unit_word(g->word, k, &ignored)) continue;
        if (!snw_unit_word(g->word + k, g->length - k, &ignored)) continue;
        memcpy(g->best, g->word, k);
        g->best[k] = '*';
        memcpy(g->best + k + 1, g->word + k, g->length - k);
        g->best[g->length + 1] = '\0';
        return;
    }
}
