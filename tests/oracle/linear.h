// SPDX-License-Identifier: MIT
//
// linear.h: linear algebra of the oracles. It is written out plainly and shares no code with the
// library, so that both cannot have the same fault.
#pragma once

#include <stddef.h>

// A (n x n, row by row) <- its LU factors with row exchanges in `pivot`. A singular matrix ends the
// program; the matrices of the oracles are regular.
void oracle_factor(int n, double *A, int *pivot);

// b <- inv(A) b for nrhs right-hand sides, b n x nrhs row by row.
void oracle_solve(int n, const double *A, const int *pivot, int nrhs, double *b);

// Largest magnitude among n numbers; NaN if one of them is NaN.
double oracle_size(size_t n, const double *x);

// Largest |x_i - y_i|.
double oracle_distance(size_t n, const double *x, const double *y);

// Zeroed memory; out of memory ends the program.
void *oracle_alloc(size_t n, size_t size);
