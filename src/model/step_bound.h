// SPDX-License-Identifier: MIT
//
// step_bound.h: lengths of slices for which the expansions along a rod converge, theory.md (3.1c).
//
// The Magnus series of a slice converges where int |xi^|_F < pi, |xi^|_F^2 = 2|kappa|^2 + |eps|^2.
// Ufkes 2024 (6.11) is this condition for curvature components of at most beta and unit stretch.
// Positions may be scaled by any length, which is a similarity of the 4x4 matrices, so that
// int |kappa| < pi suffices. The Fer expansion needs int |kappa| < 1.7208. These are bounds on
// convergence, not on accuracy.
#pragma once

#include "model/model.h"

// Largest integral over a slice and the slice, between the arc lengths from and to.
typedef struct snw_slice_bound {
    double value, from, to; // m
} snw_slice_bound;

typedef struct snw_step_bound {
    snw_slice_bound turn;      // int |kappa|, rad
    snw_slice_bound frobenius; // int |xi^|_F
    snw_slice_bound length;    // the longest slice
} snw_step_bound;

// Bounds of int |kappa| and of int |xi^|_F below which the expansion of a rule converges; that of
// the Magnus series, the logarithm of the pose, for all rules but fer.
double snw_rule_turn_bound(snw_rule_kind kind);
double snw_rule_norm_bound(snw_rule_kind kind);

// Greatest length of slices, m, for curvature components of at most beta > 0 (1/m) and unit
// stretch: by the norm, which is (6.11) for magnus, and by the curvature alone.
double snw_step_bound_norm(snw_rule_kind kind, double beta);
double snw_step_bound_turn(snw_rule_kind kind, double beta);

// The largest integrals over the slices of a rod with the coordinates q of the model (nq) at t.
snw_step_bound snw_rod_step_bound(const snw_model *m, const snw_rod *rod, const double *q,
                                  double t);
