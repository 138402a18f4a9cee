// SPDX-License-Identifier: MIT
//
// robot_linear.h: parts of the linear models of the public robot that other files need.
#pragma once

#include "robot/robot_private.h"
#include "sinew/linear.h"
#include "study/linear_model.h"

// A linear model with its names, not computed yet; arguments and failures as in
// snw_robot_linearize.
SNW_NODISCARD snw_status snw_linear_prepare(snw_robot *r, const snw_linear_options *how,
                                            snw_linear_model **out, snw_error *err);

// Inputs and outputs of a prepared model, by number.
typedef struct snw_linear_names {
    int ninput, noutput;
    const snw_linear_input *of_input;
    const snw_linear_signal *input; // names and units
    const snw_linear_output *of_output;
    const snw_linear_signal *output;
} snw_linear_names;
snw_linear_names snw_linear_named(const snw_linear_model *m);
// Derivatives of input `input`, a parameter of the file, at the present state and model of the
// robot, to where of_input has them.
SNW_NODISCARD snw_status snw_linear_derive(snw_linear_model *m, int input, snw_error *err);

// The model <- without states, D the derivatives of the outputs by constant inputs in equilibrium,
// at the equilibrium in which the robot is; values of inputs and outputs there. No parameters of
// the file among the inputs.
SNW_NODISCARD snw_status snw_linear_static(snw_linear_model *m, snw_error *err);
// The step of length h that ended at the present state of the robot with the increment d (nv):
// matrices of the model with all coordinates as states. Robot: state, accelerations, multipliers
// and inputs at the end of the step. No parameters of the file among the inputs.
SNW_NODISCARD snw_status snw_linear_of_step(snw_linear_model *m, const double *d, snw_error *err);
// Steps of a discrete model whose scheme has steps that are maps of their own; else NULL. With them
// snw_linear_of_step takes the step that they have done last, or, where d is NULL, gives the
// outputs alone.
struct snw_step_tangent *snw_linear_tangent(const snw_linear_model *m);
// y (ny) <- outputs at the present state of the robot, whose inputs are up to date.
void snw_linear_values(snw_linear_model *m, double *y);
// Roles and coordinates of the states of the last computation.
const snw_linear_state *snw_linear_states(const snw_linear_model *m);
// Input of a column of B of the last computation, and which derivative of it.
const snw_linear_input *snw_linear_input_at(const snw_linear_model *m, int column, int *derivative);
// Stepper of the scheme of a discrete model for a robot: steps are never divided, and the first is
// as all others. Schemes of the families alpha and levels only.
SNW_NODISCARD snw_status snw_linear_stepper(const snw_linear_model *m, snw_robot *r,
                                            snw_implicit **out, snw_error *err);
double snw_linear_step_length(const snw_linear_model *m); // s
// One such step from where the stepper is; r <- state and inputs at its end. SNW_E_DIVERGED: it was
// not solved.
SNW_NODISCARD snw_status snw_linear_do_step(const snw_linear_model *m, snw_robot *r,
                                            snw_implicit *im, snw_error *err);
// After snw_linear_static: largest displacement of a coordinate per unit of an input, relative to
// its typical value.
double snw_linear_motion(const snw_linear_model *m, int input);
