// SPDX-License-Identifier: MIT
//
// model_branches.h: numbers of the Maxwell branches of rods: stiffness matrices and relaxation
// times, or fractions of the moduli in place of the matrices. Derivatives of a scalar by them are
// gathered over a run, theory.md (7.5.41). Part of model_arrays.h.
#pragma once

#include "study/adjoint.h"

// Numbers by rod with branches: matrices (ndof x ndof each), times, then fractions of Young's and
// of the shear modulus, instantaneous over given moduli.
size_t snw_model_branches_size(const snw_model *m);
// sections: the matrices follow from the fractions and the sections, and are 0; else the fractions
// are.
void snw_model_branches_read(const snw_model *m, bool sections, double *out);
// Numbers of matrices in x are replaced by the largest of their matrix, for rounding.
void snw_model_branches_scale(const snw_model *m, double *x);

// bar (size) -= derivatives of mu'r - branch'a_1 by the numbers, at the equations of a map.
void snw_model_branches_subtract(const snw_model *m, const snw_map *map, const double *mu,
                                 const double *branch, double *bar);
// bar += c times derivatives of the stored energy of a state.
void snw_model_branches_add_energy(const snw_model *m, const snw_state *s, double c, double *bar);
// Places of the numbers of a rod with branches in a vector: matrices, times, fractions (2 x
// branches), instantaneous over given moduli (2).
typedef struct snw_branch_numbers {
    size_t K, time, fraction, instant;
} snw_branch_numbers;
snw_branch_numbers snw_model_branches_of(const snw_model *m, int rod);
