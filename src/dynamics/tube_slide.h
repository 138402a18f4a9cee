// SPDX-License-Identifier: MIT
//
// tube_slide.h: concentric tubes that slide in each other by laws of t, theory.md (3.19.5). The
// places where a tube ends or becomes curved divide the rods into pieces whose ends move; strains,
// nodes and quadrature points keep their fractions of a piece. The material of tube i passes a
// section with the speed c_i = (rate of its base) - (rate of the section):
//   V_i = V + c_i xi,   A_i = A + c_i' xi + 2 c_i xi' + c_i ad_V xi + c_i^2 dxi/ds
#pragma once

#include "dynamics/dynamics.h"

// w->tube_piece, w->tube_slide <- lengths of the pieces and motion of their ends; before the motion
// of the segments. w->tube_node <- strains at the nodes; behind it. Parts of snw_kinematics.
void snw_tube_pieces_motion(const snw_model *m, const snw_inputs *in, bool is_static, snw_work *w);
void snw_tube_nodes_motion(const snw_model *m, const snw_state *s, bool is_static, snw_work *w);

// w->tube_elastic, w->tube_viscous, w->tube_account <- forces and energies of the rods of such
// tubes beyond those with the lengths of the layout. Part of snw_kinematics.
void snw_tube_rods_motion(const snw_model *m, const snw_state *s, bool is_static, snw_work *w);
// T += cq dr/dq + cv dr/dv of these forces.
void snw_tube_rods_tangent(const snw_model *m, double cq, double cv, const snw_work *w, size_t ld,
                           double *T);

// Speed of the material of a tube relative to the section at a fraction of a piece, m/s, and its
// rate at the section.
void snw_tube_speed(const snw_model *m, const snw_work *w, int piece, double fraction, int tube,
                    double *speed, double *rate);

// Wrench that the inertia of all tubes at node k requires, gravity included. WJ += cq d/dx + cv
// d/dx' + ca d/dx'' of that at segment i.
snw_wrench snw_tube_node_wrench(const snw_model *m, const snw_work *w, int k);
void snw_tube_node_tangent(const snw_model *m, snw_work *w, int i, double cq, double cv, double ca,
                           double *WJ);

// Node k: twice the kinetic energy, J; momentum.
double snw_tube_node_kinetic(const snw_model *m, const snw_work *w, int k);
snw_wrench snw_tube_node_momentum(const snw_model *m, const snw_work *w, int k);

// Power of the drives that slide the tubes, except that of the poses of their bases, W; kinetic
// and potential energy that material carries from node to node, theory.md (3.14.5).
double snw_tubes_drive_power(const snw_model *m, const snw_work *w);
double snw_tubes_inflow(const snw_model *m, const snw_inputs *in, const snw_work *w);

// Fails, with the names of tubes and the time, when a piece vanishes or appears, or a value is not
// finite.
SNW_NODISCARD snw_status snw_tubes_check(const snw_model *m, const snw_inputs *in, double t,
                                         snw_error *err);
