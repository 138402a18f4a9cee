// SPDX-License-Identifier: MIT
//
// fluid.h: what surrounds the robot, theory.md 3.12. Each place that is wet moves through the fluid
// with the twist V and its rate A, about its centre. It needs the wrench
//   M A - ad_V' M V + resistance(V) - end Y(V),   M = diag(added),
// beyond what its own mass needs; Y is the momentum that flows past an end of a rod (Lighthill).
#pragma once

#include "dynamics/dynamics.h"

// Does a fluid act at a place?
static inline bool snw_fluid_point_is_active(const snw_work *w, const snw_fluid_point *p) {
    return snw_is_active(w, p->condition) && snw_is_active(w, p->body_condition);
}

// w->fluid_point <- motion through the fluid. Part of snw_kinematics.
void snw_fluid_motion(const snw_model *m, const snw_inputs *in, bool is_static, snw_work *w);

// w->F, w->r += what the fluid needs. Part of snw_residual, before wrenches are carried to the
// root.
void snw_fluid_add(const snw_model *m, const snw_inputs *in, bool is_static, snw_work *w);

// S (6 x 6, row by row) <- derivative of the wrench of a place by V; Y (3 x 3) <- that of its
// momentum flux, force part.
void snw_fluid_point_jacobian(const snw_fluid_point *p, snw_twist V, double S[36], double Y[9]);
// Buoyancy at a place, in its axes.
snw_vec3 snw_fluid_point_lift(const snw_inputs *in, const snw_work *w, const snw_fluid_point *p);
// Momentum of the added masses in the world frame, about its origin; after snw_kinematics.
snw_wrench snw_fluid_momentum(const snw_model *m, const snw_work *w);
// Force of the momentum that flows with the added masses of motion along y and z.
snw_vec3 snw_flux(const double mass[2], snw_vec3 v);

// Energies of the fluid: kinetic with the robot's motion through it; potential of what is
// displaced, zero at the origin.
double snw_fluid_kinetic_energy(const snw_model *m, const snw_work *w);
double snw_fluid_gravity_energy(const snw_model *m, const snw_inputs *in, const snw_work *w);

// Power turned into heat by resistance, W; after snw_kinematics, not still.
double snw_fluid_heat(const snw_model *m, const snw_work *w);

// Power of a current and of what is left in the wake, W; after snw_residual, not still.
double snw_fluid_power(const snw_model *m, const snw_inputs *in, const snw_state *s,
                       const snw_work *w);
