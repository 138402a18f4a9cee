// SPDX-License-Identifier: MIT
//
// Checkpoints of a run, one row of numbers: scalars (position in the study, totals), the blocks
// that all steps share, room for the largest integrator, and shooting fields of earlier steps. A
// resumed run equals the uninterrupted one to the last bit.
#include "study/run_private.h"

#include "base/fail.h"
#include "integrate/checkpoint.h"
#include "shoot/shooter.h"
#include "study/run_held.h"
#include "study/run_numbers.h"

#include <math.h>

// Scalars: field of the run, type.
#define SINGLE_LIST(X)                                                                             \
    X(cursor.stage, int)                                                                           \
    X(cursor.done, bool)                                                                           \
    X(cursor.k, double)                                                                            \
    X(cursor.t0, double)                                                                           \
    X(cursor.start, double)                                                                        \
    X(cursor.supplied, double)                                                                     \
    X(cursor.height, double)                                                                       \
    X(next_frame, double)                                                                          \
    X(work, double)                                                                                \
    X(heat, double)                                                                                \
    X(scheme, double)                                                                              \
    X(balance, double)                                                                             \
    X(energy_before_change, double)                                                                \
    X(totals.frames, int)                                                                          \
    X(totals.iterations, int)                                                                      \
    X(totals.tangents, int)                                                                        \
    X(totals.increments, int)                                                                      \
    X(totals.meshes, int)                                                                          \
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
    X(totals.time_error, double)                                                                   \
    X(energy_drift.scheme, double)                                                                 \
    X(energy_drift.heat, double)                                                                   \
    X(energy_drift.high, double)                                                                   \
    X(energy_drift.low, double)                                                                    \
    X(energy_drift.created, double)                                                                \
    X(energy_drift.removed, double)                                                                \
    X(energy_drift.least, double)                                                                  \
    X(energy_drift.jump, double)                                                                   \
    X(energy_drift.creates.energy, double)                                                         \
    X(energy_drift.creates.t, double)                                                              \
    X(energy_drift.creates.why, double)                                                            \
    X(energy_drift.removes.energy, double)                                                         \
    X(energy_drift.removes.t, double)                                                              \
    X(energy_drift.removes.why, double)                                                            \
    X(state->t, double)

enum {
#define X(field, type) +1
    NSINGLE = SINGLE_LIST(X)
#undef X
};

static size_t inputs_size(const snw_phase *e) {
    return 4 + snw_checkpoint_inputs(snw_statics_previous_inputs(e->statics)).n;
}

// Signals at the start of the last step, and its time.
static size_t signals_size(const snw_model *m) { return m->nsignal ? (size_t)m->nsignal + 1 : 0; }

// Offset of the integrator's numbers: after the scalars, signals, mesh cells, rotations, states,
// and the inputs of the largest phase.
static size_t integrator_offset(const snw_run *r) {
    const snw_model *m = r->phase[0].model;
    const size_t states = 1 + (size_t)r->desc->nstep, rotations = (size_t)(m->nseg + m->nobs);
    size_t most = 0;
    for (int i = 0; i < r->nphase; i++) {
        const size_t n = inputs_size(&r->phase[i]);
        most = n > most ? n : most;
    }
    return NSINGLE + SNW_PROBE_FREQUENCIES + SNW_PROBE_POLES + signals_size(m) + r->nmesh_cells +
           r->nclosure_rows + 3 * rotations + states * (1 + snw_state_doubles(r->largest)) + most;
}

// The shooting step whose fields are current at the end of step i; -1: none.
static int field_origin(const snw_run *r, int i) {
    const snw_step_desc *step = r->desc->step;
    while (i >= 0 && (step[i].kind == SNW_STEP_CHANGE || step[i].kind == SNW_STEP_MODES ||
                      step[i].kind == SNW_STEP_LINEARIZE)) {
        i = step[i].from >= 0 ? step[i].from : i - 1;
    }
    return i >= 0 && step[i].engine == SNW_ENGINE_SHOOTING ? i : -1;
}

// Does a later step that can be resumed begin with the fields at the end of step i?
static bool field_needed(const snw_run *r, int i) {
    const snw_step_desc *step = r->desc->step;
    bool needed = i + 1 < r->desc->nstep && step[i + 1].kind == SNW_STEP_MODES;
    for (int k = i + 1; k < r->desc->nstep; k++) needed = needed || step[k].from == i;
    return needed;
}

size_t snw_run_checkpoint_size(snw_run *r) {
    size_t most = 0, fields = 0;
    for (int i = 0; i < r->desc->nstep; i++) {
        const snw_step_desc *step = &r->desc->step[i];
        const bool moves = step->kind == SNW_STEP_DYNAMIC || step->engine == SNW_ENGINE_SHOOTING;
        const size_t n = moves ? snw_integrator_saves(r->phase[r->phase_of_step[i]].model, step)
                         : step->kind == SNW_STEP_PATH ? snw_run_path_saves(r, i)
                                                       : 0;
        most = n > most ? n : most;
        const int of = field_needed(r, i) ? field_origin(r, i) : -1;
        if (of < 0) continue;
        r->field_save_size[i] =
            snw_integrator_saves(r->phase[r->phase_of_step[of]].model, &r->desc->step[of]);
        fields += 1 + r->field_save_size[i];
    }
    r->integrator_save_size = most;
    return integrator_offset(r) + most + snw_run_held_size(r) + snw_run_numbers_size(r) + fields;
}

const double *snw_run_checkpoint_integrator(const snw_run *r) {
    return r->checkpoint + integrator_offset(r);
}

typedef double *transfer_fn(snw_checkpoint_block block, double *row);

static double *save_block(snw_checkpoint_block block, double *row) {
    return snw_checkpoint_save(1, &block, row);
}

static double *load_block(snw_checkpoint_block block, double *row) {
    (void)snw_checkpoint_load(1, &block, row);
    return row + block.n;
}

// Transfer the blocks that all steps share to or from the row, after the scalars.
static void transfer_shared(snw_run *r, transfer_fn *transfer) {
    const snw_model *m = r->phase[0].model;
    double *row = r->checkpoint + NSINGLE;
    row = transfer((snw_checkpoint_block){r->frequency, SNW_PROBE_FREQUENCIES}, row);
    row = transfer((snw_checkpoint_block){r->pole, SNW_PROBE_POLES}, row);
    row = transfer((snw_checkpoint_block){r->signals_before, signals_size(m)}, row);
    row = transfer((snw_checkpoint_block){r->mesh_cells, r->nmesh_cells}, row);
    row = transfer((snw_checkpoint_block){r->closure_rows, r->nclosure_rows}, row);
    row = transfer((snw_checkpoint_block){&r->rotation[0].x, 3 * (size_t)(m->nseg + m->nobs)}, row);
    row = transfer(snw_checkpoint_state(r->largest, r->state), row);
    for (int i = 0; i < r->desc->nstep; i++) {
        row = transfer((snw_checkpoint_block){&r->end_state[i]->t, 1}, row);
        row = transfer(snw_checkpoint_state(r->largest, r->end_state[i]), row);
    }
    snw_inputs *held = snw_statics_previous_inputs(r->now->statics);
    row = transfer((snw_checkpoint_block){&held->t, 1}, row);
    row = transfer((snw_checkpoint_block){held->gravity.e, 3}, row);
    (void)transfer(snw_checkpoint_inputs(held), row);
}

// Held inputs, after the integrator's numbers.
static double *held_row(snw_run *r) {
    return r->checkpoint + integrator_offset(r) + r->integrator_save_size;
}

// Fields of finished steps, behind them: a flag, then the fields.
static double *field_row(snw_run *r) {
    return held_row(r) + snw_run_held_size(r) + snw_run_numbers_size(r);
}

// Do the fields fit into `room` numbers? room is 0 when the engine could not be created at that
// time.
static bool field_fits(const snw_shooter *e, size_t room) {
    return snw_shooter_checkpoint_fits(e) && snw_shooter_checkpoint_size(e) <= room;
}

static bool fields_fit(const snw_run *r, const snw_frame_source *v) {
    const size_t before = v->integrator ? snw_integrator_shooting_head(r->now->model) : 0;
    bool fit = !v->fields || (before <= r->integrator_save_size &&
                              field_fits(v->fields, r->integrator_save_size - before));
    for (int i = 0; i < r->desc->nstep; i++) {
        if (r->field_save_size[i] && r->fields[i])
            fit = fit && field_fits(r->fields[i], r->field_save_size[i]);
    }
    return fit;
}

static void save_fields(snw_run *r) {
    double *row = field_row(r);
    for (int i = 0; i < r->desc->nstep; i++) {
        if (!r->field_save_size[i]) continue;
        // later entries belong to an earlier execution
        const bool there = i < r->cursor.stage && r->fields[i];
        row[0] = there;
        if (there) snw_shooter_save(r->fields[i], row + 1);
        row += 1 + r->field_save_size[i];
    }
}

static snw_status load_fields(snw_run *r, snw_error *err) {
    const double *row = field_row(r);
    for (int i = 0; i < r->desc->nstep; i++) {
        snw_shooter_destroy(r->fields[i]);
        r->fields[i] = NULL;
        if (!r->field_save_size[i]) continue;
        if (row[0] != 0) {
            const int of = field_origin(r, i);
            SNW_TRY(snw_shooter_create(r->phase[r->phase_of_step[of]].model, &r->desc->step[of],
                                       &r->fields[i], err));
            snw_shooter_set_manual_inputs(r->fields[i], r->manual);
            SNW_TRY(snw_shooter_restore(r->fields[i], row + 1, err));
        }
        row += 1 + r->field_save_size[i];
    }
    // a modes step keeps the fields it began with
    const int stage = r->cursor.stage, from = r->desc->step[stage].from;
    const int before = from >= 0 ? from : stage - 1;
    const bool stays = r->desc->step[stage].kind == SNW_STEP_MODES;
    r->current = stays && before >= 0 ? r->fields[before] : NULL;
    return SNW_OK;
}

const double *snw_run_checkpoint_save(snw_run *r, const snw_frame_source *v) {
    const snw_integrator *it = v->integrator;
    if ((it && !it->save) || !fields_fit(r, v)) return NULL;
    double *single = r->checkpoint;
#define X(field, type) *single++ = (double)r->field;
    SINGLE_LIST(X)
#undef X
    snw_run_rows_get(r);
    transfer_shared(r, save_block);
    (void)snw_run_numbers_save(r, snw_run_held_save(r, held_row(r)));
    save_fields(r);
    if (it) {
        it->save(it->self, r->checkpoint + integrator_offset(r));
    } else if (v->of_path) {
        snw_run_path_save(r, r->cursor.stage, r->checkpoint + integrator_offset(r));
    } else if (v->fields) {
        snw_shooter_save(v->fields, r->checkpoint + integrator_offset(r));
    }
    return r->checkpoint;
}

snw_status snw_run_checkpoint_load(snw_run *r, snw_error *err) {
    const double *single = r->checkpoint;
#define X(field, type) r->field = (type)*single++;
    SINGLE_LIST(X)
#undef X
    r->now = &r->phase[r->phase_of_step[r->cursor.stage]];
    (void)snw_run_numbers_load(r, snw_run_held_load(r, held_row(r)));
    transfer_shared(r, load_block);
    SNW_TRY(load_fields(r, err));
    SNW_TRY(snw_run_mesh_apply(r, r->now, err));
    SNW_TRY(snw_run_numbers_apply(r, err));
    return snw_run_rows_set(r, err);
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
    memcpy(r->checkpoint, save, (size_t)r->info.nsave * sizeof *save);
    r->resuming = true;
    return SNW_OK;
}
