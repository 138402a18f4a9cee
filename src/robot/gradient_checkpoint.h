// SPDX-License-Identifier: MIT
//
// gradient_checkpoint.h: checkpoints of a run whose states do not fit into memory.
#pragma once

#include "model/desc.h"

#include <stddef.h>

// Checkpoints of a run, the first at its start (frame -1, nothing saved), then every `stride`
// frames; where there are too many, every second one is given up.
typedef struct gradient_checkpoints {
    int n, most, stride, frames;
    int *frame;
    double **save;
    size_t size; // numbers of one; 0: the run has none
} gradient_checkpoints;

// For checkpoints of `size` numbers; memory: bytes for states and checkpoints together.
SNW_NODISCARD snw_status gradient_checkpoints_begin(gradient_checkpoints *c, size_t size,
                                                    double memory, snw_error *err);
void gradient_checkpoints_end(gradient_checkpoints *c);
// A frame of the run has the checkpoint `save`; NULL: none.
SNW_NODISCARD snw_status gradient_checkpoints_keep(gradient_checkpoints *c, const double *save,
                                                   snw_error *err);
