// SPDX-License-Identifier: MIT
//
// condition.h: estimate of the condition number of a factorised matrix, at the cost of a few
// solves.
//
// Rows and columns of our matrices have different units, so the matrix is scaled by its own
// entries: rows by their largest entry, then columns by theirs. The estimate is that of the
// condition number in the 1-norm of
//   S = diag(row) A diag(1/column),  row: 1 over the largest entry.
// It does not depend on the units of equations, and hardly on those of unknowns.
#pragma once

#include "solve/sparse.h"

typedef struct snw_equilibration {
    int n;
    double *row, *column; // row NULL: ones
    double norm;          // |S|_1
} snw_equilibration;

// Scales and norm of A, n x n, before it is factorised. For a matrix with a pattern only the
// entries of the pattern are read (`sparse`; NULL: all entries). row and column are the caller's, n
// numbers each.
void snw_equilibration_take(snw_equilibration *g, snw_matrix A, const snw_sparse *sparse);

// |S|_1 |inv(S)|_1 from the factors of A: sparse, or LU and pivot where that is NULL. A lower bound
// but for rounding, seldom below a third of the true number (Hager 1984; Higham, ACM TOMS 14,
// 1988). scratch: 2 n numbers.
double snw_equilibration_condition(const snw_equilibration *g, const double *LU, const int *pivot,
                                   snw_sparse *sparse, double *scratch);
