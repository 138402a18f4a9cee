// SPDX-License-Identifier: MIT
//
// collocation.h: Gauss and Radau collocation for second-order systems (theory.md 6.7). Over a step
// of length h the accelerations are a polynomial with the values x''_j at the instants c_j h; rates
// and coordinates are its integrals,
//
//       x'_i = x'_0 + h sum A_ij x''_j,   x_i = c_i h x'_0 + h^2 sum AA_ij x''_j,
//
// and at the end of the step the same with b and bb. With the points of Gauss quadrature the end
// has order 2 s; with those of Radau quadrature, of which the last is the end of the step, 2 s - 1
// and motions far faster than the step are damped.
#pragma once

#include <stdbool.h>

enum { SNW_STAGES = 4 }; // at most

typedef struct snw_collocation {
    int s, order;
    bool ends; // the last stage is the end of the step
    double c[SNW_STAGES], b[SNW_STAGES], bb[SNW_STAGES];
    double A[SNW_STAGES][SNW_STAGES], AA[SNW_STAGES][SNW_STAGES];
    double turn[SNW_STAGES]; // inv(A) 1: h x''_j for which x_i = c_i h (x'_0 + 1)
    double
        within; // largest error of x within a step of length 1 for an error 1 of x'' at its start
} snw_collocation;

// With s stages and points of this order: 2 s, Gauss, s from 2 to SNW_STAGES; 2 s - 1, Radau, s 2
// or 3.
snw_collocation snw_collocation_of(int s, int order);

// Weights of the accelerations x''_j at the fraction u of a step in the acceleration, in the rate
// and in the coordinate there.
typedef struct snw_collocation_weights {
    double l[SNW_STAGES], A[SNW_STAGES], AA[SNW_STAGES];
} snw_collocation_weights;
snw_collocation_weights snw_collocation_at(const snw_collocation *k, double u);

// l (n) <- weights of the values at the points c (n) in their interpolation polynomial at x.
void snw_lagrange(int n, const double *c, double x, double *l);
