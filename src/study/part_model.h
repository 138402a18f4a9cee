// SPDX-License-Identifier: MIT
//
// part_model.h: a model with part of its forces, for derivatives of energies and impulses. It
// shares the arrays of the model, which must live as long, and works with its states, inputs and
// workspaces.
#pragma once

#include "dynamics/dynamics.h"

typedef enum snw_part {
    SNW_PART_CONSERVATIVE, // inertia, gravity, elastic forces, constraints; hard contacts
    SNW_PART_IMPULSE       // inertia, constraints, hard contacts; gravity is an input
} snw_part;

typedef struct snw_part_model {
    snw_model m;
    void *block;
} snw_part_model;

// Are these parts known? Not with fluids, tubes, rods of variable length, Maxwell branches, fields
// of force, tendons as constraints, stations that slide, lines with laws of their own; nor with
// compliant contacts of rods with rods, unless `touching`.
bool snw_part_model_applies(const snw_model *m, bool touching);
SNW_NODISCARD snw_status snw_part_model_create(const snw_model *m, snw_part part,
                                               snw_part_model **out);
void snw_part_model_destroy(snw_part_model *x); // NULL is fine
// to <- the inputs of a part: no active stress, no gravity in impulses.
void snw_part_inputs(const snw_model *m, const snw_inputs *in, snw_part part, snw_inputs *to);
