// SPDX-License-Identifier: MIT
//
// step_scale.h: typical forces of an implicit step and the first guess of its increment, for one
// robot (implicit.c) and for robots on a graphics processor (gpu/device_engine.inc).
#pragma once

#include "dynamics/state.h"
#include "solve/scheme.h"

#include <float.h>

#define SNW_ROUNDING (64 * DBL_EPSILON) // theory.md (6.13)

// Inverse of the shortest time scale in the velocities and accelerations of a state, 1/s:
// max(|v|/typical, sqrt(|a|/typical)); 0 at rest without accelerations. theory.md (6.12)
double snw_fastest_rate(const snw_model *m, const snw_state *s);

typedef struct snw_step_scale {
    double h, b;        // length of the step, s; accelerations = b d + g
    int order;          // of the scheme
    bool tighten;       // lower the scale to the step's own error
    double tolerance;   // of the residual
    const double *mass; // nv: diagonal of the mass matrix
} snw_step_scale;

// force (nv) <- typical forces: elastic ones and a thousandth of the inertia force of a typical
// change within the step. scale (nv) <- the same, or less where the step's own error is smaller,
// down to rounding. theory.md (6.13)
void snw_step_scale_set(const snw_model *m, const snw_state *now, const snw_step_scale *s,
                        double *force, double *scale);

// d (p->n) <- initial guess: the mean velocity of the previous step, changed by as much as the
// velocities at its ends differ. Of the same order as constant acceleration, and better where steps
// do not resolve the vibration of a stiff rod.
void snw_step_predict(const snw_history *p, double h, double *d);
