// SPDX-License-Identifier: MIT
//
// quadrature.h: Gauss-Legendre rules of any size on [0, 1].
#pragma once

// Points rising in (0, 1), weights summing to 1; n >= 1. Exact for degree 2n - 1.
void snw_gauss(int n, double *x, double *w);
