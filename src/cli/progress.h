// SPDX-License-Identifier: MIT
//
// progress.h: progress line on the terminal, with the remaining time. Silent when standard error is
// not a terminal.
#pragma once

#include "study/run.h"

typedef struct snw_meter {
    bool on;            // standard error is a terminal
    bool drawn;         // the line is on the screen
    int run, nrun;      // index of the current run, number of runs
    const char *name;   // of the current run
    double start, next; // time of the start and of the next update, s
} snw_meter;

// Start the progress line of `nrun` runs; nothing is drawn when `quiet`.
snw_meter snw_meter_start(int nrun, bool quiet);

// Set the current run.
void snw_meter_run(snw_meter *m, int run, const char *name);

// Show the progress of the current run, at most ten times a second.
void snw_meter_show(snw_meter *m, const snw_progress *p);

// Show this text instead, at the same rate.
void snw_meter_text(snw_meter *m, const char *text);

// s seconds as a clock shows them, 1:05 or 2:00:00.
void snw_duration_text(double s, char *out, size_t size);

// Erase the line before other output. NULL is fine.
void snw_meter_clear(snw_meter *m);
