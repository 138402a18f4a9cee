// SPDX-License-Identifier: MIT
//
// dense.h: the few LAPACK calls we need, with C types and our status codes. Column major.
#pragma once

#include "base/arena.h"
#include "sinew/status.h"

#include <stdbool.h>

// A = L U in place with row exchanges in `pivot` (n entries).
SNW_NODISCARD snw_status snw_lu_factor(int n, double *A, int *pivot);

// x <- inv(A) x with the factors of snw_lu_factor.
void snw_lu_solve(int n, const double *LU, const int *pivot, double *x);

// A = L L' in place (lower triangle). SNW_E_SINGULAR unless positive definite.
SNW_NODISCARD snw_status snw_cholesky_factor(int n, double *A);
void snw_cholesky_solve(int n, const double *L, double *x);

// Eigenvalues of A x = lambda B x, A symmetric, B symmetric positive definite; both are overwritten, A by
// the eigenvectors (B-orthonormal) when `vectors`. Rising order.
size_t snw_eigen_symmetric_scratch(int n);
SNW_NODISCARD snw_status snw_eigen_symmetric(int n, double *A, double *B, bool vectors,
                                             snw_arena *scratch, double *lambda);

// Eigenvalues of A x = lambda B x, A any, B symmetric positive definite; both are overwritten.
size_t snw_eigen_general_scratch(int n);
SNW_NODISCARD snw_status snw_eigen_general(int n, double *A, double *B, snw_arena *scratch,
                                           double *re, double *im);

// Which BLAS is linked: its configuration text, e.g. "OpenBLAS 0.3.21 ... SINGLE_THREADED".
const char *snw_blas_name(void);
