// SPDX-License-Identifier: MIT
//
// Gauss' collocation as a mover.
#include "study/mover_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "study/pace.h"
#include "study/staged.h"

#include <math.h>

typedef struct mover {
    snw_staged *motion;
    snw_pace pace;
    double *saved; // before the last advance; NULL for models without signals
} mover;

static int stages_of(snw_method method) {
    return method == SNW_METHOD_GAUSS4 ? 2 : method == SNW_METHOD_GAUSS6 ? 3 : 4;
}

static void save(const void *self, double *out) {
    const mover *mv = self;
    out[0] = mv->pace.h;
    snw_staged_save(mv->motion, out + 1);
}

static void load(void *self, const double *in) {
    mover *mv = self;
    mv->pace.h = in[0];
    snw_staged_load(mv->motion, in + 1);
}

static void back(void *self) { load(self, ((mover *)self)->saved); }
static void hold(void *self, const snw_hand *hand) {
    snw_staged_hold(((mover *)self)->motion, hand);
}

static snw_status start(void *self, const snw_state *s, snw_error *err) {
    mover *mv = self;
    mv->pace.h = mv->pace.longest;
    return snw_staged_start(mv->motion, s, err);
}

static snw_status step(void *self, double h, double t_laws, snw_chord_info *info) {
    return snw_staged_step(((mover *)self)->motion, h, t_laws, info);
}
static void undo(void *self) { snw_staged_back(((mover *)self)->motion); }
static double error(const void *self) { return snw_staged_error(((const mover *)self)->motion); }
static snw_status check(void *self, double t, snw_error *err) {
    return snw_staged_check(((mover *)self)->motion, t, err);
}

static const snw_state *state(const void *self) {
    return snw_staged_state(((const mover *)self)->motion);
}

static snw_status advance(void *self, double to, double limit, snw_stats *took, snw_error *err) {
    static const snw_stepper stepper = {
        .step = step,
        .back = undo,
        .error = error,
        .state = state,
        .check = check,
        .advice = "a smaller step, a scheme with damping (generalized-alpha), or more nodes"};
    mover *mv = self;
    if (mv->saved) save(self, mv->saved);
    return snw_pace_advance(&mv->pace, &stepper, mv, to, limit, took, err);
}

static snw_status restart(void *self, const double *z, snw_error *err) {
    mover *mv = self;
    mv->pace.h = fmin(mv->pace.h, 0.1 * mv->pace.longest);
    return snw_staged_restart(mv->motion, z, err);
}

static const snw_inputs *inputs(const void *self) {
    return snw_staged_inputs(((const mover *)self)->motion);
}

static const snw_work *look(void *self) { return snw_staged_look(((mover *)self)->motion); }
static double condition(void *self) { return snw_staged_condition(((mover *)self)->motion); }

static snw_work_done work(const void *self) {
    return snw_staged_work(((const mover *)self)->motion);
}

size_t snw_mover_staged_saves(const snw_model *m, snw_method method) {
    return 1 + snw_staged_saves(m, stages_of(method));
}

static void close(void *self) {
    mover *mv = self;
    snw_staged_destroy(mv->motion);
    snw_free(mv->saved);
    snw_free(mv);
}

// Rows that are not of drives are of index 3, where collocation loses its order (theory.md 6.7).
static snw_status refuse_rows(const snw_model *m, const snw_step_desc *step, snw_error *err) {
    int rows = m->nrow;
    for (int i = 0; i < m->ndrive; i++) rows -= m->drive[i].row >= 0;
    if (rows == 0) return SNW_OK;
    return snw_fail_place(
        err,
        snw_fail(err, SNW_E_MODEL,
                 "scheme '%s' does not know loops and given lengths or volumes; use "
                 "generalized-alpha, or adaptive for digits",
                 snw_method_name(step->method)),
        step->place.file, step->place.line, step->place.column);
}

snw_status snw_mover_staged(const snw_model *m, const snw_step_desc *step, snw_mover *out,
                            snw_error *err) {
    SNW_TRY(refuse_rows(m, step, err));
    mover *mv = snw_alloc(sizeof *mv);
    if (!mv) return SNW_E_MEMORY;
    const snw_motion_opts usual = snw_motion_defaults();
    const bool given = step->tolerance > 0;
    const snw_staged_opts o = {.stages = stages_of(step->method),
                               .chart = step->split ? SNW_CHART_SO3R3 : SNW_CHART_SE3,
                               .tolerance =
                                   given && !step->control ? step->tolerance : usual.tolerance,
                               .max_iter = usual.max_iter};
    mv->pace = (snw_pace){.least = step->least,
                          .control = step->control,
                          .tolerance = given ? step->tolerance : SNW_STEP_ERROR,
                          .power = o.stages + 2,
                          .longest = step->step};
    const size_t saves = snw_mover_staged_saves(m, step->method);
    mv->saved = m->nsignal ? snw_alloc(saves * sizeof(double)) : NULL;
    if ((m->nsignal && !mv->saved) || snw_staged_create(m, &o, &mv->motion) != SNW_OK) {
        close(mv);
        return SNW_E_MEMORY;
    }
    *out = (snw_mover){.self = mv,
                       .grid = step->step,
                       .start = start,
                       .advance = advance,
                       .restart = restart,
                       .back = back,
                       .hold = hold,
                       .state = state,
                       .inputs = inputs,
                       .look = look,
                       .condition = condition,
                       .work = work,
                       .save = save,
                       .load = load,
                       .close = close};
    return SNW_OK;
}
