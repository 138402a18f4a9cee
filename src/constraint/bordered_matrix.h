// SPDX-License-Identifier: MIT
//
// bordered_matrix.h: Newton matrix of a model bordered by its constraint rows. Sparse factors use
// the tree: coordinates couple only on a common path or in a common loop. Factors are dense where
// that leaves few zeros, or where the matrix is small.
#pragma once

#include "constraint/elimination.h"
#include "model/model.h"
#include "sinew/status.h"
#include "solve/condition.h"
#include "solve/sparse.h"

// By the model; the same with a dense matrix, whatever its factors are; dense factors; sparse ones
// of a dense and of a compressed matrix.
typedef enum snw_algebra {
    SNW_ALGEBRA_AUTO,
    SNW_ALGEBRA_DENSE_MATRIX,
    SNW_ALGEBRA_DENSE,
    SNW_ALGEBRA_SPARSE,
    SNW_ALGEBRA_COMPRESSED
} snw_algebra;

typedef struct snw_bordered_matrix {
    int n;        // nv + nconstraint
    snw_matrix A; // to be filled after snw_bordered_matrix_clear, within the pattern; compressed
                  // where it is sparse and large
    int *pivot;   // n: pivots of the dense factors
    snw_sparse *sparse;              // sparse factors; NULL: dense
    bool overwritten;                // A holds dense factors
    snw_equilibration equilibration; // row and column sizes of A when it was factorised
    double condition;                // estimate since the last factorisation; NaN: not computed yet
    double *scratch;                 // 4 n: scales of the equilibration, and two vectors
    snw_elimination *local;          // in place of all matrices, of a local model; else NULL
} snw_bordered_matrix;

// *out <- storage for sparse factors of such a matrix, and for the matrix where it is large; NULL
// where dense factors are cheaper. `size` as for snw_sparse_create.
SNW_NODISCARD snw_status snw_pattern_create(const snw_model *m, const double *size,
                                            snw_sparse **out);
// The same with the order of `like` (NULL: none), that of another model with as many coordinates,
// where both have the same pattern.
SNW_NODISCARD snw_status snw_pattern_create_like(const snw_model *m, const double *size,
                                                 const snw_sparse *like, snw_sparse **out);

// Pattern of such a matrix by columns: *start (n + 1) and the rows of each in *row, rising. The
// caller frees both with snw_free.
SNW_NODISCARD snw_status snw_pattern_columns(const snw_model *m, int **start, int **row);

// Feedback laws couple the coordinates that they read with all that they act on, concentric tubes
// those of all tubes: such models are dense whatever `algebra` is.
SNW_NODISCARD snw_status snw_bordered_matrix_create(const snw_model *m, snw_algebra algebra,
                                                    snw_bordered_matrix **out);
// The same as with SNW_ALGEBRA_AUTO where snw_pattern_create has found `like` for the model.
SNW_NODISCARD snw_status snw_bordered_matrix_create_like(const snw_model *m, const snw_sparse *like,
                                                         snw_bordered_matrix **out);
void snw_bordered_matrix_destroy(snw_bordered_matrix *x); // NULL is fine

void snw_bordered_matrix_clear(snw_bordered_matrix *x);

// The caller has overwritten A outside the pattern.
void snw_bordered_matrix_invalidate(snw_bordered_matrix *x);

// SNW_E_SINGULAR when a pivot is zero or an entry is not finite.
SNW_NODISCARD snw_status snw_bordered_matrix_factor(snw_bordered_matrix *x);

// The same for the tangent of a local model.
SNW_NODISCARD snw_status snw_bordered_matrix_eliminate(snw_bordered_matrix *x,
                                                       const snw_tangent_at *at, snw_work *w);

// Estimate of the condition number of A after scaling rows and then columns (solve/condition.h).
// The first call after a factorisation takes a few solves. NaN of a local model.
double snw_bordered_matrix_condition(snw_bordered_matrix *x);

// b <- inv(A) b
void snw_bordered_matrix_solve(snw_bordered_matrix *x, double *b);
// b <- inv(A') b
void snw_bordered_matrix_solve_transposed(snw_bordered_matrix *x, double *b);
