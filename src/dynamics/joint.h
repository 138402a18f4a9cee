// SPDX-License-Identifier: MIT
//
// joint.h: springs, damping and dry friction in joints. Private to dynamics/ but for
// snw_spring_force.
//
// On the coordinates of one block acts f = k e + d v + mu v/sqrt(|v|^2 + c^2), to be balanced by
// the rest: e = q - rest on an axis; on a ball e is the rotation vector from rest and v the body
// rates. There the gradient of k |e|^2/2 along body rates is k e itself, because e is an
// eigenvector of the tangent map.
#pragma once

#include "dynamics/dynamics.h"

// f (block's n) <- what it exerts against q and v, all of the model's; NULL: without that part.
void snw_spring_force(const snw_model *m, const snw_spring *s, const double *q, const double *v,
                      double f[3]);
void snw_spring_add(const snw_model *m, const snw_spring *s, const double *q, const double *v,
                    double *r);

double snw_spring_energy(const snw_model *m, const snw_spring *s, const double *q);

// T (nv x nv, columns ld apart) += cq df/dq + cv df/dv along the columns of the last sweep.
void snw_spring_tangent(const snw_model *m, const snw_spring *s, const snw_work *w, double cq,
                        double cv, size_t ld, double *T);
