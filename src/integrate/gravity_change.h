// SPDX-License-Identifier: MIT
//
// gravity_change.h: potential energy under a gravity that changes with time.
#pragma once

#include "dynamics/dynamics.h"

// Change of the potential at s since gravity was *gravity, J; *gravity <- that of `in`. w has the
// poses of s then, unless gravity is the same.
double snw_gravity_change(const snw_model *m, snw_inputs *in, const snw_state *s, snw_work *w,
                          snw_vec3 *gravity);
