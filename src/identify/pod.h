// SPDX-License-Identifier: MIT
//
// pod.h: proper orthogonal decomposition of snapshots of a field in a weighted norm, theory.md 9.1:
// the functions that represent the snapshots best on average.
#pragma once

#include "sinew/status.h"

// Of the snapshots e (npoint x nsnapshot, column by column) with weights w >= 0 of the points,
// S = sqrt(w) e = U diag(sigma) V'. sigma (least of npoint and nsnapshot) <- singular values,
// decreasing. C (nsnapshot x as many) <- V/sigma: function i is sum_j C_ji e_j, at the points and
// anywhere else, and the functions are orthonormal, sum_k w_k phi_i phi_j = delta_ij. The sign is
// that of a positive value at the first point whose weight is positive. *rank <- number of
// functions above rounding; the columns of C beyond are zero. Allocates. SNW_E_DIVERGED: not
// finite.
SNW_NODISCARD snw_status snw_pod(int npoint, const double *w, int nsnapshot, const double *e,
                                 double *sigma, double *C, int *rank);

// phi (npoint x n) <- functions at these points, from snapshots there.
void snw_pod_functions(int npoint, int nsnapshot, const double *e, int n, const double *C,
                       double *phi);

// *missing <- square of the norm of e less its projection on the functions phi (npoint x n, at most
// SNW_FUNCTION_SET_MOST),
// *whole <- that of e.
void snw_pod_project(int npoint, const double *w, int n, const double *phi, const double *e,
                     double *missing, double *whole);
