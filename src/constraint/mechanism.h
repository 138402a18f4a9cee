// SPDX-License-Identifier: MIT
//
// mechanism.h: rigid-body mechanisms, that is joint motions without stiffness. They explain why a
// static step has no equilibrium.
#pragma once

#include "dynamics/dynamics.h"

// Link whose joint moves most in a motion that satisfies loops and drives and changes no force at
// s, at rest; -1 when there is none. Fills w. Allocates.
int snw_mechanism_find(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w);
