// SPDX-License-Identifier: MIT
//
// bracket.h: functions of strains made of sums and brackets, W(xi_1, .., xi_nc), with exact
// derivatives. A rule that carries a pose along a segment (rule.h) is a list of such steps; it is
// written once, by whoever makes it, and everything else follows: value, rates, transposed
// Jacobian, Jacobian with its rates, Hessian.
#pragma once

#include "base/pool.h"
#include "math/magnus.h"
#include "sinew/status.h"

enum { SNW_BRACKETS_MOST = 160 }; // steps

// Step k is leaf k, h xi_k, for k < nc; else a sum of steps before it, or the bracket of two.
typedef struct snw_bracket_step {
    int a, b;         // [a, b]; a < 0: a sum of
    int first, nterm; // these terms
} snw_bracket_step;

typedef struct snw_brackets {
    int nc, n; // leaves, steps; the last one is W
    int nterm;
    snw_bracket_step *step; // SNW_BRACKETS_MOST
    int *of;                // of each term the step,
    double *weight;         // and by what
    int most;               // room for terms
} snw_brackets;

// Empty but for the leaves; room for `most` terms. SNW_E_MEMORY when the pool is out.
SNW_NODISCARD snw_status snw_brackets_begin(snw_pool *pool, int nc, int most, snw_brackets *out);
// One more step, whose number comes back: the sum of n steps with their weights, those of weight
// zero left out; [a, b].
int snw_brackets_sum(snw_brackets *p, int n, const int *of, const double *weight);
int snw_brackets_bracket(snw_brackets *p, int a, int b);

// As the functions of magnus.h. xi[l] is level l of the strains: value, rate, second rate; levels
// is 1 or 3.
void snw_brackets_rates(const snw_brackets *p, int levels, double h, const snw_twist *const *xi,
                        snw_twist *W);
void snw_brackets_pull(const snw_brackets *p, double h, const snw_twist *xi, snw_wrench F,
                       snw_wrench *F_c);
void snw_brackets_jacobian(const snw_brackets *p, int levels, double h, const snw_twist *const *xi,
                           double *const *Y);
void snw_brackets_hessian(const snw_brackets *p, double h, const snw_twist *xi, snw_wrench F,
                          double *G);
