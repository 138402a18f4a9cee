// SPDX-License-Identifier: MIT
//
// quadrature.h: Gauss-Legendre rules of any size on [0, 1], and an integral by bisection.
#pragma once

// x (n) <- points in (0, 1), ascending; w (n) <- weights with sum 1; n >= 1. Exact for polynomials
// of degree 2n - 1.
void snw_gauss(int n, double *x, double *w);

// Integral of f from a to b: four Gauss points, halves until they agree to rounding, at most
// `depth` times.
typedef double snw_integrand(const void *user, double x);
double snw_integrate(snw_integrand *f, const void *user, double a, double b, int depth);

// Integral from 0 to x of the Lagrange polynomial that is 1 at c[j] and 0 at the other of the n
// points, n <= 64.
double snw_lagrange_integral(int n, const double *c, int j, double x);
