// SPDX-License-Identifier: MIT
//
// first_step.h: limits of implicit steps after a start (implicit_start.c) and by the energy that
// the scheme creates (implicit_energy.c), for one robot and for robots on a graphics processor
// (gpu/device_engine.inc). theory.md 6.2
#pragma once

#define SNW_SHORTEST_STEP 1e-7 // of all steps, relative to the longest

#define SNW_NOTICEABLE 0.01 // theory.md (6.10)
#define SNW_DISPLACED  1e-4 // theory.md (6.15)
#define SNW_GROWTH     1.5  // of the steps after a start

enum {
    SNW_MAX_QUARTERINGS = 12, // the first step is at least 4^-12 of the step asked for
    SNW_WAITS = 60            // steps after a start that may be without growth
};

// Steps of robots without contact, theory.md (6.16); relative to the largest energy in motion.
#define SNW_FREE_GAIN     0.01 // total that steps may create
#define SNW_SLACK         1e-4 // creation allowed in a longest step once that is used up
#define SNW_MIN_FREE_STEP 0.01 // shortest step for its sake, relative to the longest
// loss allowed to the short steps of a loop over the length of a long one, theory.md (6.17)
#define SNW_LOOP_LOSS 0.02
