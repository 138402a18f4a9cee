// SPDX-License-Identifier: MIT
//
// target.h: detects controllers that miss their targets in a motion. The integrand of an integral
// must tend to zero, or its target is not reached (or not yet). The error of a proportional law
// need not vanish, but its author may expect it to.
#pragma once

#include "model/model.h"

typedef struct snw_targets snw_targets;

// Error of a proportional law that lasted through the last quarter of the motion.
typedef struct snw_offset {
    const char *law;   // name of the load or actuator
    const char *probe; // component that it reads, as written
    double value, reference;
    bool limited; // the law is saturated there: it does not depend on the error
} snw_offset;

// For a motion from t0 to t1; *out is NULL if no law has a target.
SNW_NODISCARD snw_status snw_targets_create(const snw_model *m, double t0, double t1,
                                            snw_targets **out);
void snw_targets_destroy(snw_targets *g); // NULL is fine

// Records the integrals z (nsignal) at time t; call with rising t, first at t0. Allocates nothing.
void snw_targets_record(snw_targets *g, double t, const double *z);
// Are the signals of proportional laws due to be recorded, about 60 times per motion?
bool snw_targets_due(const snw_targets *g, double t);
void snw_targets_record_signals(snw_targets *g, double t, const double *signal);

// After the last record, at t1: first integral from index `from` on whose target was missed; -1:
// none. *error <- mean of its integrand over the last quarter, *before <- over the one before.
int snw_targets_missed(const snw_targets *g, int from, double *error, double *before);

// After the last record: i-th lasting offset, from 0; false: there are no more.
bool snw_targets_offset(const snw_targets *g, int i, snw_offset *out);
