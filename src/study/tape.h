// SPDX-License-Identifier: MIT
//
// tape.h: the maps of which a run consists, with the states they lead to, in order: equilibria,
// starts, steps, restarts, and the frames that were recorded between them. For gradients,
// theory.md 7.5.
#pragma once

#include "study/run.h"

typedef enum snw_map_kind {
    SNW_MAP_STATIC,  // an equilibrium; it does not depend on the state before
    SNW_MAP_INITIAL, // initial state, closed, with accelerations and multipliers
    SNW_MAP_RESTART, // velocities made consistent, then accelerations and multipliers
    SNW_MAP_STEP,
    SNW_MAP_STAGES, // a step of collocation; a restart gives the accelerations at its end
    SNW_MAP_FRAME   // no map: the frame `frame` shows this state
} snw_map_kind;

typedef struct snw_map {
    snw_map_kind kind;
    int stage, frame;
    double t_laws;       // time of the inputs, s
    double h, history_h; // as of snw_step_report
    bool no_past, rest;
    bool settles; // a step, and the restart after it, that projects its velocities (6.11)
    snw_scheme scheme;
    // state after the map: q, v, a, z, lambda, dropped in one block of the tape
    snw_state s;
    const double *d;      // nv: increment of a step; NULL: none
    const double *before; // nv: velocities before a restart; NULL: none
    // of a step of collocation
    snw_collocation points;
    const double *q0, *v0, *ddx; // nq, nv, stages x nv
} snw_map;

typedef struct snw_tape {
    int n, room;
    snw_map *map;
    size_t bytes, most; // used by states; bound: beyond it the tape is emptied and `full`
    bool full;
    bool failed;        // no memory
    const snw_model *m; // of all states
    int frames;         // frames so far
    int stage;          // of the last frame; -1: none
    double other;       // time of a map without derivative; NaN: none
    bool changed;       // the model has changed
    struct tape_block *block;
} snw_tape;

// Empty, for states of m; `most` bytes of states.
void snw_tape_begin(snw_tape *t, const snw_model *m, size_t most);
void snw_tape_clear(snw_tape *t);

// Hooks of a run that fill the tape `user`.
void snw_tape_note(void *user, const snw_step_report *r);
snw_status snw_tape_state(void *user, const snw_run_state *at, snw_error *err);
