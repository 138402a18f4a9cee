// SPDX-License-Identifier: MIT
//
// tangent.h: a tangent J = dr/dx with its factors, kept from one solve to the next.
//
// Rows of J carry different units (forces, moments, gaps), so they are brought to a common size, by
// powers of two, before pivots are chosen.
#pragma once

#include "base/arena.h"
#include "sinew/status.h"
#include "solve/sparse.h"

#include <stdbool.h>

enum { SNW_TANGENT_NULL = 6 }; // motions that nothing resists, at most

typedef struct snw_tangent {
    int n;
    double *J;        // n x n column major: in, the matrix; after factoring, its factors
    double *row;      // factors of the rows
    double *diagonal; // of J, before factoring
    double *column;   // largest of each column, rows scaled,
    double norm;      // and largest sum of one, relative to that
    int *pivot;
    int sign;           // of det J, 1 or -1; 0: not factorised
    const double *soft; // J was singular to rounding, and has these on its diagonal; else NULL
    double *spare;      // n: the right-hand side while a solution is refined
    double *null; // n x SNW_TANGENT_NULL: motions that nothing resists, where it was singular,
    int nnull;    // and how many of them were found
    snw_sparse *sparse; // NULL, or what holds the factors of this tangent alone: the caller's
    bool reserve;       // they outgrew it, and are dense
} snw_tangent;

// Bytes that snw_tangent_take takes from an arena.
size_t snw_tangent_scratch(int n);
snw_tangent snw_tangent_take(int n, snw_arena *arena);

// Factorise t->J in place. SNW_E_SINGULAR when it is singular or not finite; with `strict` also
// when it is so near to it that rounding decides what a solution is. t->soft <- NULL.
SNW_NODISCARD snw_status snw_tangent_factor(snw_tangent *t, bool strict);

// An estimate of the condition number of J, rows and then columns brought to a common size
// (solve/condition.h); NaN when it is not factorised. scratch: 2 n numbers.
double snw_tangent_condition(const snw_tangent *t, double *scratch);

// r <- inv(J) r. With t->soft, S, which the factors hold, the solution is refined: x <- inv(J + S)
// (r + S x), twice. Where J is regular beside S that is inv(J) r to rounding; a direction that
// nothing resists moves by no more than three times r / S.
void snw_tangent_solve(const snw_tangent *t, double *r);

// Of factors of J + diag(soft): t->null <- motions x with J x = 0 to a few parts of soft,
// orthonormal by soft. theory.md 3.8
void snw_tangent_find_null(snw_tangent *t, const double *soft);
// dx <- without these motions.
void snw_tangent_hold_null(const snw_tangent *t, const double *soft, double *dx);
