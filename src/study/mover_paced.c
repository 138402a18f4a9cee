// SPDX-License-Identifier: MIT
//
// Steps that are paced (study/pace.h) as a mover, whatever takes them.
#include "study/mover_private.h"

#include "base/alloc.h"

#include <math.h>

typedef struct mover {
    const snw_model *m;
    const snw_stepper *k;
    void *motion; // what takes the steps
    bool back;    // the last advance may have to be undone: the model has signals
    snw_pace pace;
    double *saved; // before the last advance
} mover;

static void save(const void *self, double *out) {
    const mover *mv = self;
    out[0] = mv->pace.h;
    mv->k->save(mv->motion, out + 1);
}

static void take(mover *mv, const double *in) {
    mv->pace.h = in[0];
    mv->k->load(mv->motion, in + 1);
}

static snw_status load(void *self, const double *in, snw_error *err) {
    (void)err;
    take(self, in);
    return SNW_OK;
}

static void back(void *self) { take(self, ((mover *)self)->saved); }

// as if it had been resumed here
static void renew(void *self) {
    mover *mv = self;
    save(self, mv->saved);
    take(mv, mv->saved);
}

static void hold(void *self, const snw_hand *hand) {
    const mover *mv = self;
    mv->k->hold(mv->motion, hand);
}

static void heed(void *self, snw_interrupt interrupt) {
    ((mover *)self)->pace.interrupt = interrupt;
}

static snw_status start(void *self, const snw_state *s, snw_error *err) {
    mover *mv = self;
    mv->pace.h = isfinite(mv->pace.longest) ? mv->pace.longest : 0;
    return mv->k->start(mv->motion, s, err);
}

static snw_status advance(void *self, double to, double limit, snw_stats *took, snw_error *err) {
    mover *mv = self;
    if (mv->back) save(self, mv->saved);
    return snw_pace_advance(&mv->pace, mv->m, mv->k, mv->motion, to, limit, took, err);
}

static snw_status restart(void *self, const double *z, snw_error *err) {
    mover *mv = self;
    mv->pace.h = isfinite(mv->pace.longest) ? fmin(mv->pace.h, 0.1 * mv->pace.longest) : 0;
    return mv->k->restart(mv->motion, z, err);
}

static const snw_state *state(const void *self) {
    const mover *mv = self;
    return mv->k->state(mv->motion);
}

static const snw_inputs *inputs(const void *self) {
    const mover *mv = self;
    return mv->k->inputs(mv->motion);
}

static const snw_work *look(void *self) {
    const mover *mv = self;
    return mv->k->look(mv->motion);
}

static double condition(void *self) {
    const mover *mv = self;
    return mv->k->condition(mv->motion);
}

static snw_work_done work(const void *self) {
    const mover *mv = self;
    return mv->k->work(mv->motion);
}

static double astray(void *self, double *t) {
    const mover *mv = self;
    return mv->k->astray ? mv->k->astray(mv->motion, t) : 0;
}

static void close(void *self) {
    mover *mv = self;
    mv->k->destroy(mv->motion);
    snw_free(mv->saved);
    snw_free(mv);
}

snw_status snw_mover_paced(const snw_model *m, const snw_stepper *k, void *motion, snw_pace pace,
                           double every, size_t saves, snw_mover *out) {
    mover *mv = snw_alloc(sizeof *mv);
    double *saved = snw_alloc((SNW_PACED_SAVES + saves) * sizeof(double));
    if (!mv || !saved) {
        k->destroy(motion);
        snw_free(mv);
        snw_free(saved);
        return SNW_E_MEMORY;
    }
    *mv = (mover){
        .m = m, .k = k, .motion = motion, .back = m->nsignal > 0, .pace = pace, .saved = saved};
    *out = (snw_mover){.self = mv,
                       .grid = isfinite(pace.longest) ? pace.longest : every,
                       .heed = heed,
                       .start = start,
                       .advance = advance,
                       .restart = restart,
                       .renew = renew,
                       .back = back,
                       .hold = hold,
                       .state = state,
                       .inputs = inputs,
                       .look = look,
                       .condition = condition,
                       .work = work,
                       .astray = astray,
                       .save = save,
                       .load = load,
                       .close = close};
    return SNW_OK;
}
