// SPDX-License-Identifier: MIT
//
// rule.h: integration rules for the pose along a segment with varying strain, g(s+h) = g(s) exp(W)
// with W from the strains at a few points of the segment, theory.md (3.1) to (3.1b). For every
// rule the rates, the Jacobian with its rates and the Hessian are exact derivatives of W, so the
// discrete rod is a Lagrangian system.
#pragma once

#include "math/bracket.h"

#include <stdbool.h>

// One line per family of rules: enum, name in the language, meaning of its number, description.
#define SNW_RULE_LIST(X)                                                                           \
    X(SNW_RULE_MAGNUS, "magnus", "order: 2, 4 or 6",                                               \
      "Magnus expansion on 1, 2 or 3 Gauss points; the fastest")                                   \
    X(SNW_RULE_FER, "fer", "order: 2, 4 or 6",                                                     \
      "Fer expansion on 2, 2 or 3 Gauss points: two exponentials, less accurate than Magnus")      \
    X(SNW_RULE_RK4, "rk4", "none",                                                                 \
      "Runge-Kutta-Munthe-Kaas, order 4: both ends and the middle of a segment")                   \
    X(SNW_RULE_SPECTRAL, "spectral", "points: 2, 3 or 4",                                          \
      "collocation on Gauss points, order 4, 6 or 8")                                              \
    X(SNW_RULE_RK45, "rk45", "none",                                                               \
      "Dormand and Prince, order 5 with an estimate of its error, which places the nodes")         \
    X(SNW_RULE_CHEBYSHEV, "chebyshev", "points: 5 to 41",                                          \
      "collocation of the whole rod on one grid of Chebyshev points")

typedef enum snw_rule_kind {
#define X(code, name, number, meaning) code,
    SNW_RULE_LIST(X)
#undef X
} snw_rule_kind;

enum {
#define X(code, name, number, meaning) code##_INDEX,
    SNW_RULE_LIST(X)
#undef X
        SNW_RULES // number of families
};

const char *snw_rule_name(snw_rule_kind kind);

typedef struct snw_rule {
    snw_rule_kind kind;
    int number; // order (magnus, fer) or number of points (spectral, chebyshev); else 0
    int order;  // order of accuracy of the pose; 0: exponential (chebyshev)
    int nc;     // number of points
    double c[SNW_MAGNUS_POINTS]; // points in [0, 1], ascending
    double b[SNW_MAGNUS_POINTS]; // SNW_RULE_FER: F_0 = h sum b_c xi_c
    snw_brackets brackets;       // W, F_1 of SNW_RULE_FER; unused by SNW_RULE_MAGNUS
    snw_brackets error;          // SNW_RULE_RK45: W minus the embedded formula of order 4
} snw_rule;

// Is there a rule of this kind and number?
bool snw_rule_exists(snw_rule_kind kind, int number);
// *out <- that rule; its lists live in the pool. SNW_E_MEMORY when the pool is exhausted.
SNW_NODISCARD snw_status snw_rule_make(snw_pool *pool, snw_rule_kind kind, int number,
                                       snw_rule *out);

// As the functions of magnus.h, with a rule in place of the order. Not of SNW_RULE_CHEBYSHEV, where
// a section depends on the strains of the whole rod (pose_grid.h, dynamics/rod_grid.h): its one
// point is the end of a slice.
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

// E[0], E[1], E[2] <- W, dW, ddW of rk45 minus those of its embedded formula of order 4.
void snw_rule_errors(const snw_rule *rule, double h, const snw_twist *xi, const snw_twist *dxi,
                     const snw_twist *ddxi, snw_twist E[3]);

// Fer expansion (fer.c): points, weights and the list of F_1.
SNW_NODISCARD snw_status snw_rule_fer(snw_pool *pool, snw_rule *out);

// Runge-Kutta-Munthe-Kaas (munthe_kaas.c): out->brackets for the classical tableau, for that of
// Dormand and Prince, and for collocation at out->number Gauss points.
SNW_NODISCARD snw_status snw_rule_rk4(snw_pool *pool, snw_rule *out);
SNW_NODISCARD snw_status snw_rule_rk45(snw_pool *pool, snw_rule *out);
SNW_NODISCARD snw_status snw_rule_spectral(snw_pool *pool, snw_rule *out);
