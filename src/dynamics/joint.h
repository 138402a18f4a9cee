// SPDX-License-Identifier: MIT
//
// joint.h: springs, damping and dry friction in joints, theory.md (3.4). Private to dynamics/
// except snw_spring_force.
//
// The force on the coordinates of one block is f = k e + d v + mu v/sqrt(|v|^2 + c^2), added to the
// residual: e = q - rest on an axis; in a spherical joint e is the rotation vector from rest and v
// the body angular velocity. There the gradient of k |e|^2/2 along body rotations is k e itself,
// because e is an eigenvector of the tangent map.
#pragma once

#include "dynamics/wrench_columns.h"

// f (n of the block) <- force at the model's q and v; NULL: without that part. snw_spring_add adds
// it to r (nv).
void snw_spring_force(const snw_model *m, const snw_spring *s, const double *q, const double *v,
                      double f[3]);
void snw_spring_add(const snw_model *m, const snw_spring *s, const double *q, const double *v,
                    double *r);

// Elastic energy, J.
double snw_spring_energy(const snw_model *m, const snw_spring *s, const double *q);

// Rotors, theory.md (3.4c): the inertia J of the armature of a joint, reflected by its gear, adds
// J a to the rows of its coordinates; the relative velocity of the joint moves it, nothing else.
// Add it to r (nv); T (own entries of block b, columns ld apart) += its derivative; energy, J.
void snw_armature_add(const snw_model *m, const double *a, double *r);
void snw_armature_tangent(const snw_block *b, const snw_work *w, const snw_columns *own, double cq,
                          double cv, double ca, size_t ld, double *T);
double snw_armature_energy(const snw_model *m, const snw_work *w, const snw_block *b);

// T (entries of its own coordinates, columns ld apart) += cq df/dq + cv df/dv; `own` are the
// columns of the joint, of which only those of a spherical one are read.
void snw_spring_tangent(const snw_model *m, const snw_spring *s, const snw_work *w,
                        const snw_columns *own, double cq, double cv, size_t ld, double *T);
