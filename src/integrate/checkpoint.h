// SPDX-License-Identifier: MIT
//
// checkpoint.h: numbers that lie in several places, as one row: what a checkpoint is made of.
// Whoever has something to save lists its pieces once; size, saving and loading follow.
#pragma once

#include "dynamics/inputs.h"
#include "dynamics/state.h"

#include <string.h>

typedef struct snw_checkpoint_block {
    double *at;
    size_t n;
} snw_checkpoint_block;

// The end of the row is returned.
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

// A state but for its time: q, v, a, z, which are one block.
static inline snw_checkpoint_block snw_checkpoint_state(const snw_model *m, snw_state *s) {
    return (snw_checkpoint_block){s->q, snw_state_doubles(m)};
}

// Inputs but for time and gravity: the block behind them.
static inline snw_checkpoint_block snw_checkpoint_inputs(snw_inputs *in) {
    return (snw_checkpoint_block){(double *)(void *)in->pose, in->bytes / sizeof(double)};
}
