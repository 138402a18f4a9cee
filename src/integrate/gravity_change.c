// SPDX-License-Identifier: MIT
//
// Potential energy under a gravity that changes with time (integrate/gravity_change.h).
#include "integrate/gravity_change.h"

double snw_gravity_change(const snw_model *m, snw_inputs *in, const snw_state *s, snw_work *w,
                          snw_vec3 *gravity) {
    const snw_vec3 before = *gravity, now = in->gravity;
    const snw_vec3 change = snw_sub(now, before);
    *gravity = now;
    if (snw_dot(change, change) == 0) return 0;
    snw_kinematics(m, in, s, true, w);
    in->gravity = before;
    const double old = snw_gravity_energy(m, in, w);
    in->gravity = now;
    return snw_gravity_energy(m, in, w) - old;
}
