// SPDX-License-Identifier: MIT
//
// tendon_point.h: a tendon or chamber at one section of a rod, theory.md 3.11: strain, density,
// angle of the path, and their derivatives.
#pragma once

#include "dynamics/state.h"
#include "dynamics/work.h"
#include "math/matrix.h"

// Strain at a point and its rate; `rate` may be NULL.
void snw_tendon_point_strain(const snw_model *m, const snw_tendon_point *p, double t,
                             const snw_state *s, snw_twist *xi, snw_twist *rate);
// Second rate of the strain.
snw_twist snw_tendon_point_strain_d2(const snw_model *m, const snw_tendon_point *p, double t,
                                     const snw_state *s);
// Derivative of the strain along the rod; points of tendons with friction only.
snw_twist snw_tendon_point_strain_d1(const snw_model *m, const snw_tendon_point *p, double t,
                                     const snw_state *s);

// Unit tangent t = u/|u| of the tendon in the section's frame.
snw_vec3 snw_tendon_point_tangent(const snw_tendon_point *p, snw_twist xi);
// Density f (length or volume per length of the rod), theory.md (3.11.1) and (3.11.2); d1 <-
// df/dxi.
double snw_tendon_point_density(const snw_tendon *tendon, const snw_tendon_point *p, snw_twist xi,
                                double d1[6]);
// out <- d2f/dxi2 x, tendons only; for x = (0, g) it is the derivative of g . t by xi.
void snw_tendon_point_d2(const snw_tendon_point *p, snw_twist xi, snw_twist x, double out[6]);

// Angle of the path in space per length of the rod, k, rounded to (k^2 + round^2)^(1/2) - round so
// that it is differentiable for a straight tendon. of_xi, of_dxi <- derivatives by the strain and
// by its derivative along the rod, unless NULL.
double snw_tendon_point_turning(const snw_tendon_point *p, snw_twist xi, snw_twist dxi,
                                double round, double of_xi[6], double of_dxi[6]);

// to += factor c' B phi, phi the shape functions at the point (m->tendon_phi or m->tendon_dphi), in
// the tendon's own coordinates.
void snw_tendon_point_scatter(const snw_model *m, const snw_tendon_point *p, const double *phi,
                              double factor, const double c[6], double *to);

// H (6 x 6, rows and columns by active component) <- f d2|u|/dxi2.
void snw_tendon_point_hessian(const snw_model *m, const snw_tendon_point *p, snw_twist xi, double f,
                              double H[36]);
// T -= f d2|u|/dxi2 between the coordinates of one point.
void snw_tendon_point_curvature(const snw_model *m, const snw_tendon_point *p, snw_twist xi,
                                double f, snw_matrix T);
