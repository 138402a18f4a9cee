// SPDX-License-Identifier: MIT
//
// live.h: a robot that is simulated while somebody turns its actuators and parameters and pulls at
// it. It begins where the first dynamic step of the study does, goes on by the scheme of that step,
// and hands frames to recorders when asked. It knows no clock: how fast steps follow each other is
// the caller's business.
//
// What is turned is followed smoothly, by a filter of second order without overshoot, so that a
// jump of a slider is no blow.
#pragma once

#include "study/run.h"

typedef struct snw_live snw_live;

// Something to turn: what is given of an actuator, by coordinate, or a parameter.
typedef struct snw_control {
    char name[96]; // of a coordinate among several "wrist.2"
    int actuator;  // as snw_robot_actuator numbers them; -1: a parameter
    int coordinate;
    double low, high;
    bool guessed; // the file does not say how far it goes
    char unit[48];
    double wanted; // where it was turned to; NaN: it follows the file
} snw_control;

typedef struct snw_live_opts {
    double step; // s: longest step; 0: that of the study, 1/120 s where there is none
} snw_live_opts;

// Number of the step of a study that a live simulation stands for: its first dynamic one, or how
// many there are.
int snw_live_step_index(const snw_desc *d);

// Compile the robot and do the study up to there. The description must outlive it; `hooks` are
// asked until then; only `warn` may come later, too.
SNW_NODISCARD snw_status snw_live_create(const snw_desc *desc, const char *name,
                                         const snw_live_opts *opts, const snw_run_hooks *hooks,
                                         snw_live **out, snw_error *err);
void snw_live_destroy(snw_live *v); // NULL is fine

// What recorders are to expect: one stage "live", no checkpoints.
const snw_run_info *snw_live_describe(const snw_live *v);
const struct snw_model *snw_live_model(const snw_live *v);
double snw_live_time(const snw_live *v);
double snw_live_step_length(const snw_live *v);

int snw_live_controls(const snw_live *v);
const snw_control *snw_live_control(const snw_live *v, int control);
// What is given of it at present.
double snw_live_value(snw_live *v, int control);

// Turn an actuator, within its range; NaN: back to the law of the file. SNW_E_ARGUMENT: it cannot
// be turned now, and err says why. Of a parameter it is only noted: snw_live_change makes it true.
SNW_NODISCARD snw_status snw_live_set(snw_live *v, int control, double value, snw_error *err);

// Go on with another description of the same coordinates (language/document.h), in the state that
// has been reached; hands stay where they are. `release(owner)` is called when it is no longer
// needed, also when this fails, and then nothing has changed.
SNW_NODISCARD snw_status snw_live_change(snw_live *v, const snw_desc *desc,
                                         void (*release)(void *owner), void *owner, snw_error *err);

// Pull the point `at` of a node towards `to` (world) by a spring; `strength` 1 makes all of the
// robot's mass swing at 2 Hz on it. Stiffness and place are limited to what is reasonable. Letting
// go without a pull is fine.
SNW_NODISCARD snw_status snw_live_pull(snw_live *v, int node, const double at[3],
                                       const double to[3], double strength, snw_error *err);
void snw_live_release(snw_live *v);
// Whether somebody pulls; where the point and the hand are, world.
bool snw_live_pulled(const snw_live *v, int *node, double point[3], double hand[3]);

// One step. On SNW_E_DIVERGED nothing has changed.
SNW_NODISCARD snw_status snw_live_step(snw_live *v, snw_error *err);

// Back to where it began: nothing turned, parameters as in the file, nobody pulls.
SNW_NODISCARD snw_status snw_live_reset(snw_live *v, snw_error *err);

// Hand the present to a recorder.
SNW_NODISCARD snw_status snw_live_frame(snw_live *v, const snw_recorder *recorder, snw_error *err);
