// SPDX-License-Identifier: MIT
//
// geometry_error.h: position of a rod's tip by its slices.
#pragma once

#include "dynamics/dynamics.h"

// Position of the tip relative to the root, for the coordinates q of the model at t, with every
// slice cut into this number of parts.
snw_vec3 snw_rod_tip_position(const snw_model *m, const snw_rod *rod, const double *q, double t,
                              int cuts);
