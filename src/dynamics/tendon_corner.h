// SPDX-License-Identifier: MIT
//
// tendon_corner.h: where the path of a tendon that rubs turns at a point: at an eye, where it comes
// to a rod or leaves it, and between rods that follow each other, theory.md 3.11.
#pragma once

#include "dynamics/dynamics.h"

// Angle of kink i at the motion in w, its straight parts known; never negative.
double snw_tendon_corner_angle(const snw_model *m, int i, double t, const snw_state *s,
                               snw_work *w);

// to += factor times its derivative, by coordinates of the measure; after snw_tangent_pass or
// snw_jacobian_pass.
void snw_tendon_corner_jacobian(const snw_model *m, int i, const snw_work *w, double factor,
                                double *to);
