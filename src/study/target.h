// SPDX-License-Identifier: MIT
//
// target.h: whether controllers with an integral part come to rest on their targets in a motion: what an integral sums up
// must tend to zero, or its target cannot be reached (or not yet).
#pragma once

#include "model/model.h"

typedef struct snw_targets snw_targets;

// For a motion from t0 to t1; NULL in *out when no integral aims at anything.
SNW_NODISCARD snw_status snw_targets_create(const snw_model *m, double t0, double t1,
                                            snw_targets **out);
void snw_targets_destroy(snw_targets *g); // NULL is fine

// Look at the integrals z (nsignal) at time t; call with rising t, first at t0. Allocates nothing.
void snw_targets_look(snw_targets *g, double t, const double *z);

// After the last look, at t1: the first integral from `from` on whose target was missed, -1: none. *error <- mean of what it sums up
// over the last quarter, *before <- over the one before.
int snw_targets_missed(const snw_targets *g, int from, double *error, double *before);
