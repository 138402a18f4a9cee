// SPDX-License-Identifier: MIT
//
// linear_inputs.h: inputs of actuators and components of loads: how they enter linear models, their
// present values, and values that are held in place of laws.
#pragma once

#include "study/held_inputs.h"
#include "study/linear_model.h"

// Coordinate of an actuator, or component of a load.
typedef struct snw_input_of {
    int actuator;  // number as of snw_actuator_at; -1: a load
    int load;      // without an actuator
    int component; // coordinate of the actuator; of a load: torque x, y, z, then force x, y, z
} snw_input_of;

extern const char *const snw_load_component[6]; // "tx" to "fz"
// SI unit of a component of a load.
const char *snw_load_unit(const snw_load_desc *d, int component);

// Why an input is not one of a linear model.
typedef enum snw_input_state {
    SNW_INPUT_ACTS,
    SNW_INPUT_SHARED,    // another actuator with the same effort comes first
    SNW_INPUT_SPHERICAL, // the motion of a spherical joint
    SNW_INPUT_IDLE       // a given motion that does not act
} snw_input_state;

// *out <- how it enters.
snw_input_state snw_linear_input_of(const snw_model *m, const snw_input_of *x,
                                    snw_linear_input *out);
// Value of the k-th rate of an input, after snw_residual; not of SNW_LINEAR_OTHER.
double snw_linear_input_value(const snw_model *m, const snw_linear_input *input, int k,
                              const snw_inputs *in, const snw_work *w);

// Components of a load at present, in the axes of the file; per metre along a rod. After
// snw_residual.
snw_wrench snw_present_load(const snw_model *m, int load, const snw_inputs *in, const snw_work *w);
// Its components are held as they are at present, unless it is held already.
void snw_held_keep_load(snw_held_inputs *h, const snw_model *m, int load, const snw_inputs *in,
                        const snw_work *w);
// Is the input held? The value that it is held at.
bool snw_held_has_input(const snw_held_inputs *h, const snw_input_of *x);
double snw_held_input(const snw_held_inputs *h, const snw_input_of *x);
// From time t on the input is `value`; other components of a load stay as they are held.
void snw_held_set_input(snw_held_inputs *h, const snw_input_of *x, double value, double t);
