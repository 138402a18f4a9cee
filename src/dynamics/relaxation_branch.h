// SPDX-License-Identifier: MIT
//
// relaxation_branch.h: the numbers of the Maxwell branches of a rod in model and state,
// theory.md 2.5.
#pragma once

#include "dynamics/relaxation.h"

// Branch k of a rod: its number among all, and the first of its coordinates.
static inline int branch_number(const snw_rod *rod, int k) { return rod->branch_adr + k; }
static inline int branch_first(const snw_rod *rod, int k) {
    return rod->branch_coordinate0 + k * rod->ndof;
}
static inline const double *branch_stiffness(const snw_rod *rod, int k) {
    return rod->branch_K + (size_t)k * (size_t)rod->ndof * (size_t)rod->ndof;
}
static inline const double *rod_coordinates(const snw_rod *rod, const snw_state *s) {
    return s->q + rod->dof0 + rod->shift;
}

// Strain coordinate i of branch k.
static inline double branch_strain(const snw_rod *rod, int k, int i, const snw_state *s) {
    return s->relaxed[branch_first(rod, k) + i] +
           s->follow[branch_number(rod, k)] * rod_coordinates(rod, s)[i];
}
