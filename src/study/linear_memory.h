// SPDX-License-Identifier: MIT
//
// linear_memory.h: variables y of first order beside the coordinates of a robot: integrals and
// states that laws read, strains of Maxwell branches. About a point, theory.md (7.5a),
//     M x" + D x' + K x - F y - .. = 0,   y' = R x + R1 x' + Q y
#pragma once

#include "study/linear_model.h"

// Variables that act on the robot, and their derivatives. The memory belongs to the caller, for
// snw_linear_memory_room variables.
typedef struct snw_linear_memory {
    int n;
    snw_linear_state *of; // SNW_STATE_INTEGRAL or SNW_STATE_BRANCH
    double *F;            // nv x n: generalised forces
    double *R;            // 2 nv x n: rates by x and, behind them, by x'
    double *Q;            // n x n: rates by the variables
} snw_linear_memory;

// The most variables of a model.
int snw_linear_memory_room(const snw_model *m);
// Are there states or branches, which modes have as variables?
bool snw_linear_memory_acts(const snw_model *m);
// y <- the variables that act at the point of w, after snw_tangent_assemble there with held
// signals; rows: w->signal_jacobian by x and, behind it, by x'. Without `integrals` these are held.
void snw_linear_memory_find(const snw_model *m, const snw_inputs *in, const snw_work *w,
                            const double *rows, bool integrals, snw_linear_memory *y);

// Numbers of snw_linear_memory_rates, and the place of a variable among them.
int snw_linear_memory_numbers(const snw_model *m);
int snw_linear_memory_number(const snw_model *m, snw_linear_state of);
// out <- rates of all signals (0: not a variable) and branches at s, after snw_residual there.
void snw_linear_memory_rates(const snw_model *m, const snw_inputs *in, const snw_state *s,
                             const snw_work *w, double *out);
