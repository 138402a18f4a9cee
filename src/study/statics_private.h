// SPDX-License-Identifier: MIT
//
// statics_private.h: what the files of static solves share: statics.c (one solve), branch.c (which branch of equilibria
// it ends on) and stability.c.
#pragma once

#include "base/arena.h"
#include "solve/newton.h"
#include "study/assembly.h"
#include "study/statics.h"

struct snw_statics {
    const snw_model *m;
    snw_work *w;
    snw_inputs *before, *after, *now; // of the last solve, of this one, and between
    snw_state *trial;
    double blended; // fraction that `now` holds
    bool steady;    // of the last solve: rates of what is given count. Elsewhere `before` has none
    snw_arena scratch;
    double *K, *T; // elastic stiffness and tangent, nv x nv
    double *x;     // configuration and multipliers, nq + nrow
    double *scale; // of forces, then of gaps
    double *
        soft; // what may be added to the diagonal where joints are held by nothing; NULL: they all are
    double *slow; // damping by which mechanisms settle, zero for rows
    double *rows; // nv x nrow: C', and tau and order of its factors
    double *tau;
    int *order;
    snw_assembly *assembly;
    snw_switches *switches;
    double *open;          // nrow: gaps where the solve began; they close as the load grows
    snw_sparse *sparse[2]; // factors of tangents; NULL: they are dense
};
