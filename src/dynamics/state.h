// SPDX-License-Identifier: MIT
//
// state.h: the state of a robot: time, generalised coordinates and rates, memory of the laws,
// multipliers.
#pragma once

#include "model/model.h"

// One block, used by one thread.
//   q        nq: coordinates; spherical joint: unit quaternion w x y z; free joint: quaternion,
//   then
//            position (m)
//   v, a     nv: velocities and accelerations; spherical joint: body angular velocity; free joint:
//            body twist
//   z        nsignal: memory of the laws (integrals, samples, conditions, recorded poses); entries
//            of probes are unused
//   relaxed  nbranch_coordinate: part b of the strain a = b + follow q of each Maxwell branch
//   follow   nbranch: fraction with which it follows the present strain, 0 outside of a step
//            (dynamics/relaxation.h)
//   lambda   nconstraint: Lagrange multipliers: force of a loop on its second site along each row,
//            effort of a drive on its coordinate
//   dropped  nnonholonomic: redundant contact rows dropped for this step, as bits
//            (constraint/redundancy.h)
// Phases of a study may differ in their rows; all that they share comes before these.
typedef struct snw_state {
    double t;
    double *q, *v, *a, *z, *relaxed, *follow, *lambda, *dropped;
} snw_state;

// s->z, relaxed, follow <- memory at the start: states at their initial values, all else 0.
void snw_state_forget(const snw_model *m, snw_state *s);
// Number of doubles in the block behind a state.
static inline size_t snw_state_doubles(const snw_model *m) {
    return (size_t)m->nq + 2 * (size_t)m->nv + (size_t)m->nsignal + (size_t)m->nconstraint +
           (size_t)m->nnonholonomic + (size_t)m->nbranch_coordinate + (size_t)m->nbranch;
}

SNW_NODISCARD snw_status snw_state_create(const snw_model *m, snw_state **out); // the initial state
void snw_state_copy(const snw_model *m, const snw_state *from, snw_state *to);
void snw_state_destroy(snw_state *s); // NULL is fine

// s->v, s->a <- zero for the coordinates of inactive links.
void snw_state_clear_inactive(const snw_model *m, snw_state *s);

// out <- q moved by step * dx on the configuration manifold: a sum for rods and joint axes, g
// exp(.) for spherical and free joints. out may be q.
void snw_move(const snw_model *m, const double *q, double step, const double *dx, double *out);
// d (nv) <- the displacement with snw_move(from, 1, d) = to.
void snw_difference(const snw_model *m, const double *from, const double *to, double *d);
