// SPDX-License-Identifier: MIT
//
// bordered_matrix.h: Newton's matrix of a model, bordered by the rows of its loops, with factors
// that use the tree: coordinates couple when they share a path or a loop. Where that leaves few
// zeros, or the matrix is small, factors are dense.
#pragma once

#include "model/model.h"
#include "sinew/status.h"
#include "solve/condition.h"
#include "solve/sparse.h"

typedef enum snw_algebra { SNW_ALGEBRA_AUTO, SNW_ALGEBRA_DENSE, SNW_ALGEBRA_SPARSE } snw_algebra;

typedef struct snw_bordered_matrix {
    int n;      // nv + nrow
    double *A;  // n x n column major: fill it after snw_bordered_matrix_clear, within the pattern
    int *pivot; // of dense factors
    snw_sparse *sparse; // NULL: dense
    bool overwritten;   // A holds dense factors
    snw_gauge gauge;    // of A when it was factorised
    double condition;   // asked for since; NaN: not yet
    double *scratch;    // 4 n: that of the gauge, and two vectors
} snw_bordered_matrix;

// *out <- what holds sparse factors of such a matrix; NULL where dense ones pay. `size` as of
// snw_sparse_create.
SNW_NODISCARD snw_status snw_pattern_create(const snw_model *m, const double *size,
                                            snw_sparse **out);

// What laws read couples with all that they push: such models are dense, whatever is asked for.
SNW_NODISCARD snw_status snw_bordered_matrix_create(const snw_model *m, snw_algebra algebra,
                                                    snw_bordered_matrix **out);
void snw_bordered_matrix_destroy(snw_bordered_matrix *x); // NULL is fine

void snw_bordered_matrix_clear(snw_bordered_matrix *x);

// Somebody else has written all over A.
void snw_bordered_matrix_invalidate(snw_bordered_matrix *x);

// SNW_E_SINGULAR when a pivot is zero or anything is not finite.
SNW_NODISCARD snw_status snw_bordered_matrix_factor(snw_bordered_matrix *x);

// An estimate of the condition number of A, rows and then columns brought to a common size
// (solve/condition.h). It takes a few solves when it is asked for the first time after a
// factorisation.
double snw_bordered_matrix_condition(snw_bordered_matrix *x);

// b <- inv(A) b
void snw_bordered_matrix_solve(snw_bordered_matrix *x, double *b);
