// SPDX-License-Identifier: MIT
//
// live_private.h: state of a live simulation; private to src/robot/live*.c.
#pragma once

#include "robot/live.h"
#include "robot/robot_private.h"
#include "study/run_private.h"

// Critically damped second-order filter: x'' = (wanted - x)/T^2 - 2 x'/T.
typedef struct snw_live_filter_state {
    double x, v, wanted;
} snw_live_filter_state;

typedef struct snw_live_control_state {
    snw_control info;
    bool manual;                          // set by the caller; false: the law of the file
    snw_live_filter_state filter, before; // present value; the one a step before
    double return_time;    // time left until the law takes over, s; negative: not returning
    double position;       // of a prescribed rate: position of its coordinate
    double value, initial; // of a parameter: value set, and that of the file
} snw_live_control_state;

typedef struct snw_live_drag {
    int node; // -1: none
    snw_vec3 at;
    snw_live_filter_state target[3];
    double stiffness, damping;
} snw_live_drag;

struct snw_live {
    snw_desc preceding; // the description with the steps before the live one only
    snw_run *run;       // writes frames
    snw_run_info info;
    snw_run_hooks hooks;
    snw_step_desc how;
    snw_robot *base,
        *robot; // robot of the file; robot that moves, after snw_live_change another one
    snw_state *start;
    snw_phase phase;
    double mass, study_duration; // kg; s
    int ncontrol;
    snw_live_control_state *control;
    snw_live_drag drag;
    double steps; // number of steps since the last frame
};

// Advance the filter by h seconds with the time constant T.
void snw_live_filter(snw_live_filter_state *f, double h, double T);

SNW_NODISCARD snw_status snw_live_make_controls(snw_live *v, const snw_desc *desc, snw_error *err);
// Set the robot's inputs for a step of length h.
SNW_NODISCARD snw_status snw_live_move_controls(snw_live *v, double h, snw_error *err);
// Return all controls to the file without a transition.
void snw_live_free_controls(snw_live *v);
