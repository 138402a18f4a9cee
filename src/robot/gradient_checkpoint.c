// SPDX-License-Identifier: MIT
//
// Checkpoints of a run, at most a number that fits into memory.
#include "robot/gradient_checkpoint.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

enum { LEAST_CHECKPOINTS = 3, MOST_CHECKPOINTS = 1000 };

snw_status gradient_checkpoints_begin(gradient_checkpoints *c, size_t size, double memory,
                                      snw_error *err) {
    c->size = size;
    const double fit = size > 0 ? 0.5 * memory / (double)(size * sizeof(double)) : 0;
    c->most = (int)fmin(fmax(fit, LEAST_CHECKPOINTS), MOST_CHECKPOINTS);
    c->stride = 1;
    c->frame = snw_alloc(((size_t)c->most + 1) * sizeof *c->frame);
    c->save = snw_alloc(((size_t)c->most + 1) * sizeof *c->save);
    return c->frame && c->save ? SNW_OK : snw_fail_memory(err);
}

void gradient_checkpoints_end(gradient_checkpoints *c) {
    for (int i = 0; i < c->n; i++) snw_free(c->save[i]);
    snw_free(c->save);
    snw_free(c->frame);
}

snw_status gradient_checkpoints_keep(gradient_checkpoints *c, const double *save, snw_error *err) {
    const int frame = c->frames++;
    if (!save || c->size == 0 || frame % c->stride != 0) return SNW_OK;
    if (c->n == c->most) {
        int kept = 0;
        c->stride *= 2;
        for (int i = 0; i < c->n; i++) {
            if (c->frame[i] % c->stride == 0) {
                c->frame[kept] = c->frame[i];
                c->save[kept++] = c->save[i];
            } else {
                snw_free(c->save[i]);
            }
        }
        c->n = kept;
        if (frame % c->stride != 0) return SNW_OK;
    }
    double *copy = snw_alloc(c->size * sizeof *copy);
    if (!copy) return snw_fail_memory(err);
    memcpy(copy, save, c->size * sizeof *copy);
    c->frame[c->n] = frame;
    c->save[c->n++] = copy;
    return SNW_OK;
}
