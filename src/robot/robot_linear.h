// SPDX-License-Identifier: MIT
//
// robot_linear.h: parts of the linear models of the public robot that other files need.
#pragma once

#include "robot/robot_private.h"
#include "sinew/linear.h"

// A linear model with its names, not computed yet; arguments and failures as in
// snw_robot_linearize.
SNW_NODISCARD snw_status snw_linear_prepare(snw_robot *r, const snw_linear_options *how,
                                            snw_linear_model **out, snw_error *err);

// The model <- without states, D the derivatives of the outputs by constant inputs in equilibrium,
// at the equilibrium in which the robot is; values of inputs and outputs there. No parameters of
// the file among the inputs.
SNW_NODISCARD snw_status snw_linear_static(snw_linear_model *m, snw_error *err);
// After it: largest displacement of a coordinate per unit of an input, relative to its typical
// value.
double snw_linear_motion(const snw_linear_model *m, int input);

// d (nv) <- increment from one configuration to another, body twists on groups.
void snw_linear_increment(const snw_model *m, const double *from, const double *to, double *d);
