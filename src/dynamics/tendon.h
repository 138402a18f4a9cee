// SPDX-License-Identifier: MIT
//
// tendon.h: tendons and chambers, theory.md 3.11. The length of a tendon or volume of a chamber is
// c(q) = sum over its quadrature points of w f(xi), straight segments (tendon_segment.h) by their
// length, with
//   tendon   f = |u|,      u = Gamma + K x D + D'
//   chamber  f = area e_x . (Gamma + K x D)
// The coordinate y is the shortening of a tendon (reference length minus c) or the volume c. An
// effort e, tension or gauge pressure, adds e dy/dq to the generalised forces. With friction
// (tendon_friction.h) the tension varies along the tendon.
#pragma once

#include "dynamics/dynamics.h"

// w->tendon, w->tendon_point, w->G <- coordinates, rates and derivatives dy/dq along rods at the
// motion in s and w. Part of snw_kinematics.
void snw_tendons_motion(const snw_model *m, const snw_inputs *in, const snw_state *s,
                        bool is_static, snw_work *w);

// w->tendon <- efforts; w->r, w->F -= their forces; w->violation <- rows of given lengths and
// volumes. Part of snw_residual, after snw_feedback.
void snw_tendons_add(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                     snw_work *w);

// w->tendon_jacobian <- generalised force per unit effort, straight segments included; without
// friction this is dy/dq. After snw_tangent_pass or snw_jacobian_pass; part of snw_tangent_assemble
// and snw_constraints_jacobian.
void snw_tendons_jacobian(const snw_model *m, snw_work *w);

// w->tendon[i] <- effort as a signal for laws, unless it follows from signals itself or from a
// constraint row. Part of snw_feedback.
void snw_tendon_evaluate(const snw_model *m, int i, const snw_inputs *in, snw_work *w);
// jacobian (nv) += cq d/dq + cv d/dv of the coordinate, rate or effort of tendon i; after
// snw_tendons_jacobian.
void snw_tendon_jacobian(const snw_model *m, int i, snw_reading reading, double cq, double cv,
                         snw_work *w, double *jacobian);

// T += cq dr/dq + cv dr/dv of the forces of all tendons and chambers. Part of snw_tangent_assemble.
void snw_tendons_tangent(const snw_model *m, double cq, double cv, snw_work *w, snw_matrix T);

// rate, acceleration <- derivatives of the rows of given lengths and volumes. Part of
// snw_constraints_rates.
void snw_tendons_rates(const snw_model *m, const snw_inputs *in, const snw_state *s,
                       const snw_work *w, double *rate, double *acceleration);

// Power of tendon or chamber i, W: on the robot, and with friction also the heat in its duct; sum
// of all; heat of friction. After snw_residual, not static.
double snw_tendon_power(const snw_model *m, int i, const snw_work *w);
double snw_tendons_power(const snw_model *m, const snw_work *w);
double snw_tendons_heat(const snw_model *m, const snw_work *w);
// Power of all tendons and chambers on given strains, W; it is balanced by the laws of those
// strains.
double snw_tendons_given_power(const snw_model *m, const snw_work *w);

// Derivative of an effort by a signal, through the law that gives it, at a fixed coordinate of the
// tendon.
double snw_tendon_effort_by(const snw_model *m, int i, const snw_inputs *in, const snw_work *w,
                            int signal);
// derivative (nv) += derivative of the generalised forces of efforts that read a signal, by that
// signal. Part of snw_feedback_tangent.
void snw_tendons_signal_derivative(const snw_model *m, const snw_inputs *in, const snw_work *w,
                                   int signal, double *derivative);
