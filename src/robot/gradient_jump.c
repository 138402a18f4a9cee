// SPDX-License-Identifier: MIT
//
// Times at which laws of a study jump.
#include "robot/gradient_jump.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "study/run.h"

#include <math.h>

static const double same = 1e-12; // of times, relative

snw_status gradient_jumps_find(const snw_desc *d, gradient_jumps *out, snw_error *err) {
    double last = 0;
    int stage = 0;
    *out = (gradient_jumps){0};
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].kind == SNW_STEP_DYNAMIC) last += d->step[i].duration;
        if (d->step[i].until) stage = i;
    }
    if (!(last > 0)) return SNW_OK;
    return snw_run_law_jumps(d, stage, 0, last, &out->n, &out->t) == SNW_OK ? SNW_OK
                                                                            : snw_fail_memory(err);
}

void gradient_jumps_clear(gradient_jumps *x) {
    snw_free(x->t);
    *x = (gradient_jumps){0};
}

snw_status gradient_jumps_moved(const gradient_jumps *x, const snw_desc *other, double *at,
                                snw_error *err) {
    gradient_jumps y = {0};
    *at = NAN;
    if (x->n == 0) return SNW_OK;
    const snw_status s = gradient_jumps_find(other, &y, err);
    for (int i = 0; i < x->n && isnan(*at) && s == SNW_OK; i++) {
        bool found = false;
        for (int k = 0; k < y.n && !found; k++)
            found = fabs(y.t[k] - x->t[i]) <= same * fabs(x->t[i]);
        if (!found) *at = x->t[i];
    }
    gradient_jumps_clear(&y);
    return s;
}
