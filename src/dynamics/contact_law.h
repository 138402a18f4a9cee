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
snw_vec3 snw_contact_law_variation(const snw_contact *c, bool is_static,
                                   const snw_contact_point_work *at,
                                   const snw_contact_variation *by);
