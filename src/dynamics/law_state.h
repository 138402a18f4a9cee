// SPDX-License-Identifier: MIT
//
// law_state.h: states with rates given by laws, theory.md (3.7.4): x' = f(x, y, t) with the probes
// and stored values y. Within an implicit step they are the solution of x = z + a f(x, y, t), with
// z of the state and a = in->integral_step; otherwise x = z.
#pragma once

#include "dynamics/dynamics.h"

// w->signal <- states, after all other signals that their rates read. NaN if there is no solution.
void snw_law_states(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w);

// Rows of the states in the Jacobian of the live signals (nlive x nv), after those of the signals
// that their rates read.
void snw_law_states_jacobian(const snw_model *m, const snw_inputs *in, const snw_work *w,
                             double *jacobian);
