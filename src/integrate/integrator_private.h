// SPDX-License-Identifier: MIT
//
// integrator_private.h: constructors of the integrators, and the sizes of their checkpoints.
#pragma once

#include "integrate/integrator.h"
#include "integrate/step_control.h"

#include <math.h>

// Message for a missing law value: time reached, name of the input.
#define SNW_NO_LAW "no motion found beyond t = %g s: %s; the results so far are kept"

SNW_NODISCARD snw_status snw_integrator_implicit(const snw_model *m, const snw_step_desc *step,
                                                 double every, snw_integrator *out);
SNW_NODISCARD snw_status snw_integrator_conserving(const snw_model *m, const snw_step_desc *step,
                                                   snw_integrator *out);
SNW_NODISCARD snw_status snw_integrator_moreau(const snw_model *m, const snw_step_desc *step,
                                               snw_integrator *out);
SNW_NODISCARD snw_status snw_integrator_collocation(const snw_model *m, const snw_step_desc *step,
                                                    double every, snw_integrator *out);
SNW_NODISCARD snw_status snw_integrator_explicit(const snw_model *m, const snw_step_desc *step,
                                                 double every, snw_integrator *out, snw_error *err);

// Wraps a single-step integrator with a checkpoint of `saves` doubles, and owns it: destroyed on
// close and on failure. Without a longest step, instants are `every` apart; 0: as the study sets
// them.
SNW_NODISCARD snw_status snw_integrator_controlled(const snw_model *m, const snw_stepper *k,
                                                   void *stepper_self, snw_step_control control,
                                                   double every, size_t saves, snw_integrator *out);

// Step length of a description; with control and no step given there is no limit.
static inline double snw_longest_step(const snw_step_desc *step) {
    return step->step > 0 ? step->step : INFINITY;
}

// Sizes of checkpoints, in doubles; step control adds SNW_STEP_CONTROL_SAVES.
enum { SNW_STEP_CONTROL_SAVES = 1 };
size_t snw_integrator_implicit_saves(const snw_model *m);
size_t snw_integrator_conserving_saves(const snw_model *m);
size_t snw_integrator_moreau_saves(const snw_model *m);
size_t snw_integrator_collocation_saves(const snw_model *m, const snw_step_desc *step);
size_t snw_integrator_shooting_saves(const snw_model *m, const snw_step_desc *step);
