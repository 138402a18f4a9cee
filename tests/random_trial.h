// SPDX-License-Identifier: MIT
//
// random_trial.h: random rods in a random state, with inputs and work memory for their residual.
#pragma once

#include "oracle/trial.h"
#include "random_rod.h"

// Every rod gets this number of nodes; too few make the mass matrix singular.
static inline void open_random(robot *r, trial *t, dice *d, snw_joint_kind joint, bool moving,
                               int nodes) {
    robot_random(r, d, joint, moving);
    for (int l = 0; l < r->desc.nlink; l++) r->link[l].rod.nodes = nodes;
    trial_open(t, &r->desc);
    state_random(t->m, d, t->s);
    trial_at(t, t->s->t);
}

static inline void close_random(robot *r, trial *t) {
    trial_close(t);
    robot_free(r);
}
