// SPDX-License-Identifier: MIT
//
// force_element.h: springs, cables, dampers and bushings between two sites, theory.md 3.17. Their
// two wrenches have no resultant, so that elements between links keep the momentum of the robot.
// Along the line of length l between two points the tension is
//   spring   k (l - l0) + c l'   or   f(l - l0) + c l'
//   cable    k <l - l0> <1 + d l'>, with smooth positive parts; it never pushes
//   damper   c l'.
// A bushing has the energy (theta' K theta + p' K p)/2 of the rotation vector theta and the
// position p of the second frame in the first.
#pragma once

#include "dynamics/dynamics.h"

// w->force_element <- lengths, rates and wrenches; without damping if is_static. Part of
// snw_kinematics.
void snw_force_elements_motion(const snw_model *m, const snw_inputs *in, bool is_static,
                               snw_work *w);

// w->F -= wrenches. Part of snw_residual, before wrenches are transmitted to the root.
void snw_force_elements_add(const snw_model *m, snw_work *w);

// T (nv x nv, columns ld apart) += cq dr/dx + cv dr/dx', with the columns of the last tangent pass;
// the change of the directions in which given wrenches act is part of the recursion.
void snw_force_elements_tangent(const snw_model *m, double cq, double cv, const snw_work *w,
                                snw_matrix T);

// d <- variation of the wrenches of element i on its ends, own frames, under variations zeta of
// their poses and dV of their velocities.
void snw_force_element_variation(const snw_model *m, const snw_work *w, int i,
                                 const snw_twist zeta[2], const snw_twist dV[2], snw_wrench d[2]);

// pose, V (2 each) += derivatives of -eta'F, F the wrenches of element i on its ends and eta
// virtual twists of these, by the poses (body twists, at fixed body rates) and the velocities of
// the ends.
void snw_force_element_bars(const snw_model *m, const snw_work *w, int i, const snw_twist eta[2],
                            snw_wrench pose[2], snw_wrench V[2]);

// Stored energy, J, and its rate, W; power dissipated, W. After snw_kinematics; rates not static.
double snw_force_element_energy(const snw_model *m, const snw_work *w, int i); // of one
double snw_force_elements_energy(const snw_model *m, const snw_work *w);
double snw_force_elements_energy_rate(const snw_model *m, const snw_work *w);
double snw_force_elements_heat(const snw_model *m, const snw_work *w);

// Elastic part of the wrench of element i on its end k, own frame.
snw_wrench snw_force_element_elastic(const snw_model *m, const snw_work *w, int i, int k);
