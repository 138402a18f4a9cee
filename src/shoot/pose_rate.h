// SPDX-License-Identifier: MIT
//
// pose_rate.h: time formulas for poses.
#pragma once

#include "math/se3_tangent.h"
#include "math/time_formula.h"

// Body velocity at pose g by a formula on the poses of the previous instants, newest first, and the
// velocity `last` at the newest: in the local chart x_k = log(g^-1 g_k) about g,
//   V = sum c_k x_k + d T(x_1)^-1 V_1.
// by <- its derivative by body motions of g, unless NULL.
snw_twist snw_pose_rate(const snw_time_formula *f, snw_se3 g, const snw_se3 *past, snw_twist last,
                        snw_lower *by);
