// SPDX-License-Identifier: MIT
//
// segment_pair.h: forces that couple distant segments, for eliminations along the tree
// (constraint/elimination.h): force elements between two sites, the geometric stiffness of loops,
// and constraint rows as wrenches on segments and forces on coordinates. theory.md (4.8)
#pragma once

#include "dynamics/dynamics.h"

// Number of pairs: force elements, then loops. seg <- the segments of pair k.
int snw_segment_pairs(const snw_model *m);
void snw_segment_pair_ends(const snw_model *m, int k, int seg[2]);
// Does pair k act at the motion in w?
bool snw_segment_pair_acts(const snw_model *m, const snw_work *w, int k);

// d <- variation of the wrenches W = -F of pair k on its two segments, own frames, under variations
// zeta of their poses and dV of their velocities. After snw_residual.
void snw_segment_pair_variation(const snw_model *m, const snw_work *w, int k,
                                const snw_twist zeta[2], const snw_twist dV[2], snw_wrench d[2]);

// A row of the constraint Jacobian, C' of one multiplier: wrenches on two segments in their own
// frames (segment 0: none), and n numbers on coordinates. After snw_residual; those of tendons
// after snw_tendons_jacobian.
typedef struct snw_row_force {
    int seg[2];
    snw_wrench on[2];
    int n;
    const int *dof;
    const double *value;
} snw_row_force;
snw_row_force snw_row_force_at(const snw_model *m, const snw_work *w, int row);

// out (nv) += J' F of a wrench F on segment i, own frame; and of a constraint row, times `factor`.
void snw_wrench_project(const snw_model *m, const snw_work *w, int i, snw_wrench F, double *out);
// The same of wrenches F on all segments; F <- wrenches that are transmitted.
void snw_wrenches_project(const snw_model *m, const snw_work *w, snw_wrench *F, double *out);
void snw_row_force_project(const snw_model *m, const snw_work *w, const snw_row_force *row,
                           double factor, double *out);
