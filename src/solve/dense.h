// SPDX-License-Identifier: MIT
//
// dense.h: the LAPACK routines in use, with C types and status codes. Matrices are column major.
// Nothing here prints. A matrix that is not finite fails like a singular one.
#pragma once

#include "base/arena.h"
#include "sinew/status.h"

#include <stdbool.h>

// More unknowns than this belong to networks and long rods, for which dense factors are no way out.
enum { SNW_MOST_DENSE = 4000 };

// A = L U in place with row exchanges in `pivot` (n entries). SNW_E_SINGULAR when a pivot is zero
// or not finite.
SNW_NODISCARD snw_status snw_lu_factor(int n, double *A, int *pivot);

// x <- inv(A) x with the factors of snw_lu_factor.
void snw_lu_solve(int n, const double *LU, const int *pivot, double *x);

// x <- inv(A') x with the same.
void snw_lu_solve_transposed(int n, const double *LU, const int *pivot, double *x);

// Sign of det(A) from its factors, 1 or -1.
int snw_lu_sign(int n, const double *LU, const int *pivot);

// Is A symmetric to 1e-9 of its largest entry?
bool snw_is_symmetric(int n, const double *A);

// A = L L' in place; only the lower triangle is read and written. SNW_E_SINGULAR unless positive
// definite.
SNW_NODISCARD snw_status snw_cholesky_factor(int n, double *A);

// x <- inv(A) x with the factor of snw_cholesky_factor.
void snw_cholesky_solve(int n, const double *L, double *x);

// *negative <- number of negative eigenvalues of a symmetric A; its lower triangle is read and
// overwritten. A matrix [T, C'; C, 0] with m independent rows C has m more than T on the null space
// of C. SNW_E_SINGULAR when a pivot is zero: *negative counts the others; SNW_E_DIVERGED when A is
// not finite.
size_t snw_negative_scratch(int n);
SNW_NODISCARD snw_status snw_count_negative(int n, double *A, snw_arena *scratch, int *negative);

// Eigenvalues of A x = lambda B x in increasing order, A symmetric, B symmetric positive definite.
// The lower triangles are read; both are overwritten, A by the eigenvectors (B-orthonormal columns)
// if `vectors`. SNW_E_SINGULAR unless B is positive definite, SNW_E_DIVERGED when A is not finite
// or the iteration does not converge.
size_t snw_eigen_symmetric_scratch(int n);
SNW_NODISCARD snw_status snw_eigen_symmetric(int n, double *A, double *B, bool vectors,
                                             snw_arena *scratch, double *lambda);

// Eigenvalues re + i im of A x = lambda B x, A general, B symmetric positive definite (lower
// triangle); both are overwritten. Conjugate pairs are adjacent, the positive imaginary part first.
// Fails as above.
size_t snw_eigen_general_scratch(int n);
SNW_NODISCARD snw_status snw_eigen_general(int n, double *A, double *B, snw_arena *scratch,
                                           double *re, double *im);

// The same with eigenvectors, n columns each: right ones, A x = lambda B x, and left ones, y' A =
// lambda y' B. A real eigenvalue has a real column. For a pair, the first column is the real part
// and the second the imaginary part of the vector of the eigenvalue with positive imaginary part.
SNW_NODISCARD snw_status snw_eigen_general_vectors(int n, double *A, double *B, snw_arena *scratch,
                                                   double *re, double *im, double *left,
                                                   double *right);

// N (room for n x n) <- orthonormal columns x with C x = 0, of which there are n - rank. The m rows
// of C are the columns of A (n x m), which is overwritten. A row counts for the rank when its part
// independent of the others is more than `tol` of the largest one. SNW_E_DIVERGED when A is not
// finite.
size_t snw_null_space_scratch(int n, int m);
SNW_NODISCARD snw_status snw_null_space(int n, int m, double *A, double tol, snw_arena *scratch,
                                        double *N, int *rank);

// out (k x l) <- P' A Q with A n x n, P n x k and Q n x l.
size_t snw_project_scratch(int n, int l);
void snw_project(int n, const double *A, int k, const double *P, int l, const double *Q,
                 snw_arena *scratch, double *out);

// QR factorisation with column pivoting of A (m x n) in place. The first `lead` columns stay in
// front in their order; among the others the one with the longest remainder comes next. order[k]
// (n) is the column at position k, tau (n) belongs to the factors. Returns the rank: the number of
// diagonal entries of R before the first one below tol times the longest column; 0 when A is not
// finite.
size_t snw_qr_scratch(int m, int n);
SNW_NODISCARD int snw_qr_factor(int m, int n, double *A, int lead, double tol, snw_arena *scratch,
                                double *tau, int *order);

// B (m x m) <- Q' B Q, from the factors of an m x n matrix: the block behind the rank is B on the
// orthogonal complement of the columns.
void snw_qr_turn(int m, int n, const double *QR, const double *tau, double *B, snw_arena *scratch);

// x (m) <- Q x, and x <- Q' x.
void snw_qr_apply(int m, int n, const double *QR, const double *tau, double *x, snw_arena *scratch);
void snw_qr_apply_transposed(int m, int n, const double *QR, const double *tau, double *x,
                             snw_arena *scratch);

// Minimum-norm least squares. x (max(m, n)): in, b (m); out, the shortest x (n) among those with
// the smallest |A x - b|. A is m x n and overwritten. Singular values below tol relative to the
// largest count as zero; *rank: number of the others. SNW_E_DIVERGED when A or b are not finite.
size_t snw_minimum_norm_scratch(int m, int n);
SNW_NODISCARD snw_status snw_minimum_norm(int m, int n, double *A, double tol, snw_arena *scratch,
                                          double *x, int *rank);

// A (m x n) = U diag(S) V' with U m x min(m, n), S decreasing, and all n rows of V' (n x n); A is
// overwritten. SNW_E_DIVERGED when A is not finite.
size_t snw_svd_scratch(int m, int n);
SNW_NODISCARD snw_status snw_svd(int m, int n, double *A, snw_arena *scratch, double *U, double *S,
                                 double *Vt);

// Configuration text of the linked BLAS, e.g. "OpenBLAS 0.3.21 ... SINGLE_THREADED".
const char *snw_blas_name(void);
