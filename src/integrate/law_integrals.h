// SPDX-License-Identifier: MIT
//
// law_integrals.h: time integrals in laws (`integral(..)`), advanced within implicit steps by the
// trapezoidal rule.
#pragma once

#include "dynamics/dynamics.h"

// Prepares a step of length h from `now`, with the integrands `source` (nsignal) there: sets s->z
// and in->integral_step such that laws at s read the integrals at the end of the step.
void snw_law_integrals_predict(const snw_model *m, double h, const snw_state *now,
                               const double *source, snw_state *s, snw_inputs *in);

// After the residual at s: s->z <- integrals as they were read; source (nsignal) <- integrands
// there, for the next step.
void snw_law_integrals_finish(const snw_model *m, snw_inputs *in, snw_state *s, const snw_work *w,
                              double *source);
