// SPDX-License-Identifier: MIT
//
// robot_private.h: the public robot from the inside.
#pragma once

#include "constraint/projection.h"
#include "integrate/implicit.h"
#include "integrate/integrator.h"
#include "robot/robot.h"
#include "study/memory.h"
#include "study/statics.h"

#include <stdint.h>

// Newton iterations after which a live step is given up: the caller waits for it.
enum { SNW_LIVE_PATIENCE = 1000 };

struct snw_robot {
    const snw_desc *desc;
    void (*release)(void *owner);
    void *owner;
    snw_model *m;
    snw_state *s;
    snw_inputs *in;
    snw_work *w;
    snw_statics *statics;
    snw_vec3 *rotation, *turn; // of each segment and observer, followed; of now
    double *z;                 // nsignal: what is remembered, scratch
    bool *fresh;               // nsignal: true before anything was sampled
    double *M;                 // nv x nv
    double *column;            // of the longest probe
    // motion
    snw_step_desc how;
    snw_integrator integrator; // close is NULL before the first start
    size_t saves;              // numbers that it saves
    snw_manual_inputs manual;
    void *manual_memory; // behind the arrays that follow
    size_t manual_bytes;
    snw_wrench *load;
    snw_jet *motor; // of all actuators on coordinates
    double *motor_since;
    int *motor_first;
    snw_jet *tendon; // of tendons and chambers
    double *tendon_since, *activation;
    bool *load_given, *motor_given, *tendon_given;
    size_t ncoordinate; // of all actuators on coordinates
    uint64_t identity;  // of the text it was read from; 0: not known
    snw_error *error;   // why the last call without an error of its own failed
};

// Calls without an error of their own fail so.
#define SNW_ROBOT_REFUSE(r, ...) snw_fail((r)->error, SNW_E_ARGUMENT, __VA_ARGS__)

// x is there and its n numbers are finite; `name` stands in the message.
SNW_NODISCARD snw_status snw_robot_check_numbers(const char *name, int n, const double *x,
                                                 snw_error *err);

// An actuator's number is one of this robot; SNW_E_ARGUMENT.
SNW_NODISCARD snw_status snw_robot_check_actuator(const snw_robot *r, int actuator, snw_error *err);
// Begin of a state that the caller wrote: SNW_E_ARGUMENT names what is amiss.
SNW_NODISCARD snw_status snw_robot_check_state(const snw_robot *r, snw_error *err);
// Show what the mover has.
void snw_robot_copy_motion(snw_robot *r);

// Room for what a caller holds in hand.
SNW_NODISCARD snw_status snw_robot_manual_inputs(snw_robot *r);
// Begin to move from the present state by that step's scheme, `how->step` the longest step;
// snw_robot_start.
SNW_NODISCARD snw_status snw_robot_begin(snw_robot *r, const snw_step_desc *how, snw_error *err);
// The state and hands of another robot with the same coordinates; laws take over from there.
void snw_robot_take_over(snw_robot *r, const snw_robot *from);
// Loops closed and velocities with them, at the robot's time.
SNW_NODISCARD snw_status snw_robot_project(snw_robot *r, snw_error *err);
