// SPDX-License-Identifier: MIT
//
// trial.h: a description compiled, with a state and everything needed to ask it questions.
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

// Compile; a description that does not compile ends the program with its message.
void trial_open(trial *t, const snw_desc *desc);
void trial_close(trial *t);

// The state's time becomes `time`, the inputs those of that time.
void trial_at(trial *t, double time);

// t->s->a <- accelerations under the loads that act: inverse of the mass matrix times minus the
// bias.
void trial_forward_dynamics(trial *t);

// Part of the tangent at the state, nv x nv column major, freed by the caller: dr/dq, dr/dv, dr/da
// weighted.
double *trial_tangent(trial *t, bool is_static, double cq, double cv, double ca);

// Equilibrium from the present state, the whole load at once; a failure ends the program. The
// inputs become those of s->t, the work that of the equilibrium, observers included.
snw_statics_info trial_settle(trial *t);

// Pose of a link's end at the state.
snw_se3 trial_end(trial *t, int link);
