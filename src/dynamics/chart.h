// SPDX-License-Identifier: MIT
//
// chart.h: local chart of one time step. A time integrator works with increments d of the
// configuration, rates and accelerations as plain vectors; the chart defines them for free joints:
//   SE3     g = g_old exp(d); rates are the body twist
//   SO3R3   R = R_old exp(d_w), p = p_old + d_v; rates are body angular and world linear velocity
// In both, a spherical joint has R = R_old exp(d) with the body angular velocity, and all other
// coordinates are vectors.
#pragma once

#include "dynamics/state.h"

typedef enum snw_chart { SNW_CHART_SE3, SNW_CHART_SO3R3 } snw_chart;

// s->q, s->v, s->a <- state at increment d, rates and accelerations (nv each) from the
// configuration `old` (nq).
void snw_chart_to_state(const snw_model *m, snw_chart chart, const double *old, const double *d,
                        const double *rate, const double *acc, snw_state *s);

// rate, acc <- chart rates and accelerations of a state.
void snw_chart_from_state(const snw_model *m, snw_chart chart, const snw_state *s, double *rate,
                          double *acc);

// jacobian <- for each spherical and free joint the columns S, S', S'' of the tangent pass when
// x = delta d, x' = a x, x'' = b x: (S' + ad_u S) x + S x' is the variation of its velocity, and
// likewise of its acceleration (theory.md 6.2). 3 x 36 doubles per joint, row major.
void snw_chart_jacobian(const snw_model *m, snw_chart chart, const double *d, double a, double b,
                        const snw_state *s, double *jacobian);

// x (nv) <- the residual r with the rows of spherical and free joints multiplied by the transposed
// S of `jacobian`.
void snw_chart_project(const snw_model *m, const double *jacobian, const double *r, double *x);

// The same for coordinates x(t) in the chart about x = 0, with rates dx and accelerations ddx, and
// independent variations of x, dx, ddx; here S' and S'' are the time derivatives of S. s: the state
// at x, dx, ddx.
void snw_chart_jets(const snw_model *m, snw_chart chart, const double *x, const double *dx,
                    const double *ddx, const snw_state *s, double *jacobian);
