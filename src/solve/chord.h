// SPDX-License-Identifier: MIT
//
// chord.h: the equations of a time step solved with a factorised matrix that is kept as long as it
// serves, be it of a step before: Broyden's method, a new matrix when the residual does not fall to
// half, halved increments when it does not fall at all.
#pragma once

#include "sinew/status.h"
#include "solve/broyden.h"

typedef struct snw_chord {
    void *user;
    double (*evaluate)(void *user);        // the residual at the unknowns; its norm, NaN kept
    snw_status (*renew)(void *user);       // factorise the matrix of the unknowns evaluated last
    void (*correct)(void *user);           // dx <- -inv(matrix) residual
    void (*move)(void *user, double part); // unknowns += part dx
    // is dx within rounding of the unknowns? NULL: never
    bool (*rounded)(void *user);
    double *dx;
    snw_broyden *broyden; // of dx
    bool *known;          // is there a matrix that may serve?
    double tolerance;     // of the norm
    int max_iter;
} snw_chord;

typedef struct snw_chord_info {
    int iterations, tangents;
    double residual;
} snw_chord_info;

// Adds to iterations and tangents. SNW_E_DIVERGED: not found within max_iter of them.
SNW_NODISCARD snw_status snw_chord_solve(const snw_chord *c, snw_chord_info *info);
