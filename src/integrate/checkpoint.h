// SPDX-License-Identifier: MIT
//
// checkpoint.h: a checkpoint as a list of memory blocks that are saved to and loaded from one
// array. Its owner lists the blocks once; size, saving and loading follow.
#pragma once

#include "dynamics/inputs.h"
#include "dynamics/state.h"

#include <string.h>

typedef struct snw_checkpoint_block {
    double *at;
    size_t n;
} snw_checkpoint_block;

// Copies n blocks to or from the array; returns the position after the last one.
static inline double *snw_checkpoint_save(int n, const snw_checkpoint_block *block, double *out) {
    for (int i = 0; i < n; out += block[i].n, i++) {
        if (block[i].n) memcpy(out, block[i].at, block[i].n * sizeof *out);
    }
    return out;
}

static inline const double *snw_checkpoint_load(int n, const snw_checkpoint_block *block,
                                                const double *in) {
    for (int i = 0; i < n; in += block[i].n, i++) {
        if (block[i].n) memcpy(block[i].at, in, block[i].n * sizeof *in);
    }
    return in;
}

// All arrays of a state, which are contiguous; without its time.
static inline snw_checkpoint_block snw_checkpoint_state(const snw_model *m, snw_state *s) {
    return (snw_checkpoint_block){s->q, snw_state_doubles(m)};
}

// Inputs without time and gravity: the contiguous rest.
static inline snw_checkpoint_block snw_checkpoint_inputs(snw_inputs *in) {
    return (snw_checkpoint_block){(double *)(void *)in->pose, in->bytes / sizeof(double)};
}
