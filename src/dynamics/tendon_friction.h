// SPDX-License-Identifier: MIT
//
// tendon_friction.h: friction of a tendon along its path, theory.md 3.11. From spot to spot the
// tension falls by the angle that the tendon turns, along rods and at kinks, the more or with the
// sign as it slides towards the end that is pulled; at rest as it is said to have slid last.
#pragma once

#include "dynamics/dynamics.h"

// Sliding speeds and shares of the tension at the spots of a tendon that rubs, and where it is
// tied, after strains, densities and their rates; w->G <- what its effort does with them.
void snw_tendon_friction_distribute(const snw_model *m, int tendon, double t, const snw_state *s,
                                    snw_work *w);

// Tension at the winch of a tendon that rubs and stretches: its parts between the spots are as long
// as what was paid out.
double snw_tendon_friction_winch(const snw_model *m, int tendon, double paid_out,
                                 const snw_work *w);

// What friction takes at the effort in w->tendon, W: never negative.
double snw_tendon_friction_heat(const snw_model *m, int tendon, const snw_work *w);

// T += cq dr/dq + cv dr/dv of what follows from tensions that vary along the path, their curvature
// aside. `paid` as above, `part` what acts of the winch.
void snw_tendon_friction_tangent(const snw_model *m, int tendon, double paid_out, double fraction,
                                 double cq, double cv, snw_work *w, size_t ld, double *T);
