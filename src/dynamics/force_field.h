// SPDX-License-Identifier: MIT
//
// force_field.h: magnetic fields and fields of force, theory.md 3.21. A field acts at points of
// segments, with a wrench that depends on their poses and on time; a dipole that a segment carries
// has the opposite wrench.
#pragma once

#include "dynamics/dynamics.h"

// Time, and poses in the world of what a point of a field belongs to and of the frame of its
// dipole.
typedef struct snw_field_place {
    double t;
    snw_se3 g, carrier;
} snw_field_place;

// Wrench of a field at a point, about the origin and in the axes of the frame g: m x B and
// (dB/dx)'m, or the force, theory.md (3.21.1).
snw_wrench snw_force_field_wrench(const snw_force_field *f, const snw_force_field_point *p,
                                  const snw_field_place *at);
// A (6 x 6, row major) <- `scale` times its derivative by g, theory.md (3.21.5).
void snw_force_field_derivative(const snw_force_field *f, const snw_force_field_point *p,
                                const snw_field_place *at, double scale, double A[36]);
// Potential energy, J, and its derivative by t at rest, W; zero for fields without.
double snw_force_field_potential(const snw_force_field *f, const snw_force_field_point *p,
                                 const snw_field_place *at);
double snw_force_field_potential_rate(const snw_force_field *f, const snw_force_field_point *p,
                                      const snw_field_place *at);

// w->force_field <- wrenches at all points. Part of snw_kinematics.
void snw_force_fields_motion(const snw_model *m, const snw_inputs *in, snw_work *w);

// w->F -= these wrenches. Part of snw_residual, before wrenches are transmitted to the root.
void snw_force_fields_add(const snw_model *m, snw_work *w);

// A (6 x 6, row major) <- derivative of the wrench at point k by the pose of its segment, theory.md
// (3.21.5); false: it does not act.
bool snw_force_field_jacobian(const snw_model *m, const snw_work *w, int k, double A[36]);

// T += cq dr/dq of the dipoles that coordinates move.
void snw_force_field_pairs_tangent(const snw_model *m, double cq, const snw_work *w, snw_matrix T);

// Field i at a place of the world, world axes, with its factor: flux density of magnetic fields, T;
// force per length of a rod, N/m, or on a body, N; acceleration, m/s^2. Zero where it is not
// present. After snw_kinematics.
snw_vec3 snw_force_field_at_place(const snw_model *m, const snw_work *w, int i, snw_vec3 place);
// The same at point k, of its field.
snw_vec3 snw_force_field_value(const snw_model *m, const snw_work *w, int k);

// Potential energy of one point and of all, J; its rate, W; power of fields without a potential and
// that by which laws of t change potentials, W.
double snw_force_field_energy(const snw_model *m, const snw_work *w, int k);
double snw_force_fields_energy(const snw_model *m, const snw_work *w);
double snw_force_fields_energy_rate(const snw_model *m, const snw_work *w);
double snw_force_fields_power(const snw_model *m, const snw_work *w);
