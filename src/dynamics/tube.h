// SPDX-License-Identifier: MIT
//
// tube.h: bending of concentric tubes, theory.md 3.19. The first, innermost tube is an ordinary
// rod, the host; a tube around it shares its bends u and is rotated by psi relative to it. Its
// torsion is that of rods of its own; its bending couples both by the energy k/2 |u - kappa
// e(psi)|^2 per length and, with the retardation time tau, by k tau |u' - psi' e_x x u|^2 of
// dissipated power.
#pragma once

#include "dynamics/dynamics.h"

// w->tube_point <- bends, angles and forces; without damping if is_static. Part of snw_kinematics.
void snw_tubes_motion(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                      snw_work *w);

// r (nv) += elastic parts of the forces times `elastic`, and damping parts times `damping`.
void snw_tubes_add(const snw_model *m, const snw_work *w, double elastic, double damping,
                   double *r);

// T (nv x nv, columns ld apart) += cq dr/dq + cv dr/dv.
void snw_tubes_tangent(const snw_model *m, double cq, double cv, const snw_work *w, size_t ld,
                       double *T);

// Stored energy, J, and its rate, W; power dissipated, W. After snw_kinematics; rates not static.
double snw_tube_energy(const snw_model *m, const snw_work *w, int i); // of one
double snw_tubes_energy(const snw_model *m, const snw_work *w);
double snw_tubes_energy_rate(const snw_model *m, const snw_work *w);
double snw_tubes_heat(const snw_model *m, const snw_work *w);

// Angle of tube i at arc length x beyond the exit, about the common tangent relative to the
// rotation-free frame that is at rest at the exit, rad. Where tubes slide x is that of the layout.
double snw_tube_angle(const snw_model *m, int i, const double *q, const snw_work *w, double x);
