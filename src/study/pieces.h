// SPDX-License-Identifier: MIT
//
// pieces.h: numbers that lie in several places, as one row: what a checkpoint is made of. Whoever has something to
// save lists its pieces once; size, saving and loading follow.
#pragma once

#include "dynamics/inputs.h"
#include "dynamics/state.h"

#include <string.h>

typedef struct snw_piece {
    double *at;
    size_t n;
} snw_piece;

// The end of the row is returned.
static inline double *snw_pieces_save(int n, const snw_piece *piece, double *out) {
    for (int i = 0; i < n; out += piece[i].n, i++) {
        if (piece[i].n) memcpy(out, piece[i].at, piece[i].n * sizeof *out);
    }
    return out;
}

static inline const double *snw_pieces_load(int n, const snw_piece *piece, const double *in) {
    for (int i = 0; i < n; in += piece[i].n, i++) {
        if (piece[i].n) memcpy(piece[i].at, in, piece[i].n * sizeof *in);
    }
    return in;
}

// A state but for its time: q, v, a, z, which are one block.
static inline snw_piece snw_piece_state(const snw_model *m, snw_state *s) {
    return (snw_piece){s->q, snw_state_doubles(m)};
}

// Inputs but for time and gravity: the block behind them.
static inline snw_piece snw_piece_inputs(snw_inputs *in) {
    return (snw_piece){(double *)(void *)in->pose, in->bytes / sizeof(double)};
}
