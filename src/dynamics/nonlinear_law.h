// SPDX-License-Identifier: MIT
//
// nonlinear_law.h: rods whose section has a nonlinear elastic law (model/section_law.h). The
// stiffness matrix K of such a rod is that without strain; the functions here add what the law
// exceeds it by, theory.md (2.4.3). They do nothing for linear rods.
#pragma once

#include "dynamics/work.h"
#include "math/matrix.h"

// r (nv) += excess forces of a rod at the coordinates q. *fault <- a strain outside the range of
// the law, where the forces are NaN; unchanged otherwise. strain (6 per point) <- strains, unless
// NULL.
void snw_nonlinear_law_add(const snw_model *m, const snw_rod *rod, const double *q, double *r,
                           double *strain, snw_law_fault *fault);
// The same for all rods; w->law_strain <- their strains, w->law_fault.
void snw_nonlinear_laws_add(const snw_model *m, const double *q, snw_work *w);
// T += cq times the derivative of the excess forces, columns ld apart, at w->law_strain.
void snw_nonlinear_laws_tangent(const snw_model *m, double cq, const snw_work *w, snw_matrix T);
// Excess energy of a rod, J.
double snw_nonlinear_law_energy(const snw_model *m, const snw_rod *rod, const double *q);

// Smallest eigenvalue of a section's tangent relative to that without strain, over all points of
// all rods: 1 without strain, 0 where the law loses its definiteness.
typedef struct snw_weakest_section {
    double eigenvalue; // INFINITY: no nonlinear law
    int rod;
    double x, strain[6];
} snw_weakest_section;
snw_weakest_section snw_nonlinear_laws_weakest(const snw_model *m, const double *q);
// text <- it in words, with rod, place and strain.
void snw_weakest_section_describe(const snw_model *m, const snw_weakest_section *w, char *text,
                                  size_t size);

// text <- the fault in words, with rod, place and value; empty: none.
void snw_law_fault_describe(const snw_model *m, const snw_law_fault *fault, char *text,
                            size_t size);
