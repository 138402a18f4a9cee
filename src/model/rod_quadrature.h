// SPDX-License-Identifier: MIT
//
// rod_quadrature.h: by how much a quadrature rule errs in what is integrated along a rod: inertia,
// weight, distributed loads, fluid and ground at the nodes; stiffness, tendons, chambers and active
// stress at the points of the strain rule. Each is an inner product along the rod of two fields;
// the rule is compared with a fine one at trial shapes. Private to the compiler of models.
// theory.md (3.5).
#pragma once

#include "model/layout.h"

// A shape to try: the reference shape with given strains at the time t, and `bent` times half a
// turn in each strain that may change.
typedef struct snw_trial {
    const snw_desc *desc;
    const snw_rod *rod;
    double t, bent;
    const snw_model *m;                      // or, where there are coordinates q of a model,
    const double *q;                         // the shape that these have
    double phi[6 * SNW_BASIS_MAX_FUNCTIONS]; // scratch
} snw_trial;

// Strain of the trial shape at x, of the side towards `toward`.
snw_twist snw_trial_strain(snw_trial *trial, double x, double toward);

typedef struct snw_rod_quadrature snw_rod_quadrature;

// Fine integrals of the rod; rod->na, comp, basis, nfun, L and the breaks of the layout must be
// set. SNW_E_MEMORY.
SNW_NODISCARD snw_status snw_rod_quadrature_create(const snw_desc *desc, const snw_rod *rod,
                                                   const snw_layout *lay, snw_rod_quadrature **out);
void snw_rod_quadrature_destroy(snw_rod_quadrature *q); // NULL is fine

// The largest relative error of the integrals by the nodes of a layout with positive weights.
double snw_rod_quadrature_error(snw_rod_quadrature *q, const snw_layout *lay);

// Points in each element, `enough` or more, with which integrals of functions of the strain are
// right to their tolerance; `enough` where something jumps along the rod.
int snw_rod_strain_points(const snw_desc *desc, const snw_rod *rod, const snw_layout *lay,
                          int enough);
