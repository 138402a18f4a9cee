// SPDX-License-Identifier: MIT
//
// projective.h: torques of the projective form of Ali 2011 (3.73 to 3.85), for comparison with the
// thesis (references.md A3). For rigid bodies on wheels and drives of single axes.
#pragma once

#include "dynamics/dynamics.h"

// P (nseg) <- wrench that each segment receives from its parent, tau (nconstraint) <- effort of
// each drive at its row, at the rates and accelerations of s, whose multipliers become zero. w:
// scratch.
void oracle_projective(const snw_model *m, const snw_inputs *in, snw_state *s, snw_work *w,
                       snw_wrench *P, double *tau);
