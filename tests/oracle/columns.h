// SPDX-License-Identifier: MIT
//
// columns.h: the Lagrangian matrices column by column from inverse dynamics, theory.md 3.
#pragma once

#include "dynamics/dynamics.h"

// M (nv x nv, column major) <- mass matrix; velocity <- velocity-dependent forces, r(q, v, 0) -
// r(q, 0, 0); configuration <- r(q, 0, 0). Poses must not be functions of time. Overwrites w.
void oracle_columns(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w,
                    double *M, double *velocity, double *configuration);
