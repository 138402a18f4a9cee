// SPDX-License-Identifier: MIT
//
// slice.h: Jacobian columns of a slice of rod for the tangent: derivative of the pose at its end by
// its coordinates.
#pragma once

#include "dynamics/dynamics.h"

// Columns of a slice: its own part S, and the Jacobian J from the root with its rates. Columns and
// rows of K of its functions of the active component a begin at column[a].
typedef struct snw_slice_jacobian {
    double *S, *J, *dJ, *ddJ;
    double *K; // rows ldk apart
    int ldk;
    int column[6];
} snw_slice_jacobian;

// S <- columns of slice i (of positive length), J += the same; likewise the rates unless
// w->is_static. With F, the wrench it transmits (NULL: none), K += stiffness from the second
// derivative of its map. Columns that the slice does not fill are not written.
void snw_slice_jacobian_columns(const snw_model *m, int i, int ld, const snw_wrench *F, snw_work *w,
                                snw_slice_jacobian to);
