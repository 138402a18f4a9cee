// SPDX-License-Identifier: MIT
//
// Rows of redundant loops that are kept as a run goes on (constraint/projection_choose.c): carried
// by checkpoints, and as compiled when a run begins.
#include "study/run_private.h"

#include "base/fail.h"

static bool redundant(const snw_model *m) {
    int spare = 0;
    for (int i = 0; i < m->nloop; i++) spare += m->loop[i].nspare;
    return spare > 0;
}

snw_status snw_run_choose_room(snw_run *r) {
    for (int k = 0; k < r->nphase; k++) {
        const snw_model *m = r->phase[k].model;
        if (redundant(m) && (size_t)m->nloop > r->nchoice) r->nchoice = (size_t)m->nloop;
    }
    r->choice = snw_pool_array(r->pool, r->nchoice + 1, sizeof *r->choice);
    return r->choice ? SNW_OK : SNW_E_MEMORY;
}

void snw_run_choose_reset(snw_run *r) {
    for (int k = 0; k < r->nphase; k++) {
        snw_model *m = r->phase[k].model;
        if (!redundant(m)) continue;
        for (int i = 0; i < m->nloop; i++) {
            (void)snw_projection_set_choice(snw_statics_projection(r->phase[k].statics), m, i, 0);
        }
    }
}

void snw_run_choose_read(snw_run *r) {
    const snw_model *m = r->now->model;
    for (size_t i = 0; i < r->nchoice; i++) r->choice[i] = 0;
    if (!redundant(m)) return;
    const snw_projection *pr = snw_statics_projection(r->now->statics);
    for (int i = 0; i < m->nloop; i++) r->choice[i] = snw_projection_choice(pr, i);
}

snw_status snw_run_choose_apply(snw_run *r, snw_error *err) {
    snw_model *m = r->now->model;
    if (!redundant(m)) return SNW_OK;
    const snw_projection *pr = snw_statics_projection(r->now->statics);
    for (int i = 0; i < m->nloop; i++) {
        if (snw_projection_set_choice(pr, m, i, r->choice[i])) continue;
        return snw_fail(err, SNW_E_ARGUMENT, "run '%.100s': the checkpoint is of another study",
                        r->info.run);
    }
    return SNW_OK;
}
