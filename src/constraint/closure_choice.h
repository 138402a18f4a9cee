// SPDX-License-Identifier: MIT
//
// closure_choice.h: what a compilation finds out about the loops of a model: trivial and redundant
// rows, degrees of freedom and the closed initial configuration. All of it follows from the
// kinematics. Models of one robot whose other numbers differ (stiffness, mass, damping, loads)
// have the same, which is found once and copied to the last bit; it is most of the time of their
// compilation.
//
// Kinematics are compared by what they compute: numbers, poses, velocities, violations and rates of
// all rows at a fixed pseudo-random configuration, and all prescribed motions at the times at which
// a compilation looks at the loops. They must be equal in all bits.
#pragma once

#include "constraint/projection.h"

typedef struct snw_closure_choice snw_closure_choice;

// Empty: fits no model.
SNW_NODISCARD snw_status snw_closure_choice_create(snw_closure_choice **out);
void snw_closure_choice_destroy(snw_closure_choice *c); // NULL is fine

// snw_projection_compile_for, with what `choice` (NULL: nothing) knows of a model before that has
// the same kinematics. Afterwards it is that of this model; after a failure, as before. The model
// is the same to the last bit as without it.
SNW_NODISCARD snw_status snw_projection_compile_choice(const snw_desc *desc, snw_model_use use,
                                                       snw_closure_choice *choice, snw_model **out,
                                                       snw_error *err);

// The configuration (nq) at which the loops of the last model are closed at t = 0, reached from its
// q0 as by snw_projection_close; NULL: not known. It lives until the next compilation.
const double *snw_closure_choice_closed(const snw_closure_choice *c);

// Pattern of the matrix of the last model for which one was kept, if it had as many coordinates;
// NULL: none. And keep a copy of a pattern, unless it is the same.
const snw_sparse *snw_closure_choice_pattern(const snw_closure_choice *c, const snw_model *m);
SNW_NODISCARD snw_status snw_closure_choice_keep_pattern(snw_closure_choice *c, const snw_model *m,
                                                         const snw_sparse *pattern);

// From now on snw_projection_close takes `closed` (nq, must outlive the projection) where it starts
// from q0 of the model and `closed` is closed under its inputs; NULL: no longer. A model that the
// projection is told to use (snw_projection_use) has none.
void snw_projection_know_closed(snw_projection *pr, const double *closed);
