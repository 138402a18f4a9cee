// SPDX-License-Identifier: MIT
//
// chord.h: chord (simplified) Newton iteration for the equations of a time step. The factorised
// matrix, possibly of an earlier step, is kept while it converges, and corrected by Broyden
// updates. It is renewed when the residual does not fall to half; increments are halved when the
// residual does not fall at all.
#pragma once

#include "sinew/status.h"
#include "solve/broyden.h"

typedef struct snw_chord {
    void *user;
    double (*evaluate)(
        void *user); // evaluates the residual at the unknowns; returns its norm, NaN if it has one
    snw_status (*renew)(void *user);       // factorises the matrix at the last evaluated unknowns
    void (*correct)(void *user);           // dx <- -inv(matrix) residual
    void (*move)(void *user, double part); // unknowns += part dx
    // is dx within rounding of the unknowns? NULL: never
    bool (*rounded)(void *user);
    double *dx;
    snw_broyden *broyden; // of dx
    bool *known;          // is there a factorised matrix?
    double tolerance;     // on the norm
    int max_iter;
} snw_chord;

typedef struct snw_chord_info {
    int iterations, tangents;
    double residual;
} snw_chord_info;

// Adds to iterations and tangents. SNW_E_DIVERGED: no convergence within max_iter iterations.
SNW_NODISCARD snw_status snw_chord_solve(const snw_chord *c, snw_chord_info *info);
