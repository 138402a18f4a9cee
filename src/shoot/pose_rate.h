// SPDX-License-Identifier: MIT
//
// pose_rate.h: the formula of time for poses.
#pragma once

#include "math/se3_tangent.h"
#include "shoot/time_formula.h"

// Body velocity at pose g, by a formula on the poses of the last instants, newest first, and the
// velocity at the newest: in the chart x_k = log(g^-1 g_k) about g,  V = sum c_k x_k + d T(x_1)^-1
// V_1.  by <- its derivative by moves of g, unless NULL.
snw_twist snw_pose_rate(const snw_time_formula *f, snw_se3 g, const snw_se3 *past, snw_twist last,
                        snw_lower *by);

// The same as the paper has it, to compare digits with: by the formula in world axes on positions
// and on the nine numbers of rotations; and the rate of the velocity V from those in world axes,
// `V_past` and `rate` (at the newest instant) in body axes.
snw_twist snw_pose_rate_text(const snw_time_formula *f, snw_se3 g, const snw_se3 *past,
                             snw_twist last);
snw_twist snw_velocity_rate_text(const snw_time_formula *f, snw_se3 g, snw_twist V,
                                 const snw_se3 *past, const snw_twist *V_past, snw_twist rate);
