// SPDX-License-Identifier: MIT
//
// massless.h: motions that move no mass. Accelerations do not exist there; it is better to say so
// before a run than in it.
#pragma once

#include "model/model.h"

// SNW_E_MODEL when coordinates can move at the model's initial configuration and beside it without
// moving any mass; the link and its coordinates are named. Models with rows (loops, drives) are not
// looked at: what holds such a motion there gives it inertia, and what nothing holds may be idle
// (theory.md 3.8). Allocates; takes nv^3.
SNW_NODISCARD snw_status snw_massless_check(const snw_model *m, snw_error *err);
