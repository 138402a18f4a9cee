// SPDX-License-Identifier: MIT
//
// wheel.h: wheels that slip, theory.md 3.15. With a the axle, d the ground's normal and f = a x
// d/|a x d| the way the wheel rolls, the point p of it that touches and moves with u is pushed by
//   -lateral (a u) a - rolling (f u) f.
// p is below the centre by the radius where the site turns with the wheel, the centre where it does
// not.
#pragma once

#include "dynamics/dynamics.h"

// The direction in which a wheel rolls, a and d in its own axes; and how it varies along a turn w,
// as d varies by d x w.
snw_vec3 snw_wheel_forward(snw_vec3 a, snw_vec3 d, const snw_vec3 *w);

// at <- what the ground does to a wheel; nothing when still. Part of snw_contact_motion.
void snw_wheel_motion(const snw_model *m, const snw_contact_point *p, bool is_static,
                      const snw_work *w, snw_contact_point_work *at);

// A, B as of snw_contact_point_jacobian.
void snw_wheel_jacobian(const snw_model *m, const snw_contact_point *p, const snw_work *w,
                        double A[36], double B[36]);
