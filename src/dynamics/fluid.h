// SPDX-License-Identifier: MIT
//
// fluid.h: forces of a surrounding fluid, theory.md 3.12. A fluid point moves relative to the fluid
// with the twist V and its rate A, about its centre. It adds the wrench
//   M A - ad_V' M V + drag(V) - end Y(V),   M = diag(added mass),
// to that of its own inertia; Y is the momentum flux at an end of a rod (Lighthill 1971).
#pragma once

#include "dynamics/dynamics.h"

// Does the fluid act at the point?
static inline bool snw_fluid_point_is_active(const snw_work *w, const snw_fluid_point *p) {
    return snw_is_active(w, p->condition) && snw_is_active(w, p->body_condition);
}

// w->fluid_point <- motion relative to the fluid. Part of snw_kinematics.
void snw_fluid_motion(const snw_model *m, const snw_inputs *in, bool is_static, snw_work *w);

// w->F, w->r += wrenches of the fluid. Part of snw_residual, before wrenches are transmitted to the
// root.
void snw_fluid_add(const snw_model *m, const snw_inputs *in, bool is_static, snw_work *w);

// S (6 x 6, row major) <- derivative of the wrench at a point by V; Y (3 x 3) <- derivative of the
// momentum flux by the linear velocity.
void snw_fluid_point_jacobian(const snw_fluid_point *p, snw_twist V, double S[36], double Y[9]);
// Buoyancy at a point, in the axes of its segment.
snw_vec3 snw_fluid_point_lift(const snw_inputs *in, const snw_work *w, const snw_fluid_point *p);
// Momentum of the added masses in the world frame, about the origin; after snw_kinematics.
snw_wrench snw_fluid_momentum(const snw_model *m, const snw_work *w);
// Momentum flux Y for the added masses of motion along y and z, theory.md (3.12.3).
snw_vec3 snw_flux(const double mass[2], snw_vec3 v);

// Kinetic energy of the added masses, from the motion relative to the fluid; potential energy of
// the displaced fluid, zero at the origin. J.
double snw_fluid_kinetic_energy(const snw_model *m, const snw_work *w);
double snw_fluid_gravity_energy(const snw_model *m, const snw_inputs *in, const snw_work *w);
// The same at one point.
double snw_fluid_point_kinetic_energy(const snw_model *m, const snw_work *w, int k);
double snw_fluid_point_gravity_energy(const snw_model *m, const snw_inputs *in, const snw_work *w,
                                      int k);

// Power dissipated by drag, W; after snw_kinematics, not static.
double snw_fluid_heat(const snw_model *m, const snw_work *w);

// Power of a current and of the momentum left in the wake, W; after snw_residual, not static.
double snw_fluid_power(const snw_model *m, const snw_inputs *in, const snw_state *s,
                       const snw_work *w);
