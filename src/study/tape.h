// SPDX-License-Identifier: MIT
//
// tape.h: the maps of which a run consists, with the states they lead to, in order: equilibria,
// starts, steps, restarts, and the frames that were recorded between them. For gradients,
// theory.md 7.5.
#pragma once

#include "integrate/explicit.h"
#include "study/run.h"

typedef enum snw_map_kind {
    SNW_MAP_STATIC,  // an equilibrium; it does not depend on the state before
    SNW_MAP_FOLD,    // a fold of a path of equilibria, with its parameter t
    SNW_MAP_INPUTS,  // an inverse step has found inputs; the equilibrium under them follows
    SNW_MAP_INITIAL, // initial state, closed, with accelerations and multipliers
    SNW_MAP_RESTART, // velocities made consistent, then accelerations and multipliers
    SNW_MAP_STEP,
    SNW_MAP_STAGES,        // a step of collocation; a restart gives the accelerations at its end
    SNW_MAP_HARD,          // a step with hard contacts
    SNW_MAP_CONSERVED,     // a step of the conserving scheme
    SNW_MAP_ENERGY,        // its reference energy becomes that of this state
    SNW_MAP_EXPLICIT,      // a step of an explicit scheme, or (of length 0) its start or restart
    SNW_MAP_ACCELERATIONS, // accelerations and multipliers at a state that stays as it is
    SNW_MAP_EVENT,  // no map: a condition changes at this state, which determines the length of
                    // the step before
    SNW_MAP_SAMPLE, // samples of laws are taken at this state
    SNW_MAP_KEPT,   // no map: step `stage` of the study has ended here, from which others begin
    SNW_MAP_FROM,   // no map: the state is again that at the end of step `stage`
    SNW_MAP_FRAME   // no map: the frame `frame` shows this state
} snw_map_kind;

typedef struct snw_map {
    snw_map_kind kind;
    int stage, frame;
    const snw_model *m;  // after the changes of the study so far
    double t_laws;       // time of the inputs, s
    double h, history_h; // as of snw_step_report
    bool no_past, rest, split;
    bool settles;     // a step, and the restart after it, that projects its velocities (6.11)
    bool begins;      // the first map of a motion
    snw_step_end end; // of a step
    bool over;        // of an event: the condition `until` of step `stage` of the study
    const double *z;  // of an event: memory of the signals after it
    bool time_moves;  // the time of the state before, or the beginning of the time grid, depends on
                      // an event
    bool length_moves; // so does the length of the step before a step
    snw_scheme scheme;
    // state after the map: q, v, a, z, relaxed, follow, lambda, dropped in one block of the tape
    snw_state s;
    // of a step, and the projection of its velocities, where laws read integrals: memory (nsignal)
    // to which half a step of integrands is added, integrands before the step; of collocation:
    // memory before it, integrands at the stages (stages x nsignal). NULL: none
    const double *z_from, *integrand;
    // of a step with Maxwell branches: their strains and the coordinates of the rods that they
    // follow before it (nbranch_coordinate each); of a step and an equilibrium: `relaxed` and
    // `follow` of the state in its equations. In s itself the strains are fixed. NULL: none
    const double *branch_from, *branch_place, *branch_part, *branch_follow;
    snw_relaxation_rule relaxation; // of an equilibrium
    bool steady;                    // likewise: with the rates of given motions
    snw_path_place place;           // likewise: on a path
    double range;                   // of the parameter of that path, s
    const double *held; // inputs that inverse steps hold then (snw_held_save); NULL: no such step
    const struct snw_found_inputs *inputs; // of those that were found
    const double *taken;                   // nsignal, of samples: 1 where one is taken; else NULL
    const double *d;      // nv: increment of a step, or of one with hard contacts; NULL: none
    const double *past;   // 5 x nv, as of snw_scheme_map, before a step; NULL: not kept
    const double *before; // nv: velocities before a restart; NULL: none
    // of a step of collocation
    snw_collocation points;
    const double *q0, *v0, *ddx;                // nq, nv, stages x nv
    const double *stage_lambda, *stage_dropped; // stages x nconstraint, nnonholonomic; NULL: none
    // of a step with hard contacts; of an equilibrium with them: those that touch; NULL: none
    const struct snw_hard_step *hard;
    // of a frame after a step with hard contacts, whose length is `h` then, or after an equilibrium
    // with them: that one's; NULL: none
    const struct snw_hard_step *touching;
    // of a step of the conserving scheme, from q0, v0 with the memory z_from, d with multipliers
    double energy, start_laws, gravity_laws;
    // of an explicit scheme, from q0, v0 with the memory z_from
    snw_explicit_opts ode;
    double limit;
    bool remembers;            // of a restart: it has another memory, that of s
    const double *stage_rates; // of rk4: nstage stages (integrate/explicit.h); NULL: not known
    int nstage;
} snw_map;

// Is the map a step in time?
static inline bool snw_map_is_step(const snw_map *map) {
    return map->kind == SNW_MAP_STEP || map->kind == SNW_MAP_STAGES || map->kind == SNW_MAP_HARD ||
           map->kind == SNW_MAP_CONSERVED || (map->kind == SNW_MAP_EXPLICIT && map->h > 0);
}

// Do parts of its equations read laws at times of their own?
static inline bool snw_map_has_stages(const snw_map *map) {
    return map->kind == SNW_MAP_STAGES || map->kind == SNW_MAP_HARD ||
           map->kind == SNW_MAP_EXPLICIT;
}

typedef struct snw_tape {
    int n, room;
    snw_map *map;
    size_t bytes, most; // used by states; bound: beyond it the tape is emptied and `full`
    bool full;
    bool failed;        // no memory
    const snw_model *m; // of the next state
    const snw_run *run; // whose study changes the model; NULL: all states are those of one model
    int frames;         // frames so far
    int stage;          // of the last frame; -1: none
    double other;       // time of a map without derivative; NaN: none
    bool changed;       // the model has changed in another way
    bool closed;        // a motion began with loops that were closed after a change of the study
    bool events;        // keep what the derivatives by the lengths of steps need
    bool begins;        // the next map is the first of a motion
    bool rests;         // the last motion has begun at an equilibrium
    const struct snw_held_inputs *held; // of the run, to be kept with each map; NULL: none
    const double *held_now;             // those of the last map
    struct tape_block *block;
    // the last instant, to which steps are undone
    struct {
        int n;
        struct tape_block *block;
        size_t used, bytes;
        double other;
        const double *held;
    } mark;
} snw_tape;

// Empty, for states of m; `most` bytes of states.
void snw_tape_begin(snw_tape *t, const snw_model *m, size_t most, bool events);
void snw_tape_clear(snw_tape *t);
// No maps any more; memory stays for those that come.
void snw_tape_rewind(snw_tape *t);

// Sets time_moves and length_moves of all maps; `all`: events may precede the tape.
void snw_tape_find_times(snw_tape *t, bool all);

// Hooks of a run that fill the tape `user`.
void snw_tape_note(void *user, const snw_step_report *r);
snw_status snw_tape_state(void *user, const snw_run_state *at, snw_error *err);
