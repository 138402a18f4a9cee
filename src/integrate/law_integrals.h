// SPDX-License-Identifier: MIT
//
// law_integrals.h: integrals over time that laws read (`integral(..)`), advanced within implicit
// steps by the trapezoidal rule.
#pragma once

#include "dynamics/dynamics.h"

// A step of length h from `now` by the trapezoidal rule, `source` (nsignal) as it was there: s->z
// and in->lead such that laws at s read the integrals at the end of the step.
void snw_law_integrals_lead(const snw_model *m, double h, const snw_state *now,
                            const double *source, snw_state *s, snw_inputs *in);

// After the residual at s: integrals as they were read, source (nsignal) <- what they will go on
// with.
void snw_law_integrals_settle(const snw_model *m, snw_inputs *in, snw_state *s, const snw_work *w,
                              double *source);
