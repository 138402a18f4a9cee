// SPDX-License-Identifier: MIT
//
// contact.h: the ground, theory.md 3.13. A place whose lowest point is the gap g above the surface
// and slips with the velocity u along it is pushed by
//   N n - N (mu u)/sqrt(u^2 + creep^2),   N = k p(-g) c(1 - damping g'),
// p and c positive parts that set in smoothly, mu a tensor with the friction along and across a
// rod. N is never negative.
#pragma once

#include "dynamics/dynamics.h"

// w->contact_point <- where places are, and what the ground does to them; no friction and damping
// when still. Part of snw_kinematics.
void snw_contact_motion(const snw_model *m, bool is_static, snw_work *w);

// w->F -= what the ground exerts. Part of snw_residual, before wrenches are carried to the root.
void snw_contact_add(const snw_model *m, snw_work *w);

// A, B (6 x 6, row by row) <- derivatives of the wrench on the segment of place k by its pose (body
// twist) and velocity; B is zero when still. False where nothing touches and both are zero.
bool snw_contact_point_jacobian(const snw_model *m, const snw_work *w, int k, double A[36],
                                double B[36]);

// Energy in the ground, J, and its rate, W; power turned into heat, W. After snw_kinematics, rates
// not still.
double snw_contact_energy(const snw_model *m, const snw_work *w);
double snw_contact_storing(const snw_model *m, const snw_work *w);
double snw_contact_heat(const snw_model *m, const snw_work *w);

// What the place k is pushed by, in the frame of its segment.
snw_wrench snw_contact_point_wrench(const snw_work *w, int k);

// What a contact exerts on the robot; of a wheel that slips its loop says it: world frame, moment
// about its origin.
snw_wrench snw_contact_wrench(const snw_model *m, const snw_work *w, int contact);
