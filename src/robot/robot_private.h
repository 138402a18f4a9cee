// SPDX-License-Identifier: MIT
//
// robot_private.h: state of the public robot; private to src/robot.
#pragma once

#include "constraint/projection.h"
#include "dynamics/observer.h"
#include "integrate/implicit.h"
#include "integrate/integrator.h"
#include "integrate/packs.h"
#include "robot/robot.h"
#include "robot/robot_model.h"
#include "study/held_inputs.h"
#include "study/memory.h"
#include "study/statics.h"

#include <stdint.h>

// Newton iterations after which a live step is given up: the caller waits for it.
enum { SNW_LIVE_PATIENCE = 1000 };

struct snw_robot {
    snw_robot_model *model;
    const snw_desc *desc;   // that of the model
    snw_closure_rows *rows; // of its redundant loops; NULL: no redundant loops
    const snw_model *m;     // in use: of `rows`, or the compiled one of `model`
    snw_state *s;
    snw_inputs *in;
    snw_work *w;
    snw_statics *statics;
    snw_vec3 *rotation;        // nseg + nobs: rotation vectors of probes, continuous in time
    snw_vec3 *rotation_now;    // nseg + nobs: scratch
    double *z;                 // nsignal: scratch for signals
    bool *unsampled;           // nsignal: true until the signal was sampled
    double *M;                 // nv x nv
    double *column;            // values of the longest probe
    double *tau, *diagonal;    // nv: scratch
    double *beyond, *scratch;  // internal wrench at a section: most nodes of a rod, 4 x its cells
    snw_link_energy *energy;   // nlink
    snw_observer *observer;    // frame asked for
    snw_step_desc how;         // of the integrator
    snw_integrator integrator; // close is NULL before the first start
    size_t saves;              // doubles in its checkpoint
    snw_held_inputs held;      // inputs that the caller sets
    int ninput;                // inputs of all actuators
    double *u; // ninput: inputs as the caller writes them; snw_input_law(): the law of the file
    double *u_applied; // ninput: inputs that are set
    double *own_u;     // memory of both, unless u is in a batch
    bool inputs_stale; // `in` is to be evaluated again before its next use
    snw_error *error;  // failure of the last call that has no error argument
};

// Failure of calls without an error argument.
#define SNW_ROBOT_REFUSE(r, ...) snw_fail((r)->error, SNW_E_ARGUMENT, __VA_ARGS__)

// SNW_E_ARGUMENT unless x is not NULL and its n numbers are finite; `name` is used in the message.
SNW_NODISCARD snw_status snw_robot_check_numbers(const char *name, int n, const double *x,
                                                 snw_error *err);

// SNW_E_ARGUMENT unless `actuator` is a number of an actuator of this robot.
SNW_NODISCARD snw_status snw_robot_check_actuator(const snw_robot *r, int actuator, snw_error *err);
// Before a computation: SNW_E_ARGUMENT unless coordinates, velocities and inputs written by the
// caller are valid; the inputs are evaluated where they have changed.
SNW_NODISCARD snw_status snw_robot_check_state(snw_robot *r, snw_error *err);
// The same with accelerations.
SNW_NODISCARD snw_status snw_robot_check_forces(snw_robot *r, snw_error *err);
// Before the start there is no past: signals <- conditions and samples of the present state,
// integrals zero. A loop with `pose: at_closing` keeps its pose while its condition holds.
void snw_robot_initialise_signals(snw_robot *r);
// State and inputs of the robot <- those of the integrator.
void snw_robot_copy_motion(snw_robot *r);

// Allocate the inputs that the caller may set.
SNW_NODISCARD snw_status snw_robot_manual_inputs(snw_robot *r);
// Set the actuators whose numbers in u have changed. On failure u of the refused one is what it
// was.
SNW_NODISCARD snw_status snw_robot_apply_inputs(snw_robot *r, snw_error *err);
// u <- the inputs that are set.
void snw_robot_read_inputs(snw_robot *r);
// r->in <- inputs at the present time, where some were set since.
void snw_robot_refresh_inputs(snw_robot *r);
// From now on u is at this place (ninput), which must outlive the robot.
void snw_robot_place_inputs(snw_robot *r, double *u);
// Start an integrator from the present state, with `how->step` the longest step; see
// snw_robot_start.
SNW_NODISCARD snw_status snw_robot_begin(snw_robot *r, const snw_step_desc *how, snw_error *err);
// SNW_E_ARGUMENT unless a started motion may do a step of h seconds.
SNW_NODISCARD snw_status snw_robot_check_step(const snw_robot *r, double h, snw_error *err);
// A step of a started motion in a pack of robots (integrate/packs.h), which may consist of several
// shorter ones.
typedef struct snw_robot_lane {
    double end; // its time, s
    double h;   // length of the present part or, between parts, the longest of the next one, s
    double to;  // end of the part, s
    bool whole; // it is `end`
    bool alone; // the rest does not fit a pack: snw_robot_finish_step
    snw_lane_patience patience;
} snw_robot_lane;
SNW_NODISCARD snw_status snw_robot_begin_step(snw_robot *r, double h, snw_robot_lane *of,
                                              snw_error *err);
// Equations of the next part, lane->active; or alone. `memory`: as there.
void snw_robot_open_lane(snw_robot *r, snw_robot_lane *of, bool single, double *memory,
                         snw_pack_lane *lane);
// End that part. *last <- whether it was the last one of the step.
SNW_NODISCARD snw_status snw_robot_close_lane(snw_robot *r, snw_robot_lane *of,
                                              const snw_pack_lane *lane, bool *last,
                                              snw_error *err);
SNW_NODISCARD snw_status snw_robot_finish_step(snw_robot *r, double end, snw_error *err);
// "t", "q" or "v": what the caller has written since the last step of a started motion. The next
// one goes on from the end of that step and would lose it. NULL: none.
const char *snw_robot_written(const snw_robot *r);
// Copy state and inputs set by the caller from another robot with the same coordinates.
void snw_robot_take_over(snw_robot *r, const snw_robot *from);
// out (snw_robot_saves, not 0) <- the saved state, without numbers of u that were not used yet.
void snw_robot_write_row(const snw_robot *r, double *out);
// Close the loops and project the velocities, at the robot's time.
SNW_NODISCARD snw_status snw_robot_project(snw_robot *r, snw_error *err);
