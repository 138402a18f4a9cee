// SPDX-License-Identifier: MIT
//
// model_sections.h: numbers in the laws of sections and materials of rods, in place of the matrices
// and inertias that follow from them: many coefficients of one law share these, yet each is a
// number of its own in the law. Derivatives by them follow from those by the matrices, theory.md
// (7.5.17). Part of model_arrays.h.
#pragma once

#include "model/model.h"

typedef struct snw_model_sections snw_model_sections;

SNW_NODISCARD snw_status snw_model_sections_create(const snw_model *m, snw_model_sections **out);
void snw_model_sections_destroy(snw_model_sections *a); // NULL is fine

size_t snw_model_sections_size(const snw_model_sections *a);
void snw_model_sections_read(const snw_model_sections *a, const snw_model *m, double *out);
// Do stiffness, damping, inertia and rest strains of the rods of two models differ by these numbers
// only?
bool snw_model_sections_only(const snw_model_sections *a, const snw_model *other);
// *out <- the part of the inertia of segment i that follows from the section of its rod.
void snw_section_inertia(const snw_model *m, int seg, snw_inertia *out);

// Derivatives by K, D and the stiffness of Maxwell branches (ndof x ndof each) of a rod, and by the
// inertias of all segments (mass, 3 first moments, 6 of inertia).
typedef struct snw_section_bars {
    const double *K, *D, *branch_K, *M; // branch_K: nbranch of them
    // the derivatives by the fractions of the moduli in the branches (2 x nbranch) and by
    // instantaneous over given moduli (2) are added here
    double *fraction, *instant;
} snw_section_bars;
// bar (size) += derivatives by the numbers, from those by the matrices of a rod.
void snw_model_sections_add(snw_model_sections *a, int rod, const snw_section_bars *by,
                            double *bar);
// bar (size) += derivatives by the numbers of the rest strain of a rod, from those by the strain at
// arc length x (6).
void snw_model_sections_add_rest(snw_model_sections *a, int rod, double x, const double *by_xi,
                                 double *bar);
