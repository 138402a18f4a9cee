// SPDX-License-Identifier: MIT
//
// Integrators with error control, and RK4, as a mover.
#include "study/mover_private.h"

#include "base/alloc.h"
#include "study/explicit.h"

typedef struct mover {
    snw_explicit *motion;
    long steps; // counted so far
} mover;

static snw_status start(void *self, const snw_state *s, snw_error *err) {
    mover *mv = self;
    mv->steps = 0;
    return snw_explicit_start(mv->motion, s, err);
}

static snw_status advance(void *self, double to, double limit, snw_stats *took, snw_error *err) {
    mover *mv = self;
    const snw_status s = snw_explicit_advance(mv->motion, to, limit, err);
    const long steps = (long)snw_explicit_statistics(mv->motion).steps;
    took->increments += (double)(steps - mv->steps);
    mv->steps = steps;
    return s;
}

static snw_status restart(void *self, const double *z, snw_error *err) {
    return snw_explicit_restart(((mover *)self)->motion, z, err);
}

static void back(void *self) { snw_explicit_back(((mover *)self)->motion); }
static void heed(void *self, snw_interrupt interrupt) {
    snw_explicit_heed(((mover *)self)->motion, interrupt);
}
static void hold(void *self, const snw_hand *hand) {
    snw_explicit_hold(((mover *)self)->motion, hand);
}

static const snw_state *state(const void *self) {
    return snw_explicit_state(((const mover *)self)->motion);
}

static const snw_inputs *inputs(const void *self) {
    return snw_explicit_inputs(((const mover *)self)->motion);
}

static const snw_work *look(void *self) { return snw_explicit_look(((mover *)self)->motion); }

static snw_work_done work(const void *self) {
    return snw_explicit_work(((const mover *)self)->motion);
}

static void close(void *self) {
    mover *mv = self;
    snw_explicit_destroy(mv->motion);
    snw_free(mv);
}

snw_status snw_mover_explicit(const snw_model *m, const snw_step_desc *step, double every,
                              snw_mover *out, snw_error *err) {
    mover *mv = snw_alloc(sizeof *mv);
    if (!mv) return SNW_E_MEMORY;
    snw_explicit_opts o = snw_explicit_defaults();
    if (step->method == SNW_METHOD_RK4) o.kind = SNW_ODE_RK4;
    if (step->method == SNW_METHOD_STIFF) o.kind = SNW_ODE_BDF;
    if (step->tolerance > 0) o.tolerance = step->tolerance;
    if (step->method == SNW_METHOD_ADAPTIVE && o.tolerance < 1e-8) o.kind = SNW_ODE_RK87;
    o.step = step->step;
    o.reduced = step->kinematic;
    o.torque = step->torque;
    o.projective = step->projective;
    o.duration = step->duration;
    o.max_steps = 100 * (long)step->patience; // of which one costs far less than an iteration
    const snw_status s = snw_explicit_create(m, &o, &mv->motion, err);
    if (s != SNW_OK) {
        snw_free(mv);
        return s;
    }
    // fixed steps are shown one by one; what chooses its own shows where it was asked to
    const double grid = every > 0 || step->method != SNW_METHOD_RK4 ? every : step->step;
    *out = (snw_mover){.self = mv,
                       .grid = grid,
                       .heed = heed,
                       .start = start,
                       .advance = advance,
                       .restart = restart,
                       .back = back,
                       .hold = hold,
                       .state = state,
                       .inputs = inputs,
                       .look = look,
                       .work = work,
                       .close = close};
    return SNW_OK;
}
