// SPDX-License-Identifier: MIT
//
// condition.h: how much a solve may magnify errors: an estimate of the condition number of a matrix
// whose factors exist, for a few solves more.
//
// Rows and columns of our matrices carry different units. So the matrix is measured by its own
// entries first: rows by their largest, then columns by theirs. What is estimated is the condition
// number in the 1-norm of what remains,
//   S = diag(row) A diag(1/column),  row: 1 over the largest.
// The units of equations do not matter to it, those of unknowns hardly.
#pragma once

#include "solve/sparse.h"

typedef struct snw_gauge {
    int n;
    double *row, *column; // row NULL: ones
    double norm;          // |S|_1
} snw_gauge;

// Measure A, n x n column major, before it is factorised; of a matrix with a pattern only its
// entries are read (`sparse`, NULL: all of them). row and column are the caller's, n numbers each.
void snw_gauge_take(snw_gauge *g, const double *A, const snw_sparse *sparse);

// |S|_1 |inv(S)|_1 from the factors of A: sparse, or LU and pivot where that is NULL. Never more
// than the true number but for rounding, seldom less than a third of it (Hager 1984; Higham, ACM
// TOMS 14, 1988). scratch: 2 n numbers.
double snw_gauge_condition(const snw_gauge *g, const double *LU, const int *pivot,
                           snw_sparse *sparse, double *scratch);
