// SPDX-License-Identifier: MIT
//
// The independent rows chosen from redundant loop closures (constraint/projection_choose.c): saved
// in checkpoints, and reset to the compiled choice when a run begins.
#include "study/run_private.h"

#include "base/fail.h"

static bool has_redundant_rows(const snw_model *m) {
    int spare = 0;
    for (int i = 0; i < m->nloop; i++) spare += m->loop[i].nredundant;
    return spare > 0;
}

snw_status snw_run_rows_alloc(snw_run *r) {
    for (int k = 0; k < r->nphase; k++) {
        const snw_model *m = r->phase[k].model;
        if (has_redundant_rows(m) && (size_t)m->nloop > r->nclosure_rows)
            r->nclosure_rows = (size_t)m->nloop;
    }
    r->closure_rows = snw_pool_array(r->pool, r->nclosure_rows + 1, sizeof *r->closure_rows);
    return r->closure_rows ? SNW_OK : SNW_E_MEMORY;
}

void snw_run_rows_reset(snw_run *r) {
    for (int k = 0; k < r->nphase; k++) {
        snw_model *m = r->phase[k].model;
        if (!has_redundant_rows(m)) continue;
        for (int i = 0; i < m->nloop; i++) {
            (void)snw_projection_set_choice(snw_statics_projection(r->phase[k].statics), m, i, 0);
        }
    }
}

void snw_run_rows_get(snw_run *r) {
    const snw_model *m = r->now->model;
    for (size_t i = 0; i < r->nclosure_rows; i++) r->closure_rows[i] = 0;
    if (!has_redundant_rows(m)) return;
    const snw_projection *pr = snw_statics_projection(r->now->statics);
    for (int i = 0; i < m->nloop; i++) r->closure_rows[i] = snw_projection_choice(pr, i);
}

snw_status snw_run_rows_set(snw_run *r, snw_error *err) {
    snw_model *m = r->now->model;
    if (!has_redundant_rows(m)) return SNW_OK;
    const snw_projection *pr = snw_statics_projection(r->now->statics);
    for (int i = 0; i < m->nloop; i++) {
        if (snw_projection_set_choice(pr, m, i, r->closure_rows[i])) continue;
        return snw_fail(err, SNW_E_ARGUMENT, "run '%.100s': the checkpoint is of another study",
                        r->info.run);
    }
    return SNW_OK;
}
