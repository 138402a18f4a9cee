// SPDX-License-Identifier: MIT
//
// Implicit steps (study/motion.h) as what a paced mover takes.
#include "study/mover_private.h"

#include "base/fail.h"

static snw_status start(void *self, const snw_state *s, snw_error *err) {
    return snw_motion_start(self, s, err);
}
static double limit(void *self, double h, double longest) {
    return snw_motion_limit(self, h, longest);
}
static double again(void *self, double h, double longest, bool patient) {
    return snw_motion_again(self, h, longest, patient);
}
static void shorten(void *self, double h, double longest) { snw_motion_shorten(self, h, longest); }
static snw_status step(void *self, double h, double t_laws, snw_chord_info *info) {
    return snw_motion_step(self, h, t_laws, info);
}
static snw_status restart(void *self, const double *z, snw_error *err) {
    return snw_motion_restart(self, z, err);
}
static snw_status check(void *self, double t, snw_error *err) {
    return snw_motion_check(self, t, err);
}
static void accept(void *self, double h) { snw_motion_accept(self, h); }
static double astray(void *self, double *t) { return snw_motion_astray(self, t); }
static void back(void *self) { snw_motion_back(self); }
static double error(const void *self) { return snw_motion_error(self); }
static const snw_state *state(const void *self) { return snw_motion_state(self); }
static const snw_inputs *inputs(const void *self) { return snw_motion_inputs(self); }
static const snw_work *look(void *self) { return snw_motion_look(self); }
static void hold(void *self, const snw_hand *hand) { snw_motion_hold(self, hand); }
static double condition(void *self) { return snw_motion_condition(self); }
static snw_work_done work(const void *self) { return snw_motion_work(self); }
static void save(const void *self, double *out) { snw_motion_save(self, out); }
static void load(void *self, const double *in) { snw_motion_load(self, in); }
static void destroy(void *self) { snw_motion_destroy(self); }

static const snw_stepper stepper = {
    .start = start,
    .limit = limit,
    .step = step,
    .again = again,
    .shorten = shorten,
    .back = back,
    .accept = accept,
    .astray = astray,
    .restart = restart,
    .error = error,
    .check = check,
    .state = state,
    .inputs = inputs,
    .look = look,
    .hold = hold,
    .condition = condition,
    .work = work,
    .save = save,
    .load = load,
    .destroy = destroy,
    .advice = "'adapt: on', a smaller step, a scheme with damping (rho, bdf2), or more nodes"};

size_t snw_mover_implicit_saves(const snw_model *m) {
    return SNW_PACED_SAVES + snw_motion_saves(m);
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

snw_status snw_mover_implicit(const snw_model *m, const snw_step_desc *step, double every,
                              snw_mover *out) {
    snw_motion_opts o = snw_motion_defaults();
    o.scheme = snw_scheme_make(kind_of(step->method), step->rho, step->alpha);
    o.chart = step->split ? SNW_CHART_SO3R3 : SNW_CHART_SE3;
    o.rest = step->rest;
    o.alike = step->alike;
    o.plain = step->plain;
    o.control = step->control;
    o.estimate = !step->control && step->patience == 0;
    if (step->torque > 0) o.torque = step->torque;
    o.own = step->control || !(step->tolerance > 0);
    if (!o.own) o.tolerance = step->tolerance;
    const snw_pace pace = {.least = step->least,
                           .control = step->control,
                           .tolerance = step->tolerance > 0 ? step->tolerance : SNW_STEP_ERROR,
                           .power = 3,
                           .longest = snw_longest_step(step),
                           .patience = step->patience};
    snw_motion *motion;
    SNW_TRY(snw_motion_create(m, &o, &motion));
    return snw_mover_paced(m, &stepper, motion, pace, every, snw_motion_saves(m), out);
}
