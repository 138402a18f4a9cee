// SPDX-License-Identifier: MIT
//
// Gauss and Radau collocation (integrate/collocation_step.h) under step control: options from the
// step's description.
#include "integrate/integrator_private.h"

#include "base/fail.h"
#include "integrate/collocation_step.h"

static snw_collocation points_of(const snw_step_desc *step) {
    const snw_scheme_info *scheme = &snw_scheme_table[step->scheme];
    return snw_collocation_of(scheme->stages, scheme->order);
}

size_t snw_integrator_collocation_saves(const snw_model *m, const snw_step_desc *step) {
    const snw_collocation points = points_of(step);
    return SNW_STEP_CONTROL_SAVES + snw_collocation_step_saves(m, &points);
}

snw_status snw_integrator_collocation(const snw_model *m, const snw_step_desc *step, double every,
                                      snw_integrator *out) {
    const snw_implicit_opts usual = snw_implicit_defaults();
    const bool given = step->tolerance > 0;
    const snw_collocation_step_opts o = {.points = points_of(step),
                                         .chart = step->split ? SNW_CHART_SO3R3 : SNW_CHART_SE3,
                                         .tolerance = given && !step->control ? step->tolerance
                                                                              : usual.tolerance,
                                         .tighten = !given || step->control,
                                         .max_iter = usual.max_iter};
    const snw_step_control control = {.least = step->least,
                                      .part = step->length_part,
                                      .control = step->control,
                                      .tolerance = given ? step->tolerance : SNW_STEP_ERROR,
                                      .power = o.points.s + 2,
                                      .longest = snw_longest_step(step),
                                      .patience = step->patience};
    snw_collocation_step *stepper_self;
    SNW_TRY(snw_collocation_step_create(m, &o, &stepper_self));
    return snw_integrator_controlled(m, &snw_collocation_stepper, stepper_self, control, every,
                                     snw_collocation_step_saves(m, &o.points), out);
}
