// SPDX-License-Identifier: MIT
//
// sliding_station.h: stations at x(t) along a rod with prescribed strains, theory.md 3.15. The
// slice between the nearest node towards the root and the station has a variable length and no
// coordinates; it transmits motion and wrenches as a given pose does.
#pragma once

#include "dynamics/dynamics.h"

// w->sliding_station <- motion of the sections at the present positions of the stations. Part of
// snw_kinematics.
void snw_sliding_stations_motion(const snw_model *m, const snw_inputs *in, bool is_static,
                                 snw_work *w);
