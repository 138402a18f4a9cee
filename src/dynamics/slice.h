// SPDX-License-Identifier: MIT
//
// slice.h: columns of a slice of rod for the tangent: what its coordinates do to the pose at its
// end.
#pragma once

#include "dynamics/dynamics.h"

// Columns of a segment from its rod's coordinates on, rows apart by the ld of its path: its own
// part S, and what they add up to from the root on, with rates.
typedef struct snw_slice_jacobian {
    double *S, *J, *dJ, *ddJ;
} snw_slice_jacobian;

// S of slice i of some length, and the same added to J; likewise its rates unless w->is_static. F,
// unless NULL: the wrench it carries; w->K += what its map adds to the stiffness then. Columns that
// it does not fill are not written.
void snw_slice_jacobian_columns(const snw_model *m, int i, int ld, const snw_wrench *F, snw_work *w,
                                snw_slice_jacobian to);
