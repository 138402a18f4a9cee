// SPDX-License-Identifier: MIT
//
// row_gram.h: sparse factors of C C' + shift, with the constraint rows C of a model in typical
// coordinates and divided by their sizes. For models with many loops: its pivots tell whether the
// rows are independent, and its solutions are steps that close the loops. Time and memory grow with
// the number of rows and with the fill-in of their network, not with the square of the rows.
#pragma once

#include "dynamics/dynamics.h"
#include "sinew/status.h"

#include <stdbool.h>

typedef struct snw_row_gram snw_row_gram;

// *out <- NULL where dense methods serve better or are needed: few rows, rows that couple with most
// others, conditional, nonholonomic or passive rows. `size` (nconstraint) is kept by the caller.
SNW_NODISCARD snw_status snw_row_gram_create(const snw_model *m, const double *size,
                                             snw_row_gram **out);
void snw_row_gram_destroy(snw_row_gram *g); // NULL is fine

// Factors with the rows in w, after snw_constraints_jacobian. SNW_E_SINGULAR when rows are
// dependent to rounding or not finite, and also where they are independent only by coordinates in
// the border.
SNW_NODISCARD snw_status snw_row_gram_factor(snw_row_gram *g, const snw_work *w, double shift);

// Smallest pivot of the last factors relative to the squared length of its row: does not depend on
// the units of rows. A pivot is the squared length of a row that is left beside the rows eliminated
// before it; without the coordinates of the border it is not larger.
double snw_row_gram_least_part(const snw_row_gram *g);

// x (nv) <- C' inv(C C' + shift) e with the last factors, in typical coordinates; e (nconstraint)
// is overwritten. Minimises |C x - e|^2 + shift |x|^2.
void snw_row_gram_step(snw_row_gram *g, const snw_work *w, double *e, double *x);

// Multiplications of a factorisation, to see how it grows.
double snw_row_gram_operations(const snw_row_gram *g);
