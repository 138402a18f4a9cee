// SPDX-License-Identifier: MIT
//
// sparse.h: LU factors of a square matrix most of whose entries are known to be zero.
//
// The order of elimination is found once, from the pattern: each time the unknown that couples with
// the fewest others. A row is exchanged only when its entry on the diagonal is below a tenth of the
// largest in its column, so that factors fill hardly more than the order foresees. The same numbers
// give the same factors, bit for bit.
#pragma once

#include "sinew/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct snw_sparse snw_sparse;

// Column j has entries in the rows row[start[j]] .. row[start[j + 1] - 1], rising; the pattern is
// symmetric. `bound` (NULL: none) marks unknowns without an entry on the diagonal, multipliers:
// each waits until an unknown it holds is eliminated. `size` (NULL: ones) are typical magnitudes of
// the unknowns, by which entries of a column are compared: row i counts size[i] times. Nothing of
// the arguments is kept.
SNW_NODISCARD snw_status snw_sparse_create(int n, const int *start, const int *row,
                                           const bool *bound, const double *size, snw_sparse **out);
void snw_sparse_destroy(snw_sparse *sp); // NULL is fine

// Entries of the factors when no rows are exchanged, and multiplications to find them.
typedef struct snw_sparse_cost {
    double entries, products;
} snw_sparse_cost;
snw_sparse_cost snw_sparse_foresee(const snw_sparse *sp);

// A, n x n column major: its entries within the pattern set to zero; those outside are never read
// nor written.
void snw_sparse_clear(const snw_sparse *sp, double *A);

// Factors of A, which stays as it is. SNW_E_SINGULAR when a pivot is zero or anything is not
// finite, SNW_E_MEMORY when so many rows were exchanged that the factors outgrow four times what
// was foreseen.
SNW_NODISCARD snw_status snw_sparse_factor(snw_sparse *sp, const double *A);

// The smallest pivot relative to the largest entry in its column of A, the matrix that was
// factorised; both by `size`. At the level of rounding A is singular for all we know.
double snw_sparse_smallest(const snw_sparse *sp, const double *A);

// Sign of det(A) from its factors, 1 or -1.
int snw_sparse_sign(snw_sparse *sp);

// x <- inv(A) x
void snw_sparse_solve(snw_sparse *sp, double *x);

// x <- inv(A') x
void snw_sparse_solve_transposed(snw_sparse *sp, double *x);

// Rows in which column j of the pattern has entries, rising; their number.
int snw_sparse_column(const snw_sparse *sp, int j, const int **row);
