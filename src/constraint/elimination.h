// SPDX-License-Identifier: MIT
//
// elimination.h: Newton's equations T x = b of a local model, T = cq dr/dq + cv dr/dv + ca dr/da,
// without the matrix T: the linearised recursion is eliminated from the leaves to the root,
// theory.md 4.2. Time and memory are linear in the number of segments.
#pragma once

#include "dynamics/dynamics.h"
#include "sinew/status.h"

typedef struct snw_elimination snw_elimination;

// Any model whose description has nothing of snw_desc_not_local; it need not be large.
SNW_NODISCARD snw_status snw_elimination_create(const snw_model *m, snw_elimination **out);
void snw_elimination_destroy(snw_elimination *e); // NULL is fine

// Coefficients of the tangent and the point at which it is taken: after snw_residual, `chart` as
// for snw_tangent_pass.
typedef struct snw_tangent_at {
    const snw_inputs *in;
    const double *chart; // NULL: none
    double cq, cv, ca;
} snw_tangent_at;

// Eliminate all coordinates. SNW_E_SINGULAR when a pivot is zero or not finite.
SNW_NODISCARD snw_status snw_elimination_factor(snw_elimination *e, const snw_tangent_at *at,
                                                snw_work *w);
// x <- inv(T) x with the last factors; w of the factorisation may have changed since.
void snw_elimination_solve(snw_elimination *e, double *x);
// Sign of det T, 1 or -1; 0: not factorised.
int snw_elimination_sign(const snw_elimination *e);

// y <- T x; y and x must differ. Keeps the factors.
void snw_elimination_product(snw_elimination *e, const snw_tangent_at *at, snw_work *w,
                             const double *x, double *y);

// diagonal (nv) <- diagonal of T. The factors are lost.
void snw_elimination_diagonal(snw_elimination *e, const snw_tangent_at *at, snw_work *w,
                              double *diagonal);

// Multiplications of a factorisation, to see how it grows.
double snw_elimination_operations(const snw_elimination *e);
