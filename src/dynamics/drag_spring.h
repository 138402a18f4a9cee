// SPDX-License-Identifier: MIT
//
// drag_spring.h: a hand that pulls at one point of the robot by a spring and a damper, theory.md
// (3.13.4):
//   f = stiffness (to - p) - damping p',   p the point `at` of its segment, in the world.
// It depends on the pose and velocity of one segment, so that its slope fits into the columns of
// that segment's path.
#pragma once

#include "dynamics/dynamics.h"

// The segment that is pulled at; 0: none.
static inline int snw_drag_spring_seg(const snw_inputs *in) {
    return in->manual ? in->manual->drag_spring.seg : 0;
}

// What the hand exerts on that segment, in its frame; no damping when still. After snw_kinematics.
snw_wrench snw_drag_spring_wrench(const snw_inputs *in, bool is_static, const snw_work *w);

// A, B (6 x 6, row by row) <- derivatives of that wrench by the segment's pose (body twist) and
// velocity.
void snw_drag_spring_jacobian(const snw_inputs *in, const snw_work *w, double A[36], double B[36]);
