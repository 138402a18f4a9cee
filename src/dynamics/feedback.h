// SPDX-License-Identifier: MIT
//
// feedback.h: derivatives of probes by coordinates and velocities, and of generalised forces by
// signals and loads, theory.md (3.7.1) and (3.7.2). For the tangent and for linear models.
#pragma once

#include "dynamics/dynamics.h"

// A frame that a probe measures, with the columns J of its path and their rates dJ (NULL: at rest).
typedef struct snw_signal_frame {
    snw_se3 g;
    snw_twist V;
    const snw_path *path;
    const double *J, *dJ;
} snw_signal_frame;

// Entries of the path in jacobian (nv) <- cq d/dx + cv d/dx' of a probe of pose and velocity: with
// zeta = J x, delta V = (dJ + ad_V J) x + J x'.
void snw_signal_frame_row(const snw_signal *signal, const snw_signal_frame *at, double cq,
                          double cv, double *jacobian);
// The same of a strain, entries of the rod.
void snw_signal_strain_row(const snw_model *m, const snw_signal *signal, const snw_work *w,
                           double cq, double *jacobian);

// Q (nv) += generalised force of a unit component of a load (torque, then force) in its axes; along
// a rod per length. After snw_tangent_pass or snw_jacobian_pass.
void snw_load_force(const snw_model *m, int load, int component, const snw_work *w, double *Q);

// row (nv) += cq d/dx + cv d/dx' of an effort through the signals that its law reads, at a fixed
// coordinate of the tendon. After snw_tangent_pass.
void snw_tendon_effort_row(const snw_model *m, int tendon, const snw_inputs *in, double cq,
                           double cv, snw_work *w, double *row);

// Q (nv) += derivative of the generalised forces of all laws by a signal. After
// snw_tangent_assemble.
void snw_feedback_force(const snw_model *m, const snw_inputs *in, const snw_work *w, int signal,
                        double *Q);
