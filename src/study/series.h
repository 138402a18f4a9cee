// SPDX-License-Identifier: MIT
//
// series.h: frames kept in memory, for checks of expected values and for tests.
#pragma once

#include "study/record.h"

// Grows as frames come in. t, stage: nframe; value: nframe x ncolumn, frame by frame.
typedef struct snw_series {
    int nframe, ncolumn;
    double *t;
    int *stage;
    double *value;
    snw_status status; // how the run ended
    int capacity;
} snw_series;

void snw_series_init(snw_series *s, int ncolumn);
void snw_series_clear(snw_series *s);
snw_recorder snw_series_recorder(snw_series *s);

// Value of `column` at time t: the frame at t (to 1e-9 of the time scale), else linear between the
// neighbours; false when t is outside of what was recorded.
bool snw_series_at(const snw_series *s, int column, double t, double *value);

// Last frame of a stage, -1 when it has none.
int snw_series_last(const snw_series *s, int stage);
