// SPDX-License-Identifier: MIT
//
// tendon_segment.h: a straight part of a tendon, |p_b - p_a| between the origins of two segments,
// theory.md 3.11.
#pragma once

#include "dynamics/dynamics.h"

// Length, direction and rate at the motion in w.
void snw_tendon_segment_motion(const snw_tendon_segment *p, const snw_work *w,
                               snw_tendon_point_work *out);
// The second rate, after snw_kinematics with accelerations.
double snw_tendon_segment_d2(const snw_tendon_segment *p, const snw_work *w,
                             const snw_tendon_point_work *at);

// What a tension does at its ends, taken off w->F.
void snw_tendon_segment_add(const snw_tendon_segment *p, const snw_tendon_point_work *at,
                            double tension, snw_work *w);

// to += factor dlength/dq, by coordinates of the measure; after snw_tangent_pass or
// snw_jacobian_pass.
void snw_tendon_segment_jacobian(const snw_model *m, const snw_tendon_segment *p, const snw_work *w,
                                 const snw_tendon_point_work *at, double factor, double *to);
// to += g . dn/dq, n its direction.
void snw_tendon_segment_direction_jacobian(const snw_model *m, const snw_tendon_segment *p,
                                           const snw_work *w, const snw_tendon_point_work *at,
                                           snw_vec3 g, double *to);
// to += factor drate/dq.
void snw_tendon_segment_rate_jacobian(const snw_model *m, const snw_tendon_segment *p,
                                      const snw_work *w, const snw_tendon_point_work *at,
                                      double factor, double *to);

// T += f (d2length/dq2 as the recursion needs it: how forces of one newton at the ends change),
// between the coordinates of the measure.
void snw_tendon_segment_curvature(const snw_model *m, const snw_tendon *x,
                                  const snw_tendon_segment *p, const snw_work *w,
                                  const snw_tendon_point_work *at, double f, size_t ld, double *T);
