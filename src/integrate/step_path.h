// SPDX-License-Identifier: MIT
//
// step_path.h: the way a step of an implicit scheme goes from its first state to its last. A scheme
// gives the ends only; the path is the cubic in the coordinates of the step's chart that has the
// configurations and rates of both ends. theory.md 6.5.
#pragma once

#include "dynamics/chart.h"

typedef struct snw_step_path {
    snw_chart chart;
    double h;                    // length of the step
    const double *q0;            // nq, where it begins
    const double *d;             // nv, increment over the step
    const double *rate0, *rate1; // nv, rates of the chart at both ends
} snw_step_path;

// out->q, v, a <- the state with coordinates x, rates dx and accelerations ddx of them in the chart
// about the configuration q0 (nq). dx and ddx are overwritten by the chart's own rates.
void snw_step_path_state(const snw_model *m, snw_chart chart, const double *q0, const double *x,
                         double *dx, double *ddx, snw_state *out);

// The same the other way: accelerations acc as the chart has them, at coordinates x with rates dx;
// ddx <- those of x.
void snw_step_path_accelerations(const snw_model *m, snw_chart chart, const double *x,
                                 const double *dx, const double *acc, double *ddx);

// out->q, v, a <- state at the fraction s of the step. scratch: 3 nv.
void snw_step_path_at(const snw_model *m, const snw_step_path *e, double s, double *scratch,
                      snw_state *out);
