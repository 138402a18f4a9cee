// SPDX-License-Identifier: MIT
//
// stumpff.h: c_k(z) = sum_j (-z)^j / (2j+k)!, the one family behind exp, its tangent and all their
// derivatives on SO(3) and SE(3). With th = sqrt(z):
//   c_0 = cos th,  c_1 = sin th / th,  c_2 = (1 - cos th)/th^2,  c_3 = (th - sin th)/th^3, ...
//   c_k = 1/k! - z c_{k+2},   d c_k/dz = (k c_{k+2} - c_{k+1})/2.
#pragma once

enum { SNW_STUMPFF_MAX = 10 }; // c_0 .. c_9

// c[0..kmax] at z >= 0, kmax <= 9, accurate to rounding through zero: the two highest by their
// series (no cancellation for z below about 90), the others by the downward recursion; closed forms
// and the upward recursion beyond.
void snw_stumpff(double z, int kmax, double *c);
