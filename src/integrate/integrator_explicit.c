// SPDX-License-Identifier: MIT
//
// Integrator interface for the explicit and adaptive integrators (integrate/explicit.h).
#include "integrate/integrator_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "integrate/explicit.h"

#include <math.h>

typedef struct adapter {
    snw_explicit *integrator;
    long steps; // counted so far
    snw_explicit_opts opts;
    snw_step_watch watch;
    snw_state *before;          // of the last map, where it is watched
    snw_explicit_stages stages; // likewise, of rk4
} adapter;

// Reports the map from ad->before to the present, of length h; 0: a start or restart, with another
// memory of the laws if it `remembers`.
static void report(const adapter *ad, double h, double limit, bool remembers) {
    if (!ad->watch.note) return;
    const snw_explicit_stages *kept = &ad->stages;
    const bool known = h > 0 && kept->n > 0 && kept->n <= kept->room;
    ad->watch.note(ad->watch.user,
                   &(snw_step_report){.event = SNW_WATCH_EXPLICIT,
                                      .s = snw_explicit_state(ad->integrator),
                                      .t_laws = snw_explicit_inputs(ad->integrator)->t,
                                      .h = h,
                                      .start = ad->before,
                                      .ode = &ad->opts,
                                      .stage_rates = known ? kept->of : NULL,
                                      .nstage = known ? kept->n : 0,
                                      .limit = limit,
                                      .remembers = remembers});
}

static void keep_before(const adapter *ad, const snw_state *s) {
    if (ad->watch.note) snw_state_copy(snw_explicit_model(ad->integrator), s, ad->before);
}

// Memory for the stages of an advance to time `to`, where they are watched.
static snw_status prepare_stages(adapter *ad, double to, snw_error *err) {
    const snw_model *m = snw_explicit_model(ad->integrator);
    snw_explicit_stages *kept = &ad->stages;
    if (!ad->watch.note || ad->opts.kind != SNW_ODE_RK4) return SNW_OK;
    const double from = snw_explicit_state(ad->integrator)->t;
    const int n = 4 * snw_explicit_steps(&ad->opts, to - from);
    snw_explicit_keep_stages(ad->integrator, kept);
    if (n <= kept->room) return SNW_OK;
    snw_free(kept->of);
    kept->of = snw_alloc((size_t)n * (size_t)snw_explicit_stage_size(m) * sizeof *kept->of);
    kept->room = kept->of ? n : 0;
    return kept->of ? SNW_OK : snw_fail_memory(err);
}

static snw_status explicit_start(void *self, const snw_state *s, snw_error *err) {
    adapter *ad = self;
    ad->steps = 0;
    keep_before(ad, s);
    SNW_TRY(snw_explicit_start(ad->integrator, s, err));
    report(ad, 0, INFINITY, false);
    return SNW_OK;
}

static snw_status explicit_advance(void *self, double to, double limit, snw_stats *took,
                                   snw_error *err) {
    adapter *ad = self;
    const double from = snw_explicit_state(ad->integrator)->t;
    keep_before(ad, snw_explicit_state(ad->integrator));
    SNW_TRY(prepare_stages(ad, to, err));
    const snw_status s = snw_explicit_advance(ad->integrator, to, limit, err);
    const double h = snw_explicit_state(ad->integrator)->t - from;
    if (s == SNW_OK && h > 0) report(ad, h, limit, false);
    const long steps = (long)snw_explicit_statistics(ad->integrator).steps;
    took->increments += (double)(steps - ad->steps);
    ad->steps = steps;
    return s;
}

static snw_status explicit_restart(void *self, const double *z, snw_error *err) {
    adapter *ad = self;
    keep_before(ad, snw_explicit_state(ad->integrator));
    SNW_TRY(snw_explicit_restart(ad->integrator, z, err));
    report(ad, 0, INFINITY, z != NULL);
    return SNW_OK;
}

static void explicit_set_watch(void *self, snw_step_watch watch) {
    ((adapter *)self)->watch = watch;
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
    snw_state_destroy(ad->before);
    snw_free(ad->stages.of);
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
    ad->opts = o;
    snw_status s = snw_explicit_create(m, &o, &ad->integrator, err);
    if (s == SNW_OK) s = snw_state_create(m, &ad->before);
    if (s != SNW_OK) {
        explicit_close(ad);
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
                            .set_watch = explicit_set_watch,
                            .state = explicit_state,
                            .inputs = explicit_inputs,
                            .work_at = explicit_work_at,
                            .work = explicit_work_done,
                            .close = explicit_close};
    return SNW_OK;
}
