// SPDX-License-Identifier: MIT
//
// block_sparse.h: LU factorisation of a sparse matrix of dense blocks. Its unknowns form cells; the
// cell that couples with the fewest others is eliminated next (minimum degree), and rows are
// exchanged only within a cell. For equations whose couplings change from one factorisation to the
// next, as with contacts: the order is found again only when a coupling is new.
#pragma once

#include "base/arena.h"
#include "sinew/status.h"

#include <stdbool.h>

typedef struct snw_block_sparse snw_block_sparse;

// Cells of size[i] unknowns. Those marked in `late` (NULL: none) are eliminated after all others,
// from the first one to the last. The arguments are copied.
SNW_NODISCARD snw_status snw_block_sparse_create(int ncell, const int *size, const bool *late,
                                                 snw_block_sparse **out);
void snw_block_sparse_destroy(snw_block_sparse *b); // NULL is fine

// Cells pair[2k] and pair[2k + 1] are coupled, n pairs in any order, also more than once. Takes
// memory when couplings are new, or when most of the former ones have gone; the entries are then
// lost.
SNW_NODISCARD snw_status snw_block_sparse_couple(snw_block_sparse *b, int n, const int *pair);

// Are two cells coupled?
bool snw_block_sparse_couples(const snw_block_sparse *b, int i, int j);

// Multiplications of a factorisation, of a solution, and first unknown of a cell.
double snw_block_sparse_products(const snw_block_sparse *b);
double snw_block_sparse_entries(const snw_block_sparse *b);
int snw_block_sparse_first(const snw_block_sparse *b, int cell);

// The entries: all zero; those of the rows of cell i and the columns of cell j, by rows of size[j].
void snw_block_sparse_clear(snw_block_sparse *b);
double *snw_block_sparse_at(snw_block_sparse *b, int i, int j);

// Factorise; the entries are unchanged. SNW_E_SINGULAR when a pivot is zero or not finite.
// negative: NULL, or <- number of negative eigenvalues of a symmetric matrix (Sylvester), -1: a
// pivot is zero.
SNW_NODISCARD snw_status snw_block_sparse_factor(snw_block_sparse *b, int *negative);
int snw_block_sparse_sign(const snw_block_sparse *b); // of the determinant

// x <- inv(A) x, corrected once by what it leaves of the equations.
void snw_block_sparse_solve(snw_block_sparse *b, double *x);
// y <- A x
void snw_block_sparse_multiply(const snw_block_sparse *b, const double *x, double *y);
