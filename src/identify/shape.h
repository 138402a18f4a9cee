// SPDX-License-Identifier: MIT
//
// shape.h: strain coordinates of a rod from points measured along it: at each instant those whose
// points lie nearest, in the sense of least squares, with the kinematics of the model itself. Each
// instant starts from the one before. theory.md 9.
#pragma once

#include "study/run.h"

typedef struct snw_shape snw_shape;

// One measured number of an instant: a component (0 1 2) of a position probe of the description.
typedef struct snw_shape_column {
    int probe, axis;
} snw_shape_column;

// How an instant was met.
typedef struct snw_shape_info {
    double rms; // of measured less fitted, m
    int values; // that were measured
    int rank; // combinations of unknowns that they determine; the others stay as small as they can
    int unknown;  // coordinates, and six for the root
    bool settled; // false: better ones may be near
} snw_shape_info;

// Of the rod of `link` in a compiled run, which must outlive it; the other coordinates are as at
// the start, poses as laws of t say. With `free` the root may be anywhere. SNW_E_MEMORY.
SNW_NODISCARD snw_status snw_shape_create(const snw_run *run, int link, bool free, int ncolumn,
                                          const snw_shape_column *column, snw_shape **out,
                                          snw_error *err);
void snw_shape_destroy(snw_shape *s); // NULL is fine

int snw_shape_coordinates(const snw_shape *s);
const char *snw_shape_name(const snw_shape *s, int i); // of a coordinate, "arm.bend_y.0"

// q (coordinates) <- those that fit `measured` (ncolumn, NaN: nothing) at time t, *root <- pose of
// the root section. Starts from the last answer. SNW_E_DIVERGED when none is found.
SNW_NODISCARD snw_status snw_shape_fit(snw_shape *s, double t, const double *measured, double *q,
                                       snw_se3 *root, snw_shape_info *info);
