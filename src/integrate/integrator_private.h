// SPDX-License-Identifier: MIT
//
// integrator_private.h: the movers there are.
#pragma once

#include "integrate/integrator.h"
#include "integrate/step_control.h"

#include <math.h>

// How a stepper_self ends for lack of a law: time reached, what has no value.
#define SNW_NO_LAW "no motion found beyond t = %g s: %s; what was computed is kept"

SNW_NODISCARD snw_status snw_integrator_implicit(const snw_model *m, const snw_step_desc *step,
                                                 double every, snw_integrator *out);
SNW_NODISCARD snw_status snw_integrator_conserving(const snw_model *m, const snw_step_desc *step,
                                                   snw_integrator *out);
SNW_NODISCARD snw_status snw_integrator_gauss(const snw_model *m, const snw_step_desc *step,
                                              double every, snw_integrator *out);
SNW_NODISCARD snw_status snw_integrator_explicit(const snw_model *m, const snw_step_desc *step,
                                                 double every, snw_integrator *out, snw_error *err);

// Of what takes the steps, which it destroys in the end or when it fails, and which saves so many
// numbers. Without a longest step instants are `every` apart, 0: as the study has them.
SNW_NODISCARD snw_status snw_integrator_controlled(const snw_model *m, const snw_stepper *k,
                                                   void *stepper_self, snw_step_control control,
                                                   double every, size_t saves, snw_integrator *out);

// The step length that a description gives: of steps that are chosen without one there is no
// longest.
static inline double snw_longest_step(const snw_step_desc *step) {
    return step->step > 0 ? step->step : INFINITY;
}

// Numbers they save; a paced one so many beside what takes its steps.
enum { SNW_STEP_CONTROL_SAVES = 1 };
size_t snw_integrator_implicit_saves(const snw_model *m);
size_t snw_integrator_conserving_saves(const snw_model *m);
size_t snw_integrator_gauss_saves(const snw_model *m, snw_method method);
size_t snw_integrator_shooting_saves(const snw_model *m, const snw_step_desc *step);
