// SPDX-License-Identifier: MIT
//
// magnus.h: relative pose of the two ends of a segment with varying strain, g(s+h) = g(s) exp(W),
// with W from the Magnus expansion of g' = g xi^ at Gauss points of the segment, theory.md (3.1).
//
// W is a function of the strains xi_1 .. xi_nc at the points, stacked as z = (xi_1, ..., xi_nc).
// Its rates, its Jacobian Y = dW/dz with time derivatives, and the Hessian contraction are the
// exact derivatives of its value.
#pragma once

#include "math/se3.h"

// Largest number of points of a segment, over all rules (rule.h), and the leading dimension of the
// matrices.
#ifndef SNW_LANES
enum { SNW_MAGNUS_POINTS = 6, SNW_MAGNUS_LD = 6 * SNW_MAGNUS_POINTS };
#else // packs: Magnus expansions only (integrate/packs.c)
enum { SNW_MAGNUS_POINTS = 3, SNW_MAGNUS_LD = 6 * SNW_MAGNUS_POINTS };
#endif

int snw_magnus_points(int order);              // 1, 2, 3 for order 2, 4, 6; other orders assert
const double *snw_magnus_abscissae(int order); // Gauss points in (0, 1), ascending

snw_twist snw_magnus(int order, double h, const snw_twist *xi);

// W and its first and second time derivatives, from those of the strains.
void snw_magnus_rates(int order, double h, const snw_twist *xi, const snw_twist *dxi,
                      const snw_twist *ddxi, snw_twist *W, snw_twist *dW, snw_twist *ddW);

// p_c[c] <- (dW/dxi_c)' p: the wrench p, conjugate to W, pulled back to the strains.
void snw_magnus_pull(int order, double h, const snw_twist *xi, snw_wrench p, snw_wrench *p_c);

// Y <- dW/dz, row major with leading dimension SNW_MAGNUS_LD: Y[r*LD + 6c + i] = dW_r/d(xi_c)_i.
// Only the 6 nc columns of the points in use are written, here and below.
void snw_magnus_jacobian(int order, double h, const snw_twist *xi, double *Y);

// The same with its first and second time derivatives.
void snw_magnus_jacobian_rates(int order, double h, const snw_twist *xi, const snw_twist *dxi,
                               const snw_twist *ddxi, double *Y, double *dY, double *ddY);

// G <- sum_r p_r d2W_r/dz dz, symmetric, (6 nc) x (6 nc) with leading dimension SNW_MAGNUS_LD.
void snw_magnus_hessian(int order, double h, const snw_twist *xi, snw_wrench p, double *G);
