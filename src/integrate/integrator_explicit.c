// SPDX-License-Identifier: MIT
//
// Integrators with error control, and RK4, as a mover.
#include "integrate/integrator_private.h"

#include "base/alloc.h"
#include "integrate/explicit.h"

typedef struct mover {
    snw_explicit *integrator;
    long steps; // counted so far
} mover;

static snw_status explicit_start(void *self, const snw_state *s, snw_error *err) {
    mover *mv = self;
    mv->steps = 0;
    return snw_explicit_start(mv->integrator, s, err);
}

static snw_status explicit_advance(void *self, double to, double limit, snw_stats *took,
                                   snw_error *err) {
    mover *mv = self;
    const snw_status s = snw_explicit_advance(mv->integrator, to, limit, err);
    const long steps = (long)snw_explicit_statistics(mv->integrator).steps;
    took->increments += (double)(steps - mv->steps);
    mv->steps = steps;
    return s;
}

static snw_status explicit_restart(void *self, const double *z, snw_error *err) {
    return snw_explicit_restart(((mover *)self)->integrator, z, err);
}

static void explicit_back(void *self) { snw_explicit_back(((mover *)self)->integrator); }
static void explicit_heed(void *self, snw_interrupt interrupt) {
    snw_explicit_heed(((mover *)self)->integrator, interrupt);
}
static void explicit_hold(void *self, const snw_manual_inputs *manual) {
    snw_explicit_hold(((mover *)self)->integrator, manual);
}

static const snw_state *explicit_state(const void *self) {
    return snw_explicit_state(((const mover *)self)->integrator);
}

static const snw_inputs *explicit_inputs(const void *self) {
    return snw_explicit_inputs(((const mover *)self)->integrator);
}

static const snw_work *explicit_look(void *self) {
    return snw_explicit_look(((mover *)self)->integrator);
}

static snw_work_done explicit_work(const void *self) {
    return snw_explicit_work(((const mover *)self)->integrator);
}

static void explicit_close(void *self) {
    mover *mv = self;
    snw_explicit_destroy(mv->integrator);
    snw_free(mv);
}

snw_status snw_integrator_explicit(const snw_model *m, const snw_step_desc *step, double every,
                                   snw_integrator *out, snw_error *err) {
    mover *mv = snw_alloc(sizeof *mv);
    if (!mv) return SNW_E_MEMORY;
    snw_explicit_opts o = snw_explicit_defaults();
    if (step->method == SNW_METHOD_RK4) o.kind = SNW_ODE_RK4;
    if (step->method == SNW_METHOD_STIFF) o.kind = SNW_ODE_BDF;
    if (step->tolerance > 0) o.tolerance = step->tolerance;
    if (step->method == SNW_METHOD_ADAPTIVE && o.tolerance < 1e-8) o.kind = SNW_ODE_RK87;
    o.step = step->step;
    o.locomotion = step->kinematic;
    o.torque = step->torque;
    o.projective = step->projective;
    o.duration = step->duration;
    o.max_steps = 100 * (long)step->patience; // of which one costs far less than an iteration
    const snw_status s = snw_explicit_create(m, &o, &mv->integrator, err);
    if (s != SNW_OK) {
        snw_free(mv);
        return s;
    }
    // fixed steps are shown one by one; what chooses its own shows where it was asked to
    const double grid = every > 0 || step->method != SNW_METHOD_RK4 ? every : step->step;
    *out = (snw_integrator){.self = mv,
                            .grid = grid,
                            .heed = explicit_heed,
                            .start = explicit_start,
                            .advance = explicit_advance,
                            .restart = explicit_restart,
                            .back = explicit_back,
                            .hold = explicit_hold,
                            .state = explicit_state,
                            .inputs = explicit_inputs,
                            .look = explicit_look,
                            .work = explicit_work,
                            .close = explicit_close};
    return SNW_OK;
}
