// SPDX-License-Identifier: MIT
//
// contact_law.h: force of one compliant contact from its gap, normal and velocity, theory.md
// (3.13.3), and its variation. All vectors have the same axes, whichever they are.
#pragma once

#include "dynamics/work.h"

// at->elastic_force, at->f <- from depth, stiffness, normal and, unless is_static, the velocity
// at->v; at->v is split into at->rate and the slip. at->axis: direction of the rod, for friction
// along and across it.
void snw_contact_law(const snw_contact *c, bool is_static, snw_contact_point_work *at);

// The same with a given at->elastic_force.
void snw_contact_law_of(const snw_contact *c, bool is_static, snw_contact_point_work *at);

// Variation of the force with those of gap, size of its gradient, normal, velocity and direction of
// the rod.
typedef struct snw_contact_variation {
    double gap, gradient;
    snw_vec3 d, v, axis;
} snw_contact_variation;
// The same of a force that is given along the axes of the contact (snw_contact_axes), whose
// tangents follow from the normal and the direction e, with its variation de.
snw_vec3 snw_contact_given_variation(snw_vec3 d, snw_vec3 e, snw_vec3 f, snw_vec3 dd, snw_vec3 de);
// Axes from a normal and a direction; the direction from which those of a contact point are made,
// its rod's or, where that is nearly normal to the surface, `other`.
void snw_contact_axes_of(snw_vec3 d, snw_vec3 e, snw_vec3 axis[3]);
snw_vec3 snw_contact_direction(const snw_contact_point_work *at, snw_vec3 other);
snw_vec3 snw_contact_law_variation(const snw_contact *c, bool is_static,
                                   const snw_contact_point_work *at,
                                   const snw_contact_variation *by);
