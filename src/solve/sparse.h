// SPDX-License-Identifier: MIT
//
// sparse.h: LU factorisation of a sparse square matrix with a fixed pattern.
//
// The elimination order is determined once from the pattern: the unknown that couples with the
// fewest others comes next (minimum degree). Rows are exchanged only when the diagonal entry is
// below a tenth of the largest in its column, so that fill-in stays close to the prediction. The
// same numbers give the same factors to the last bit.
#pragma once

#include "math/matrix.h"
#include "sinew/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct snw_sparse snw_sparse;

// Column j has entries in the rows row[start[j]] .. row[start[j + 1] - 1], increasing; the pattern
// is symmetric. `bound` (NULL: none) marks unknowns without a diagonal entry, multipliers: each is
// eliminated after an unknown that its constraint contains. `size` (NULL: ones) are typical
// magnitudes of the unknowns, by which the entries of a column are compared: row i counts size[i]
// times. The arguments are copied.
SNW_NODISCARD snw_status snw_sparse_create(int n, const int *start, const int *row,
                                           const bool *bound, const double *size, snw_sparse **out);
// The same with the pattern and the order of another one; `size` as above. No factors are copied.
SNW_NODISCARD snw_status snw_sparse_create_like(const snw_sparse *like, const double *size,
                                                snw_sparse **out);
// Is this the pattern?
bool snw_sparse_has_pattern(const snw_sparse *sp, int n, const int *start, const int *row);
bool snw_sparse_same_pattern(const snw_sparse *a, const snw_sparse *b);
void snw_sparse_destroy(snw_sparse *sp); // NULL is fine

// Predicted entries of the factors without row exchanges, and multiplications of a factorisation.
typedef struct snw_sparse_cost {
    double entries, products;
} snw_sparse_cost;
snw_sparse_cost snw_sparse_foresee(const snw_sparse *sp);

// Take memory for a matrix with this pattern, compressed, for models that are too large for n x n
// numbers. Factors that row exchanges make larger than predicted then get more memory, where
// otherwise the caller makes dense ones.
SNW_NODISCARD snw_status snw_sparse_compress(snw_sparse *sp);
bool snw_sparse_is_compressed(const snw_sparse *sp); // NULL: false
snw_matrix snw_sparse_matrix(const snw_sparse *sp);  // that matrix

// The matrices A below are dense, n x n, or that of snw_sparse_matrix.

// Entries of A within the pattern <- zero. Those outside are never read or written.
void snw_sparse_clear(const snw_sparse *sp, snw_matrix A);

// Factorise A, which is unchanged. SNW_E_SINGULAR when a pivot is zero or a number is not finite;
// SNW_E_MEMORY when row exchanges make the factors larger than four times the prediction.
SNW_NODISCARD snw_status snw_sparse_factor(snw_sparse *sp, snw_matrix A);

// From now on try factors without row exchanges first. They are kept unless a pivot has lost nine
// digits by cancellation (compressed: thirteen), and have the predicted size, whatever the scales.
void snw_sparse_prefer_diagonal(snw_sparse *sp);

// The same without row exchanges only, whatever is preferred: SNW_E_SINGULAR where a pivot has lost
// nine digits.
SNW_NODISCARD snw_status snw_sparse_factor_diagonal(snw_sparse *sp, snw_matrix A);
bool snw_sparse_prefers_diagonal(const snw_sparse *sp);

// Negative pivots of the last factors, which are the negative eigenvalues of a symmetric matrix
// (Sylvester); -1: rows were exchanged.
int snw_sparse_negative(const snw_sparse *sp);

// Smallest pivot relative to the largest entry in its column of A, the factorised matrix; both
// weighted by `size`. At rounding level A is numerically singular. Of factors without row
// exchanges: the smallest pivot relative to the terms of which it is the sum.
double snw_sparse_smallest(const snw_sparse *sp, snw_matrix A);

// Sign of det(A) from its factors, 1 or -1.
int snw_sparse_sign(snw_sparse *sp);

// x <- inv(A) x
void snw_sparse_solve(snw_sparse *sp, double *x);

// x <- inv(A') x
void snw_sparse_solve_transposed(snw_sparse *sp, double *x);

// y <- A x
void snw_sparse_multiply(const snw_sparse *sp, snw_matrix A, const double *x, double *y);

// *row <- rows with entries in column j of the pattern, increasing; returns their number.
int snw_sparse_column(const snw_sparse *sp, int j, const int **row);
