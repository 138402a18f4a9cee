// SPDX-License-Identifier: MIT
//
// rod_quadrature.h: errors of quadrature along a rod, theory.md (3.5). Integrals at the nodes:
// inertia, weight, distributed loads, fluid and contact; at the points of the strain rule:
// stiffness, damping, tendons, chambers and active stress. Each is an inner product of two fields;
// the rule is compared with a fine one at trial shapes. Private to src/model.
#pragma once

#include "model/layout.h"

// Trial shape of a rod: rest and given strains at time t plus `bent` times half a turn in each
// active angular component and 5 % in each active linear one; or the shape of coordinates q.
typedef struct snw_trial {
    const snw_desc *desc;
    const snw_rod *rod;
    double t, bent;
    const double *q;                         // coordinates of the shape; NULL: t and bent
    double phi[6 * SNW_BASIS_MAX_FUNCTIONS]; // scratch
} snw_trial;

// Strain of the trial shape at x, in the element that contains `toward`.
snw_twist snw_trial_strain(snw_trial *trial, double x, double toward);

typedef struct snw_rod_quadrature snw_rod_quadrature;

// Compute the integrals by the fine rule. rod->na, comp, basis, nfun, L and the breaks of the
// layout must be set. Fails with SNW_E_MEMORY only.
SNW_NODISCARD snw_status snw_rod_quadrature_create(const snw_desc *desc, const snw_rod *rod,
                                                   const snw_layout *lay, snw_rod_quadrature **out);
void snw_rod_quadrature_destroy(snw_rod_quadrature *q); // NULL is fine

// Largest relative error of the integrals by the nodes of a layout.
double snw_rod_quadrature_error(snw_rod_quadrature *q, const snw_layout *lay);

// Do stiffness or damping of the sections vary along a rod?
bool snw_rod_section_varies(const snw_rod_desc *d);
// Or does their inertia?
bool snw_rod_varies(const snw_rod_desc *d);

// Number of points per element, at least `enough`, for which integrals of functions of the strain
// have a relative error below 1e-8; `enough` when data are discontinuous along the rod.
int snw_rod_strain_points(const snw_desc *desc, const snw_rod *rod, const snw_layout *lay,
                          int enough);
