// SPDX-License-Identifier: MIT
//
// tendon.h: tendons and chambers, theory.md 3.11. A measure is c(q) = sum over its spots of w
// f(xi), of straight parts of a tendon (span.h) their length, with
//   tendon   f = |u|,      u = Gamma + K x D + D'
//   chamber  f = area e_x . (Gamma + K x D)
// Its coordinate y is the shortening of a tendon (reference less c) or the volume c itself. An
// effort e, tension or gauge pressure, adds e dy/dq to the forces. Along a tendon that rubs (rub.h)
// the tension varies.
#pragma once

#include "dynamics/dynamics.h"

// w->tendon, w->tendon_point, w->G <- values, rates and slopes along rods of all measures at the
// motion in s and w. Part of snw_kinematics.
void snw_tendons_motion(const snw_model *m, const snw_inputs *in, const snw_state *s,
                        bool is_static, snw_work *w);

// w->tendon <- efforts; what they do is taken off w->r and w->F. Part of snw_residual, after
// snw_feedback.
void snw_tendons_add(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                     snw_work *w);

// w->tendon_jacobian <- what efforts of one do to all coordinates, straight parts included; of
// those that do not rub, slopes of their coordinates. After snw_tangent_pass or snw_jacobian_pass;
// part of snw_tangent_assemble and snw_constraints_jacobian.
void snw_tendons_jacobian(const snw_model *m, snw_work *w);

// What laws read of measure i: w->tendon <- its effort, unless laws that read signals or a row make
// it. Part of snw_feedback.
void snw_tendon_evaluate(const snw_model *m, int i, const snw_inputs *in, snw_work *w);
// slope (nv) += cq and cv times the derivatives of coordinate, rate or effort; after
// snw_tendons_jacobian.
void snw_tendon_jacobian(const snw_model *m, int i, snw_reading reading, double cq, double cv,
                         snw_work *w, double *jacobian);

// T += cq dr/dq + cv dr/dv of what they do. Part of snw_tangent_assemble.
void snw_tendons_tangent(const snw_model *m, double cq, double cv, snw_work *w, size_t ld,
                         double *T);

// rate, bend: rates and accelerations of the rows of given lengths and volumes, as in
// snw_constraints_rates. Part of it.
void snw_tendons_rates(const snw_model *m, const snw_inputs *in, const snw_state *s,
                       const snw_work *w, double *rate, double *acceleration);

// What one of them does per second: to the robot, and, of a tendon, to the duct along which it
// rubs, W; the sum of all; and what friction takes of that. After snw_residual, not still.
double snw_tendon_power(const snw_model *m, int i, const snw_work *w);
double snw_tendons_power(const snw_model *m, const snw_work *w);
double snw_tendons_heat(const snw_model *m, const snw_work *w);
// What all of them do per second to rods whose strains are laws, W: the laws take it up.
double snw_tendons_given_power(const snw_model *m, const snw_work *w);

// push (nv) += what the efforts that follow a signal change with it. Part of snw_feedback_tangent.
void snw_tendons_signal_derivative(const snw_model *m, const snw_inputs *in, const snw_work *w,
                                   int signal, double *derivative);
