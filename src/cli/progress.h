// SPDX-License-Identifier: MIT
//
// progress.h: a line on a terminal that says where a run is and how long it will take. Silent when
// standard error is no terminal.
#pragma once

#include "study/run.h"

typedef struct snw_meter {
    bool on;            // there is a terminal to draw on
    bool drawn;         // the line is on the screen
    int run, nrun;      // which of the runs is under way, and how many there are
    const char *name;   // of that run
    double start, next; // when it began, when to draw again, s
} snw_meter;

// Of `nrun` runs; never draws when `quiet`.
snw_meter snw_meter_start(int nrun, bool quiet);

// The next run begins.
void snw_meter_run(snw_meter *m, int run, const char *name);

// Show where the run is, at most ten times a second.
void snw_meter_show(snw_meter *m, const snw_progress *p);

// Show this text instead, as often.
void snw_meter_say(snw_meter *m, const char *text);

// Take the line away, so that something else can be said. NULL is fine.
void snw_meter_clear(snw_meter *m);
