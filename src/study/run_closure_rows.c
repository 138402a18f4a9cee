// SPDX-License-Identifier: MIT
//
// The independent rows chosen from redundant loop closures (constraint/projection_choose.c): saved
// in checkpoints, and reset to the compiled choice when a run begins.
#include "study/run_private.h"

#include "base/fail.h"

snw_status snw_run_rows_alloc(snw_run *r) {
    for (int k = 0; k < r->nphase; k++) {
        const snw_phase *e = &r->phase[k];
        if (e->rows && (size_t)e->model->nloop > r->nclosure_rows)
            r->nclosure_rows = (size_t)e->model->nloop;
    }
    r->closure_rows = snw_pool_array(r->pool, r->nclosure_rows + 1, sizeof *r->closure_rows);
    return r->closure_rows ? SNW_OK : SNW_E_MEMORY;
}

void snw_run_rows_reset(snw_run *r) {
    for (int k = 0; k < r->nphase; k++) {
        if (r->phase[k].rows) snw_closure_rows_reset(r->phase[k].rows);
    }
}

void snw_run_rows_get(snw_run *r) {
    const snw_phase *e = r->now;
    for (size_t i = 0; i < r->nclosure_rows; i++) r->closure_rows[i] = 0;
    for (int i = 0; e->rows && i < e->model->nloop; i++)
        r->closure_rows[i] = snw_closure_rows_choice(e->rows, i);
}

snw_status snw_run_rows_set(snw_run *r, snw_error *err) {
    const snw_phase *e = r->now;
    for (int i = 0; e->rows && i < e->model->nloop; i++) {
        if (snw_closure_rows_set_choice(e->rows, i, r->closure_rows[i])) continue;
        return snw_fail(err, SNW_E_ARGUMENT, "run '%.100s': the checkpoint is of another study",
                        r->info.run);
    }
    return SNW_OK;
}
