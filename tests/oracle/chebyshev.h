// SPDX-License-Identifier: MIT
//
// chebyshev.h: polynomials on [-1, 1] and integrals of functions known at the Gauss points, for the
// oracles.
#pragma once

// Gauss points and weights on [-1, 1].
void oracle_gauss(int m, double *x, double *w);

// upto (m x m, row by row) <- integral from -1 to x_a of the polynomial that is 1 at x_b and 0 at
// the other points.
void oracle_upto(int m, const double *x, const double *w, double *upto);

// T_i, its derivative, and its integral from -1 to x.
double oracle_chebyshev(int i, double x);
double oracle_chebyshev_slope(int i, double x);
double oracle_antiderivative(int i, double x);
