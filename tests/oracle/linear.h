// SPDX-License-Identifier: MIT
//
// linear.h: linear algebra of the oracles, written for plainness: they shall not share a fault with
// the library.
#pragma once

#include <stddef.h>

// A (n x n, row by row) <- its factors with row exchanges in `pivot`. A singular matrix ends the
// program: no oracle has one.
void oracle_factor(int n, double *A, int *pivot);

// b <- inv(A) b for nrhs right-hand sides, b n x nrhs row by row.
void oracle_solve(int n, const double *A, const int *pivot, int nrhs, double *b);

// Largest magnitude among n numbers; NaN when one is.
double oracle_size(size_t n, const double *x);

// Largest |x_i - y_i|.
double oracle_distance(size_t n, const double *x, const double *y);

// Zeroed memory that is there: out of memory ends the program.
void *oracle_alloc(size_t n, size_t size);
