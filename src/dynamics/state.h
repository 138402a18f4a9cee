// SPDX-License-Identifier: MIT
//
// state.h: what time changes.
#pragma once

#include "model/model.h"

// q: nq numbers (a ball: unit quaternion w x y z; a free joint: the same, then position), v and a:
// nv velocities and accelerations (a ball: body rates and their rates; a free joint: body twist and
// its rate), z: nsignal numbers that laws remember (those of probes are not used), l: nrow
// multipliers, what loops exert on their second site along each row and drives on their
// coordinates, rest: ngrip, rows of contacts that rest now since others say the same, as bits
// (constraint/redundancy.h). One block, of one thread.
typedef struct snw_state {
    double t;
    double *q, *v, *a, *z, *lambda, *dropped;
} snw_state;

// Doubles in the block behind a state.
static inline size_t snw_state_doubles(const snw_model *m) {
    return (size_t)m->nq + 2 * (size_t)m->nv + (size_t)m->nsignal + (size_t)m->nconstraint +
           (size_t)m->nnonholonomic;
}

SNW_NODISCARD snw_status snw_state_create(const snw_model *m, snw_state **out); // the initial state
void snw_state_copy(const snw_model *m, const snw_state *from, snw_state *to);
void snw_state_destroy(snw_state *s); // NULL is fine

// s->v, s->a <- zero for coordinates of links that are not there.
void snw_state_clear_inactive(const snw_model *m, snw_state *s);

// out <- q moved by step * dx on the configuration space: sums for rods and axes, g exp(.) for
// balls and free joints. out may be q.
void snw_move(const snw_model *m, const double *q, double step, const double *dx, double *out);
