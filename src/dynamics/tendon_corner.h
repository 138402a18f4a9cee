// SPDX-License-Identifier: MIT
//
// tendon_corner.h: corners of tendons with friction: the path changes direction at an eye, where it
// enters or leaves a rod, and between consecutive rods, theory.md 3.11.
#pragma once

#include "dynamics/dynamics.h"

// Angle of corner i at the motion in w, rad, >= 0; after the straight segments at it.
double snw_tendon_corner_angle(const snw_model *m, int i, double t, const snw_state *s,
                               snw_work *w);

// to += factor d(angle)/dq in the tendon's own coordinates; after snw_tangent_pass or
// snw_jacobian_pass.
void snw_tendon_corner_jacobian(const snw_model *m, int i, const snw_work *w, double factor,
                                double *to);

// Derivative of the angle by the unit direction behind the corner, world axes; by that in front of
// it with the opposite sign. After the angle.
snw_vec3 snw_tendon_corner_slope(int i, const snw_work *w);
