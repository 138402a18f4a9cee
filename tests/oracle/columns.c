// SPDX-License-Identifier: MIT
#include "oracle/columns.h"

#include "oracle/linear.h"

#include <stdlib.h>
#include <string.h>

void oracle_columns(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w,
                    double *M, double *velocity, double *configuration) {
    const size_t n = (size_t)m->nv;
    double *zero = oracle_alloc(n, sizeof *zero), *unit = oracle_alloc(n, sizeof *unit);
    const snw_state rest = {.t = s->t, .q = s->q, .v = zero, .a = zero};
    snw_residual(m, in, &rest, false, w);
    memcpy(configuration, w->r, n * sizeof *w->r);

    const snw_state coasting = {.t = s->t, .q = s->q, .v = s->v, .a = zero};
    snw_residual(m, in, &coasting, false, w);
    for (size_t i = 0; i < n; i++) velocity[i] = w->r[i] - configuration[i];

    const snw_state pushed = {.t = s->t, .q = s->q, .v = zero, .a = unit};
    for (size_t j = 0; j < n; j++) {
        unit[j] = 1;
        snw_residual(m, in, &pushed, false, w);
        for (size_t i = 0; i < n; i++) M[j * n + i] = w->r[i] - configuration[i];
        unit[j] = 0;
    }
    free(zero);
    free(unit);
}
