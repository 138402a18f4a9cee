// SPDX-License-Identifier: MIT
//
// rule.h: how the pose is carried along a segment of varying strain, g(s+h) = g(s) exp(W): W from
// the strains at a few points of the segment. theory.md 3, (3.1). Whatever the rule, W, its rates,
// its Jacobian with rates and its Hessian are exact, so the discrete rod is a Lagrangian system of
// its own under each of them.
#pragma once

#include "math/bracket.h"

#include <stdbool.h>

// One line per family: enum, name in the language, its number, meaning.
#define SNW_RULE_LIST(X)                                                                           \
    X(SNW_RULE_MAGNUS, "magnus", "order: 2, 4 or 6",                                               \
      "Magnus expansion on 1, 2 or 3 Gauss points; the fastest")                                   \
    X(SNW_RULE_RK4, "rk4", "none",                                                                 \
      "Runge-Kutta-Munthe-Kaas, order 4: both ends and the middle of a segment")                   \
    X(SNW_RULE_SPECTRAL, "spectral", "points: 2, 3 or 4",                                          \
      "collocation on Gauss points, order 4, 6 or 8")                                              \
    X(SNW_RULE_RK45, "rk45", "none",                                                               \
      "Dormand and Prince, order 5 with an estimate of its error, which places the nodes")

typedef enum snw_rule_kind {
#define X(code, name, number, meaning) code,
    SNW_RULE_LIST(X)
#undef X
} snw_rule_kind;

enum {
#define X(code, name, number, meaning) code##_INDEX,
    SNW_RULE_LIST(X)
#undef X
        SNW_RULES // how many there are
};

const char *snw_rule_name(snw_rule_kind kind);

typedef struct snw_rule {
    snw_rule_kind kind;
    int number;                  // its order or its points; 0 for rk4 and rk45
    int order;                   // of the pose
    int nc;                      // points,
    double c[SNW_MAGNUS_POINTS]; // where, in [0, 1], rising
    snw_brackets brackets;       // of all but Magnus'
    snw_brackets error;          // of rk45: W less that of order 4
} snw_rule;

// Is there a rule of this kind and number? And the rule itself; SNW_E_MEMORY when the pool is out.
bool snw_rule_exists(snw_rule_kind kind, int number);
SNW_NODISCARD snw_status snw_rule_make(snw_pool *pool, snw_rule_kind kind, int number,
                                       snw_rule *out);

// As the functions of magnus.h with the rule for the order.
snw_twist snw_rule_value(const snw_rule *rule, double h, const snw_twist *xi);
void snw_rule_rates(const snw_rule *rule, double h, const snw_twist *xi, const snw_twist *dxi,
                    const snw_twist *ddxi, snw_twist *W, snw_twist *dW, snw_twist *ddW);
void snw_rule_pull(const snw_rule *rule, double h, const snw_twist *xi, snw_wrench p,
                   snw_wrench *p_c);
void snw_rule_jacobian(const snw_rule *rule, double h, const snw_twist *xi, double *Y);
void snw_rule_jacobian_rates(const snw_rule *rule, double h, const snw_twist *xi,
                             const snw_twist *dxi, const snw_twist *ddxi, double *Y, double *dY,
                             double *ddY);
void snw_rule_hessian(const snw_rule *rule, double h, const snw_twist *xi, snw_wrench p, double *G);

// E[0], E[1], E[2] <- W, dW, ddW of rk45 less those of its embedded formula of order 4.
void snw_rule_errors(const snw_rule *rule, double h, const snw_twist *xi, const snw_twist *dxi,
                     const snw_twist *ddxi, snw_twist E[3]);

// Runge-Kutta-Munthe-Kaas (munthe_kaas.c): out->brackets of the classical tableau, of that of
// Dormand and Prince, and of collocation on nc Gauss points.
SNW_NODISCARD snw_status snw_rule_rk4(snw_pool *pool, snw_rule *out);
SNW_NODISCARD snw_status snw_rule_rk45(snw_pool *pool, snw_rule *out);
SNW_NODISCARD snw_status snw_rule_spectral(snw_pool *pool, snw_rule *out);
