// SPDX-License-Identifier: MIT
//
// model_surroundings.h: coefficients of contacts, fluids, springs and stops of a model, by which
// derivatives of a scalar are gathered over a run, theory.md (7.5.15). Part of model_arrays.h.
#pragma once

#include "study/model_laws.h"

// Numbers: by contact damping, friction along and across a rod, creep, smoothing, restitution; by
// contact point stiffness; by fluid point added masses, drag, displaced mass, momentum flux; by
// force element its stiffness, damping and rest; by stop stiffness, damping, smoothing, limits and
// restitution.
size_t snw_surroundings_size(const snw_model *m);
void snw_surroundings_read(const snw_model *m, double *out);
// Do contacts and fluids of two models with as many points differ in these numbers only, or in
// `shapes` (model_shapes.h)?
bool snw_surroundings_alike(const snw_model *m, const snw_model *other, bool shapes);

// Are the numbers of contacts the same?
bool snw_surroundings_same_contacts(const snw_model *m, const snw_model *other);

// bar (size) -= derivatives of mu'r by the numbers.
void snw_surroundings_subtract(const snw_model *m, const snw_product *x, double *bar);
// bar -= derivatives of c'f_t of a hard contact that slides, f its forces or impulses and u its
// slip, by friction; restitution: the derivative by that. contact: its law (snw_hard_law).
void snw_surroundings_subtract_hard(const snw_model *m, int contact, const double f[3],
                                    const double u[2], const double c[2], double restitution,
                                    double *bar);
// bar -= derivatives of k times the gap of a limit of a hard stop (snw_hard_contact).
void snw_surroundings_subtract_limit(const snw_model *m, int limit, double k, double *bar);
// bar -= derivatives of y'M j of the added masses, y and j rates whose motions are in two
// workspaces.
void snw_surroundings_subtract_momentum(const snw_model *m, const snw_work *y, const snw_work *j,
                                        double *bar);
// bar += c times derivatives of the tension of a spring, cable or damper by the numbers.
void snw_surroundings_add_tension(const snw_model *m, int element, double c, const snw_work *w,
                                  double *bar);
// bar += c times derivatives of the stored energy of springs, cables, bushings and stops by the
// numbers.
void snw_surroundings_add_energy(const snw_model *m, const snw_work *w, double c, double *bar);
