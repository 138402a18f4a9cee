// SPDX-License-Identifier: MIT
//
// magnus.h: the pose reached along a segment of varying strain, g(s+h) = g(s) exp(W), W by Magnus
// expansion of g' = g xi^ on Gauss points of the segment. rods.md 2.5 and 3.1.
//
// W is a function of the strains xi_1 .. xi_nc at the points, stacked z = (xi_1, ..., xi_nc). Its
// value, rates, Jacobian Y = dW/dz with time derivatives, and the Hessian contraction are all
// exact.
#pragma once

#include "math/se3.h"

// Room for points of a segment, with that of the other rules (rule.h), and the leading dimension of
// their matrices.
enum { SNW_MAGNUS_POINTS = 6, SNW_MAGNUS_LD = 6 * SNW_MAGNUS_POINTS };

int snw_magnus_points(int order);              // 1, 2, 3 for order 2, 4, 6; other orders assert
const double *snw_magnus_abscissae(int order); // Gauss points in (0, 1), rising

snw_twist snw_magnus(int order, double h, const snw_twist *xi);

// W and its first and second time derivative, from those of the strains.
void snw_magnus_rates(int order, double h, const snw_twist *xi, const snw_twist *dxi,
                      const snw_twist *ddxi, snw_twist *W, snw_twist *dW, snw_twist *ddW);

// p_c[c] <- (dW/dxi_c)' p: a wrench on W handed down to the strains.
void snw_magnus_pull(int order, double h, const snw_twist *xi, snw_wrench p, snw_wrench *p_c);

// Y <- dW/dz, row by row with leading dimension SNW_MAGNUS_LD: Y[r*LD + 6c + i] = dW_r/d(xi_c)_i.
// Only the 6 nc columns of the points in use are written, here and below.
void snw_magnus_jacobian(int order, double h, const snw_twist *xi, double *Y);

// The same with first and second time derivative.
void snw_magnus_jacobian_rates(int order, double h, const snw_twist *xi, const snw_twist *dxi,
                               const snw_twist *ddxi, double *Y, double *dY, double *ddY);

// G <- sum_r p_r d2W_r/dz dz, symmetric, (6 nc) x (6 nc) with leading dimension SNW_MAGNUS_LD.
void snw_magnus_hessian(int order, double h, const snw_twist *xi, snw_wrench p, double *G);
