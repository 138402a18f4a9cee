// SPDX-License-Identifier: MIT
//
// wheel.h: wheels that slip, theory.md 3.15. With a the axle, d the ground normal and f = a x d/|a
// x d| the rolling direction, the touching point p of the wheel, with velocity u, gets the force
//   -lateral (a u) a - rolling (f u) f.
// p is one radius below the centre if the site rotates with the wheel, otherwise it is the centre.
#pragma once

#include "dynamics/dynamics.h"

// Rolling direction, a and d in the axes of the wheel; with w (not NULL) its variation under the
// rotation w, by which d varies by d x w.
snw_vec3 snw_wheel_forward(snw_vec3 a, snw_vec3 d, const snw_vec3 *w);

// *at <- velocity and force of a wheel; zero in statics. Part of snw_contact_motion.
void snw_wheel_motion(const snw_model *m, const snw_contact_point *p, bool is_static,
                      const snw_work *w, snw_contact_point_work *at);

// A, B as in snw_contact_point_jacobian.
void snw_wheel_jacobian(const snw_model *m, const snw_contact_point *p, const snw_work *w,
                        double A[36], double B[36]);
