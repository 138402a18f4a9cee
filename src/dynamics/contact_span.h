// SPDX-License-Identifier: MIT
//
// contact_span.h: contact of a piece of rod between two nodes with an obstacle, at the place where
// the gap is smallest, theory.md (3.13.15) to (3.13.18). Between the nodes the centreline is the
// cubic through their places with their directions, so that the contact depends on the poses of
// both nodes, and its force acts on both. Private to src/dynamics; snw_contact_point.span > 0.
#pragma once

#include "dynamics/work.h"

enum { SNW_SPAN_NODES = 2 }; // `from` and `seg` of the contact point

// at <- gap, normal, touching point, direction of the rod, in the axes of the node `seg`, and the
// place between the nodes; held: that of a state nearby (snw_work.span_held), NaN: none.
void snw_contact_span_gap(const snw_contact *c, const snw_contact_point *p, const snw_work *w,
                          double held, snw_contact_point_work *at);

// Is the smallest gap that of a minimum along the whole rod? A minimum at a node belongs to the
// piece that begins there, so that none counts twice.
snw_mask snw_contact_span_is_minimum(const snw_contact_point *p, const snw_contact_point_work *at);

// Velocity of the material at the touching point relative to the obstacle, axes of `seg`.
snw_vec3 snw_contact_span_velocity(const snw_contact *c, const snw_contact_point *p,
                                   const snw_contact_point_work *at, const snw_work *w);

// F <- wrenches on both nodes, own axes, of the force f at the touching point, axes of `seg`.
void snw_contact_span_wrenches(const snw_contact *c, const snw_contact_point *p,
                               const snw_contact_point_work *at, const snw_work *w, snw_vec3 f,
                               snw_wrench F[SNW_SPAN_NODES]);

// A, B (12 x 12, row major) <- derivatives of these wrenches by the poses (body twists) and
// velocities of both nodes, those of the obstacle being constant; B is zero in statics and of hard
// contacts. given: the force is, along the axes of the contact.
void snw_contact_span_jacobian(const snw_contact *c, const snw_contact_point *p,
                               const snw_contact_point_work *at, const snw_work *w, bool given,
                               double A[144], double B[144]);
