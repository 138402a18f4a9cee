// SPDX-License-Identifier: MIT
//
// gradient_jump.h: times at which laws of a study jump. A number of the file that moves them has no
// derivative: equations at a fixed time are no smooth functions of it.
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

// *at <- the first of the times that another description does not have; NaN: it has all.
SNW_NODISCARD snw_status gradient_jumps_moved(const gradient_jumps *x, const snw_desc *other,
                                              double *at, snw_error *err);
