// SPDX-License-Identifier: MIT
//
// probe_tendon.h: what probes show of tendons along their path and at its ends.
#pragma once

#include "dynamics/dynamics.h"

// Tension at a fraction of the path, 0 where it is pulled, 1 where it is tied; after snw_residual.
double snw_tendon_tension(const snw_model *m, int tendon, double fraction, const snw_work *w);

// What a tendon does to the robot at an end: where it is tied, or, with its entry, where it is
// pulled. In the axes and about the origin of the section or site with the pose g.
snw_wrench snw_tendon_pull(const snw_model *m, int tendon, bool tied, snw_se3 g, double t,
                           const snw_state *s, const snw_work *w);
