// SPDX-License-Identifier: MIT
//
// shape.h: strain coordinates of a rod from points measured along it, fitted at each time by least
// squares with the kinematics of the model. Each fit starts from the one before. theory.md 9.
#pragma once

#include "study/run.h"

typedef struct snw_shape snw_shape;

// A measured column: a component (0, 1, 2) of a position probe of the description.
typedef struct snw_shape_column {
    int probe, axis;
} snw_shape_column;

// Quality of a fit.
typedef struct snw_shape_info {
    double rms;   // root mean square of measured less fitted, m
    int values;   // number of measured values
    int rank;     // combinations of the unknowns that the values determine; the others have minimum
                  // norm
    int unknown;  // coordinates, and six for a free root
    bool settled; // converged; false: a better fit may be near
} snw_shape_info;

// For the rod of `link` in a compiled run, which must outlive it; the other coordinates keep their
// initial values, poses follow their laws of t. With `free` the pose of the root is unknown, too.
// SNW_E_MEMORY.
SNW_NODISCARD snw_status snw_shape_create(const snw_run *run, int link, bool free, int ncolumn,
                                          const snw_shape_column *column, snw_shape **out,
                                          snw_error *err);
void snw_shape_destroy(snw_shape *s); // NULL is fine

int snw_shape_coordinates(const snw_shape *s);
const char *snw_shape_name(const snw_shape *s, int i); // name of a coordinate, "arm.bend_y.0"

// q (coordinates) <- fit to `measured` (ncolumn, m; NaN: none) at time t, *root <- pose of the root
// section in the world. Starts from the last result. SNW_E_DIVERGED when none is found.
SNW_NODISCARD snw_status snw_shape_fit(snw_shape *s, double t, const double *measured, double *q,
                                       snw_se3 *root, snw_shape_info *info);
