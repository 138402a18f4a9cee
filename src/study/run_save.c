// SPDX-License-Identifier: MIT
//
// Checkpoints of a run: one row of numbers. First where it is and its totals, then the pieces that all steps share,
// then room for the largest mover. A run continued from one computes the bits of a run that was never interrupted.
#include "study/run_private.h"

#include "base/fail.h"
#include "study/pieces.h"

#include <limits.h>
#include <math.h>

// Single numbers: field of the run, type.
#define SINGLE_LIST(X)                                                                             \
    X(here.stage, int)                                                                             \
    X(here.over, bool)                                                                             \
    X(here.k, double)                                                                              \
    X(here.t0, double)                                                                             \
    X(here.start, double)                                                                          \
    X(next_frame, double)                                                                          \
    X(work, double)                                                                                \
    X(heat, double)                                                                                \
    X(scheme, double)                                                                              \
    X(balance, double)                                                                             \
    X(totals.frames, int)                                                                          \
    X(totals.iterations, int)                                                                      \
    X(totals.tangents, int)                                                                        \
    X(totals.increments, int)                                                                      \
    X(totals.worst_residual, double)                                                               \
    X(totals.worst_geometry, double)                                                               \
    X(totals.worst_condition, double)                                                              \
    X(totals.stability, double)                                                                    \
    X(totals.follower, bool)                                                                       \
    X(totals.balance, double)                                                                      \
    X(totals.scheme, double)                                                                       \
    X(totals.exchanged, double)                                                                    \
    X(state->t, double)

enum {
#define X(field, type) +1
    NSINGLE = SINGLE_LIST(X)
#undef X
};

static size_t inputs_size(const snw_era *e) {
    return 4 + snw_piece_inputs(snw_statics_held(e->statics)).n;
}

// where the mover's numbers begin: behind single ones, rotations, states, and the inputs of the largest era
static size_t mover_at(const snw_run *r) {
    const snw_model *m = r->era[0].model;
    const size_t states = 1 + (size_t)r->desc->nstep, rotations = (size_t)(m->nseg + m->nobs);
    size_t most = 0;
    for (int i = 0; i < r->nera; i++) {
        const size_t n = inputs_size(&r->era[i]);
        most = n > most ? n : most;
    }
    return NSINGLE + SNW_PROBE_FREQUENCIES + 3 * rotations +
           states * (1 + snw_state_doubles(r->wide)) + most;
}

size_t snw_run_save_size(const snw_run *r) {
    size_t most = 0;
    for (int i = 0; i < r->desc->nstep; i++) {
        if (r->desc->step[i].kind != SNW_STEP_DYNAMIC) continue;
        const size_t n = snw_mover_saves(r->era[r->era_of_step[i]].model, &r->desc->step[i]);
        most = n > most ? n : most;
    }
    return mover_at(r) + most;
}

const double *snw_run_save_mover(const snw_run *r) { return r->save + mover_at(r); }

typedef double *carry_fn(snw_piece piece, double *row);

static double *out(snw_piece piece, double *row) { return snw_pieces_save(1, &piece, row); }

static double *in(snw_piece piece, double *row) {
    (void)snw_pieces_load(1, &piece, row);
    return row + piece.n;
}

// what all steps share, to or from the row behind the single numbers
static void carry_shared(snw_run *r, carry_fn *carry) {
    const snw_model *m = r->era[0].model;
    double *row = r->save + NSINGLE;
    row = carry((snw_piece){r->frequency, SNW_PROBE_FREQUENCIES}, row);
    row = carry((snw_piece){&r->rotation[0].x, 3 * (size_t)(m->nseg + m->nobs)}, row);
    row = carry(snw_piece_state(r->wide, r->state), row);
    for (int i = 0; i < r->desc->nstep; i++) {
        row = carry((snw_piece){&r->ended[i]->t, 1}, row);
        row = carry(snw_piece_state(r->wide, r->ended[i]), row);
    }
    snw_inputs *held = snw_statics_held(r->now->statics);
    row = carry((snw_piece){&held->t, 1}, row);
    row = carry((snw_piece){held->gravity.e, 3}, row);
    (void)carry(snw_piece_inputs(held), row);
}

const double *snw_run_save(snw_run *r, const snw_mover *mv) {
    if (r->shoots || (mv && !mv->save)) return NULL;
    double *single = r->save;
#define X(field, type) *single++ = (double)r->field;
    SINGLE_LIST(X)
#undef X
    carry_shared(r, out);
    if (mv) mv->save(mv->self, r->save + mover_at(r));
    return r->save;
}

void snw_run_load(snw_run *r) {
    const double *single = r->save;
#define X(field, type) r->field = (type)*single++;
    SINGLE_LIST(X)
#undef X
    r->now = &r->era[r->era_of_step[r->here.stage]];
    carry_shared(r, in);
}

snw_status snw_run_resume(snw_run *r, const double *save, snw_error *err) {
    const double stage = save[0];
    const bool known = stage >= 0 && stage < r->desc->nstep && stage == floor(stage);
    const snw_step_desc *step = known ? &r->desc->step[(int)stage] : NULL;
    const bool sound =
        step && step->kind != SNW_STEP_CHANGE &&
        (step->kind != SNW_STEP_DYNAMIC || snw_mover_saves(r->era[0].model, step) > 0);
    if (!sound) {
        return snw_fail(err, SNW_E_ARGUMENT, "run '%.100s': the checkpoint is of another study",
                        r->info.run);
    }
    memcpy(r->save, save, (size_t)r->info.nsave * sizeof *save);
    r->resuming = true;
    return SNW_OK;
}
