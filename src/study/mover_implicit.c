// SPDX-License-Identifier: MIT
//
// Implicit steps as a mover.
#include "study/mover_private.h"

#include "base/alloc.h"
#include "study/pace.h"

#include <math.h>

typedef struct implicit {
    snw_motion *motion;
    snw_pace pace;
    double *saved; // before the last advance; NULL for models without signals
} implicit;

static void save(const void *self, double *out) {
    const implicit *im = self;
    out[0] = im->pace.h;
    snw_motion_save(im->motion, out + 1);
}

static void load(void *self, const double *in) {
    implicit *im = self;
    im->pace.h = in[0];
    snw_motion_load(im->motion, in + 1);
}

static void back(void *self) { load(self, ((implicit *)self)->saved); }
static void hold(void *self, const snw_hand *hand) {
    snw_motion_hold(((implicit *)self)->motion, hand);
}

static snw_status start(void *self, const snw_state *s, snw_error *err) {
    implicit *im = self;
    im->pace.h = im->pace.longest;
    return snw_motion_start(im->motion, s, err);
}

static snw_status step(void *self, double h, double t_laws, snw_chord_info *info) {
    return snw_motion_step(((implicit *)self)->motion, h, t_laws, info);
}
static void undo(void *self) { snw_motion_back(((implicit *)self)->motion); }
static double error(const void *self) { return snw_motion_error(((const implicit *)self)->motion); }
static snw_status check(void *self, double t, snw_error *err) {
    return snw_motion_check(((implicit *)self)->motion, t, err);
}

static const snw_state *state(const void *self) {
    return snw_motion_state(((const implicit *)self)->motion);
}

static snw_status advance(void *self, double to, double limit, snw_stats *took, snw_error *err) {
    static const snw_stepper stepper = {
        .step = step,
        .back = undo,
        .error = error,
        .state = state,
        .check = check,
        .advice = "a smaller step, a scheme with damping (rho, bdf2), or more nodes"};
    implicit *im = self;
    if (im->saved) save(self, im->saved);
    return snw_pace_advance(&im->pace, &stepper, im, to, limit, took, err);
}

static snw_status restart(void *self, const double *z, snw_error *err) {
    implicit *im = self;
    im->pace.h = fmin(im->pace.h, 0.1 * im->pace.longest);
    return snw_motion_restart(im->motion, z, err);
}

static const snw_inputs *inputs(const void *self) {
    return snw_motion_inputs(((const implicit *)self)->motion);
}

static const snw_work *look(void *self) { return snw_motion_look(((implicit *)self)->motion); }

static double condition(void *self) { return snw_motion_condition(((implicit *)self)->motion); }

static snw_work_done work(const void *self) {
    return snw_motion_work(((const implicit *)self)->motion);
}

size_t snw_mover_implicit_saves(const snw_model *m) { return 1 + snw_motion_saves(m); }

static void close(void *self) {
    implicit *im = self;
    snw_motion_destroy(im->motion);
    snw_free(im->saved);
    snw_free(im);
}

static snw_scheme_kind kind_of(snw_method method) {
    switch (method) {
    case SNW_METHOD_NEWMARK:
        return SNW_SCHEME_NEWMARK;
    case SNW_METHOD_HHT:
        return SNW_SCHEME_HHT;
    case SNW_METHOD_WBZ:
        return SNW_SCHEME_WBZ;
    case SNW_METHOD_EULER:
        return SNW_SCHEME_EULER;
    case SNW_METHOD_TRAPEZOIDAL:
        return SNW_SCHEME_TRAPEZOIDAL;
    case SNW_METHOD_BDF2:
        return SNW_SCHEME_BDF2;
    case SNW_METHOD_BDF_ALPHA:
        return SNW_SCHEME_BDF_ALPHA;
    case SNW_METHOD_GENERALIZED_ALPHA:
    case SNW_METHOD_BDF3:
    case SNW_METHOD_CONSERVING:
    case SNW_METHOD_GAUSS4:
    case SNW_METHOD_GAUSS6:
    case SNW_METHOD_GAUSS8:
    case SNW_METHOD_RK4:
    case SNW_METHOD_ADAPTIVE:
    case SNW_METHOD_STIFF:
        break;
    }
    return SNW_SCHEME_GENERALIZED_ALPHA;
}

snw_status snw_mover_implicit(const snw_model *m, const snw_step_desc *step, snw_mover *out) {
    implicit *im = snw_alloc(sizeof *im);
    if (!im) return SNW_E_MEMORY;
    snw_motion_opts o = snw_motion_defaults();
    o.scheme = snw_scheme_make(kind_of(step->method), step->rho, step->alpha);
    o.chart = step->split ? SNW_CHART_SO3R3 : SNW_CHART_SE3;
    o.rest = step->rest;
    o.control = step->control;
    im->pace = (snw_pace){.control = step->control,
                          .tolerance = step->tolerance > 0 ? step->tolerance : SNW_STEP_ERROR,
                          .power = 3,
                          .longest = step->step};
    if (!step->control && step->tolerance > 0) o.tolerance = step->tolerance;
    im->saved = m->nsignal ? snw_alloc(snw_mover_implicit_saves(m) * sizeof(double)) : NULL;
    if ((m->nsignal && !im->saved) || snw_motion_create(m, &o, &im->motion) != SNW_OK) {
        close(im);
        return SNW_E_MEMORY;
    }
    *out = (snw_mover){.self = im,
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
