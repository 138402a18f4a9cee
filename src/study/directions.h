// SPDX-License-Identifier: MIT
//
// directions.h: the directions in which a robot with its loops closed can move from a
// configuration, sorted by mass: with mass, without mass but with stiffness (they follow
// statically), idle. For modes and linear models; theory.md 7.
#pragma once

#include "base/arena.h"
#include "dynamics/dynamics.h"

// M, K, D (nv x nv) are filled by the caller, all else by snw_directions_find.
typedef struct snw_directions {
    const snw_model *m;
    double *M, *K, *D;
    double *P; // nv x n: allowed directions as columns: nidle idle ones, then the others of the n0
               // without mass, then those with mass, P'MP = 1
    int n, n0, nidle;
    double *held; // nv x most_held: more rows that hold, filled by the caller; nheld of them
    int nheld, most_held;
    double *unit;          // nv: displacement of a coordinate for comparison with others
    double *A, *B, *U, *x; // nv x nv; A also holds the constraint rows
    double *value, *line;  // nv or nconstraint, whichever is larger
    snw_arena scratch;
    void *block;
} snw_directions;

// `held`: room for rows besides the constraints.
SNW_NODISCARD snw_status snw_directions_create(const snw_model *m, int held, snw_directions **out);
void snw_directions_destroy(snw_directions *d); // NULL is fine

// unit, P, n, n0, nidle <- from M, K and the active constraint rows in w. SNW_E_MODEL: no
// coordinate has mass; SNW_E_DIVERGED: a matrix is not finite.
SNW_NODISCARD snw_status snw_directions_find(snw_directions *d, const snw_work *w);

// unit <- typical values, P and n <- directions that the active constraint rows in w allow, not
// sorted. SNW_E_DIVERGED: a row is not finite.
SNW_NODISCARD snw_status snw_directions_allowed(snw_directions *d, const snw_work *w);

// Sorts columns `first` to `first` + `count` of P by the eigenvalues of the symmetric part of T (nv
// x nv) on them; those of at most `small` first, *nsmall <- their number.
SNW_NODISCARD snw_status snw_directions_sort(snw_directions *d, const double *T, int first,
                                             int count, double small, int *nsmall);
// Stiffness below which a massless direction is idle.
double snw_directions_no_stiffness(const snw_model *m);

// Directions with mass (P from column n0) <- with the massless ones following statically; A (n1 x
// n1) <- their stiffness, (7.2). SNW_E_SINGULAR: they do not follow.
SNW_NODISCARD snw_status snw_directions_condense(snw_directions *d, double *A);
// X (nv x k) <- motion of the massless directions that follow the forces F (nv x k) statically, the
// others held. SNW_E_SINGULAR: they do not follow.
SNW_NODISCARD snw_status snw_directions_follow(snw_directions *d, int k, const double *F,
                                               double *X);

// Largest residual or violation in w, relative to typical values: 0 in equilibrium; NaN is kept.
double snw_out_of_balance(const snw_model *m, const snw_work *w);

// Column j of a matrix with n rows.
static inline double *snw_column_of(double *A, int n, int j) { return A + (size_t)n * (size_t)j; }
// out (n x k) <- A (n x m) Y (m x k).
void snw_combine_columns(int n, int m, const double *A, int k, const double *Y, double *out);
// A (n x n) <- 1.
void snw_identity(int n, double *A);
