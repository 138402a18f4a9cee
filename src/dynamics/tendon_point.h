// SPDX-License-Identifier: MIT
//
// tendon_point.h: a tendon or chamber at one section of a rod, theory.md 3.11.
#pragma once

#include "dynamics/state.h"
#include "dynamics/work.h"

// Strain at a spot and its rate; `rate` may be NULL.
void snw_tendon_point_strain(const snw_model *m, const snw_tendon_point *p, double t,
                             const snw_state *s, snw_twist *xi, snw_twist *rate);
// The second rate of the strain.
snw_twist snw_tendon_point_strain_d2(const snw_model *m, const snw_tendon_point *p, double t,
                                     const snw_state *s);
// Its slope along the rod; of spots of a tendon that rubs.
snw_twist snw_tendon_point_strain_d1(const snw_model *m, const snw_tendon_point *p, double t,
                                     const snw_state *s);

// Direction of a tendon there in the section's frame, a unit vector t.
snw_vec3 snw_tendon_point_tangent(const snw_tendon_point *p, snw_twist xi);
// Density f of the measure there, and slope <- df/dxi.
double snw_tendon_point_density(const snw_tendon_desc *d, const snw_tendon_point *p, snw_twist xi,
                                double d1[6]);
// out <- d2f/dxi2 x of a tendon; of x = (0, g) that is the derivative of g . t.
void snw_tendon_point_d2(const snw_tendon_point *p, snw_twist xi, snw_twist x, double out[6]);

// Angle by which a tendon turns in space per length of the rod, rounded to (k^2 + round^2)^(1/2) -
// round so that a straight one has a slope, too; of_xi, of_dxi, unless NULL <- its slopes in the
// strain and in the slope of the strain.
double snw_tendon_point_turning(const snw_tendon_point *p, snw_twist xi, snw_twist dxi,
                                double round, double of_xi[6], double of_dxi[6]);

// to += c times the functions `phi` at the spot (those of spot_phi or spot_dphi), by coordinates of
// the measure.
void snw_tendon_point_scatter(const snw_model *m, const snw_tendon_point *p, const double *phi,
                              double factor, const double c[6], double *to);

// T -= f d2|u|/dxi2 between the coordinates of one spot.
void snw_tendon_point_curvature(const snw_model *m, const snw_tendon_point *p, snw_twist xi,
                                double f, size_t ld, double *T);
