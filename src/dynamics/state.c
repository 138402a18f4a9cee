// SPDX-License-Identifier: MIT
#include "dynamics/state.h"

#include "base/alloc.h"

#include <string.h>

snw_status snw_state_create(const snw_model *m, snw_state **out) {
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv;
    snw_state *s = snw_alloc(sizeof *s + snw_state_doubles(m) * sizeof(double));
    *out = s;
    if (!s) return SNW_E_MEMORY;
    s->q = (double *)(void *)(s + 1);
    s->v = s->q + nq;
    s->a = s->v + nv;
    s->z = s->a + nv;
    if (nq) memcpy(s->q, m->q0, nq * sizeof(double));
    if (nv) memcpy(s->v, m->v0, nv * sizeof(double));
    return SNW_OK;
}

void snw_state_copy(const snw_model *m, const snw_state *from, snw_state *to) {
    to->t = from->t;
    memcpy(to->q, from->q, snw_state_doubles(m) * sizeof(double));
}

void snw_state_destroy(snw_state *s) { snw_free(s); }

void snw_move(const snw_model *m, const double *q, double step, const double *dx, double *out) {
    for (int f = 0; f < m->nfree; f++) {
        const snw_floating *j = &m->floating[f];
        snw_twist d;
        for (int i = 0; i < 6; i++) d.e[i] = step * dx[j->dof + i];
        const snw_se3 g = snw_se3_mul(snw_se3_from_numbers(q + j->q), snw_se3_exp(d));
        snw_se3_to_numbers(g, out + j->q);
    }
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        for (int i = rod->dof0; i < rod->dof0 + rod->ndof; i++) {
            out[i + rod->shift] = q[i + rod->shift] + step * dx[i];
        }
    }
}
