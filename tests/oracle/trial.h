// SPDX-License-Identifier: MIT
//
// trial.h: a compiled description with state, inputs and work memory.
#pragma once

#include "dynamics/dynamics.h"
#include "study/statics.h"

typedef struct trial {
    const snw_desc *desc;
    snw_model *m;
    snw_state *s;
    snw_inputs *in; // at s->t, see trial_at
    snw_work *w;
} trial;

// Compile; a description that does not compile ends the program with the error message.
void trial_open(trial *t, const snw_desc *desc);
void trial_close(trial *t);

// Set the time of the state and evaluate the inputs at that time.
void trial_at(trial *t, double time);

// t->s->a <- accelerations under the acting loads: inverse of the mass matrix times minus the bias.
void trial_forward_dynamics(trial *t);

// cq dr/dq + cv dr/dv + ca dr/da at the state, nv x nv column major, freed by the caller.
double *trial_tangent(trial *t, bool is_static, double cq, double cv, double ca);

// Equilibrium from the present state, with the whole load at once; a failure ends the program.
// Afterwards the inputs are those of s->t and the work is evaluated at the equilibrium, observers
// included.
snw_statics_info trial_settle(trial *t);

// Pose of a link's end at the state.
snw_se3 trial_end(trial *t, int link);
