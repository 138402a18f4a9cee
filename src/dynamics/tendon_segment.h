// SPDX-License-Identifier: MIT
//
// tendon_segment.h: straight segment of a tendon, |p_b - p_a| between the origins of two segments a
// and b, theory.md (3.11.7) and (3.11.8).
#pragma once

#include "dynamics/dynamics.h"

// Length, unit direction and rate at the motion in w.
void snw_tendon_segment_motion(const snw_tendon_segment *p, const snw_work *w,
                               snw_tendon_point_work *out);
// Second rate of the length, after snw_kinematics with accelerations.
double snw_tendon_segment_d2(const snw_tendon_segment *p, const snw_work *w,
                             const snw_tendon_point_work *at);

// w->F -= forces of the tension at both ends.
void snw_tendon_segment_add(const snw_tendon_segment *p, const snw_tendon_point_work *at,
                            double tension, snw_work *w);

// to += factor dlength/dq in the tendon's own coordinates; after snw_tangent_pass or
// snw_jacobian_pass.
void snw_tendon_segment_jacobian(const snw_model *m, const snw_tendon_segment *p, const snw_work *w,
                                 const snw_tendon_point_work *at, double factor, double *to);
// to += g . dn/dq, n the unit direction.
void snw_tendon_segment_direction_jacobian(const snw_model *m, const snw_tendon_segment *p,
                                           const snw_work *w, const snw_tendon_point_work *at,
                                           snw_vec3 g, double *to);
// to += factor drate/dq.
void snw_tendon_segment_rate_jacobian(const snw_model *m, const snw_tendon_segment *p,
                                      const snw_work *w, const snw_tendon_point_work *at,
                                      double factor, double *to);

// T += f times the derivative of r under a tension of 1 N (the geometric stiffness), between the
// coordinates of the tendon.
void snw_tendon_segment_curvature(const snw_model *m, const snw_tendon *x,
                                  const snw_tendon_segment *p, const snw_work *w,
                                  const snw_tendon_point_work *at, double f, snw_matrix T);
