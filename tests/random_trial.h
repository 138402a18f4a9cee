// SPDX-License-Identifier: MIT
//
// random_trial.h: random rods in a random state, with inputs and work memory for their residual.
#pragma once

#include "oracle/linear.h"
#include "oracle/trial.h"
#include "random_rod.h"

#include <stdlib.h>
#include <string.h>

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

// Poses of the ends of the links, forces and the three parts of the tangent, each kind relative to
// its own largest number.
static inline double *trial_numbers(trial *t, size_t links, size_t *count) {
    const size_t n = (size_t)t->m->nv;
    *count = 12 * links + n + 3 * n * n;
    double *x = oracle_alloc(*count, sizeof *x), *at = x;
    for (size_t l = 0; l < links; l++) {
        const snw_se3 g = trial_end(t, (int)l);
        memcpy(at, &g, sizeof g), at += 12;
    }
    snw_residual(t->m, t->in, t->s, false, t->w);
    memcpy(at, t->w->r, n * sizeof *at), at += n;
    for (int k = 0; k < 3; k++, at += n * n) {
        double *T = trial_tangent(t, false, k == 0, k == 1, k == 2);
        memcpy(at, T, n * n * sizeof *at);
        free(T);
    }
    const size_t part[5] = {12 * links, n, n * n, n * n, n * n};
    at = x;
    for (int k = 0; k < 5; at += part[k], k++) {
        const double size = oracle_size(part[k], at);
        for (size_t i = 0; i < part[k]; i++) at[i] /= size;
    }
    return x;
}
