// SPDX-License-Identifier: MIT
//
// quadrature.h: Gauss-Legendre rules of any size on [0, 1].
#pragma once

// x (n) <- points in (0, 1), ascending; w (n) <- weights with sum 1; n >= 1. Exact for polynomials
// of degree 2n - 1.
void snw_gauss(int n, double *x, double *w);
