// SPDX-License-Identifier: MIT
//
// step_path.h: path between the two ends of an implicit step. A scheme gives the ends only; the
// path is the cubic in the coordinates of the step's chart with the configurations and velocities
// of both ends. theory.md 6.5
#pragma once

#include "dynamics/chart.h"

typedef struct snw_step_path {
    snw_chart chart;
    double h;                    // length of the step
    const double *q0;            // nq: configuration at the start
    const double *d;             // nv: increment over the step
    const double *rate0, *rate1; // nv: velocities of the chart at both ends
} snw_step_path;

// out->q, v, a <- state with chart coordinates x, derivatives dx and ddx about the configuration q0
// (nq). dx and ddx are overwritten by the velocities and accelerations of the chart.
void snw_step_path_state(const snw_model *m, snw_chart chart, const double *q0, const double *x,
                         double *dx, double *ddx, snw_state *out);

// Inverse: ddx <- second derivatives of the coordinates x, with derivatives dx, for accelerations
// acc of the chart.
void snw_step_path_accelerations(const snw_model *m, snw_chart chart, const double *x,
                                 const double *dx, const double *acc, double *ddx);

// out->q, v, a <- state at the fraction s of the step. scratch: 3 nv.
void snw_step_path_at(const snw_model *m, const snw_step_path *e, double s, double *scratch,
                      snw_state *out);
