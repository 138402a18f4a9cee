// SPDX-License-Identifier: MIT
//
// step_tangent.h: one step of the conserving scheme, of moreau or of collocation from a state (q,
// v, memory), and the derivatives of that very step by its state and inputs, theory.md 7.4. They
// are those of gradients (study/adjoint.h), carried forward. The reference energy of the conserving
// scheme is that of the state before the step.
#pragma once

#include "dynamics/dynamics.h"
#include "model/scheme.h"

typedef struct snw_step_tangent snw_step_tangent;

// Is this a scheme whose steps are done here, and always so? Linear models of steps of collocation
// about rest are those of linear_step.c.
bool snw_step_tangent_applies(snw_scheme_kind scheme);
bool snw_step_tangent_always(snw_scheme_kind scheme);

// Steps of length h. SNW_E_MODEL: the scheme or its derivatives do not support the model, err says
// why.
SNW_NODISCARD snw_status snw_step_tangent_create(const snw_model *m, snw_scheme_kind scheme,
                                                 double h, snw_step_tangent **out, snw_error *err);
void snw_step_tangent_destroy(snw_step_tangent *x); // NULL is fine

// The step from s under the laws and `manual` (NULL: none). Allocates nothing once steps like it
// were done. SNW_E_DIVERGED: it was not solved.
SNW_NODISCARD snw_status snw_step_tangent_do(snw_step_tangent *x, const snw_manual_inputs *manual,
                                             const snw_state *s, snw_error *err);
// Parts in which it was solved; a step of several parts has no linear model.
int snw_step_tangent_parts(const snw_step_tangent *x);
// State at its end; of the step, until the next one.
const snw_state *snw_step_tangent_end(const snw_step_tangent *x);
// Did the robot stay where it was at rest?
bool snw_step_tangent_rests(const snw_step_tangent *x);

// After a step: its derivatives. SNW_E_SINGULAR, SNW_E_MODEL: there are none, as where a hard
// contact closes or opens in it; err names it.
SNW_NODISCARD snw_status snw_step_tangent_prepare(snw_step_tangent *x, snw_error *err);

// Then, for each direction: clear, set the derivatives before the step, those of its equations at a
// fixed state (by), and apply.
typedef struct snw_step_direction {
    double *place, *rate; // nv: body twists of spherical and free joints; velocities
    double *z;            // nsignal: memory of laws
    double *by;           // of the equations
} snw_step_direction;
snw_step_direction snw_step_tangent_clear(snw_step_tangent *x);
// SNW_E_SINGULAR: hard contacts that hold the robot more than once do not allow the direction.
SNW_NODISCARD snw_status snw_step_tangent_apply(snw_step_tangent *x, snw_error *err);

// Are velocities projected after it (wheels with collocation), by numbers that equations of the
// step do not contain?
bool snw_step_tangent_settles(const snw_step_tangent *x);

// States and inputs where generalised forces enter: in the middle of the step, or at its stages.
int snw_step_tangent_points(const snw_step_tangent *x);
const snw_state *snw_step_tangent_point(const snw_step_tangent *x, int i, snw_inputs *in);
// by += derivatives by a generalised force G (nv) at point i.
void snw_step_tangent_add_force(const snw_step_tangent *x, int i, const double *G, double *by);
// Numbers of the equations; at most.
int snw_step_tangent_size(const snw_step_tangent *x);
int snw_step_tangent_most(const snw_model *m);
// out <- the equations by another model that fits (snw_model_alike), laws `shift` s later.
SNW_NODISCARD snw_status snw_step_tangent_equations(snw_step_tangent *x, const snw_model *m,
                                                    double shift, double *out, snw_error *err);
