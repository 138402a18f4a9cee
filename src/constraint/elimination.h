// SPDX-License-Identifier: MIT
//
// elimination.h: Newton's equations of a local model,
//   [T -s C'; -s C 0] x = b,  T = cq dr/dq + cv dr/dv + ca dr/da,
// with its constraint rows C, or T x = b without them, and without the matrix T: the linearised
// recursion is eliminated from the leaves to the root, and forces between distant segments and rows
// are a border, theory.md 4. Time and memory are linear in the number of segments; time also in the
// number of unknowns of the border. Where many segments of rods touch, or tendons with friction
// leave their rods, states and wrenches are unknowns of a sparse matrix of blocks instead (4.8a).
#pragma once

#include "dynamics/dynamics.h"
#include "sinew/status.h"

typedef struct snw_elimination snw_elimination;

// Any model whose description has nothing of snw_desc_not_local; it need not be large, and need not
// be local.
SNW_NODISCARD snw_status snw_elimination_create(const snw_model *m, snw_elimination **out);
void snw_elimination_destroy(snw_elimination *e); // NULL is fine
// From now on another model that fits (snw_model_fits); NULL is fine.
void snw_elimination_use(snw_elimination *e, const snw_model *m);

// Coefficients of the tangent and the point at which it is taken: after snw_residual, `chart` as
// for snw_tangent_pass.
typedef struct snw_tangent_at {
    const snw_inputs *in;
    const double *chart; // NULL: none
    double cq, cv, ca;
    double rows;         // s; 0: without the constraint rows
    double shift;        // T less this times the unloaded elastic stiffness
    bool inertia;        // count negative eigenvalues, snw_elimination_negative
    const double *added; // NULL, or numbers added to the diagonal: nv, then those of the rows
    bool same_point;     // w and chart have not changed since the last product
} snw_tangent_at;

// Takes memory for the factors of the slices that touch in w, when many of them are new; the
// factors may be lost. Otherwise, and in all other functions below, nothing is allocated: touches
// without room become unknowns of a border, six for each of SNW_LOCAL_TOUCHED segments at most.
// Once before the first factorisation, then between steps.
SNW_NODISCARD snw_status snw_elimination_make_room(snw_elimination *e, const snw_work *w);

// Eliminate all coordinates. SNW_E_SINGULAR when a pivot is zero or not finite.
SNW_NODISCARD snw_status snw_elimination_factor(snw_elimination *e, const snw_tangent_at *at,
                                                snw_work *w);
// x <- solution with the last factors, nv numbers and those of the rows; w of the factorisation may
// have changed since.
void snw_elimination_solve(snw_elimination *e, double *x);
// Sign of det T, 1 or -1; 0: not factorised.
int snw_elimination_sign(const snw_elimination *e);

// Number of negative eigenvalues of a symmetric T on the motions that the rows allow, of a
// factorisation with `inertia`; -1: a pivot is zero, or the rows are dependent.
int snw_elimination_negative(const snw_elimination *e);

// y (nv) <- T x without the rows; y and x must differ. Keeps the factors.
void snw_elimination_product(snw_elimination *e, const snw_tangent_at *at, snw_work *w,
                             const double *x, double *y);

// y (nv) <- K x with the unloaded elastic stiffness K: of rods and of the springs of joints; joints
// without one have that of typical forces.
void snw_elimination_stiffness(const snw_elimination *e, const double *x, double *y);

// diagonal (nv) <- diagonal of T, less what forces between distant segments have in it (none in the
// mass matrix). The factors are lost.
void snw_elimination_diagonal(snw_elimination *e, const snw_tangent_at *at, snw_work *w,
                              double *diagonal);

// Condition number in the 2-norm of the matrix with rows and columns scaled to the norm 1,
// theory.md (4.10): a lower bound, near it for symmetric matrices. From the last factors and
// products at a point near that of the factors, with the same coefficients `at`. Takes some dozen
// products, and keeps the factors. NaN: not factorised. scratch: 4 (nv + rows) numbers.
double snw_elimination_condition(snw_elimination *e, const snw_tangent_at *at, snw_work *w,
                                 double *scratch);

// Multiplications of a factorisation, to see how it grows.
double snw_elimination_operations(const snw_elimination *e);
