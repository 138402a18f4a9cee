// SPDX-License-Identifier: MIT
//
// ode_bdf.h: backward differentiation of variable order and step, for stiff equations, in place of
// CVODE.
#pragma once

#include "solve/ode_private.h"

typedef struct snw_bdf snw_bdf;

// NULL: no memory.
snw_bdf *snw_bdf_create(int n);
void snw_bdf_destroy(snw_bdf *b); // NULL is fine

// As snw_ode_advance_bdf: o->y <- solution at t, with steps that may pass t up to `limit`.
SNW_NODISCARD snw_status snw_bdf_advance(snw_bdf *b, snw_ode *o, double t, double limit,
                                         snw_error *err);
