// SPDX-License-Identifier: MIT
//
// Creation, copy and displacement of states on the configuration manifold.
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
    s->relaxed = s->z + m->nsignal;
    s->follow = s->relaxed + m->nbranch_coordinate;
    s->lambda = s->follow + m->nbranch;
    s->dropped = s->lambda + m->nconstraint;
    if (nq) memcpy(s->q, m->q0, nq * sizeof(double));
    if (nv) memcpy(s->v, m->v0, nv * sizeof(double));
    snw_state_forget(m, s);
    return SNW_OK;
}

void snw_state_forget(const snw_model *m, snw_state *s) {
    for (int i = 0; i < m->nsignal; i++)
        s->z[i] = m->signal[i].kind == SNW_SIGNAL_STATE ? m->signal[i].initial : 0;
    for (int i = 0; i < m->nbranch_coordinate; i++) s->relaxed[i] = 0;
    for (int i = 0; i < m->nbranch; i++) s->follow[i] = 0;
}

void snw_state_copy(const snw_model *m, const snw_state *from, snw_state *to) {
    to->t = from->t;
    memcpy(to->q, from->q, snw_state_doubles(m) * sizeof(double));
}

void snw_state_clear_inactive(const snw_model *m, snw_state *s) {
    for (int k = 0; k < m->nconditional; k++) {
        const int condition = m->conditional_on[k];
        if (condition >= 0 && s->z[m->condition_signal[condition]] != 0) continue;
        s->v[m->conditional[k]] = s->a[m->conditional[k]] = 0;
    }
}

void snw_state_destroy(snw_state *s) { snw_free(s); }

void snw_move(const snw_model *m, const double *q, double step, const double *dx, double *out) {
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (b->space == SNW_SPACE_RN) {
            for (int i = 0; i < b->n; i++) out[b->q + i] = q[b->q + i] + step * dx[b->dof + i];
            continue;
        }
        snw_twist d = {0};
        for (int i = 0; i < b->n; i++) d.e[i] = step * dx[b->dof + i];
        if (b->space == SNW_SPACE_SO3) {
            const snw_mat3 R = snw_so3_from_numbers(q + b->q);
            snw_so3_to_numbers(snw_mat3_mul(R, snw_so3_exp(d.w)), out + b->q);
        } else {
            const snw_se3 g = snw_se3_mul(snw_se3_from_numbers(q + b->q), snw_se3_exp(d));
            snw_se3_to_numbers(g, out + b->q);
        }
    }
}

void snw_difference(const snw_model *m, const double *from, const double *to, double *d) {
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (b->space == SNW_SPACE_RN) {
            for (int i = 0; i < b->n; i++) d[b->dof + i] = to[b->q + i] - from[b->q + i];
        } else if (b->space == SNW_SPACE_SO3) {
            const snw_mat3 R = snw_mat3_mul(snw_mat3_transpose(snw_so3_from_numbers(from + b->q)),
                                            snw_so3_from_numbers(to + b->q));
            const snw_vec3 w = snw_so3_log(R);
            for (int i = 0; i < 3; i++) d[b->dof + i] = w.e[i];
        } else {
            const snw_twist x = snw_se3_log(snw_se3_mul(
                snw_se3_inv(snw_se3_from_numbers(from + b->q)), snw_se3_from_numbers(to + b->q)));
            for (int i = 0; i < 6; i++) d[b->dof + i] = x.e[i];
        }
    }
}
