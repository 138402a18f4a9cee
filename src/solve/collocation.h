// SPDX-License-Identifier: MIT
//
// collocation.h: Gauss' collocation for second-order systems. Over a step of length h accelerations
// are a polynomial with the values x''_j at the instants c_j h; rates and coordinates are its
// integrals,
//
//     x'_i = x'_0 + h sum A_ij x''_j,   x_i = c_i h x'_0 + h^2 sum AA_ij x''_j,
//
// and at the end the same with b and bb. With the points of Gauss' quadrature the end is of order 2
// s. theory.md 6.7.
#pragma once

enum { SNW_STAGES = 4 }; // at most

typedef struct snw_collocation {
    int s;
    double c[SNW_STAGES], b[SNW_STAGES], bb[SNW_STAGES];
    double A[SNW_STAGES][SNW_STAGES], AA[SNW_STAGES][SNW_STAGES];
    double turn[SNW_STAGES]; // inv(A) 1: h x''_j for which x_i = c_i h (x'_0 + 1)
    double within; // how far x strays within a step of length 1 when x'' at its start is wrong by 1
} snw_collocation;

// s stages, 2 to SNW_STAGES.
snw_collocation snw_collocation_gauss(int s);

// l (n) <- weights with which a polynomial of degree n - 1 is had at x from its values at the
// points c (n).
void snw_lagrange(int n, const double *c, double x, double *l);
