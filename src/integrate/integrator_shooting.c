// SPDX-License-Identifier: MIT
//
// Integrator interface for the shooting engine. Its energy account assigns the difference between
// energy, work and heat to the time discretisation, so its balance is zero by construction and no
// check of the solution.
#include "integrate/integrator_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "integrate/checkpoint.h"
#include "integrate/step_control.h"
#include "shoot/shooter.h"

#include <stdint.h>

typedef struct shooting {
    const snw_model *m;
    snw_shooter *e;
    const snw_shooter *from; // provides the initial fields; NULL: the state does
    snw_step_control control;
    snw_levels levels;
    bool uniform_past; // each motion follows a uniform one
    double steps;      // since the start or the last discontinuity
    snw_state *s;
    snw_work *w;
    double start; // energy at the start, J
    double work[1];
} shooting;

static double shooting_total(const shooting *sh) {
    const snw_shoot_energy E = snw_shooter_energy(sh->e);
    return E.kinetic + E.elastic + E.gravity;
}

static snw_status shooting_start(void *self, const snw_state *s, snw_error *err) {
    shooting *sh = self;
    snw_state_copy(sh->m, s, sh->s);
    if (sh->from) {
        SNW_TRY(snw_shooter_copy_fields(sh->e, sh->from, err));
    } else {
        snw_shooter_set_state(sh->e, s);
    }
    snw_shooter_begin(sh->e, sh->control.longest);
    sh->steps = 0;
    sh->start = shooting_total(sh);
    return SNW_OK;
}

// Formula of the next step. Accelerations jump at a start and at a discontinuity, so that only the
// instants from there on count: backward Euler first, which keeps order 2, then more of them.
static snw_levels levels_now(const shooting *sh) {
    if (sh->uniform_past || sh->steps >= sh->levels.past) return sh->levels;
    if (sh->steps < 1) return (snw_levels){.past = 1};
    return sh->levels.past == 3 ? (snw_levels){.past = 2} : sh->levels;
}

static snw_status shooting_step(void *self, double h, double t_laws, snw_chord_info *info) {
    shooting *sh = self;
    snw_boundary_info done;
    const snw_status status = snw_shooter_step(sh->e, levels_now(sh), h, t_laws, &done);
    if (status == SNW_OK) sh->steps++;
    *info = (snw_chord_info){
        .iterations = done.iterations, .tangents = done.tangents, .residual = done.residual};
    if (status == SNW_OK) sh->s->t = snw_shooter_time(sh->e);
    return status;
}

static void shooting_undo(void *self) { (void)self; }
static double shooting_error(const void *self) { return (void)self, 0; }
static const snw_state *shooting_state(const void *self) { return ((const shooting *)self)->s; }
static snw_status shooting_check(void *self, double t, snw_error *err) {
    return snw_inputs_check(((shooting *)self)->m, snw_shooter_inputs(((shooting *)self)->e), t,
                            err);
}

static snw_status shooting_advance(void *self, double to, double limit, snw_stats *took,
                                   snw_error *err) {
    static const snw_stepper stepper = {
        .step = shooting_step,
        .undo = shooting_undo,
        .error = shooting_error,
        .state = shooting_state,
        .check = shooting_check,
        .advice = "a smaller step, a scheme with damping (bdf2, euler), solver: banded, or more "
                  "points"};
    shooting *sh = self;
    SNW_TRY(snw_step_control_advance(&sh->control, sh->m, &stepper, sh, to, limit, took, err));
    sh->s->t = to; // no accumulation of rounding
    snw_shooter_set_time(sh->e, to);
    return SNW_OK;
}

static snw_status shooting_restart(void *self, const double *z, snw_error *err) {
    (void)err;
    shooting *sh = self;
    // velocities are continuous across a discontinuity of the loads; bodies appear with the
    // velocity of their section
    sh->steps = 0;
    for (int i = 0; z && i < sh->m->nsignal; i++) sh->s->z[i] = z[i];
    return SNW_OK;
}

static void shooting_set_interrupt(void *self, snw_interrupt interrupt) {
    ((shooting *)self)->control.interrupt = interrupt;
}

static void shooting_use(void *self, const snw_model *m) {
    shooting *sh = self;
    sh->m = m;
    snw_shooter_use(sh->e, m);
}

static void shooting_set_manual(void *self, const snw_manual_inputs *manual) {
    snw_shooter_set_manual_inputs(((shooting *)self)->e, manual);
}

static const snw_inputs *shooting_inputs(const void *self) {
    return snw_shooter_inputs(((const shooting *)self)->e);
}

static const snw_work *shooting_work_at(void *self) {
    shooting *sh = self;
    snw_shooter_get_state(sh->e, sh->s, sh->w);
    return sh->w;
}

static snw_work_done shooting_work(const void *self) {
    const shooting *sh = self;
    const snw_shooter_energy_account b = snw_shooter_work(sh->e);
    double *done = ((shooting *)(uintptr_t)self)->work;
    done[0] = b.work;
    return (snw_work_done){.n = 1,
                           .work = done,
                           .heat = b.heat,
                           .scheme = b.work - b.heat - (shooting_total(sh) - sh->start)};
}

// ---- checkpoint

enum { NBLOCK = 4 };

// The fields follow after these blocks.
static void shooting_list_blocks(const shooting *sh, snw_checkpoint_block block[NBLOCK]) {
    const snw_checkpoint_block list[NBLOCK] = {{&sh->s->t, 1},
                                               snw_checkpoint_state(sh->m, sh->s),
                                               {&((shooting *)(uintptr_t)sh)->start, 1},
                                               {&((shooting *)(uintptr_t)sh)->steps, 1}};
    memcpy(block, list, sizeof list);
}

static void shooting_save(const void *self, double *out) {
    const shooting *sh = self;
    snw_checkpoint_block block[NBLOCK];
    shooting_list_blocks(sh, block);
    snw_shooter_save(sh->e, snw_checkpoint_save(NBLOCK, block, out));
}

static snw_status shooting_load(void *self, const double *in, snw_error *err) {
    const shooting *sh = self;
    snw_checkpoint_block block[NBLOCK];
    shooting_list_blocks(sh, block);
    return snw_shooter_restore(sh->e, snw_checkpoint_load(NBLOCK, block, in), err);
}

size_t snw_integrator_shooting_head(const snw_model *m) { return 3 + snw_state_doubles(m); }

size_t snw_integrator_shooting_saves(const snw_model *m, const snw_step_desc *step) {
    snw_shooter *e;
    // a step that cannot be created reports it when it starts
    if (snw_shooter_create(m, step, &e, NULL) != SNW_OK) return 0;
    const size_t n = snw_shooter_checkpoint_size(e);
    snw_shooter_destroy(e);
    return snw_integrator_shooting_head(m) + n;
}

static const struct snw_shooter *shooting_shooter(const void *self) {
    return ((const shooting *)self)->e;
}

static void shooting_close(void *self) {
    shooting *sh = self;
    snw_shooter_destroy(sh->e);
    snw_state_destroy(sh->s);
    snw_work_destroy(sh->w);
    snw_free(sh);
}

snw_status snw_integrator_shooting(const snw_model *m, const snw_step_desc *step,
                                   const snw_shooter *from, snw_integrator *out, snw_error *err) {
    shooting *sh = snw_alloc(sizeof *sh);
    if (!sh) return SNW_E_MEMORY;
    sh->m = m;
    sh->from = from;
    sh->levels = snw_scheme_levels(step->scheme, step->alpha);
    sh->uniform_past = step->uniform_past;
    sh->control = (snw_step_control){.longest = step->step, .patience = step->patience};
    snw_status s = snw_shooter_create(m, step, &sh->e, err);
    if (s == SNW_OK) s = snw_state_create(m, &sh->s);
    if (s == SNW_OK) s = snw_work_create(m, &sh->w);
    if (s != SNW_OK) {
        shooting_close(sh);
        return s;
    }
    *out = (snw_integrator){.self = sh,
                            .grid = step->step,
                            .set_interrupt = shooting_set_interrupt,
                            .start = shooting_start,
                            .advance = shooting_advance,
                            .restart = shooting_restart,
                            .use = shooting_use,
                            .set_manual = shooting_set_manual,
                            .state = shooting_state,
                            .inputs = shooting_inputs,
                            .work_at = shooting_work_at,
                            .work = shooting_work,
                            .save = shooting_save,
                            .load = shooting_load,
                            .shooter = shooting_shooter,
                            .close = shooting_close};
    return SNW_OK;
}
