// SPDX-License-Identifier: MIT
//
// Motions of redundant loops, of whose rows others are kept as the robot moves (study/assembly_choose.c): in runs, in the library's
// steps and live.
#include "base/fail.h"
#include "study/assembly.h"
#include "study/mover.h"

enum { TRIALS = 20 };

snw_status snw_mover_choose_rows(const snw_mover *mv, snw_assembly *as, snw_model *m,
                                 snw_error *err) {
    if (!snw_assembly_redundant(as)) return SNW_OK;
    if (!snw_assembly_choose(as, m, mv->inputs(mv->self), mv->state(mv->self))) return SNW_OK;
    return mv->restart(mv->self, NULL, err);
}

snw_status snw_mover_advance(const snw_mover *mv, snw_assembly *as, snw_model *m, double *to,
                             double limit, snw_stats *took, snw_error *err) {
    snw_status s = mv->advance(mv->self, *to, limit, took, err);
    for (int n = 0; n < TRIALS && s == SNW_E_SINGULAR && snw_assembly_redundant(as); n++) {
        const snw_state *now = mv->state(mv->self);
        if (snw_assembly_choose(as, m, mv->inputs(mv->self), now)) {
            SNW_TRY(mv->restart(mv->self, NULL, err));
        } else {
            *to = 0.5 * (now->t + *to);
        }
        s = mv->advance(mv->self, *to, limit, took, err);
    }
    return s;
}
