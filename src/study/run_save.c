// SPDX-License-Identifier: MIT
//
// Checkpoints of a run: one row of numbers. First where it is and its totals, then the pieces that
// all steps share, then room for the largest mover. A run continued from one computes the bits of a
// run that was never interrupted.
#include "study/run_private.h"

#include "base/fail.h"
#include "integrate/checkpoint.h"
#include "shoot/shooter.h"

#include <math.h>

// Single numbers: field of the run, type.
#define SINGLE_LIST(X)                                                                             \
    X(here.stage, int)                                                                             \
    X(here.over, bool)                                                                             \
    X(here.k, double)                                                                              \
    X(here.t0, double)                                                                             \
    X(here.start, double)                                                                          \
    X(here.supplied, double)                                                                       \
    X(here.height, double)                                                                         \
    X(next_frame, double)                                                                          \
    X(work, double)                                                                                \
    X(heat, double)                                                                                \
    X(scheme, double)                                                                              \
    X(balance, double)                                                                             \
    X(held, double)                                                                                \
    X(totals.frames, int)                                                                          \
    X(totals.iterations, int)                                                                      \
    X(totals.tangents, int)                                                                        \
    X(totals.increments, int)                                                                      \
    X(totals.grids, int)                                                                           \
    X(totals.most_nodes, int)                                                                      \
    X(totals.worst_residual, double)                                                               \
    X(totals.worst_geometry, double)                                                               \
    X(totals.worst_quadrature, double)                                                             \
    X(totals.worst_truncation, double)                                                             \
    X(totals.worst_condition, double)                                                              \
    X(totals.stability, double)                                                                    \
    X(totals.follower, bool)                                                                       \
    X(totals.balance, double)                                                                      \
    X(totals.scheme, double)                                                                       \
    X(totals.exchanged, double)                                                                    \
    X(totals.astray, double)                                                                       \
    X(drift.scheme, double)                                                                        \
    X(drift.heat, double)                                                                          \
    X(drift.high, double)                                                                          \
    X(drift.low, double)                                                                           \
    X(drift.created, double)                                                                       \
    X(drift.removed, double)                                                                       \
    X(drift.least, double)                                                                         \
    X(drift.jump, double)                                                                          \
    X(drift.creates.energy, double)                                                                \
    X(drift.creates.t, double)                                                                     \
    X(drift.creates.why, double)                                                                   \
    X(drift.removes.energy, double)                                                                \
    X(drift.removes.t, double)                                                                     \
    X(drift.removes.why, double)                                                                   \
    X(state->t, double)

enum {
#define X(field, type) +1
    NSINGLE = SINGLE_LIST(X)
#undef X
};

static size_t inputs_size(const snw_phase *e) {
    return 4 + snw_checkpoint_inputs(snw_statics_held(e->statics)).n;
}

// where the mover's numbers begin: behind single ones, cells, rotations, states, and the inputs of
// the largest era
static size_t mover_at(const snw_run *r) {
    const snw_model *m = r->phase[0].model;
    const size_t states = 1 + (size_t)r->desc->nstep, rotations = (size_t)(m->nseg + m->nobs);
    size_t most = 0;
    for (int i = 0; i < r->nphase; i++) {
        const size_t n = inputs_size(&r->phase[i]);
        most = n > most ? n : most;
    }
    return NSINGLE + SNW_PROBE_FREQUENCIES + r->ngrid + r->nchoice + 3 * rotations +
           states * (1 + snw_state_doubles(r->wide)) + most;
}

// The step of the shooting engine whose fields step i ends with, -1: none.
static int origin(const snw_run *r, int i) {
    const snw_step_desc *step = r->desc->step;
    while (i >= 0 && (step[i].kind == SNW_STEP_CHANGE || step[i].kind == SNW_STEP_MODES)) {
        i = step[i].from >= 0 ? step[i].from : i - 1;
    }
    return i >= 0 && step[i].engine == SNW_ENGINE_SHOOTING ? i : -1;
}

// Does a step behind i begin with the fields of i after checkpoints of its own, or of steps
// between?
static bool asked_for(const snw_run *r, int i) {
    const snw_step_desc *step = r->desc->step;
    bool asked = i + 1 < r->desc->nstep && step[i + 1].kind == SNW_STEP_MODES;
    for (int k = i + 1; k < r->desc->nstep; k++) asked = asked || step[k].from == i;
    return asked;
}

size_t snw_run_save_size(snw_run *r) {
    size_t most = 0, fields = 0;
    for (int i = 0; i < r->desc->nstep; i++) {
        const snw_step_desc *step = &r->desc->step[i];
        const bool moves = step->kind == SNW_STEP_DYNAMIC || step->engine == SNW_ENGINE_SHOOTING;
        const size_t n =
            moves ? snw_integrator_saves(r->phase[r->phase_of_step[i]].model, step) : 0;
        most = n > most ? n : most;
        const int of = asked_for(r, i) ? origin(r, i) : -1;
        if (of < 0) continue;
        r->field_saves[i] =
            snw_integrator_saves(r->phase[r->phase_of_step[of]].model, &r->desc->step[of]);
        fields += 1 + r->field_saves[i];
    }
    r->integrator_saves = most;
    return mover_at(r) + most + fields;
}

const double *snw_run_save_integrator(const snw_run *r) { return r->save + mover_at(r); }

typedef double *carry_fn(snw_checkpoint_block piece, double *row);

static double *out(snw_checkpoint_block piece, double *row) {
    return snw_checkpoint_save(1, &piece, row);
}

static double *in(snw_checkpoint_block piece, double *row) {
    (void)snw_checkpoint_load(1, &piece, row);
    return row + piece.n;
}

// what all steps share, to or from the row behind the single numbers
static void carry_shared(snw_run *r, carry_fn *carry) {
    const snw_model *m = r->phase[0].model;
    double *row = r->save + NSINGLE;
    row = carry((snw_checkpoint_block){r->frequency, SNW_PROBE_FREQUENCIES}, row);
    row = carry((snw_checkpoint_block){r->grid, r->ngrid}, row);
    row = carry((snw_checkpoint_block){r->choice, r->nchoice}, row);
    row = carry((snw_checkpoint_block){&r->rotation[0].x, 3 * (size_t)(m->nseg + m->nobs)}, row);
    row = carry(snw_checkpoint_state(r->wide, r->state), row);
    for (int i = 0; i < r->desc->nstep; i++) {
        row = carry((snw_checkpoint_block){&r->ended[i]->t, 1}, row);
        row = carry(snw_checkpoint_state(r->wide, r->ended[i]), row);
    }
    snw_inputs *held = snw_statics_held(r->now->statics);
    row = carry((snw_checkpoint_block){&held->t, 1}, row);
    row = carry((snw_checkpoint_block){held->gravity.e, 3}, row);
    (void)carry(snw_checkpoint_inputs(held), row);
}

// Fields of steps done, behind the mover's numbers: whether there are any, and they.
static double *run_save_field_at(snw_run *r) { return r->save + mover_at(r) + r->integrator_saves; }

// in a room of so many numbers, which is none where the engine could not be made when the room was
static bool run_save_fits(const snw_shooter *e, size_t room) {
    return snw_shooter_checkpoint_fits(e) && snw_shooter_checkpoint_size(e) <= room;
}

static bool fields_fit(const snw_run *r, const snw_view *v) {
    const size_t before = v->integrator ? snw_integrator_shooting_head(r->now->model) : 0;
    bool fit = !v->fields || (before <= r->integrator_saves &&
                              run_save_fits(v->fields, r->integrator_saves - before));
    for (int i = 0; i < r->desc->nstep; i++) {
        if (r->field_saves[i] && r->fields[i])
            fit = fit && run_save_fits(r->fields[i], r->field_saves[i]);
    }
    return fit;
}

static void save_fields(snw_run *r) {
    double *row = run_save_field_at(r);
    for (int i = 0; i < r->desc->nstep; i++) {
        if (!r->field_saves[i]) continue;
        // those of an execution before this one are not of this one
        const bool there = i < r->here.stage && r->fields[i];
        row[0] = there;
        if (there) snw_shooter_save(r->fields[i], row + 1);
        row += 1 + r->field_saves[i];
    }
}

static snw_status load_fields(snw_run *r, snw_error *err) {
    const double *row = run_save_field_at(r);
    for (int i = 0; i < r->desc->nstep; i++) {
        snw_shooter_destroy(r->fields[i]);
        r->fields[i] = NULL;
        if (!r->field_saves[i]) continue;
        if (row[0] != 0) {
            const int of = origin(r, i);
            SNW_TRY(snw_shooter_create(r->phase[r->phase_of_step[of]].model, &r->desc->step[of],
                                       &r->fields[i], err));
            SNW_TRY(snw_shooter_restore(r->fields[i], row + 1, err));
        }
        row += 1 + r->field_saves[i];
    }
    // steps that stay where they are go on with what they began with
    const int stage = r->here.stage, from = r->desc->step[stage].from;
    const int before = from >= 0 ? from : stage - 1;
    const bool stays = r->desc->step[stage].kind == SNW_STEP_MODES;
    r->current = stays && before >= 0 ? r->fields[before] : NULL;
    return SNW_OK;
}

const double *snw_run_save(snw_run *r, const snw_view *v) {
    const snw_integrator *it = v->integrator;
    if ((it && !it->save) || !fields_fit(r, v)) return NULL;
    double *single = r->save;
#define X(field, type) *single++ = (double)r->field;
    SINGLE_LIST(X)
#undef X
    snw_run_choose_read(r);
    carry_shared(r, out);
    save_fields(r);
    if (it) {
        it->save(it->self, r->save + mover_at(r));
    } else if (v->fields) {
        snw_shooter_save(v->fields, r->save + mover_at(r));
    }
    return r->save;
}

snw_status snw_run_load(snw_run *r, snw_error *err) {
    const double *single = r->save;
#define X(field, type) r->field = (type)*single++;
    SINGLE_LIST(X)
#undef X
    r->now = &r->phase[r->phase_of_step[r->here.stage]];
    carry_shared(r, in);
    SNW_TRY(load_fields(r, err));
    SNW_TRY(snw_run_grid_apply(r, r->now, err));
    return snw_run_choose_apply(r, err);
}

snw_status snw_run_resume(snw_run *r, const double *save, snw_error *err) {
    const double stage = save[0];
    const bool known = stage >= 0 && stage < r->desc->nstep && stage == floor(stage);
    const snw_step_desc *step = known ? &r->desc->step[(int)stage] : NULL;
    const bool sound =
        step && step->kind != SNW_STEP_CHANGE &&
        (step->kind != SNW_STEP_DYNAMIC ||
         snw_integrator_saves(r->phase[r->phase_of_step[(int)stage]].model, step) > 0);
    if (!sound) {
        return snw_fail(err, SNW_E_ARGUMENT, "run '%.100s': the checkpoint is of another study",
                        r->info.run);
    }
    memcpy(r->save, save, (size_t)r->info.nsave * sizeof *save);
    r->resuming = true;
    return SNW_OK;
}
