// SPDX-License-Identifier: MIT
//
// live.h: interactive simulation of a robot, whose actuators and parameters are set and whose
// points are dragged while it moves. It starts where the first dynamic step of the study does, with
// the integrator of that step, and passes frames to recorders on request. It has no clock: the
// caller decides how fast steps follow each other.
//
// Set values pass through a critically damped second-order filter, so that a jump of a slider does
// not excite vibrations.
#pragma once

#include "study/run.h"

typedef struct snw_live snw_live;

// A control: the prescribed quantity of an actuator, one for each coordinate, or a parameter.
typedef struct snw_control {
    char name[96]; // with the coordinate's number if there are several: "wrist.2"
    int actuator;  // number as of snw_robot_actuator; -1: a parameter
    int coordinate;
    double low, high;
    bool guessed; // the file gives no range
    char unit[48];
    double wanted; // value that was set, before the filter; NaN: the law of the file
} snw_control;

typedef struct snw_live_opts {
    double step; // longest step, s; 0: that of the study, or 1/120 s
    // State to begin from instead of running the study's steps: t, q (nq), v (nv); NULL: run them.
    const double *state;
    int nstate;
} snw_live_opts;

// Index of the study's first dynamic step, which the live simulation replaces; the number of steps
// if there is none.
int snw_live_step_index(const snw_desc *d);

// Compile the robot and run the steps before that one. The description must outlive the simulation.
// `hooks` are called until then; later only `warn`.
SNW_NODISCARD snw_status snw_live_create(const snw_desc *desc, const char *name,
                                         const snw_live_opts *opts, const snw_run_hooks *hooks,
                                         snw_live **out, snw_error *err);
void snw_live_destroy(snw_live *v); // NULL is fine

// Information for recorders: one stage "live", no checkpoints.
const snw_run_info *snw_live_describe(const snw_live *v);
const struct snw_model *snw_live_model(const snw_live *v);
double snw_live_time(const snw_live *v);
double snw_live_step_length(const snw_live *v);

int snw_live_controls(const snw_live *v);
const snw_control *snw_live_control(const snw_live *v, int control);
// Present value of the prescribed quantity or the parameter.
double snw_live_value(snw_live *v, int control);

// Set an actuator, clamped to its range; NaN: return to the law of the file. SNW_E_ARGUMENT: it
// cannot be set now; the message gives the reason. A parameter is only stored; snw_live_change
// applies it.
SNW_NODISCARD snw_status snw_live_set(snw_live *v, int control, double value, snw_error *err);

// As snw_live_set, without the filter: the next step has the value. SNW_E_ARGUMENT for given
// motions, whose positions or rates cannot jump.
SNW_NODISCARD snw_status snw_live_apply(snw_live *v, int control, double value, snw_error *err);

// Continue with another description of the same coordinates (language/document.h) from the present
// state; values that were set stay. `release(owner)` is called when the description is no longer
// needed, also on failure, which leaves everything unchanged.
SNW_NODISCARD snw_status snw_live_change(snw_live *v, const snw_desc *desc,
                                         void (*release)(void *owner), void *owner, snw_error *err);

// Drag the point `at` (body frame, m) of a node towards `to` (world frame, m) by a damped spring.
// `strength` 1 gives the stiffness at which the robot's mass oscillates at 2 Hz. Strength and
// target are clamped. snw_live_release is fine without a drag.
SNW_NODISCARD snw_status snw_live_pull(snw_live *v, int node, const double at[3],
                                       const double to[3], double strength, snw_error *err);
void snw_live_release(snw_live *v);
// Is a point dragged? Positions of the point and of the filtered target, world frame.
bool snw_live_pulled(const snw_live *v, int *node, double point[3], double target[3]);

// One step. On SNW_E_DIVERGED nothing has changed.
SNW_NODISCARD snw_status snw_live_step(snw_live *v, snw_error *err);

// Return to the start: no control set, parameters as in the file, no drag.
SNW_NODISCARD snw_status snw_live_reset(snw_live *v, snw_error *err);

// Pass the present state to a recorder as a frame.
SNW_NODISCARD snw_status snw_live_frame(snw_live *v, const snw_recorder *recorder, snw_error *err);
