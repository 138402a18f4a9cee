// SPDX-License-Identifier: MIT
//
// mechanism.h: joints that can move at no cost, for those who explain why there is no equilibrium.
#pragma once

#include "dynamics/dynamics.h"

// The joint that moves most in a motion which loops and drives allow and which changes no force at
// s, at rest: the index of its link, or -1 where there is none. Fills w; takes memory of its own
// while it looks.
int snw_mechanism_find(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w);
