// SPDX-License-Identifier: MIT
//
// robot_follow.h: equilibria of the public robot, followed while some quantities vary: inputs of
// actuators and components of loads. For inverse statics and maps of the workspace.
#pragma once

#include "robot/robot_private.h"
#include "study/snapshot.h"

void snw_robot_take_snapshot(const snw_robot *r, snw_snapshot *p);
void snw_robot_restore_snapshot(const snw_snapshot *p, snw_robot *r);

// A quantity that varies.
typedef struct snw_varied {
    int input;           // index in u of the robot; -1: a load
    int load, component; // torque x, y, z, then force x, y, z
} snw_varied;

// *out <- the quantity of this name: an input of an actuator, or a component of a load such as
// "push.fy". SNW_E_ARGUMENT: there is none.
SNW_NODISCARD snw_status snw_varied_find(const snw_robot *r, const char *name, snw_varied *out,
                                         snw_error *err);
// From now on it is a constant of its present value, which is `value` for an input; other
// components of a load stay as they are at present. Needs the inputs and the work of the present
// state.
void snw_varied_hold(snw_robot *r, const snw_varied *x, double value);
void snw_varied_set(snw_robot *r, const snw_varied *x, double value);

// Inputs set by the caller, to be restored: the memory they take (bytes), copy and return.
size_t snw_given_size(const snw_robot *r);
void snw_given_save(const snw_robot *r, void *to);
void snw_given_restore(snw_robot *r, const void *from);

// The equilibrium at time t under the inputs of the robot, followed from the present state, or on
// any branch if `anywhere`. The branch has ended where it needs increments below `smallest` (0:
// default). Fails as snw_statics_solve; info->reached is the fraction of the way.
SNW_NODISCARD snw_status snw_follow_equilibrium(snw_robot *r, double t, bool anywhere,
                                                double smallest, snw_statics_info *info,
                                                snw_error *err);
