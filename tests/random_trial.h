// SPDX-License-Identifier: MIT
//
// random_trial.h: random rods in a random state, with all that their residual needs.
#pragma once

#include "oracle/trial.h"
#include "random_rod.h"

// so many nodes on every rod; too few would make the mass matrix singular
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
