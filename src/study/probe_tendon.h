// SPDX-License-Identifier: MIT
//
// probe_tendon.h: tension along a tendon's routing, and its wrench on the robot at the ends.
#pragma once

#include "dynamics/dynamics.h"

// Tension at a fraction of the routing's length, N: 0 at the pulled end, 1 at the fixed end. After
// snw_residual.
double snw_tendon_tension(const snw_model *m, int tendon, double fraction, const snw_work *w);

// Wrench of a tendon on the robot at its fixed end (tied) or at its entry, in the axes and about
// the origin of the section or site with the pose g. After snw_residual.
snw_wrench snw_tendon_pull(const snw_model *m, int tendon, bool tied, snw_se3 g, double t,
                           const snw_state *s, const snw_work *w);
