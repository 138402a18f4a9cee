// SPDX-License-Identifier: MIT
//
// sliding_station.h: stations that sweep along a rod whose strains are given, theory.md 3.15.
// Between the nearest node towards the root and the station lies a slice whose length changes with
// time; it has no coordinates, so it carries motions and wrenches as a pose does.
#pragma once

#include "dynamics/dynamics.h"

// w->sliding_station <- motion of the sections that are at the stations now. Part of
// snw_kinematics.
void snw_sliding_stations_motion(const snw_model *m, const snw_inputs *in, bool is_static,
                                 snw_work *w);
