// SPDX-License-Identifier: MIT
//
// output_bars.h: derivatives of outputs by the state at an instant, of all outputs together, by one
// recursion from the leaves to the root: theory.md (7.5.52). For gradients and linear models.
#pragma once

#include "study/adjoint.h"
#include "study/model_geometry.h"

typedef struct snw_output_bars snw_output_bars;

SNW_NODISCARD snw_status snw_output_bars_create(const snw_model *m, snw_output_bars **out);
void snw_output_bars_destroy(snw_output_bars *b); // NULL is fine

// Are the derivatives of an output known? Of poses, motions and momentum, of energies but those of
// interactions (snw_interaction_energy), of reactions of joints and loops, of wrenches within rods.
// Not with rods of variable length or on one grid, tubes, conditional elements; forces not with
// laws that read probes, straight tendons, wheels, fields, hard contacts, rods that touch rods.
bool snw_output_bars_know(const snw_model *m, const snw_adjoint_output *o);

// Has the model contacts, force elements, stops or fields, whose energies are left out?
bool snw_has_interactions(const snw_model *m);

// to += y_bar times the derivatives of known outputs, after snw_residual and snw_observe at s; w is
// changed and restored.
void snw_output_bars_add(snw_output_bars *b, int noutput, const snw_adjoint_output *output,
                         const double *y_bar, const snw_inputs *in, const snw_state *s, snw_work *w,
                         const snw_state_bars *to);
// After it: derivative of the same sum by a component of a load, in its axes.
double snw_output_bars_by_load(const snw_output_bars *b, int load, int component,
                               const snw_work *w);
