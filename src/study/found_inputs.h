// SPDX-License-Identifier: MIT
//
// found_inputs.h: what an inverse step has found at an instant, as a map of the run: the inputs as
// functions of the numbers of the file, for derivatives. theory.md (7.5.55)
#pragma once

#include "study/inverse.h"

typedef struct snw_found_input {
    snw_input_of of;
    snw_limit limit;
    bool fixed;    // it keeps the value before
    bool by_range; // its unit of motion is the range of its limits
    double value, unit, rest;
    double room;  // to the nearer limit
    double press; // fall of the goal, or of the distance, per unit of motion, if it is at a limit
} snw_found_input;

typedef enum snw_weight_kind {
    SNW_WEIGHT_GIVEN,
    SNW_WEIGHT_LENGTH, // 1/length of the robot
    SNW_WEIGHT_PLAIN,  // 1
    SNW_WEIGHT_VALUES  // of the present and desired values
} snw_weight_kind;

typedef struct snw_found_target {
    int probe, column;
    double value, weight;
    snw_weight_kind kind;
} snw_found_target;

typedef struct snw_found_inputs {
    int stage; // of the study
    double t, interval;
    bool reached, ended;
    bool varies;  // numbers of the file are among the unknowns
    bool units;   // the units of motion of its inputs have parts that the gain at the start decides
    bool weights; // so do the weights of its targets
    int nu, ny;
    const snw_found_input *input;   // nu
    const snw_found_target *target; // ny
    const int *turns;               // ny, as of target_error.h
    const double *gain;             // ny x nu, by columns
    const double *before;           // held inputs before it (snw_held_save)
} snw_found_inputs;

// input, target, turns (nunknown, naim) <- those of a solved problem; *out <- with these. The gain
// is that of the result.
void snw_found_inputs_describe(const snw_inverse_problem *p, const snw_inverse_result *found,
                               snw_found_input *input, snw_found_target *target, int *turns,
                               snw_found_inputs *out);
