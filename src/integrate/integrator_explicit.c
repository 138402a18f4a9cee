// SPDX-License-Identifier: MIT
//
// Integrator interface for the explicit and adaptive integrators (integrate/explicit.h).
#include "integrate/integrator_private.h"

#include "base/alloc.h"
#include "integrate/explicit.h"

typedef struct adapter {
    snw_explicit *integrator;
    long steps; // counted so far
} adapter;

static snw_status explicit_start(void *self, const snw_state *s, snw_error *err) {
    adapter *ad = self;
    ad->steps = 0;
    return snw_explicit_start(ad->integrator, s, err);
}

static snw_status explicit_advance(void *self, double to, double limit, snw_stats *took,
                                   snw_error *err) {
    adapter *ad = self;
    const snw_status s = snw_explicit_advance(ad->integrator, to, limit, err);
    const long steps = (long)snw_explicit_statistics(ad->integrator).steps;
    took->increments += (double)(steps - ad->steps);
    ad->steps = steps;
    return s;
}

static snw_status explicit_restart(void *self, const double *z, snw_error *err) {
    return snw_explicit_restart(((adapter *)self)->integrator, z, err);
}

static void explicit_undo(void *self) { snw_explicit_undo(((adapter *)self)->integrator); }
static void explicit_set_interrupt(void *self, snw_interrupt interrupt) {
    snw_explicit_set_interrupt(((adapter *)self)->integrator, interrupt);
}
static void explicit_use(void *self, const snw_model *m) {
    snw_explicit_use(((adapter *)self)->integrator, m);
}
static void explicit_set_monitor(void *self, snw_step_monitor monitor) {
    snw_explicit_set_monitor(((adapter *)self)->integrator, monitor);
}
static void explicit_set_manual(void *self, const snw_manual_inputs *manual) {
    snw_explicit_set_manual(((adapter *)self)->integrator, manual);
}

static const snw_state *explicit_state(const void *self) {
    return snw_explicit_state(((const adapter *)self)->integrator);
}

static const snw_inputs *explicit_inputs(const void *self) {
    return snw_explicit_inputs(((const adapter *)self)->integrator);
}

static const snw_work *explicit_work_at(void *self) {
    return snw_explicit_work_at(((adapter *)self)->integrator);
}

static snw_work_done explicit_work_done(const void *self) {
    return snw_explicit_work_done(((const adapter *)self)->integrator);
}

static void explicit_close(void *self) {
    adapter *ad = self;
    snw_explicit_destroy(ad->integrator);
    snw_free(ad);
}

snw_status snw_integrator_explicit(const snw_model *m, const snw_step_desc *step, double every,
                                   snw_integrator *out, snw_error *err) {
    adapter *ad = snw_alloc(sizeof *ad);
    if (!ad) return SNW_E_MEMORY;
    snw_explicit_opts o = snw_explicit_defaults();
    const snw_scheme_info *scheme = &snw_scheme_table[step->scheme];
    if (step->tolerance > 0) o.tolerance = step->tolerance;
    if (scheme->implicit) {
        o.kind = SNW_ODE_BDF;
    } else if (!scheme->chooses_steps) {
        o.kind = SNW_ODE_RK4;
    } else if (o.tolerance < 1e-8) {
        o.kind = SNW_ODE_RK87;
    }
    o.step = step->step;
    o.locomotion = step->kinematic;
    o.torque = step->torque;
    o.least_efforts = step->least_efforts;
    o.form = step->form;
    o.duration = step->duration;
    o.max_steps = 100 * (long)step->patience; // a step costs far less than a Newton iteration
    const snw_status s = snw_explicit_create(m, &o, &ad->integrator, err);
    if (s != SNW_OK) {
        snw_free(ad);
        return s;
    }
    // fixed steps give a frame each; adaptive ones give frames where asked for
    const double grid = every > 0 || scheme->chooses_steps ? every : step->step;
    *out = (snw_integrator){.self = ad,
                            .grid = grid,
                            .set_interrupt = explicit_set_interrupt,
                            .set_monitor = explicit_set_monitor,
                            .start = explicit_start,
                            .advance = explicit_advance,
                            .restart = explicit_restart,
                            .undo = explicit_undo,
                            .use = explicit_use,
                            .set_manual = explicit_set_manual,
                            .state = explicit_state,
                            .inputs = explicit_inputs,
                            .work_at = explicit_work_at,
                            .work = explicit_work_done,
                            .close = explicit_close};
    return SNW_OK;
}
