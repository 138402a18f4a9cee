// SPDX-License-Identifier: MIT
//
// packs.h: implicit steps of several robots solved together. The recursion, its tangent and
// Newton's method are compiled with numbers that are packs of 4 (AVX2) or 8 (AVX-512) robots, with
// single precision 8 or 16, one in each lane (pack_engine.cpp, base/pack.hpp). Each lane computes
// what it would alone: its results depend neither on its neighbours nor on its place.
// theory.md 6.10
#pragma once

#include "integrate/implicit.h"
#include "integrate/pack_order.h"
#include "model/model_stream.h"

// The engine for this processor; NULL: none, or the library was built without. `most`: largest
// number of lanes asked for, 0: any. `single`: numbers are floats.
const snw_pack_engine *snw_packs(int most, bool single);

// Why packs do not serve this model or these steps, in words; NULL: they do. `device`: for the
// engine of graphics processors, of the same recursion, which also evaluates laws that read
// signals. Wheels and contacts without slip are served as long as their rows are independent.
const char *snw_packs_refuse(const snw_implicit *im, bool device);

// Length of the next step, at most h, as chosen for a robot alone (integrate/step_control.c); 0: it
// does not fit a pack (drag spring, backward Euler, a point about to pass an obstacle, redundant
// rows).
double snw_implicit_lane_length(snw_implicit *im, double h, double longest);
// Can its next step be one in a pack?
bool snw_implicit_fits_lane(const snw_implicit *im);
// A step of this length to the time t_laws as the equations of a lane, without solving them.
// `single`: for packs of floats. memory: snw_pack_lane_memory doubles, which must last until one of
// the two calls below.
void snw_implicit_open_lane(snw_implicit *im, double h, double t_laws, bool single, double *memory,
                            snw_pack_lane *lane);
size_t snw_pack_lane_memory(const snw_model *m);
// Ends that step as snw_implicit_step does. False: it was not solved, and nothing has changed.
bool snw_implicit_end_lane(snw_implicit *im, double h, const snw_pack_lane *lane);
// Newton iterations that a robot has spent for an interval, and those allowed
// (integrate/step_control.h).
typedef struct snw_lane_patience {
    int spent, most;
} snw_lane_patience;
// Ends that step as for a robot alone, which solves the equations that the pack could not, judges
// and accepts it. Returns 0, or the length with which the step must be repeated.
double snw_implicit_close_lane(snw_implicit *im, double h, double longest, double t_laws,
                               const snw_pack_lane *lane, snw_lane_patience *patience);
