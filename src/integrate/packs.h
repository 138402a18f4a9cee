// SPDX-License-Identifier: MIT
//
// packs.h: implicit steps of several robots solved together. The recursion, its tangent and
// Newton's method are compiled with numbers that are packs of 4 (AVX2) or 8 (AVX-512) robots, one
// in each lane (pack_engine.cpp, base/pack.hpp). Each lane computes what it would alone: its
// results depend neither on its neighbours nor on its place. theory.md 6.10
#pragma once

#include "integrate/implicit.h"
#include "integrate/pack_order.h"
#include "model/model_stream.h"

// The engine for this processor; NULL: none, or the library was built without. `most`: largest
// number of lanes asked for, 0: any.
const snw_pack_engine *snw_packs(int most);

// Why packs do not serve this model or these steps, in words; NULL: they do.
const char *snw_packs_refuse(const snw_implicit *im);

// A step of length h to the time t_laws as the equations of a lane, without solving them; false: it
// does not fit a pack (drag spring, first steps that need a shorter step, a matrix that
// changes). After it exactly one of the two calls below follows. memory: snw_pack_lane_memory
// doubles, which must last until then.
bool snw_implicit_open_lane(snw_implicit *im, double h, double longest, double t_laws,
                            double *memory, snw_pack_lane *lane);
size_t snw_pack_lane_memory(const snw_model *m);
// The lane was solved: ends the step as snw_implicit_step does. False: the step must be repeated
// with a shorter length; nothing has changed.
bool snw_implicit_close_lane(snw_implicit *im, double h, double longest, const snw_pack_lane *lane);
// The lane was not solved: nothing has changed.
void snw_implicit_cancel_lane(snw_implicit *im);
