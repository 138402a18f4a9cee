// SPDX-License-Identifier: MIT
//
// chart.h: coordinates of one step. A time scheme works with increments d of the configuration,
// rates and accelerations that are plain vectors; a chart says what they mean for free joints:
//   SE3     g = g_old exp(d), rates the body twist
//   SO3R3   R = R_old exp(d_w), p = p_old + d_v, rates the body angular and the world linear
//   velocity
// A ball turns by R = R_old exp(d), rates the body rates, and all else are vectors in both.
#pragma once

#include "dynamics/state.h"

typedef enum snw_chart { SNW_CHART_SE3, SNW_CHART_SO3R3 } snw_chart;

// s->q, s->v, s->a <- from the configuration `old` (nq) by d, rates, accelerations (nv each).
void snw_chart_to_state(const snw_model *m, snw_chart chart, const double *old, const double *d,
                        const double *rate, const double *acc, snw_state *s);

// rate, acc <- those of a state.
void snw_chart_from_state(const snw_model *m, snw_chart chart, const snw_state *s, double *rate,
                          double *acc);

// What the tangent needs of each ball and free joint when x = delta d, x' = a x, x'' = b x: the
// columns S, S', S'' for which (S' + ad_u S) x + S x' is the variation of its velocity and so on
// (theory.md 6.2). 108 numbers a joint, row by row.
void snw_chart_jacobian(const snw_model *m, snw_chart chart, const double *d, double a, double b,
                        const snw_state *s, double *jacobian);

// The same of coordinates x(t) in the chart about where they are zero, at rates dx and
// accelerations ddx, for x = delta x and its rates: there S, S', S'' are rates of each other. s:
// the state they give.
void snw_chart_jets(const snw_model *m, snw_chart chart, const double *x, const double *dx,
                    const double *ddx, const snw_state *s, double *jacobian);
