// SPDX-License-Identifier: MIT
//
// restitution.h: Hunt-Crossley damping from a coefficient of restitution. A mass that meets the
// one-sided force N = k <-g> <1 - d g'> (gap g, smooth positive parts <>) at the speed v leaves it
// at the speed e v; e depends on d v alone, not on the mass or on the stiffness k.
#pragma once

// The damping d (s/m, or s/rad) for the ratio e of the speeds after and before, 0 < e <= 1, at the
// speed v > 0 of approach. 0 when e is 1. NaN outside these ranges.
double snw_restitution_damping(double e, double v);
