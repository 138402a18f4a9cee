// SPDX-License-Identifier: MIT
//
// Integrator interface for single-step integrators under step control (integrate/step_control.h):
// one-step implicit schemes and collocation.
#include "integrate/integrator_private.h"

#include "base/alloc.h"

#include <math.h>

typedef struct controlled {
    const snw_model *m;
    const snw_stepper *k;
    void *integrator; // single-step integrator, owned
    bool undoes;      // the last advance may be undone: the model has signals
    snw_step_control control;
    double *saved; // checkpoint before the last advance
} controlled;

static void controlled_save(const void *self, double *out) {
    const controlled *co = self;
    out[0] = co->control.h;
    co->k->save(co->integrator, out + 1);
}

static void controlled_restore(controlled *co, const double *in) {
    co->control.h = in[0];
    co->k->load(co->integrator, in + 1);
}

static snw_status controlled_load(void *self, const double *in, snw_error *err) {
    (void)err;
    controlled_restore(self, in);
    return SNW_OK;
}

static void controlled_undo(void *self) { controlled_restore(self, ((controlled *)self)->saved); }

static void controlled_use(void *self, const snw_model *m) {
    controlled *co = self;
    co->m = m;
    co->k->use(co->integrator, m);
}

// Restarts from its own checkpoint, as if resumed here.
static void controlled_renew(void *self) {
    controlled *co = self;
    controlled_save(self, co->saved);
    controlled_restore(co, co->saved);
}

static void controlled_set_manual(void *self, const snw_manual_inputs *manual) {
    const controlled *co = self;
    co->k->set_manual(co->integrator, manual);
}

static void controlled_set_interrupt(void *self, snw_interrupt interrupt) {
    ((controlled *)self)->control.interrupt = interrupt;
}

static void controlled_set_monitor(void *self, snw_step_monitor monitor) {
    ((controlled *)self)->control.monitor = monitor;
}

static void controlled_set_watch(void *self, snw_step_watch watch) {
    const controlled *co = self;
    co->k->set_watch(co->integrator, watch);
}

static snw_status controlled_start(void *self, const snw_state *s, snw_error *err) {
    controlled *co = self;
    co->control.h = isfinite(co->control.longest) ? co->control.longest : 0;
    return co->k->start(co->integrator, s, err);
}

static snw_status controlled_advance(void *self, double to, double limit, snw_stats *took,
                                     snw_error *err) {
    controlled *co = self;
    if (co->undoes) controlled_save(self, co->saved);
    return snw_step_control_advance(&co->control, co->m, co->k, co->integrator, to, limit, took,
                                    err);
}

static snw_status controlled_restart(void *self, const double *z, snw_error *err) {
    controlled *co = self;
    co->control.h =
        isfinite(co->control.longest) ? fmin(co->control.h, 0.1 * co->control.longest) : 0;
    return co->k->restart(co->integrator, z, err);
}

static const snw_state *controlled_state(const void *self) {
    const controlled *co = self;
    return co->k->state(co->integrator);
}

static const snw_inputs *controlled_inputs(const void *self) {
    const controlled *co = self;
    return co->k->inputs(co->integrator);
}

static const snw_work *controlled_work_at(void *self) {
    const controlled *co = self;
    return co->k->work_at(co->integrator);
}

static double controlled_condition(void *self) {
    const controlled *co = self;
    return co->k->condition(co->integrator);
}

static snw_work_done controlled_work(const void *self) {
    const controlled *co = self;
    return co->k->work(co->integrator);
}

static double controlled_global_error(void *self, double *t, double *failed) {
    const controlled *co = self;
    return co->k->global_error ? co->k->global_error(co->integrator, t, failed) : 0;
}

static void controlled_close(void *self) {
    controlled *co = self;
    co->k->destroy(co->integrator);
    snw_free(co->saved);
    snw_free(co);
}

snw_status snw_integrator_controlled(const snw_model *m, const snw_stepper *k, void *stepper_self,
                                     snw_step_control control, double every, size_t saves,
                                     snw_integrator *out) {
    controlled *co = snw_alloc(sizeof *co);
    double *saved = snw_alloc((SNW_STEP_CONTROL_SAVES + saves) * sizeof(double));
    if (!co || !saved) {
        k->destroy(stepper_self);
        snw_free(co);
        snw_free(saved);
        return SNW_E_MEMORY;
    }
    *co = (controlled){.m = m,
                       .k = k,
                       .integrator = stepper_self,
                       .undoes = m->nsignal > 0,
                       .control = control,
                       .saved = saved};
    *out = (snw_integrator){.self = co,
                            .grid = isfinite(control.longest) ? control.longest : every,
                            .set_interrupt = controlled_set_interrupt,
                            .set_monitor = controlled_set_monitor,
                            .start = controlled_start,
                            .advance = controlled_advance,
                            .restart = controlled_restart,
                            .use = controlled_use,
                            .renew = controlled_renew,
                            .undo = controlled_undo,
                            .set_manual = controlled_set_manual,
                            .state = controlled_state,
                            .inputs = controlled_inputs,
                            .work_at = controlled_work_at,
                            .condition = controlled_condition,
                            .work = controlled_work,
                            .global_error = controlled_global_error,
                            .save = controlled_save,
                            .load = controlled_load,
                            .close = controlled_close};
    if (k->set_watch) out->set_watch = controlled_set_watch;
    return SNW_OK;
}
