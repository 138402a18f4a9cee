// SPDX-License-Identifier: MIT
//
// drag_spring.h: spring and damper that pull one point of the robot to a target (the mouse of a
// live simulation), theory.md (3.13.4):
//   f = stiffness (to - p) - damping p',   p the point `at` of its segment, in the world.
// It depends on pose and velocity of one segment, so its tangent uses the columns of that segment.
#pragma once

#include "dynamics/dynamics.h"

// Segment with the drag spring; 0: none.
static inline int snw_drag_spring_seg(const snw_inputs *in) {
    return in->manual ? in->manual->drag_spring.seg : 0;
}

// Wrench of the drag spring on that segment, in its frame; no damping if is_static. After
// snw_kinematics.
snw_wrench snw_drag_spring_wrench(const snw_inputs *in, bool is_static, const snw_work *w);

// A, B (6 x 6, row major) <- derivatives of that wrench by the segment's pose (body twist) and
// velocity.
void snw_drag_spring_jacobian(const snw_inputs *in, const snw_work *w, double A[36], double B[36]);
