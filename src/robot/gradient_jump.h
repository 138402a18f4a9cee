// SPDX-License-Identifier: MIT
//
// gradient_jump.h: times at which laws of a study jump, and the lengths of its steps. A number of
// the file that moves them has no derivative by transposed steps: equations at a fixed time are no
// smooth functions of it, and the lengths of steps are held.
#pragma once

#include "model/desc.h"

typedef struct gradient_jumps {
    int n;
    double *t;
} gradient_jumps;

// *out <- the times of a description; freed by gradient_jumps_clear, also on failure.
SNW_NODISCARD snw_status gradient_jumps_find(const snw_desc *d, gradient_jumps *out,
                                             snw_error *err);
void gradient_jumps_clear(gradient_jumps *x);

// A number that the maps of a run hold: `key` of the step `of`, or the period of the sample `of`.
typedef struct gradient_held {
    const char *key, *of; // as in the file; key NULL: none
} gradient_held;

// The first of them that another description of the same study has otherwise.
gradient_held gradient_held_moved(const snw_desc *d, const snw_desc *other);

// *at <- the first of the times that another description does not have; NaN: it has all.
SNW_NODISCARD snw_status gradient_jumps_moved(const gradient_jumps *x, const snw_desc *other,
                                              double *at, snw_error *err);
