// SPDX-License-Identifier: MIT
//
// stop.h: stops at the limits of joints, theory.md (3.4a). A coordinate with the gap g to a limit
// gets the force k <-g> <1 - d g'> away from it, with smooth positive parts, as a contact does. The
// coordinate of a spherical joint is the angle between the x axes of its two sides: a cone.
//
// A hard stop has the reaction of a hard contact (dynamics/hard_contact.h), theory.md (3.4d): given
// by the integrator in motions, in equilibria by the multipliers of the solver (5.8). It stores no
// energy.
#pragma once

#include "dynamics/wrench_columns.h"

// w->stop <- gaps and forces; without damping if is_static. Part of snw_kinematics.
void snw_stops_motion(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                      snw_work *w);

// r (nv) -= elastic parts of the forces times `elastic`, and damping parts times `damping`.
void snw_stops_add(const snw_model *m, const snw_work *w, double elastic, double damping,
                   double *r);

// T (entries of the own coordinates of its joint, columns ld apart) += cq dr/dq + cv dr/dv of stop
// i; `own` are the columns of the joint, of which only those of a spherical one are read.
void snw_stop_tangent(const snw_model *m, int i, const snw_columns *own, double cq, double cv,
                      const snw_work *w, size_t ld, double *T);
// T (nv x nv) += those of all stops, with the columns of the last tangent pass.
void snw_stops_tangent(const snw_model *m, double cq, double cv, const snw_work *w, snw_matrix T);

// Stored energy, J, and its rate, W; power dissipated, W. After snw_kinematics; rates not static.
double snw_stop_energy(const snw_model *m, const snw_work *w, int i); // of one
double snw_stops_energy(const snw_model *m, const snw_work *w);
double snw_stops_energy_rate(const snw_model *m, const snw_work *w);
double snw_stops_heat(const snw_model *m, const snw_work *w);
