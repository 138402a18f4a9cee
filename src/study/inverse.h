// SPDX-License-Identifier: MIT
//
// inverse.h: inverse statics: inputs of actuators and loads for which columns of probes have
// desired values in equilibrium, within limits; theory.md 5.3. Used by the public robot and by
// `inverse` steps of studies.
#pragma once

#include "sinew/inverse.h"
#include "study/linear_inputs.h"
#include "study/statics.h"

// An input that may change, or a number of the file.
typedef struct snw_inverse_unknown {
    snw_input_of of;
    const snw_linear_input *parameter; // a number of the file, and how it enters; NULL: an input
    double value;                      // of a number of the file, at the start
    const char *name, *unit;
    double low, high, rate, rest; // NaN: as in snw_inverse_actuator
    bool fixed;                   // it keeps its present value
} snw_inverse_unknown;

// A desired value.
typedef struct snw_inverse_aim {
    int probe, column;
    const char *name, *unit;
    double value, weight; // NaN: as in snw_inverse_target
} snw_inverse_aim;

typedef struct snw_inverse_problem {
    snw_statics *statics;     // reads `held`
    snw_state *s;             // at the start; then at the equilibrium found
    snw_held_inputs *held;    // likewise
    const snw_vec3 *rotation; // continuous rotation vectors at the start (study/probe.h)
    int nunknown;
    const snw_inverse_unknown *unknown;
    int naim;
    const snw_inverse_aim *aim; // columns of a rotation next to each other
    double time, interval, tolerance;
    double residual; // tolerance of equilibria; 0: default
    void *user;
    // Numbers of the file among the unknowns: the model <- with these values (nunknown, those of
    // inputs are ignored), statics, s, held and rotation of the problem <- those of the new model,
    // of the same sizes; and the derivatives of `parameter` <- by number i, at s.
    snw_status (*set)(void *user, const double *value, snw_error *err);
    snw_status (*derive)(void *user, int i, snw_error *err);
    void (*signals)(void *user); // before equilibria: signals of laws <- at the state; NULL: stay
    bool (*stop)(void *user);    // true: SNW_E_STOPPED; NULL: never
} snw_inverse_problem;

// As snw_robot_solve_inverse; on failure state and held inputs are as before. *out is closed by
// snw_inverse_close.
SNW_NODISCARD snw_status snw_inverse_solve(const snw_inverse_problem *p, snw_inverse_result **out,
                                           snw_error *err);
// turns (noutput) <- columns of the rotation that begins at each output, as of target_error.h.
void snw_inverse_turns(const snw_inverse_result *found, int *turns);
// text <- for a message: how far the nearest point is, its values and the limits that hold it.
void snw_inverse_explain(const snw_inverse_result *found, char *text, size_t size);
