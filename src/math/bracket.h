// SPDX-License-Identifier: MIT
//
// bracket.h: functions W(xi_1, .., xi_nc) of strains that consist of sums and Lie brackets, with
// exact derivatives. A rule that integrates the pose along a segment (rule.h) is a list of such
// steps. From this list follow the value, its rates, the product with the transposed Jacobian, the
// Jacobian with its rates, and the Hessian.
#pragma once

#include "base/pool.h"
#include "math/magnus.h"
#include "sinew/status.h"

enum { SNW_BRACKETS_MOST = 160 }; // steps

// Step k is the leaf h xi_k for k < nc, else a weighted sum of earlier steps or the bracket of two.
typedef struct snw_bracket_step {
    int a, b;         // steps of the bracket [a, b]; a < 0: a sum
    int first, nterm; // terms of the sum
} snw_bracket_step;

typedef struct snw_brackets {
    int nc, n; // number of leaves and of steps; the last step is W
    int nterm;
    snw_bracket_step *step; // SNW_BRACKETS_MOST
    int *of;                // most: step of each term
    double *weight;         // most: weight of each term
    int most;               // capacity for terms
} snw_brackets;

// A list of the nc leaves with capacity for `most` terms. SNW_E_MEMORY when the pool is exhausted.
SNW_NODISCARD snw_status snw_brackets_begin(snw_pool *pool, int nc, int most, snw_brackets *out);
// Append a step and return its number: the weighted sum of n steps, without those of weight zero;
// or the bracket [a, b].
int snw_brackets_sum(snw_brackets *p, int n, const int *of, const double *weight);
int snw_brackets_bracket(snw_brackets *p, int a, int b);

// As the functions of magnus.h. xi[l] is level l of the strains: value, first rate, second rate;
// levels is 1 or 3.
void snw_brackets_rates(const snw_brackets *p, int levels, double h, const snw_twist *const *xi,
                        snw_twist *W);
void snw_brackets_pull(const snw_brackets *p, double h, const snw_twist *xi, snw_wrench F,
                       snw_wrench *F_c);
void snw_brackets_jacobian(const snw_brackets *p, int levels, double h, const snw_twist *const *xi,
                           double *const *Y);
void snw_brackets_hessian(const snw_brackets *p, double h, const snw_twist *xi, snw_wrench F,
                          double *G);
