// SPDX-License-Identifier: MIT
//
// target.h: whether controllers come to rest on their targets in a motion. What an integral sums up
// must tend to zero, or its target cannot be reached (or not yet). The error of a proportional law
// need not, but whoever wrote it may expect that.
#pragma once

#include "model/model.h"

typedef struct snw_targets snw_targets;

// An error of a proportional law that stayed through the last quarter of the motion.
typedef struct snw_offset {
    const char *law;   // name of the load or actuator
    const char *probe; // component that it reads, as written
    double value, reference;
    bool limited; // a limit cuts the law off there: it does not depend on the error
} snw_offset;

// For a motion from t0 to t1; NULL in *out when no law aims at anything.
SNW_NODISCARD snw_status snw_targets_create(const snw_model *m, double t0, double t1,
                                            snw_targets **out);
void snw_targets_destroy(snw_targets *g); // NULL is fine

// Look at the integrals z (nsignal) at time t; call with rising t, first at t0. Allocates nothing.
void snw_targets_record(snw_targets *g, double t, const double *z);
// Is it time to look at the signals of proportional laws? Some 60 times a motion.
bool snw_targets_due(const snw_targets *g, double t);
void snw_targets_record_signals(snw_targets *g, double t, const double *signal);

// After the last look, at t1: the first integral from `from` on whose target was missed, -1: none.
// *error <- mean of what it sums up over the last quarter, *before <- over the one before.
int snw_targets_missed(const snw_targets *g, int from, double *error, double *before);

// After the last look: offset i from 0 on of those that stayed; false: there are no more.
bool snw_targets_offset(const snw_targets *g, int i, snw_offset *out);
