// SPDX-License-Identifier: MIT
//
// Steps that are paced (integrate/step_control.h) as a mover, whatever takes them.
#include "integrate/integrator_private.h"

#include "base/alloc.h"

#include <math.h>

typedef struct mover {
    const snw_model *m;
    const snw_stepper *k;
    void *integrator; // what takes the steps
    bool back;        // the last advance may have to be undone: the model has signals
    snw_step_control control;
    double *saved; // before the last advance
} mover;

static void controlled_save(const void *self, double *out) {
    const mover *mv = self;
    out[0] = mv->control.h;
    mv->k->save(mv->integrator, out + 1);
}

static void controlled_take(mover *mv, const double *in) {
    mv->control.h = in[0];
    mv->k->load(mv->integrator, in + 1);
}

static snw_status controlled_load(void *self, const double *in, snw_error *err) {
    (void)err;
    controlled_take(self, in);
    return SNW_OK;
}

static void controlled_back(void *self) { controlled_take(self, ((mover *)self)->saved); }

// as if it had been resumed here
static void controlled_renew(void *self) {
    mover *mv = self;
    controlled_save(self, mv->saved);
    controlled_take(mv, mv->saved);
}

static void controlled_hold(void *self, const snw_manual_inputs *manual) {
    const mover *mv = self;
    mv->k->hold(mv->integrator, manual);
}

static void controlled_heed(void *self, snw_interrupt interrupt) {
    ((mover *)self)->control.interrupt = interrupt;
}

static snw_status controlled_start(void *self, const snw_state *s, snw_error *err) {
    mover *mv = self;
    mv->control.h = isfinite(mv->control.longest) ? mv->control.longest : 0;
    return mv->k->start(mv->integrator, s, err);
}

static snw_status controlled_advance(void *self, double to, double limit, snw_stats *took,
                                     snw_error *err) {
    mover *mv = self;
    if (mv->back) controlled_save(self, mv->saved);
    return snw_step_control_advance(&mv->control, mv->m, mv->k, mv->integrator, to, limit, took,
                                    err);
}

static snw_status controlled_restart(void *self, const double *z, snw_error *err) {
    mover *mv = self;
    mv->control.h =
        isfinite(mv->control.longest) ? fmin(mv->control.h, 0.1 * mv->control.longest) : 0;
    return mv->k->restart(mv->integrator, z, err);
}

static const snw_state *controlled_state(const void *self) {
    const mover *mv = self;
    return mv->k->state(mv->integrator);
}

static const snw_inputs *controlled_inputs(const void *self) {
    const mover *mv = self;
    return mv->k->inputs(mv->integrator);
}

static const snw_work *controlled_look(void *self) {
    const mover *mv = self;
    return mv->k->look(mv->integrator);
}

static double controlled_condition(void *self) {
    const mover *mv = self;
    return mv->k->condition(mv->integrator);
}

static snw_work_done controlled_work(const void *self) {
    const mover *mv = self;
    return mv->k->work(mv->integrator);
}

static double controlled_astray(void *self, double *t) {
    const mover *mv = self;
    return mv->k->astray ? mv->k->astray(mv->integrator, t) : 0;
}

static void controlled_close(void *self) {
    mover *mv = self;
    mv->k->destroy(mv->integrator);
    snw_free(mv->saved);
    snw_free(mv);
}

snw_status snw_integrator_controlled(const snw_model *m, const snw_stepper *k, void *motion,
                                     snw_step_control pace, double every, size_t saves,
                                     snw_integrator *out) {
    mover *mv = snw_alloc(sizeof *mv);
    double *saved = snw_alloc((SNW_PACED_SAVES + saves) * sizeof(double));
    if (!mv || !saved) {
        k->destroy(motion);
        snw_free(mv);
        snw_free(saved);
        return SNW_E_MEMORY;
    }
    *mv = (mover){.m = m,
                  .k = k,
                  .integrator = motion,
                  .back = m->nsignal > 0,
                  .control = pace,
                  .saved = saved};
    *out = (snw_integrator){.self = mv,
                            .grid = isfinite(pace.longest) ? pace.longest : every,
                            .heed = controlled_heed,
                            .start = controlled_start,
                            .advance = controlled_advance,
                            .restart = controlled_restart,
                            .renew = controlled_renew,
                            .back = controlled_back,
                            .hold = controlled_hold,
                            .state = controlled_state,
                            .inputs = controlled_inputs,
                            .look = controlled_look,
                            .condition = controlled_condition,
                            .work = controlled_work,
                            .astray = controlled_astray,
                            .save = controlled_save,
                            .load = controlled_load,
                            .close = controlled_close};
    return SNW_OK;
}
