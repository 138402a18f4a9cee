// SPDX-License-Identifier: MIT
//
// Equilibria from which others are followed.
#include "study/snapshot.h"

#include "base/fail.h"

snw_status snw_snapshot_create(const snw_model *m, snw_snapshot *p) {
    SNW_TRY(snw_state_create(m, &p->s));
    return snw_inputs_create(m, &p->previous);
}

void snw_snapshot_destroy(snw_snapshot *p) {
    snw_state_destroy(p->s);
    snw_inputs_destroy(p->previous);
}

void snw_snapshot_take(snw_statics *st, const snw_state *s, snw_snapshot *p) {
    snw_state_copy(snw_statics_model(st), s, p->s);
    snw_inputs_copy(snw_statics_previous_inputs(st), p->previous);
}

void snw_snapshot_restore(const snw_snapshot *p, snw_statics *st, snw_state *s) {
    snw_state_copy(snw_statics_model(st), p->s, s);
    snw_inputs_copy(p->previous, snw_statics_previous_inputs(st));
}
