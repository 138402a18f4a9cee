// SPDX-License-Identifier: MIT
//
// inverse.h: actuation for desired values of probes in equilibrium: inverse statics and inverse
// kinematics, within limits. Equations in docs/theory.md 5.3.
//
//   snw_inverse_options o = snw_inverse_defaults();
//   const double to[3] = {0.1, 0, 0.2};
//   const snw_inverse_target tip = {.output = "tip", .n = 3, .value = to, .weight = NAN};
//   o.ntarget = 1, o.target = &tip;
//   snw_inverse_result *found;
//   if (snw_robot_solve_inverse(arm, &o, &found, &err) == SNW_OK) {
//       if (!found->reached) printf("nearest: %g away\n", found->distance);
//       snw_inverse_close(found);
//   }
#pragma once

#include "sinew/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

// Desired values of a probe, or of one of its columns ("tip.x").
typedef struct snw_inverse_target {
    const char *output;
    int n;               // number of values, that of the columns that `output` denotes
    const double *value; // SI. A rotation is a rotation vector (columns rx, ry, rz) or a unit
                         // quaternion (qw, qx, qy, qz); its error is the rotation from there
    double weight;       // per unit; NaN: 1 for angles, 1/length of the robot for lengths, else
                         // 1/largest of the present and desired values in that unit
} snw_inverse_target;

// An actuator, a load or a number of the file that may change, with its limits. NaN: default.
typedef struct snw_inverse_actuator {
    const char *name; // an actuator, or one of its inputs ("drive.2"); a load, all components that
                      // the file gives, or one of them ("push.fy"); a number of the file by its
                      // path ("silicone.young"), whose change keeps coordinates and nodes
    double low, high; // default: none; 0 for the low limit of tensions
    double rate;      // largest change per second, holds with `interval`; default: none
    double rest;      // value to which redundancy leads; default: 0, of numbers of the file their
                      // present values
} snw_inverse_actuator;

typedef struct snw_inverse_options {
    int ntarget;
    const snw_inverse_target *target;
    int nactuator; // none: all actuators, with the defaults
    const snw_inverse_actuator *actuator;
    double time;      // of the laws of the file, s; default 0
    double interval;  // s, over which rates hold; 0: rates are ignored
    double tolerance; // weighted distance that counts as reached, default 1e-9
} snw_inverse_options;

SNW_API snw_inverse_options snw_inverse_defaults(void);

typedef enum snw_limit {
    SNW_LIMIT_NONE,
    SNW_LIMIT_LOW,
    SNW_LIMIT_HIGH,
    SNW_LIMIT_FALL, // by the rate, from the value before
    SNW_LIMIT_RISE
} snw_limit;

typedef struct snw_inverse_input {
    const char *name, *unit;
    double value;          // found
    double before;         // at the call
    double low, high;      // limits that held, with the rate
    snw_limit limit;       // that it is at
    double multiplier;     // fall of the weighted distance per unit by which that limit is moved
                           // outwards; 0 when the target is reached
    double goal;           // fall of the second goal per unit, likewise
    double unit_of_motion; // in which the second goal measures it: the range of its limits, or the
                           // change that moves the weighted targets by 1 or some coordinate by its
                           // typical value
} snw_inverse_input;

typedef struct snw_inverse_output {
    const char *name, *unit;
    double target, value;
    double error;  // value - target; of a rotation: vector of the rotation from the target, then 0
                   // for a quaternion
    double weight; // per unit
} snw_inverse_output;

typedef struct snw_inverse_result {
    int reached;
    double distance; // sqrt(sum((weight error)^2)) at the nearest point that was found
    int ninput, noutput;
    const snw_inverse_input *input;
    const snw_inverse_output *output;
    const double *gain; // noutput x ninput, by columns: derivatives of the outputs by the inputs
    double goal;        // second goal: sum of squares of (value - rest)/unit_of_motion
    double stability;   // of the equilibrium, as by snw_robot_stability
    double dexterity;   // smallest singular value of the weighted gain relative to the largest, of
                        // inputs in their unit of motion; 0: some target cannot be changed
    int ended;          // 1: steps were refused where the branch of equilibria ends or becomes
                        // unstable
    int exact;          // 0: some derivatives are differences of order 6, as those by numbers of
                        // the file
    int equilibria, path; // equilibria computed; parts into which the way to the target was divided
} snw_inverse_result;

// Inputs of actuators for which the outputs are nearest to the targets in equilibrium, within the
// limits; among several such inputs those next to rest, each measured in its unit of motion. The
// robot starts at the present state and inputs (inputs outside their limits are moved to them at
// first) and follows the equilibria; it does not pass beyond the end of a branch or unstable
// equilibria. Targets that are not reached are a result, not a failure. The robot is then in that
// equilibrium with its inputs and numbers of the file set; on failure all is as before. On success
// *out belongs to the caller, who calls snw_inverse_close. Allocates memory. SNW_E_ARGUMENT: a name
// or a number is wrong; SNW_E_DIVERGED, SNW_E_SINGULAR, SNW_E_MODEL: no equilibrium at the start,
// or no convergence; err says why.
SNW_API SNW_NODISCARD snw_status snw_robot_solve_inverse(snw_robot *r,
                                                         const snw_inverse_options *how,
                                                         snw_inverse_result **out, snw_error *err);
SNW_API void snw_inverse_close(snw_inverse_result *result); // NULL is fine

#ifdef __cplusplus
}
#endif
