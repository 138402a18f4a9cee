// SPDX-License-Identifier: MIT
//
// Advance of models with redundant loop closures, of which other rows are selected as the robot
// moves (constraint/projection_choose.c). For runs, the public API and live stepping.
#include "base/fail.h"
#include "constraint/projection.h"
#include "integrate/integrator.h"

enum { TRIALS = 20 };

snw_status snw_integrator_choose_rows(const snw_integrator *it, snw_projection *pr,
                                      snw_closure_rows *rows, snw_error *err) {
    if (!snw_projection_redundant(pr)) return SNW_OK;
    if (!snw_projection_choose(pr, rows, it->inputs(it->self), it->state(it->self))) return SNW_OK;
    return it->restart(it->self, NULL, err);
}

snw_status snw_integrator_advance(const snw_integrator *it, snw_projection *pr,
                                  snw_closure_rows *rows, double *to, double limit, snw_stats *took,
                                  snw_error *err) {
    snw_status s = it->advance(it->self, *to, limit, took, err);
    for (int n = 0; n < TRIALS && s == SNW_E_SINGULAR && snw_projection_redundant(pr); n++) {
        const snw_state *now = it->state(it->self);
        if (snw_projection_choose(pr, rows, it->inputs(it->self), now)) {
            SNW_TRY(it->restart(it->self, NULL, err));
        } else {
            *to = 0.5 * (now->t + *to);
        }
        s = it->advance(it->self, *to, limit, took, err);
    }
    return s;
}
