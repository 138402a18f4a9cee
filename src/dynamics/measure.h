// SPDX-License-Identifier: MIT
//
// measure.h: tendons and chambers, theory.md 3.11. A measure is c(q) = sum over its spots of w f(xi), with
//   tendon   f = |u|,      u = Gamma + K x D + D'
//   chamber  f = area e_x . (Gamma + K x D)
// Its coordinate y is the shortening of a tendon (reference less c) or the volume c itself. An effort e, tension or gauge
// pressure, adds e dy/dq to the forces. Along a tendon that rubs (rub.h) the tension varies.
#pragma once

#include "dynamics/dynamics.h"

// w->measured, w->G <- values, rates and slopes of all measures at the motion in s, and the efforts that follow from them.
// Part of snw_residual, before snw_feedback, which reads them.
void snw_measures_gather(const snw_model *m, const snw_inputs *in, const snw_state *s, bool still,
                         snw_work *w);

// The other efforts; all are taken off w->r. Part of snw_residual, after snw_feedback.
void snw_measures_add(const snw_model *m, const snw_inputs *in, const snw_state *s, bool still,
                      snw_work *w);

// slope (nv) += cq and cv times the derivatives of what laws read of measure i: coordinate, rate or effort; after
// snw_residual.
void snw_measure_slope(const snw_model *m, int i, snw_reading reading, double cq, double cv,
                       const snw_work *w, double *slope);

// T += cq dr/dq + cv dr/dv of what they do. Part of snw_tangent_assemble.
void snw_measures_columns(const snw_model *m, double cq, double cv, snw_work *w, size_t ld,
                          double *T);

// rate, bend: rates and accelerations of the rows of given volumes, as in snw_rows_rates. Part of it.
void snw_measures_rates(const snw_model *m, const snw_inputs *in, const snw_state *s, double *rate,
                        double *bend);

// What one of them does per second: to the robot, and, of a tendon, to the duct along which it rubs, W; the sum of all; and
// what friction takes of that. After snw_residual, not still.
double snw_measure_power(const snw_model *m, int i, const snw_work *w);
double snw_measures_power(const snw_model *m, const snw_work *w);
double snw_measures_heat(const snw_model *m, const snw_work *w);

// push (nv) += what the efforts that follow a signal change with it. Part of snw_feedback_tangent.
void snw_measures_push(const snw_model *m, const snw_inputs *in, const snw_work *w, int signal,
                       double *push);
