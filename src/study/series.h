// SPDX-License-Identifier: MIT
//
// series.h: recorder that keeps the probe columns in memory, for checks of expected values and for
// tests. Partial frames and mode shapes are omitted.
#pragma once

#include "study/record.h"

#include <stddef.h>

// Grows with the frames. t, stage, special: nframe; value: nframe x ncolumn, frame by frame.
typedef struct snw_series {
    int nframe, ncolumn;
    double *t;
    int *stage;
    int *special; // snw_special of a path's special points; 0 of other frames
    double *value;
    snw_status status; // of the finished run; SNW_OK before
    int capacity;
} snw_series;

// Empty, for frames of `ncolumn` columns.
void snw_series_init(snw_series *s, int ncolumn);

// Free the memory; `s` is then as after init.
void snw_series_clear(snw_series *s);

// Appends to `s`, which must outlive the recorder. SNW_E_MEMORY when memory is out.
snw_recorder snw_series_recorder(snw_series *s);

// Value of `column` at time t: of the frame at t (to 1e-9 of the largest time), else linear between
// the two neighbouring frames around t; false when t is outside the recorded range. Where the
// same time was recorded more than once (a static step before a dynamic one, a step `from` an
// earlier one), the later frame is used.
bool snw_series_at(const snw_series *s, int column, double t, double *value);

// Last frame of a stage, -1 when it has none.
int snw_series_last(const snw_series *s, int stage);

// The frame of special point `number` (from 1) of a kind, in the order recorded; -1: none.
int snw_series_special(const snw_series *s, int kind, int number);

// Full name of a column: "tip.x", "e" (a scalar probe), "wire@3.my" (station 3). Cut to `size`
// bytes, NUL included.
void snw_column_name(const snw_column *c, char *name, size_t size);
