// SPDX-License-Identifier: MIT
//
// snapshot.h: an equilibrium from which others are followed: its state and its loads.
#pragma once

#include "study/statics.h"

typedef struct snw_snapshot {
    snw_state *s;
    snw_inputs *previous; // loads of that equilibrium
} snw_snapshot;

SNW_NODISCARD snw_status snw_snapshot_create(const snw_model *m, snw_snapshot *p);
void snw_snapshot_destroy(snw_snapshot *p);
void snw_snapshot_take(snw_statics *st, const snw_state *s, snw_snapshot *p);
void snw_snapshot_restore(const snw_snapshot *p, snw_statics *st, snw_state *s);
