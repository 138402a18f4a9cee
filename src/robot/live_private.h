// SPDX-License-Identifier: MIT
//
// live_private.h: a live simulation from the inside, shared by the files that make it.
#pragma once

#include "robot/live.h"
#include "robot/robot_private.h"
#include "study/run_private.h"

// A number that follows another one smoothly: x'' = (wanted - x)/T^2 - 2 x'/T.
typedef struct snw_live_filter_state {
    double x, v, wanted;
} snw_live_filter_state;

typedef struct snw_live_control_state {
    snw_control is;
    bool held;                    // it is given by hand
    snw_live_filter_state f, was; // what is given; a step before
    double home;                  // s left on the way back to its law; negative: it is not
    double at;                    // of a given rate: where its coordinate is to be
    double value, law0;           // of a parameter: where it was turned to, and as the file has it
} snw_live_control_state;

typedef struct snw_live_drag {
    int node; // -1: none
    snw_vec3 at;
    snw_live_filter_state target[3];
    double stiffness, damping;
} snw_live_drag;

struct snw_live {
    snw_desc lead; // the description, with the steps before
    snw_run *run;  // makes frames
    snw_run_info info;
    snw_run_hooks hooks;
    snw_step_desc how;
    snw_robot *base, *robot; // as in the file; the one that moves
    snw_state *start;
    snw_phase phase;
    double mass, span; // kg; s that the study lasts
    int ncontrol;
    snw_live_control_state *knob;
    snw_live_drag drag;
    double steps; // since the last frame
};

// f <- h seconds later.
void snw_live_filter(snw_live_filter_state *f, double h, double T);

SNW_NODISCARD snw_status snw_live_make_controls(snw_live *v, const snw_desc *desc, snw_error *err);
// Give the robot what its hands are to hold at the end of a step of length h.
SNW_NODISCARD snw_status snw_live_move_controls(snw_live *v, double h, snw_error *err);
// Nothing is turned any more.
void snw_live_free_controls(snw_live *v);
