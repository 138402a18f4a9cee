// SPDX-License-Identifier: MIT
//
// Implicit steps as a mover: one step to the next instant, halved where Newton fails, and chosen by their error
// where that is asked for.
#include "study/mover_private.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>

typedef struct implicit {
    snw_motion *motion;
    bool control;
    double tolerance; // of the local error, with control
    double h;         // step length to try next
    double longest;
    double *saved; // before the last advance; NULL for models without signals
} implicit;

static void save(const void *self, double *out) {
    const implicit *im = self;
    out[0] = im->h;
    snw_motion_save(im->motion, out + 1);
}

static void load(void *self, const double *in) {
    implicit *im = self;
    im->h = in[0];
    snw_motion_load(im->motion, in + 1);
}

static void back(void *self) { load(self, ((implicit *)self)->saved); }
static void hold(void *self, const snw_hand *hand) {
    snw_motion_hold(((implicit *)self)->motion, hand);
}

static snw_status start(void *self, const snw_state *s, snw_error *err) {
    implicit *im = self;
    im->h = im->longest;
    return snw_motion_start(im->motion, s, err);
}

// `t`: time of the laws that were tried last
static snw_status give_up(const implicit *im, double t, double h, const snw_motion_info *info,
                          snw_error *err) {
    snw_error why = {0};
    if (snw_motion_check(im->motion, t, &why) != SNW_OK) {
        return snw_fail(err, SNW_E_DIVERGED, SNW_NO_LAW, snw_motion_state(im->motion)->t, why.text);
    }
    return snw_fail(
        err, SNW_E_DIVERGED,
        "no motion found beyond t = %g s (steps down to %.2g s, residual %.2g of a typical "
        "force); what was computed is kept. Try a smaller step, a scheme with damping (rho, "
        "bdf2), or more nodes",
        snw_motion_state(im->motion)->t, h, info->residual);
}

static snw_status advance(void *self, double to, double limit, snw_stats *took, snw_error *err) {
    const double t_laws = snw_before_jump(to, limit);
    implicit *im = self;
    if (im->saved) save(self, im->saved);
    const double begin = snw_motion_state(im->motion)->t, span = to - begin;
    const double shortest = fmax(1e-7 * im->longest, 1e-14 * fabs(to));
    double h = im->control ? fmin(im->h, span) : span;
    for (;;) {
        const double t = snw_motion_state(im->motion)->t, rest = to - t;
        const bool last = h >= rest * (1 - 1e-9);
        if (last) h = rest;
        snw_motion_info info;
        const double t_tried = last ? t_laws : t + h;
        snw_status s = snw_motion_step(im->motion, h, t_tried, &info);
        took->iterations += info.iterations;
        took->tangents += info.tangents;
        took->residual = info.residual;
        const double miss =
            im->control && s == SNW_OK ? snw_motion_error(im->motion) / im->tolerance : 0;
        if (s == SNW_OK && !(miss <= 1) && h > shortest) {
            snw_motion_back(im->motion);
            s = SNW_E_DIVERGED;
            h *= fmax(0.2, 0.8 / cbrt(miss));
        } else if (s != SNW_OK) {
            h *= 0.5;
        }
        if (s != SNW_OK) {
            if (h < shortest) return give_up(im, t_tried, h, &info, err);
            continue;
        }
        took->increments++;
        if (last) return SNW_OK;
        const double grow = im->control ? fmin(2, 0.8 / cbrt(fmax(miss, 1e-3))) : 2;
        h = fmin(h * grow, im->longest);
        if (im->control) im->h = h;
    }
}

static snw_status restart(void *self, const double *z, snw_error *err) {
    implicit *im = self;
    im->h = fmin(im->h, 0.1 * im->longest);
    return snw_motion_restart(im->motion, z, err);
}

static const snw_state *state(const void *self) {
    return snw_motion_state(((const implicit *)self)->motion);
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
    case SNW_METHOD_CONSERVING:
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
    im->control = step->control;
    im->longest = step->step;
    im->tolerance = step->tolerance > 0 ? step->tolerance : 1e-6;
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
