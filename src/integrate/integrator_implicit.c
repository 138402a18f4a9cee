// SPDX-License-Identifier: MIT
//
// One-step implicit schemes (integrate/implicit.h) under step control: typed wrappers for the
// snw_stepper interface, and options from the step's description.
#include "integrate/integrator_private.h"

#include "base/fail.h"

static snw_status implicit_integrator_start(void *self, const snw_state *s, snw_error *err) {
    return snw_implicit_start(self, s, err);
}
static double implicit_integrator_limit(void *self, double h, double longest) {
    return snw_implicit_limit(self, h, longest);
}
static double implicit_integrator_retry_length(void *self, double h, double longest, bool patient) {
    return snw_implicit_retry_length(self, h, longest, patient);
}
static void implicit_integrator_shorten(void *self, double h, double longest) {
    snw_implicit_shorten(self, h, longest);
}
static snw_status implicit_integrator_step(void *self, double h, double t_laws,
                                           snw_chord_info *info) {
    return snw_implicit_step_joined(self, h, t_laws, info);
}
static snw_status implicit_integrator_restart(void *self, const double *z, snw_error *err) {
    return snw_implicit_jump(self, z, err);
}
static snw_status implicit_integrator_check(void *self, double t, snw_error *err) {
    return snw_implicit_check(self, t, err);
}
static void implicit_integrator_accept(void *self, double h) { snw_implicit_accept(self, h); }
static double implicit_integrator_global_error(void *self, double *t, double *failed) {
    return snw_implicit_global_error(self, t, failed);
}
static void implicit_integrator_undo(void *self) { snw_implicit_undo(self); }
static double implicit_integrator_error(const void *self) { return snw_implicit_error(self); }
static const snw_state *implicit_integrator_state(const void *self) {
    return snw_implicit_state(self);
}
static const snw_inputs *implicit_integrator_inputs(const void *self) {
    return snw_implicit_inputs(self);
}
static const snw_work *implicit_integrator_work_at(void *self) {
    return snw_implicit_work_at(self);
}
static void implicit_integrator_set_manual(void *self, const snw_manual_inputs *manual) {
    snw_implicit_set_manual(self, manual);
}
static void implicit_integrator_set_watch(void *self, snw_step_watch watch) {
    snw_implicit_set_watch(self, watch);
}
static void implicit_integrator_use(void *self, const snw_model *m) { snw_implicit_use(self, m); }
static double implicit_integrator_condition(void *self) { return snw_implicit_condition(self); }
static snw_work_done implicit_integrator_work(const void *self) {
    return snw_implicit_work_done(self);
}
static void implicit_integrator_save(const void *self, double *out) {
    snw_implicit_save(self, out);
}
static void implicit_integrator_load(void *self, const double *in) { snw_implicit_load(self, in); }
static void implicit_integrator_destroy(void *self) { snw_implicit_destroy(self); }

static snw_status implicit_integrator_make_room(void *self) { return snw_implicit_make_room(self); }

static const snw_stepper stepper = {
    .start = implicit_integrator_start,
    .limit = implicit_integrator_limit,
    .make_room = implicit_integrator_make_room,
    .step = implicit_integrator_step,
    .retry_length = implicit_integrator_retry_length,
    .shorten = implicit_integrator_shorten,
    .undo = implicit_integrator_undo,
    .accept = implicit_integrator_accept,
    .global_error = implicit_integrator_global_error,
    .restart = implicit_integrator_restart,
    .error = implicit_integrator_error,
    .check = implicit_integrator_check,
    .state = implicit_integrator_state,
    .inputs = implicit_integrator_inputs,
    .work_at = implicit_integrator_work_at,
    .set_manual = implicit_integrator_set_manual,
    .set_watch = implicit_integrator_set_watch,
    .use = implicit_integrator_use,
    .condition = implicit_integrator_condition,
    .work = implicit_integrator_work,
    .save = implicit_integrator_save,
    .load = implicit_integrator_load,
    .destroy = implicit_integrator_destroy,
    .advice = "'adapt: on', a smaller step, a scheme with damping (rho, bdf2), or more nodes"};

size_t snw_integrator_implicit_saves(const snw_model *m) {
    return SNW_STEP_CONTROL_SAVES + snw_implicit_saves(m);
}

snw_status snw_integrator_implicit(const snw_model *m, const snw_step_desc *step, double every,
                                   snw_integrator *out) {
    snw_implicit_opts o = snw_implicit_defaults();
    o.scheme = snw_implicit_scheme(step->scheme, step->rho, step->alpha);
    o.chart = step->split ? SNW_CHART_SO3R3 : SNW_CHART_SE3;
    o.uniform_past = step->uniform_past;
    o.fixed_length = step->fixed_length;
    if (step->length_part > 0) o.length_part = step->length_part;
    o.undamped_velocities = step->undamped_velocities;
    o.control = step->control;
    o.estimate = !step->control && step->patience == 0;
    if (step->torque > 0) o.torque = step->torque;
    o.tighten = step->control || !(step->tolerance > 0);
    if (!o.tighten) o.tolerance = step->tolerance;
    const snw_step_control control = {.least = step->least,
                                      .control = step->control,
                                      .part = step->length_part,
                                      .fixed = step->fixed_length,
                                      .tolerance =
                                          step->tolerance > 0 ? step->tolerance : SNW_STEP_ERROR,
                                      .power = 3,
                                      .longest = snw_longest_step(step),
                                      .patience = step->patience};
    snw_implicit *stepper_self;
    SNW_TRY(snw_implicit_create(m, &o, &stepper_self));
    SNW_TRY(snw_integrator_controlled(m, &stepper, stepper_self, control, every,
                                      snw_implicit_saves(m), out));
    if (!step->control) out->implicit = stepper_self;
    return SNW_OK;
}
