// SPDX-License-Identifier: MIT
//
// tangent.h: a tangent J = dr/dx with its factors, kept from one solve to the next.
//
// Rows of J have different units (forces, moments, violations), so they are scaled to a common
// size, by powers of two, before pivots are chosen.
#pragma once

#include "base/arena.h"
#include "sinew/status.h"
#include "solve/sparse.h"

#include <stdbool.h>

enum { SNW_TANGENT_NULL = 6 }; // most directions of the null space

// Factors that the equations make themselves, in place of a matrix.
typedef struct snw_own_factors {
    void *user; // NULL: there are none
    // Factorise the tangent at the point of the last evaluation, with `add` (n; NULL: none) added
    // to its diagonal. diagonal (n; NULL: not asked for) <- typical entries of its diagonal, *sign
    // <- sign of its determinant, 1 or -1; *negative (NULL: not asked for) <- number of its
    // negative eigenvalues, less that of constraint rows, -1: not known
    snw_status (*factor)(void *user, const double *add, double *diagonal, int *sign, int *negative);
    void (*solve)(void *user, double *r); // r <- inv(J) r
} snw_own_factors;

typedef struct snw_tangent {
    int n;
    snw_matrix J; // in, the matrix; after factorisation, its rows scaled, or its dense factors.
                  // entry NULL: `own`
    snw_own_factors own;
    double *row;      // scales of the rows
    double *diagonal; // of J, before factorisation
    double *column;   // largest entry of each column, rows scaled
    double norm;      // 1-norm with rows and columns scaled
    int *pivot;
    int sign;                     // of det J, 1 or -1; 0: not factorised
    const double *regularisation; // regularisation on the diagonal, where J was singular to
                                  // rounding; otherwise NULL
    double *spare;                // n: right-hand side during iterative refinement
    double *null;       // n x SNW_TANGENT_NULL: basis of the null space, where J was singular
    int nnull;          // dimension of the null space found
    snw_sparse *sparse; // NULL, or the sparse factors of this tangent; owned by the caller
    bool reserve;       // the sparse factors were too large; dense ones are used
} snw_tangent;

// Bytes that snw_tangent_take takes from an arena: with a dense matrix, and without, where the
// equations have factors of their own or the sparse factors a compressed matrix.
size_t snw_tangent_scratch(int n);
size_t snw_tangent_scratch_own(int n);
// `sparse` may be NULL.
snw_tangent snw_tangent_take(int n, snw_own_factors own, snw_sparse *sparse, snw_arena *arena);

// Factorise t->J in place. SNW_E_SINGULAR when it is singular or not finite; with `strict` also
// when it is so close to singular that rounding determines the solution. t->regularisation <- NULL.
SNW_NODISCARD snw_status snw_tangent_factor(snw_tangent *t, bool strict);

// Estimate of the condition number of J with rows, then columns, scaled to a common size
// (solve/condition.h); NaN when it is not factorised, or has no matrix. scratch: 2 n numbers.
double snw_tangent_condition(const snw_tangent *t, double *scratch);

// r <- inv(J) r. With a regularisation S = diag(t->regularisation) in the factors the solution is
// refined: x
// <- inv(J + S) (r + S x), twice. Where J is regular that is inv(J) r to rounding; neutral
// directions move by no more than three times r / S.
void snw_tangent_solve(const snw_tangent *t, double *r);

// From factors of J + diag(regularisation): t->null <- vectors x with J x = 0 up to the order of
// regularisation, orthonormal in the metric of regularisation (theory.md 3.8).
void snw_tangent_find_null(snw_tangent *t, const double *regularisation);
// From factors of J, which is regular, with the null space of a tangent nearby: t->null <- the
// vectors on which J acts least, relative to regularisation, that follow from those of `from`.
void snw_tangent_follow_null(snw_tangent *t, const double *regularisation, const snw_tangent *from);
// Remove the components along these vectors from dx.
void snw_tangent_remove_null(const snw_tangent *t, const double *regularisation, double *dx);
